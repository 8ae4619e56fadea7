//! What must not be written anywhere: every secret the configuration names, and `[redact]`.

use serde::{Deserialize, Serialize};
use toml::{Table, Value as Toml};

use luaplan_base::{Error, ErrorCode, Result};
use luaplan_catalog::regular_file::read_text;
use luaplan_journal::{SECRET_BYTES_MIN, SecretForms};

use super::Environment;

/// `[redact]`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawRedact {
    /// Regular expressions for further secrets; each is taken out wherever it fits.
    pub patterns: Vec<String>,
}

impl RawRedact {
    pub(super) fn check(&self) -> Result<SecretForms> {
        SecretForms::new("redact.patterns", &self.patterns)
    }
}

/// Refuses a secret that would be found in ordinary words.
///
/// # Errors
/// `secret_too_short`, which says nothing of the secret.
pub(super) fn long_enough(key: &str, secret: &str) -> Result<()> {
    if secret.len() >= SECRET_BYTES_MIN {
        return Ok(());
    }
    let message = format!("{key} names a secret of less than {SECRET_BYTES_MIN} bytes");
    Err(Error::new(ErrorCode::SecretTooShort, message).with_detail("key", key))
}

/// Checks the secrets that tools take from variables, as far as they are set.
pub(super) fn check_tool(name: &str, settings: &Table, environment: &Environment) -> Result<()> {
    let mut secrets = Vec::new();
    of_settings(&format!("tools.{name}"), settings, environment, &mut secrets);
    secrets.iter().try_for_each(|(key, secret)| key.as_ref().map_or(Ok(()), |key| long_enough(key, secret)))
}

/// Secrets of a tool's settings: variables named by `…_env` keys, with their keys, and passwords inside URLs.
type Found = Vec<(Option<String>, String)>;

pub(super) fn of_settings(place: &str, settings: &Table, environment: &Environment, found: &mut Found) {
    for (key, value) in settings {
        let place = format!("{place}.{key}");
        if let (true, Some(name)) = (key.ends_with("_env"), value.as_str()) {
            found.extend(environment.get(name).map(|secret| (Some(place.clone()), secret.to_owned())));
        }
        of_value(&place, value, environment, found);
    }
}

pub(super) fn of_value(place: &str, value: &Toml, environment: &Environment, found: &mut Found) {
    match value {
        Toml::Table(table) => of_settings(place, table, environment, found),
        Toml::Array(items) => items.iter().for_each(|item| of_value(place, item, environment, found)),
        Toml::String(text) => {
            let Ok(url) = url::Url::parse(text) else { return };
            if let Some(written) = url.password() {
                // The password as it is, where the URL had to escape it.
                let decoded = percent_encoding::percent_decode_str(written).decode_utf8_lossy();
                found.extend([(None, written.to_owned()), (None, decoded.into_owned())]);
            }
        }
        _ => {}
    }
}

/// The keys of a file as the service reads it; what is wrong with the file is said when the service starts.
pub(super) fn api_keys(path: &std::path::Path) -> Vec<String> {
    let text = read_text(path).unwrap_or_default();
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_whitespace().nth(1)).map(str::to_owned).collect()
}
