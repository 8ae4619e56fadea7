//! The journal in one SQLite file, shared by every process that uses the same data folder.
//!
//! Each process has one writer task, which commits its queue in one transaction. The transaction
//! holds SQLite's write lock and reads the head of the chain inside it, so processes take
//! turns and there is one chain. Reading uses separate connections that cannot write.
//!
//! **Never here:** what an event means.

mod contexts;
mod errors;
mod identity;
mod read;
mod record_row;
mod schema;
mod verify;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePool, SqlitePoolOptions};
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::sync::{mpsc, oneshot};

use luaplan_base::{Error, ErrorCode, Result};

pub use self::contexts::SqliteContexts;
use self::writer::{Writer, WriterCommand};
use super::chain::Row;
use super::private_folder::create_private_folder;
use super::{ConflictGuard, Durability, Event, GENESIS_HASH, JournalWrite, Record, Settled, anchor};

/// How long a process waits for another process's write.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Appends that may wait for the writer before `append` itself waits.
const QUEUE_LENGTH: usize = 1024;
const READERS_MAX: u32 = 4;

/// Rows that a connection's thread reads ahead: each wait of the reader costs a wake-up.
const ROWS_AHEAD: usize = 500;

/// A journal in a SQLite file.
pub struct SqliteJournal {
    path: Arc<Path>,
    readers: SqlitePool,
    context_writer: Option<SqlitePool>,
    queue: Option<mpsc::Sender<WriterCommand>>,
}

impl SqliteJournal {
    /// Opens the journal at `path` to read and write, and creates it (readable for this user only,
    /// with its folders) where there is none. Needs a tokio runtime for its writer.
    ///
    /// # Errors
    /// `journal_unavailable` where file or folder may not be written; `journal_corrupt` where the
    /// file is something else, or ends before a record it is known to have held; `journal_newer_version`;
    /// `journal_disk_full`. The file is left as it was.
    pub async fn open(path: &Path) -> Result<Self> {
        create_private(path)?;
        let options = options(path);
        let mut connection = connect(&for_writing(options.clone()), path).await?;
        let ready = async {
            schema::prepare(&mut connection, path).await?;
            check_anchor(&mut connection, path).await
        };
        if let Err(error) = ready.await {
            // A failed close would add nothing to the refusal.
            let _ = connection.close().await;
            return Err(error);
        }
        let (queue, commands) = mpsc::channel(QUEUE_LENGTH);
        let path: Arc<Path> = path.into();
        tokio::spawn(Writer::new(connection, Arc::clone(&path)).run(commands));
        Ok(Self {
            readers: pool(options.clone().read_only(true), READERS_MAX),
            context_writer: Some(pool(options, 1)),
            queue: Some(queue),
            path,
        })
    }

    /// Opens the journal at `path` read-only, also in a folder that cannot be written.
    ///
    /// # Errors
    /// `journal_unavailable` where there is none or it cannot be read, `journal_corrupt` where the
    /// file is something else, and `journal_newer_version`.
    pub async fn open_read_only(path: &Path) -> Result<Self> {
        if !path.is_file() {
            return Err(Error::new(
                ErrorCode::JournalUnavailable,
                format!("there is no journal at `{}`", path.display()),
            )
            .with_help("check `data_dir`; the first run makes the journal"));
        }
        let options = options(path).read_only(true);
        let looked = look(&options, path).await;
        let options = match looked {
            // No process can write there, so without a write-ahead log the file is complete.
            Err(OpenError::Unwritable(_)) if !wal_path(path).exists() => {
                let frozen = options.immutable(true);
                look(&frozen, path).await.map_err(OpenError::into_error)?;
                frozen
            }
            other => {
                other.map_err(OpenError::into_error)?;
                options
            }
        };
        Ok(Self { path: path.into(), readers: pool(options, READERS_MAX), context_writer: None, queue: None })
    }

    /// The journal's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The named contexts kept in the same file.
    #[must_use]
    pub fn contexts(&self) -> SqliteContexts {
        SqliteContexts::new(Arc::clone(&self.path), self.readers.clone(), self.context_writer.clone())
    }

    /// Writes the queue and closes the file. Later appends fail.
    pub async fn close(&self) {
        // The writer closes last: the last connection checkpoints the write-ahead log, and a reader
        // could not.
        self.readers.close().await;
        if let Some(pool) = &self.context_writer {
            pool.close().await;
        }
        if let Some(queue) = &self.queue {
            let (done, wait) = oneshot::channel();
            if queue.send(WriterCommand::Close(done)).await.is_ok() {
                // A writer that has ended has nothing left to close.
                let _ = wait.await;
            }
        }
    }

    fn closed(&self) -> Error {
        Error::new(
            ErrorCode::JournalUnavailable,
            format!("the journal `{}` is closed, or open only to read", self.path.display()),
        )
    }
}

#[async_trait]
impl JournalWrite for SqliteJournal {
    async fn append(&self, event: Event, durability: Durability) -> Result<Record> {
        self.append_all(vec![(event, durability)]).await?.pop().ok_or_else(|| self.closed())
    }

    async fn append_all(&self, events: Vec<(Event, Durability)>) -> Result<Vec<Record>> {
        let queue = self.queue.as_ref().ok_or_else(|| self.closed())?;
        let durability = events.iter().map(|(_, durability)| *durability).max();
        let rows = events.into_iter().map(|(event, _)| Row::of(event)).collect::<Result<_>>()?;
        let (reply, answer) = oneshot::channel();
        let durability = durability.unwrap_or(Durability::Ordered);
        queue
            .send(WriterCommand::Append(writer::Append { rows, durability, reply }))
            .await
            .map_err(|_| self.closed())?;
        answer.await.map_err(|_| self.closed())?
    }

