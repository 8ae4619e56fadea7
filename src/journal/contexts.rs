//! Named contexts: data that a run saves for later runs. Versions are kept and never change.

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::Serialize;

use luaplan_base::{ContentHash, Error, ErrorCode, Result, RunId, Value};

/// The longest name of a context, in characters.
const NAME_LENGTH_MAX: usize = 64;

/// One version of a named context to be saved.
#[derive(Debug, Clone)]
pub struct NewContext {
    /// The name, `[A-Za-z0-9._-]{1,64}`.
    pub name: String,
    /// The context.
    pub context: Value,
    /// The run that saves it.
    pub run_id: Option<RunId>,
    /// When.
    pub at: Timestamp,
    /// Save only if this is still the newest version; 0 if there must be none yet.
    pub expected_version: Option<u64>,
}

/// One saved version, without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContextVersion {
    /// The name.
    pub name: String,
    /// Counted from 1.
    pub version: u64,
    /// Hash of the stored bytes.
    pub hash: ContentHash,
    /// Size of the stored bytes.
    pub size_bytes: u64,
    /// When it was saved.
    pub at: Timestamp,
    /// The run that saved it.
    pub run_id: Option<RunId>,
}

/// One saved version.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedContext {
    /// Its name, version, hash, size, time and run.
    pub info: ContextVersion,
    /// The context.
    pub context: Value,
}

/// Keeps named contexts.
#[async_trait]
pub trait ContextStore: Send + Sync {
    /// Saves a new version and returns its metadata.
    ///
    /// # Errors
    /// `bad_request` for a bad name, `context_conflict` where `expected_version` is not the newest,
    /// and the store's own `journal_…` codes.
    async fn save(&self, new: NewContext) -> Result<ContextVersion>;

    /// The requested version, or the newest; `None` where there is none.
    ///
    /// # Errors
    /// `bad_request` for a bad name, `journal_unavailable`, or `journal_corrupt` where the stored
    /// bytes do not match their hash.
    async fn load(&self, name: &str, version: Option<u64>) -> Result<Option<SavedContext>>;

    /// The newest version of every context, by name.
    ///
    /// # Errors
    /// `journal_unavailable` or `journal_corrupt`.
    async fn list(&self) -> Result<Vec<ContextVersion>>;
}

/// Refuses a name that is not `[A-Za-z0-9._-]{1,64}`.
///
/// # Errors
/// `bad_request`.
pub fn check_context_name(name: &str) -> Result<()> {
    let fits = (1..=NAME_LENGTH_MAX).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    if fits {
        return Ok(());
    }
    Err(Error::new(ErrorCode::BadRequest, format!("{name:?} is not a name for a context"))
        .with_help("a name has 1 to 64 letters, digits, dots, underscores and hyphens"))
}

/// The stored name of a tenant's context `name`. Contexts of the command line, and those older than tenants, have
/// bare names.
#[must_use]
pub fn context_of_tenant(tenant: &str, name: &str) -> String {
    if tenant == "local" { name.to_owned() } else { format!("{tenant}/{name}") }
}

/// Refuses a name that [`context_of_tenant`] cannot make. No context name has a slash, so the last slash ends the tenant.
pub(super) fn check_stored_name(name: &str) -> Result<()> {
    check_context_name(name.rsplit_once('/').map_or(name, |(_, name)| name))
}

/// The error for a save that lost to another.
pub(super) fn conflict(name: &str, expected: u64, newest: u64) -> Error {
    Error::new(
        ErrorCode::ContextConflict,
        format!("the context `{name}` is at version {newest}, not {expected}; nothing was saved"),
    )
    .with_detail("expected_version", expected)
    .with_detail("newest_version", newest)
}

/// Keeps contexts in memory: for plan tests, replays and trials of candidates.
#[derive(Debug, Default)]
pub struct MemoryContexts(Mutex<BTreeMap<String, Vec<SavedContext>>>);

impl MemoryContexts {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Vec<SavedContext>>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[async_trait]
impl ContextStore for MemoryContexts {
    async fn save(&self, new: NewContext) -> Result<ContextVersion> {
        check_stored_name(&new.name)?;
        let body = new.context.to_exact_json().to_string();
        let mut contexts = self.lock();
        let newest = contexts.get(&new.name).map_or(0, |versions| versions.len() as u64);
        if let Some(expected) = new.expected_version.filter(|expected| *expected != newest) {
            return Err(conflict(&new.name, expected, newest));
        }
        let info = ContextVersion {
            name: new.name.clone(),
            version: newest + 1,
            hash: ContentHash::of(body.as_bytes()),
            size_bytes: body.len() as u64,
            at: new.at,
            run_id: new.run_id,
        };
        let saved = SavedContext { info: info.clone(), context: new.context };
        contexts.entry(new.name).or_default().push(saved);
        Ok(info)
    }

    async fn load(&self, name: &str, version: Option<u64>) -> Result<Option<SavedContext>> {
        check_stored_name(name)?;
        let contexts = self.lock();
        let Some(versions) = contexts.get(name) else { return Ok(None) };
        let wanted = version
            .map_or(versions.last(), |version| versions.iter().find(|saved| saved.info.version == version));
        Ok(wanted.cloned())
    }

    async fn list(&self) -> Result<Vec<ContextVersion>> {
        Ok(self.lock().values().filter_map(|versions| Some(versions.last()?.info.clone())).collect())
    }
}
