//! Bearer API keys (RFC 6750).

use std::path::Path;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::origin;
use super::problem::Problem;
use super::state::ApiState;
use crate::app::{Caller, Scopes};
use crate::base::{Error, ErrorCode, Result};
use crate::bus::LOCAL_TENANT;

/// A key shorter than this could be guessed.
const KEY_CHARACTERS_MIN: usize = 20;

/// The configured keys, hashed: comparing hashes takes the same time for every key.
#[derive(Default)]
pub(super) struct ApiKeys(Vec<(Caller, blake3::Hash)>);

impl ApiKeys {
    /// Reads `NAME KEY [tenant=T] [scopes=A,B]` lines; empty lines and lines that begin with `#` are passed over.
    pub(super) fn from_file(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Error::new(
                ErrorCode::ConfigUnreadable,
                format!("server.api_keys_file {}: {error}", path.display()),
            )
        })?;
        let mut keys = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let place = format!("{}, line {}", path.display(), index + 1);
            let (name, key) = line.split_once(char::is_whitespace).ok_or_else(|| {
                Error::new(ErrorCode::ConfigInvalid, format!("{place}: expected a name, a space and a key"))
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
                    .with_limit(KEY_CHARACTERS_MIN, key.len()));
            }
            if keys.iter().any(|(known, _): &(Caller, _)| known.name() == name) {
                let message = format!("{place}: there is a key named `{name}` already");
                return Err(Error::new(ErrorCode::ConfigInvalid, message));
            }
            keys.push((caller, blake3::hash(key.as_bytes())));
        }
        if keys.is_empty() {
            return Err(Error::new(ErrorCode::ConfigInvalid, format!("{} holds no key", path.display())));
        }
        Ok(Self(keys))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn caller_of(&self, key: &str) -> Option<&Caller> {
        let hash = blake3::hash(key.as_bytes());
        self.0.iter().find(|(_, known)| *known == hash).map(|(caller, _)| caller)
    }
}

/// The caller of a line, from what stands behind its key.
fn caller<'l>(name: &str, attributes: impl Iterator<Item = &'l str>) -> Result<Caller> {
    let (mut tenant, mut scopes) = (None, None);
    for attribute in attributes {
        let invalid = |what: String| Err(Error::new(ErrorCode::ConfigInvalid, what));
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

/// Lets a request pass that shows a configured key; where there are none, one that comes from this
/// machine and from no web page of another site.
pub(super) async fn require_key(
    State(state): State<Arc<ApiState>>,
    mut request: Request,
    next: Next,
) -> Response {
    if state.keys.is_empty() {
        return match origin::check(&request) {
            Ok(()) => {
                request.extensions_mut().insert(Caller::local());
                next.run(request).await
            }
            Err(error) => Problem(error).into_response(),
        };
    }
    let shown = request
        .headers()
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .and_then(|(_, key)| state.keys.caller_of(key.trim()));
    match shown {
        Some(caller) => {
            tracing::Span::current().record("api_key", caller.name());
            request.extensions_mut().insert(caller.clone());
            next.run(request).await
        }
        None => Problem(Error::new(ErrorCode::Unauthorized, "the request carries no valid API key"))
            .into_response(),
    }
}
