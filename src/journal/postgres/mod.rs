//! The journal in a PostgreSQL database, shared by every node that uses it.
//!
//! The same records, bytes and chain as in a SQLite file. Each process has one writer task, which commits its
//! queue in one transaction; reading uses separate connections that cannot write. Two tables beside the log
//! are not part of the record: the live nodes, and the owner of each run.
//!
//! **Never here:** what an event means, beyond the status it gives its run.

mod contexts;
mod errors;
mod leases;
mod read;
mod record_row;
mod runs;
mod schema;
mod session;
mod verify;
mod writer;

use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use secrecy::ExposeSecret as _;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::sync::{mpsc, oneshot};

use luaplan_base::{Error, ErrorCode, Result};

pub use self::contexts::PostgresContexts;
use self::errors::{journal_error, unavailable};
pub use self::leases::{Fence, Leases, RunLease};
pub use self::runs::{Alarm, OpenRun};
use self::session::WriterSession;
use self::writer::{Append, Settle, Writer, WriterCommand, closed};
use super::anchor;
use super::chain::{Head, Row};
use super::private_folder::create_private_folder;
use super::{ConflictGuard, Durability, Event, JournalWrite, PostgresSettings, Record, Settled};

/// Appends that may wait for the writer before `append` itself waits.
const QUEUE_LENGTH: usize = 1024;
const READERS_MAX: u32 = 4;
/// Connections for leases, one of them for notifications.
const LEASES_MAX: u32 = 3;
/// How long a step waits for a free connection, or for another node that holds the log's lock.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// The server ends a session that holds the log's lock and is idle for so long: its node has stalled.
const STALLED_AFTER: Duration = Duration::from_secs(3);

impl PostgresSettings {
    /// Checks that the address is one of PostgreSQL and that this build can use it.
    ///
    /// # Errors
    /// `config_invalid`.
    pub fn check(&self) -> Result<()> {
        options(self).map(drop)
    }
}

fn options(settings: &PostgresSettings) -> Result<PgConnectOptions> {
    let options = PgConnectOptions::from_str(settings.url.expose_secret()).map_err(|_| {
        Error::new(ErrorCode::ConfigInvalid, "journal.url is not the address of a PostgreSQL database")
            .with_help("write `postgres://USER:PASSWORD@HOST:PORT/DATABASE`")
            .with_detail("key", "journal.url")
    })?;
    Ok(options.application_name("luaplan").disable_statement_logging())
}

/// Creates the folder of the anchors: without an anchor, a truncated log would go undetected.
fn make_folder(folder: &Path) -> Result<()> {
    create_private_folder(folder).map_err(|error| {
        let message = format!("cannot make the data folder {}: {error}", folder.display());
        Error::new(ErrorCode::JournalUnavailable, message)
            .with_help("make the folder, or name another one in `data_dir`")
    })
}

/// A journal in a PostgreSQL database.
pub struct PostgresJournal {
    /// The address without its password.
    shown: Arc<str>,
    readers: PgPool,
    writers: Option<PgPool>,
    queue: Option<mpsc::Sender<WriterCommand>>,
    leases: Option<Arc<Leases>>,
    /// The path beside which this node's anchor names the newest record.
    anchor: Option<PathBuf>,
}

impl PostgresJournal {
    /// Opens the journal to read and write, and creates its tables where there are none. Needs a tokio runtime
    /// for its writer.
    ///
    /// # Errors
    /// `config_invalid` for a bad address; `journal_unavailable` where the database does not answer or may not
    /// be written; `journal_corrupt` where it ends before a record it is known to have held;
    /// `journal_newer_version`; `journal_disk_full`.
    pub async fn open(settings: &PostgresSettings) -> Result<Self> {
        let options = options(settings)?;
        let shown = shown(&options);
        let writing = with_schema(&options)
            .options([("idle_in_transaction_session_timeout", millis(STALLED_AFTER))])
            .options([("lock_timeout", millis(WAIT_MAX)), ("tcp_user_timeout", millis(WAIT_MAX))]);
        if let Some(folder) = &settings.anchors {
            make_folder(folder)?;
        }
        let mut connection = connect(&writing, &shown).await?;
        let id = schema::prepare(&mut connection, &shown).await?;
        let anchor = settings.anchors.as_ref().map(|folder| folder.join(format!("journal-{id}.db")));
        let newest = check_end(&mut connection, &shown, anchor.as_deref()).await?;
        let leasing = writing.clone().options([("synchronous_commit", "off")]);
        let leases = Leases::new(Arc::clone(&shown), pool(leasing, LEASES_MAX), settings.lease);
        let leases = Arc::new(leases);
        let (queue, commands) = mpsc::channel(QUEUE_LENGTH);
        let session = WriterSession::new(writing.clone(), connection, Arc::clone(&shown), newest);
        let writer = Writer { session, leases: Arc::clone(&leases), anchor: anchor.clone() };
        tokio::spawn(writer.run(commands));
        Ok(Self {
            readers: pool(reading(&options), READERS_MAX),
            writers: Some(pool(writing, 1)),
            queue: Some(queue),
            leases: Some(leases),
            anchor,
            shown,
        })
    }

