//! Stands for the journal in PostgreSQL in a build without the feature `postgres`: it is never opened, and the other
//! types have no values.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value as Json;

use luaplan_base::{Error, ErrorCode, Result, RunId};

use super::{
    Actor, ConflictGuard, ContextStore, ContextVersion, Durability, Event, JournalRead, JournalWrite,
    KeyedRequest, NewContext, PostgresSettings, Record, RecordFilter, RequestKeys, RunFilter, RunSummary,
    SavedContext, Settled, VerifyReport,
};

/// A type without values. In a private field, it keeps the compiler from reporting code that uses the types around it
/// as unreachable.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Never {}

impl PostgresSettings {
    /// Checks that the address is one of PostgreSQL and that this build can use it.
    ///
    /// # Errors
    /// `config_invalid`.
    pub fn check(&self) -> Result<()> {
        Err(not_built())
    }
}

fn not_built() -> Error {
    Error::new(ErrorCode::ConfigInvalid, "this build of luaplan keeps no journal in PostgreSQL")
        .with_help("use `store = \"sqlite\"`, or a build with the feature `postgres`, as releases are")
        .with_detail("key", "store")
}

/// A journal in a PostgreSQL database.
pub struct PostgresJournal(Never);

impl PostgresJournal {
    /// Always fails.
    ///
    /// # Errors
    /// `config_invalid`.
    pub async fn open(_: &PostgresSettings) -> Result<Self> {
        Err(not_built())
    }

    /// Always fails.
    ///
    /// # Errors
    /// `config_invalid`.
    pub async fn open_read_only(_: &PostgresSettings) -> Result<Option<Self>> {
        Err(not_built())
    }

    /// The journal's address.
    #[must_use]
    pub fn shown(&self) -> &str {
        match self.0 {}
    }

    /// The named contexts kept in the same database.
    #[must_use]
    pub fn contexts(&self) -> PostgresContexts {
        match self.0 {}
    }

    /// The node's lease and its claims on runs.
    ///
    /// # Errors
    /// None.
    pub fn leases(&self) -> Result<&Arc<Leases>> {
        match self.0 {}
    }

    /// Checks every record.
    ///
    /// # Errors
    /// None.
    pub async fn verify(&self) -> Result<VerifyReport> {
        match self.0 {}
    }

    /// Closes it.
    pub async fn close(&self) {
        match self.0 {}
    }
}

#[async_trait]
impl JournalRead for PostgresJournal {
    async fn records(&self, _: RecordFilter) -> Result<Vec<Record>> {
        match self.0 {}
    }

    async fn runs(&self, _: RunFilter) -> Result<Vec<RunSummary>> {
        match self.0 {}
    }
}

#[async_trait]
impl JournalWrite for PostgresJournal {
    async fn append(&self, _: Event, _: Durability) -> Result<Record> {
        match self.0 {}
    }

    async fn settle(&self, _: Vec<Event>, _: ConflictGuard) -> Result<Settled> {
        match self.0 {}
    }
}

/// Writes the records of one run under its owner's fence.
pub struct FencedWriter(Never);

impl FencedWriter {
    /// A writer for the run of `lease`.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "as where there is a journal")]
    pub fn new(journal: Arc<PostgresJournal>, _: Arc<RunLease>) -> Self {
        match journal.0 {}
    }
}

#[async_trait]
impl JournalWrite for FencedWriter {
    async fn append(&self, _: Event, _: Durability) -> Result<Record> {
        match self.0 {}
    }

    async fn settle(&self, _: Vec<Event>, _: ConflictGuard) -> Result<Settled> {
        match self.0 {}
    }
}

/// The named contexts of a [`PostgresJournal`].
#[derive(Clone)]
pub struct PostgresContexts(Never);

#[async_trait]
impl ContextStore for PostgresContexts {
    async fn save(&self, _: NewContext) -> Result<ContextVersion> {
        match self.0 {}
    }

    async fn load(&self, _: &str, _: Option<u64>) -> Result<Option<SavedContext>> {
        match self.0 {}
    }

    async fn list(&self) -> Result<Vec<ContextVersion>> {
        match self.0 {}
    }
}

#[async_trait]
impl RequestKeys for PostgresContexts {
    async fn claim(&self, _: &KeyedRequest, _: Timestamp) -> Result<Option<KeyedRequest>> {
        match self.0 {}
    }

    async fn claim_again(&self, _: &KeyedRequest, _: Timestamp) -> Result<bool> {
        match self.0 {}
    }

    async fn answered(&self, _: &KeyedRequest, _: &Json) -> Result<()> {
        match self.0 {}
    }

    async fn release(&self, _: &KeyedRequest) -> Result<()> {
        match self.0 {}
    }
}

/// The node and the token of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence(Never);

/// This process's claim on a run.
pub struct RunLease(Never);

impl RunLease {
    /// Lets other nodes claim the run.
    ///
    /// # Errors
    /// None.
    pub async fn release(&self, _: bool) -> Result<()> {
        match self.0 {}
    }
}

/// A run that a node may claim, and whether its cancellation was requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRun {
    /// The run.
    pub run_id: RunId,
    /// Whether it is to be cancelled.
    pub cancel: bool,
    /// Who requested that.
    pub cancelled_by: Option<Actor>,
}

/// This node's lease and the runs it holds.
pub struct Leases(Never);

#[expect(clippy::missing_errors_doc, reason = "there is no value to call these on")]
#[expect(missing_docs, reason = "as where there is a journal")]
impl Leases {
    pub async fn node(self: &Arc<Self>) -> Result<Arc<str>> {
        match self.0 {}
    }

    pub async fn acquire(self: &Arc<Self>, _: &RunId) -> Result<RunLease> {
        match self.0 {}
    }

    pub async fn open_runs(self: &Arc<Self>, _: u32) -> Result<Vec<OpenRun>> {
        match self.0 {}
    }

    pub async fn waiting(&self) -> Result<u64> {
        match self.0 {}
    }

    pub async fn cancel_requested(&self, _: &RunId) -> Result<Option<Option<Actor>>> {
        match self.0 {}
    }

    pub async fn ask_to_cancel(&self, _: &RunId, _: Option<&Actor>) -> Result<bool> {
        match self.0 {}
    }

    pub async fn runs_to_cancel(&self) -> Result<Vec<(RunId, Option<Actor>)>> {
        match self.0 {}
    }

    pub async fn reopen(&self, _: &RunId) -> Result<()> {
        match self.0 {}
    }

    pub async fn alarm(&self) -> Result<Alarm> {
        match self.0 {}
    }
}

/// Notifications of new work.
pub struct Alarm(Never);

impl Alarm {
    /// Waits for the next notification.
    ///
    /// # Errors
    /// None.
    pub async fn rings(&mut self) -> Result<()> {
        match self.0 {}
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_shared_journal_is_refused_and_its_feature_named() {
        let url = "postgres://u:pa55word@h/d".into();
        let settings = PostgresSettings { url, lease: Duration::from_secs(9), anchors: None };
        let opened = super::super::Journal::open(Path::new("unused.db"), Some(&settings)).await;
        for error in [opened.err().unwrap(), settings.check().unwrap_err()] {
            assert_eq!(error.code(), ErrorCode::ConfigInvalid);
            assert!(error.help().contains("the feature `postgres`"), "{error:?}");
        }
        assert!(!Path::new("unused.db").exists());
    }
}
