//! `[journal]`: a database that several nodes share.

use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use luaplan_base::{Error, ErrorCode, Result, parse_duration};
use luaplan_journal::PostgresSettings;

use super::Environment;
use super::values::{invalid, keyed};

/// The shortest lease: it is renewed three times within it.
const LEASE_MIN: Duration = Duration::from_secs(1);

/// `[journal]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawJournal {
    /// `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, or `env:NAME` for the variable that holds it. For
    /// `store = "postgres"`.
    pub url: String,
    /// How long a node keeps its runs without renewing its lease; then others take them over.
    pub lease: String,
    /// How many runs may wait for a node with room; further ones are refused with 429.
    pub queue_max: u32,
    /// What is kept of prompts and answers of models: `hash`, or `files` for whole texts in `data_dir`.
    pub model_bodies: String,
}

impl Default for RawJournal {
    fn default() -> Self {
        Self { url: String::new(), lease: "15s".into(), queue_max: 1000, model_bodies: "hash".into() }
    }
}

/// The database, where runs are kept in one.
///
/// # Errors
/// `config_invalid` for a store there is not, a database without an address or an address without a store
/// that wants one.
pub(super) fn check(
    store: &str,
    raw: &RawJournal,
    data_dir: &Path,
    environment: &Environment,
) -> Result<Option<PostgresSettings>> {
    let RawJournal { url, lease, .. } = raw;
    let lease = parse_duration(lease).map_err(|error| keyed("journal.lease", &error))?;
    if lease < LEASE_MIN {
        return Err(invalid("journal.lease", &raw.lease, "a second at least"));
    }
    match store {
        "sqlite" if url.is_empty() => Ok(None),
        "sqlite" => Err(invalid("store", "sqlite", "`postgres`, as `journal.url` names a database")),
        "postgres" if url.is_empty() => {
            Err(invalid("journal.url", "", "the address of a PostgreSQL database, as `store` is `postgres`"))
        }
        "postgres" => {
            let url = match url.strip_prefix("env:") {
                Some(name) => environment.secret(name).ok_or_else(|| {
                    let message = format!("journal.url is taken from ${name}, which is not set");
                    Error::new(ErrorCode::ConfigInvalid, message).with_detail("key", "journal.url")
                })?,
                None => SecretString::from(url.as_str()),
            };
            if !["postgres://", "postgresql://"].iter().any(|scheme| url.expose_secret().starts_with(scheme))
            {
                return Err(invalid("journal.url", "", "an address that begins with `postgres://`"));
            }
            let settings = PostgresSettings { url, lease, anchors: Some(data_dir.to_owned()) };
            settings.check()?;
            Ok(Some(settings))
        }
        other => Err(invalid("store", other, "`sqlite` or `postgres`")),
    }
}

/// The folder for whole prompts and answers of models, where they are wanted.
///
/// # Errors
/// `config_invalid` for another word than `hash` and `files`.
pub(super) fn model_bodies(raw: &RawJournal, data_dir: &Path) -> Result<Option<PathBuf>> {
    match raw.model_bodies.as_str() {
        "hash" => Ok(None),
        "files" => Ok(Some(data_dir.join("model-bodies"))),
        other => Err(invalid("journal.model_bodies", other, "`hash` or `files`")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LoadOptions, load};
    use super::*;

    fn checked(text: &str, variables: &[(&str, &str)]) -> Result<Option<PostgresSettings>> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("luaplan.toml"), text).unwrap();
        let environment = Environment {
            working_dir: folder.path().to_path_buf(),
            variables: variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            ..Environment::default()
        };
        let loaded = load(&environment, &LoadOptions::default())?;
        loaded.check(&environment).map(|config| config.journal)
    }

    #[test]
    fn a_database_is_used_where_store_and_address_agree() {
        assert!(checked("", &[]).unwrap().is_none());
        let url = "postgres://user1:pa55word@db.example.com/runs";
        let direct = format!("store = \"postgres\"\n[journal]\nurl = \"{url}\"\nlease = \"9s\"");
        let settings = checked(&direct, &[]).unwrap().unwrap();
        assert_eq!(settings.lease, Duration::from_secs(9));
        let named = "store = \"postgres\"\n[journal]\nurl = \"env:DB\"";
        assert!(checked(named, &[("DB", url)]).unwrap().is_some());
        for (text, word) in [
            (named, "$DB"),
            ("store = \"postgres\"", "journal.url"),
            ("[journal]\nurl = \"postgres://user1:pa55word@h/db\"", "store"),
            ("store = \"postgres\"\n[journal]\nurl = \"postgres://user1:pa55word@h:port/db\"", "journal.url"),
            ("store = \"postgres\"\n[journal]\nurl = \"mysql://user1:pa55word@h/db\"", "postgres://"),
            ("[journal]\nlease = \"10ms\"", "journal.lease"),
        ] {
            let error = checked(text, &[]).unwrap_err();
            assert_eq!(error.code(), ErrorCode::ConfigInvalid, "{text}");
            let told = format!("{error:?} {}", error.help());
            assert!(told.contains(word) && !told.contains("pa55word"), "{text}: {told}");
        }
    }
}