    /// Opens the journal read-only; `None` where the database has none.
    ///
    /// # Errors
    /// `config_invalid`, `journal_unavailable` and `journal_newer_version`.
    pub async fn open_read_only(settings: &PostgresSettings) -> Result<Option<Self>> {
        let options = options(settings)?;
        let shown = shown(&options);
        let mut connection = connect(&reading(&options), &shown).await?;
        let found = schema::look(&mut connection, &shown).await;
        // A failed close would add nothing to the answer.
        let _ = connection.close().await;
        let Some(id) = found? else { return Ok(None) };
        Ok(Some(Self {
            readers: pool(reading(&options), READERS_MAX),
            writers: None,
            queue: None,
            leases: None,
            anchor: settings.anchors.as_ref().map(|folder| folder.join(format!("journal-{id}.db"))),
            shown,
        }))
    }

    /// The journal's address, without a password.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The named contexts kept in the same database.
    #[must_use]
    pub fn contexts(&self) -> PostgresContexts {
        PostgresContexts {
            shown: Arc::clone(&self.shown),
            readers: self.readers.clone(),
            writers: self.writers.clone(),
        }
    }

    /// The node's lease and its claims on runs.
    ///
    /// # Errors
    /// `journal_unavailable` where the journal is open read-only.
    pub fn leases(&self) -> Result<&Arc<Leases>> {
        self.leases.as_ref().ok_or_else(|| closed(&self.shown))
    }

    /// Writes the queue, ends this node's lease and closes all connections.
    pub async fn close(&self) {
        if let Some(queue) = &self.queue {
            let (done, wait) = oneshot::channel();
            if queue.send(WriterCommand::Close(done)).await.is_ok() {
                // A writer that has ended has nothing left to close.
                let _ = wait.await;
            }
        }
        if let Some(leases) = &self.leases {
            leases.end().await;
            leases.close().await;
        }
        if let Some(writers) = &self.writers {
            writers.close().await;
        }
        self.readers.close().await;
    }

    async fn send(&self, events: Vec<(Event, Durability)>, fence: Option<Fence>) -> Result<Vec<Record>> {
        let queue = self.queue.as_ref().ok_or_else(|| closed(&self.shown))?;
        let durability = events.iter().map(|(_, durability)| *durability).max();
        let rows = events.into_iter().map(|(event, _)| Row::of(event)).collect::<Result<_>>()?;
        let (reply, answer) = oneshot::channel();
        let durability = durability.unwrap_or(Durability::Ordered);
        queue
            .send(WriterCommand::Append(Append { rows, durability, fence, reply }))
            .await
            .map_err(|_| closed(&self.shown))?;
        answer.await.map_err(|_| closed(&self.shown))?
    }
}

#[async_trait]
impl JournalWrite for PostgresJournal {
    async fn append(&self, event: Event, durability: Durability) -> Result<Record> {
        self.append_all(vec![(event, durability)]).await?.pop().ok_or_else(|| closed(&self.shown))
    }

    async fn append_all(&self, events: Vec<(Event, Durability)>) -> Result<Vec<Record>> {
        self.send(events, None).await
    }

    async fn settle(&self, events: Vec<Event>, unless: ConflictGuard) -> Result<Settled> {
        let queue = self.queue.as_ref().ok_or_else(|| closed(&self.shown))?;
        let rows = events.into_iter().map(Row::of).collect::<Result<_>>()?;
        let (reply, answer) = oneshot::channel();
        let settle = Settle { rows, unless, reply };
        queue.send(WriterCommand::Settle(settle)).await.map_err(|_| closed(&self.shown))?;
        answer.await.map_err(|_| closed(&self.shown))?
    }
}