    async fn settle(&self, events: Vec<Event>, unless: ConflictGuard) -> Result<Settled> {
        let queue = self.queue.as_ref().ok_or_else(|| self.closed())?;
        let rows = events.into_iter().map(Row::of).collect::<Result<_>>()?;
        let (reply, answer) = oneshot::channel();
        let settle = writer::Settle { rows, unless, reply };
        queue.send(WriterCommand::Settle(settle)).await.map_err(|_| self.closed())?;
        answer.await.map_err(|_| self.closed())?
    }
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(BUSY_TIMEOUT)
        // macOS needs it to reach the disk; elsewhere it has no effect.
        .pragma("fullfsync", "ON")
        .thread_name(|id| format!("luaplan-journal-{id}"))
        .disable_statement_logging()
}

/// Statement journals stay in memory: one statement inserts many rows. The write-ahead log is checkpointed
/// each 16 MiB, so that pages written often are copied once.
fn for_writing(options: SqliteConnectOptions) -> SqliteConnectOptions {
    const FOLDED_IN_AFTER_PAGES: &str = "4000";
    options.pragma("temp_store", "MEMORY").pragma("wal_autocheckpoint", FOLDED_IN_AFTER_PAGES)
}

fn pool(options: SqliteConnectOptions, connections_max: u32) -> SqlitePool {
    let options = options.row_buffer_size(ROWS_AHEAD);
    SqlitePoolOptions::new().max_connections(connections_max).connect_lazy_with(options)
}

async fn connect(options: &SqliteConnectOptions, path: &Path) -> Result<SqliteConnection> {
    options.connect().await.map_err(|error| errors::journal_error(path, error))
}

enum OpenError {
    Unwritable(Error),
    Other(Error),
}

impl OpenError {
    fn into_error(self) -> Error {
        match self {
            Self::Unwritable(error) | Self::Other(error) => error,
        }
    }
}

async fn look(options: &SqliteConnectOptions, path: &Path) -> Result<(), OpenError> {
    let refuse = |error: sqlx::Error| {
        let unwritable = errors::is_unwritable(&error);
        let error = errors::journal_error(path, error);
        if unwritable { OpenError::Unwritable(error) } else { OpenError::Other(error) }
    };
    let mut connection = options.connect().await.map_err(refuse)?;
    // The first read is where SQLite opens the write-ahead log.
    sqlx::query("SELECT count(*) FROM sqlite_schema").fetch_one(&mut connection).await.map_err(refuse)?;
    let found = schema::look(&mut connection, path).await.map_err(OpenError::Other)?;
    connection.close().await.map_err(refuse)?;
    match found {
        schema::FileContent::Journal => Ok(()),
        schema::FileContent::Empty => Err(OpenError::Other(Error::new(
            ErrorCode::JournalCorrupt,
            format!("`{}` is empty: it is not a journal", path.display()),
        ))),
    }
}

fn wal_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// Creates folders and file where they are missing, for this user only. SQLite gives its companion
/// files the same mode.
fn create_private(path: &Path) -> Result<()> {
    let refuse = |error| errors::file_error(path, error);
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        create_private_folder(folder).map_err(refuse)?;
    }
    anchor::open_private(path).map(drop).map_err(refuse)
}

/// Refuses to append to a log that has lost its end: that would overwrite the evidence.
async fn check_anchor(connection: &mut SqliteConnection, path: &Path) -> Result<()> {
    let anchor_file = anchor::anchor_path(path);
    let corrupt = |message: String| {
        Error::new(ErrorCode::JournalCorrupt, message).with_help(format!(
            "keep `{}` and `{}` as evidence and restore the log from a backup, or move both away and start a \
             new one; nothing was changed",
            path.display(),
            anchor_file.display()
        ))
    };
    let anchor = anchor::read(path).map_err(|error| {
        corrupt(format!("the anchor `{}` cannot be read: {error}", anchor_file.display())).with_source(error)
    })?;
    let failed = |error| errors::journal_error(path, error);
    let Some(anchor) = anchor else {
        let (records,): (i64,) = sqlx::query_as("SELECT count(*) FROM (SELECT 1 FROM records LIMIT 1)")
            .fetch_one(connection)
            .await
            .map_err(failed)?;
        if records != 0 {
            tracing::warn!(path = %anchor_file.display(), "the journal's anchor is missing; a new one is begun");
            return Ok(());
        }
        let start = anchor::Anchor { sequence: 0, hash: GENESIS_HASH.to_owned() };
        return anchor::advance(path, &start).map_err(|error| errors::file_error(&anchor_file, error));
    };
    if anchor.sequence == 0 {
        return Ok(());
    }
    let sequence = i64::try_from(anchor.sequence).unwrap_or(i64::MAX);
    let found: Option<(String,)> = sqlx::query_as("SELECT hash FROM records WHERE sequence = ?")
        .bind(sequence)
        .fetch_optional(connection)
        .await
        .map_err(failed)?;
    match found {
        Some((hash,)) if hash == anchor.hash => Ok(()),
        Some(_) => Err(corrupt(format!(
            "record {sequence} of the journal `{}` is not the one its anchor names",
            path.display()
        ))),
        None => Err(corrupt(format!(
            "the journal `{}` has lost its end: record {sequence} was written and is not there",
            path.display()
        ))),
    }
}

#[cfg(test)]
mod tests;
