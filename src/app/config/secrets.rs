//! `[secrets]`: where each is taken from.

use std::path::Path;

use secrecy::{ExposeSecret as _, SecretString};

use luaplan_base::Result;
use luaplan_catalog::regular_file::read_text;
use luaplan_tools::manifest::{NamedSecret, NamedSecrets};

use super::redact::long_enough;
use super::values::invalid;
use super::{Environment, RawConfig};

/// Takes every secret from its variable or file. One that is not there is no fault: the tools that
/// need it say so when they are called.
///
/// # Errors
/// `config_invalid` for a secret that names neither a variable nor a file, or both; `secret_too_short`.
pub(super) fn check(raw: &RawConfig, environment: &Environment) -> Result<NamedSecrets> {
    let secrets = raw.secrets.iter().map(|(name, raw)| {
        let value = match (&raw.env, &raw.file) {
            (Some(variable), None) => from_variable(name, variable, environment),
            (None, Some(file)) => from_file(name, &environment.working_dir.join(file)),
            _ => {
                let seen =
                    if raw.env.is_some() { "both `env` and `file`" } else { "neither `env` nor `file`" };
                return Err(invalid(&format!("secrets.{name}"), seen, "one of `env` and `file`"));
            }
        };
        if let Ok(secret) = &value {
            long_enough(&format!("secrets.{name}"), secret.expose_secret())?;
        }
        Ok((name.clone(), NamedSecret { value, tools: raw.tools.clone() }))
    });
    secrets.collect()
}

fn from_variable(name: &str, variable: &str, environment: &Environment) -> Result<SecretString, String> {
    environment
        .secret(variable)
        .ok_or_else(|| format!("the secret `{name}` is taken from ${variable}, which is not set: set it"))
}

fn from_file(name: &str, path: &Path) -> Result<SecretString, String> {
    let text = read_text(path).map_err(|error| {
        format!("the secret `{name}` is taken from {}, which cannot be read: {error}", path.display())
    })?;
    let secret = text.strip_suffix('\n').unwrap_or(&text);
    let secret = secret.strip_suffix('\r').unwrap_or(secret);
    if secret.is_empty() {
        return Err(format!("the secret `{name}` is taken from {}, which is empty", path.display()));
    }
    Ok(SecretString::from(secret))
}