/// Writes the records of one run under its owner's fence.
pub struct FencedWriter {
    journal: Arc<PostgresJournal>,
    lease: Arc<RunLease>,
}

impl FencedWriter {
    /// A writer for the run of `lease`.
    #[must_use]
    pub fn new(journal: Arc<PostgresJournal>, lease: Arc<RunLease>) -> Self {
        Self { journal, lease }
    }
}

#[async_trait]
impl JournalWrite for FencedWriter {
    async fn append(&self, event: Event, durability: Durability) -> Result<Record> {
        let mut records = self.append_all(vec![(event, durability)]).await?;
        records.pop().ok_or_else(|| closed(&self.journal.shown))
    }

    async fn append_all(&self, events: Vec<(Event, Durability)>) -> Result<Vec<Record>> {
        self.journal.send(events, Some(self.lease.fence().clone())).await
    }

    async fn settle(&self, events: Vec<Event>, unless: ConflictGuard) -> Result<Settled> {
        self.journal.settle(events, unless).await
    }

    async fn check_fence(&self) -> Result<()> {
        self.lease.check_fence().await
    }

    async fn release_lease(&self) -> Result<()> {
        self.lease.release(false).await
    }
}

/// Refuses a log that has lost its end; else returns its newest record.
async fn check_end(connection: &mut PgConnection, shown: &str, anchor: Option<&Path>) -> Result<Head> {
    let failed = |error| journal_error(shown, error);
    let corrupt = |message: String| {
        Error::new(ErrorCode::JournalCorrupt, message).with_help(
            "keep a copy of the database as evidence and restore it from a backup; nothing was changed",
        )
    };
    let (sequence, hash): (i64, String) = sqlx::query_as("SELECT sequence, hash FROM head")
        .fetch_optional(&mut *connection)
        .await
        .map_err(failed)?
        .ok_or_else(|| corrupt(format!("the journal `{shown}` has lost its note of the newest record")))?;
    let mut known = vec![(sequence, hash.clone(), "its own note".to_owned())];
    if let Some(path) = anchor {
        let file = anchor::anchor_path(path);
        let noted = anchor::read(path)
            .map_err(|error| corrupt(format!("the anchor `{}` cannot be read: {error}", file.display())))?;
        if let Some(noted) = noted {
            let sequence = i64::try_from(noted.sequence).unwrap_or(i64::MAX);
            known.push((sequence, noted.hash, format!("the anchor `{}`", file.display())));
        }
    }
    for (sequence, hash, who) in known.into_iter().filter(|(sequence, ..)| *sequence > 0) {
        let found: Option<String> = sqlx::query_scalar("SELECT hash FROM records WHERE sequence = $1")
            .bind(sequence)
            .fetch_optional(&mut *connection)
            .await
            .map_err(failed)?;
        match found {
            Some(found) if found == hash => {}
            Some(_) => {
                return Err(corrupt(format!(
                    "record {sequence} of the journal `{shown}` is not the one {who} names"
                )));
            }
            None => {
                return Err(corrupt(format!(
                    "the journal `{shown}` has lost its end: {who} names record {sequence}, which is not there"
                )));
            }
        }
    }
    Ok(Head { sequence: sequence.unsigned_abs(), hash })
}

fn shown(options: &PgConnectOptions) -> Arc<str> {
    let database = options.get_database().unwrap_or(options.get_username());
    format!("postgres://{}:{}/{database}", options.get_host(), options.get_port()).into()
}

fn with_schema(options: &PgConnectOptions) -> PgConnectOptions {
    options.clone().options([("search_path", schema::SCHEMA)])
}

/// Options of connections on which every write fails.
fn reading(options: &PgConnectOptions) -> PgConnectOptions {
    with_schema(options).options([("default_transaction_read_only", "on")])
}

fn pool(options: PgConnectOptions, connections_max: u32) -> PgPool {
    PgPoolOptions::new().max_connections(connections_max).acquire_timeout(WAIT_MAX).connect_lazy_with(options)
}

async fn connect(options: &PgConnectOptions, shown: &str) -> Result<PgConnection> {
    match tokio::time::timeout(WAIT_MAX, options.connect()).await {
        Ok(connected) => connected.map_err(|error| journal_error(shown, error)),
        Err(_) => Err(unavailable(shown, "the server did not answer in time")),
    }
}

fn millis(time: Duration) -> String {
    time.as_millis().to_string()
}
