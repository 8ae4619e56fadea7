//! The API keys of the service, as their file names them.

use std::path::Path;

use luaplan_base::{Error, ErrorCode, Result};
use luaplan_bus::LOCAL_TENANT;
use luaplan_catalog::regular_file::read_text;

use super::{Caller, Scopes};

/// A key shorter than this could be guessed.
const KEY_CHARACTERS_MIN: usize = 20;

/// The configured keys, hashed: comparing hashes takes the same time for every key.
#[derive(Default)]
pub struct ApiKeys(Vec<ApiKey>);

struct ApiKey {
    caller: Caller,
    hash: blake3::Hash,
    /// Its line in the file, from 1.
    line: usize,
}

impl ApiKeys {
    /// Reads `NAME KEY [tenant=T] [scopes=A,B]` lines; empty lines and lines that begin with `#` are passed over.
    ///
    /// # Errors
    /// `config_unreadable`, or `config_invalid` with file and line.
    pub fn from_file(path: &Path) -> Result<Self> {
        let text = read_text(path).map_err(|error| {
            Error::new(
                ErrorCode::ConfigUnreadable,
                format!("server.api_keys_file {}: {error}", path.display()),
            )
        })?;
        let mut keys: Vec<ApiKey> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let place = format!("{}, line {}", path.display(), index + 1);
            let (name, key) = line.split_once(char::is_whitespace).ok_or_else(|| {
                Error::new(ErrorCode::ConfigInvalid, format!("{place}: expected a name, a space and a key"))
                    .with_help("a line is `NAME KEY tenant=NAME scopes=A,B`; the last two may be left out")
            })?;
            let mut words = key.split_whitespace();
            let key = words.next().unwrap_or_default();
            let caller = caller(name, words).map_err(|error| placed(&error, &place))?;
            if name == LOCAL_TENANT {
                let message = format!(
                    "{place}: `{LOCAL_TENANT}` is whoever uses the command line; name the key otherwise"
                );
                return Err(Error::new(ErrorCode::ConfigInvalid, message));
            }
            if key.len() < KEY_CHARACTERS_MIN {
                return Err(Error::new(ErrorCode::ConfigInvalid, format!("{place}: the key is too short"))
                    .with_help(format!(
                        "a key has at least {KEY_CHARACTERS_MIN} characters; `openssl rand -hex 24` makes one"
                    ))
                    .with_limit(KEY_CHARACTERS_MIN, key.len()));
            }
            if let Some(known) = keys.iter().find(|known| known.caller.name() == name) {
                let message =
                    format!("{place}: there is a key named `{name}` already, on line {}", known.line);
                return Err(Error::new(ErrorCode::ConfigInvalid, message));
            }
            let hash = blake3::hash(key.as_bytes());
            // A caller that shows it would be the first of them, with the first one's tenant and scopes.
            if let Some(known) = keys.iter().find(|known| known.hash == hash) {
                let message = format!("{place}: `{name}` has the same key as the one on line {}", known.line);
                return Err(Error::new(ErrorCode::ConfigInvalid, message)
                    .with_help("write a key of its own on one of the two lines"));
            }
            keys.push(ApiKey { caller, hash, line: index + 1 });
        }
        if keys.is_empty() {
            return Err(Error::new(ErrorCode::ConfigInvalid, format!("{} holds no key", path.display())));
        }
        Ok(Self(keys))
    }

    /// Whether there is no key, as where no file is configured.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many keys there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the keys are of more than one tenant.
    #[must_use]
    pub fn has_several_tenants(&self) -> bool {
        let mut tenants = self.0.iter().map(|key| key.caller.tenant());
        let first = tenants.next();
        tenants.any(|tenant| Some(tenant) != first)
    }

    /// Who shows this key.
    #[must_use]
    pub fn caller_of(&self, key: &str) -> Option<&Caller> {
        let hash = blake3::hash(key.as_bytes());
        self.0.iter().find(|known| known.hash == hash).map(|known| &known.caller)
    }

    /// The names of all keys.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|key| key.caller.name())
    }
}

/// The caller of a line, from what stands behind its key.
fn caller<'l>(name: &str, attributes: impl Iterator<Item = &'l str>) -> Result<Caller> {
    let (mut tenant, mut scopes) = (None, None);
    for attribute in attributes {
        let invalid = |what: String| {
            Err(Error::new(ErrorCode::ConfigInvalid, what)
                .with_help("a line is `NAME KEY tenant=NAME scopes=A,B`; the last two may be left out"))
        };
        match attribute.split_once('=') {
            Some(("tenant", _)) if tenant.is_some() => return invalid("`tenant` is there twice".to_owned()),
            Some(("scopes", _)) if scopes.is_some() => return invalid("`scopes` is there twice".to_owned()),
            Some(("tenant", "" | LOCAL_TENANT)) => {
                return invalid(format!(
                    "a key has a tenant of its own, and `{LOCAL_TENANT}` is the command line's"
                ));
            }
            Some(("tenant", named)) => tenant = Some(named),
            Some(("scopes", named)) => scopes = Some(named.parse::<Scopes>()?),
            _ => return invalid(format!("`{attribute}` is neither `tenant=NAME` nor `scopes=A,B`")),
        }
    }
    Ok(Caller::key(name, tenant.unwrap_or(name), scopes.unwrap_or_default()))
}

fn placed(error: &Error, place: &str) -> Error {
    Error::new(error.code(), format!("{place}: {}", error.message())).with_help(error.help().to_owned())
}
