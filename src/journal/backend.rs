//! The configured journal.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;

use luaplan_base::{Result, RunId};

use super::{
    ConflictGuard, ContextStore, Durability, Event, JournalRead, JournalWrite, PostgresJournal,
    PostgresSettings, Record, RecordFilter, RunFilter, RunSummary, Settled, SqliteJournal, VerifyReport,
};

/// One of the stores.
pub enum Journal {
    /// A file on this machine.
    Sqlite(SqliteJournal),
    /// A database that several nodes share.
    Postgres(Arc<PostgresJournal>),
}

impl Journal {
    /// Opens the journal to read and write: in the database of `shared` where that is given, else at `path`.
    ///
    /// # Errors
    /// As [`SqliteJournal::open`] and [`PostgresJournal::open`].
    pub async fn open(path: &Path, shared: Option<&PostgresSettings>) -> Result<Self> {
        Ok(match shared {
            Some(settings) => Self::Postgres(Arc::new(PostgresJournal::open(settings).await?)),
            None => Self::Sqlite(SqliteJournal::open(path).await?),
        })
    }

    /// Its path or address, without a password.
    #[must_use]
    pub fn place(&self) -> String {
        match self {
            Self::Sqlite(journal) => journal.path().display().to_string(),
            Self::Postgres(journal) => journal.shown().to_owned(),
        }
    }

    /// The shared store, where it is one.
    #[must_use]
    pub fn shared(&self) -> Option<&Arc<PostgresJournal>> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(journal) => Some(journal),
        }
    }

    /// The named contexts kept in the same place.
    #[must_use]
    pub fn contexts(&self) -> Arc<dyn ContextStore> {
        match self {
            Self::Sqlite(journal) => Arc::new(journal.contexts()),
            Self::Postgres(journal) => Arc::new(journal.contexts()),
        }
    }

    /// Checks every record. Problems are in the report, not an error.
    ///
    /// # Errors
    /// As [`SqliteJournal::verify`] and [`PostgresJournal::verify`].
    pub async fn verify(&self) -> Result<VerifyReport> {
        match self {
            Self::Sqlite(journal) => journal.verify().await,
            Self::Postgres(journal) => journal.verify().await,
        }
    }

    /// Writes the queue and closes. Later appends fail.
    pub async fn close(&self) {
        match self {
            Self::Sqlite(journal) => journal.close().await,
            Self::Postgres(journal) => journal.close().await,
        }
    }

    fn reading(&self) -> &dyn JournalRead {
        match self {
            Self::Sqlite(journal) => journal,
            Self::Postgres(journal) => &**journal,
        }
    }

    fn writing(&self) -> &dyn JournalWrite {
        match self {
            Self::Sqlite(journal) => journal,
            Self::Postgres(journal) => &**journal,
        }
    }
}

#[async_trait]
impl JournalRead for Journal {
    async fn records(&self, filter: RecordFilter) -> Result<Vec<Record>> {
        self.reading().records(filter).await
    }

    async fn runs(&self, filter: RunFilter) -> Result<Vec<RunSummary>> {
        self.reading().runs(filter).await
    }

    async fn run_summary(&self, run_id: &RunId) -> Result<Option<RunSummary>> {
        self.reading().run_summary(run_id).await
    }
}

#[async_trait]
impl JournalWrite for Journal {
    async fn append(&self, event: Event, durability: Durability) -> Result<Record> {
        self.writing().append(event, durability).await
    }

    async fn append_all(&self, events: Vec<(Event, Durability)>) -> Result<Vec<Record>> {
        self.writing().append_all(events).await
    }

    async fn settle(&self, events: Vec<Event>, unless: ConflictGuard) -> Result<Settled> {
        self.writing().settle(events, unless).await
    }
}
