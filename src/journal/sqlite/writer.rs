//! The one task of a process that writes.

use std::path::Path;
use std::sync::Arc;

use sqlx::query::Query;
use sqlx::sqlite::{Sqlite, SqliteArguments, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Row as _};
use tokio::sync::{mpsc, oneshot};

use super::anchor::{self, Anchor};
use super::errors::{journal_error, newer};
use super::read::stored_time;
use crate::base::{Error, Result};
use crate::journal::{Durability, Event, GENESIS_HASH, RECORD_VERSION, Record, record_hash};

/// The most appends in one transaction.
const BATCH_MAX: usize = 256;

/// Rows of the insert statements, longest first: few enough to keep them all prepared.
const INSERT_ROWS: [usize; 3] = [32, 8, 1];

const BEGIN: &str =
    "BEGIN IMMEDIATE; SELECT sequence, version, hash FROM records ORDER BY sequence DESC LIMIT 1";

/// What the writer is asked.
pub(super) enum Command {
    Append(Box<Append>),
    /// Write what is waiting, close the file, answer.
    Close(oneshot::Sender<()>),
}

/// One event on its way into the log.
pub(super) struct Append {
    pub(super) event: Event,
    /// The event as it will be stored.
    pub(super) body: String,
    pub(super) durability: Durability,
    pub(super) reply: oneshot::Sender<Result<Record>>,
}

pub(super) struct Writer {
    connection: SqliteConnection,
    path: Arc<Path>,
    inserts: Vec<Insert>,
    /// What `PRAGMA synchronous` was last set to; nothing until it was.
    durability: Option<Durability>,
}

/// An insert of so many rows: alone, and with the end of the transaction in the same step.
struct Insert {
    rows: usize,
    sql: Arc<str>,
    last_sql: Arc<str>,
}

/// The newest record of the log.
struct Head {
    sequence: u64,
    hash: String,
}

/// An append with its place in the chain.
struct Placed {
    sequence: u64,
    previous_hash: String,
    hash: String,
    append: Append,
}

impl Writer {
    pub(super) fn new(connection: SqliteConnection, path: Arc<Path>) -> Self {
        let inserts = INSERT_ROWS.into_iter().map(Insert::new).collect();
        Self { connection, path, inserts, durability: None }
    }

    pub(super) async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        let mut waiting = Vec::with_capacity(BATCH_MAX);
        let mut closers = Vec::new();
        while commands.recv_many(&mut waiting, BATCH_MAX).await != 0 {
            let mut batch = Vec::with_capacity(waiting.len());
            for command in waiting.drain(..) {
                match command {
                    Command::Append(append) => batch.push(*append),
                    Command::Close(done) => {
                        // Nothing new comes in; what is in the queue is still received.
                        commands.close();
                        closers.push(done);
                    }
                }
            }
            if !batch.is_empty() {
                self.write(batch).await;
            }
        }
        if let Err(error) = self.connection.close().await {
            tracing::warn!(%error, "the journal could not be closed cleanly");
        }
        for done in closers {
            // Whoever asked may have stopped waiting.
            let _ = done.send(());
        }
    }

    async fn write(&mut self, batch: Vec<Append>) {
        let durability = batch.iter().map(|append| append.durability).max().unwrap_or(Durability::Ordered);
        let written = match self.begin(durability).await {
            Ok(head) => {
                let placed = place(head, batch);
                match self.insert(&placed).await {
                    Ok(()) => Ok(placed),
                    Err(error) => Err((error, placed.into_iter().map(|placed| placed.append).collect())),
                }
            }
            Err(error) => Err((error, batch)),
        };
        match written {
            Ok(placed) => {
                if durability == Durability::Forced {
                    self.move_anchor(&placed).await;
                }
                placed.into_iter().for_each(Placed::reply);
            }
            Err((error, batch)) => {
                // SQLite may have rolled back by itself already.
                let _ = self.connection.execute("ROLLBACK").await;
                reply_all(batch, &error);
            }
        }
    }

    /// Takes the write lock and reads the head of the chain under it.
    async fn begin(&mut self, durability: Durability) -> Result<Head> {
        let path = Arc::clone(&self.path);
        let failed = |error| journal_error(&path, error);
        if self.durability != Some(durability) {
            // SQLite sets this while it prepares the statement, so it must not be a kept one.
            let sql = match durability {
                Durability::Forced => "PRAGMA synchronous = FULL",
                Durability::Ordered => "PRAGMA synchronous = NORMAL",
            };
            sqlx::query(sql).persistent(false).execute(&mut self.connection).await.map_err(failed)?;
            self.durability = Some(durability);
        }
        let Some(row) = sqlx::query(BEGIN).fetch_optional(&mut self.connection).await.map_err(failed)? else {
            return Ok(Head { sequence: 0, hash: GENESIS_HASH.to_owned() });
        };
        let version: i64 = row.try_get(1).map_err(failed)?;
        if version > i64::from(RECORD_VERSION) {
            return Err(newer(&path, "record", i64::from(RECORD_VERSION), version));
        }
        let sequence: i64 = row.try_get(0).map_err(failed)?;
        Ok(Head { sequence: sequence.unsigned_abs(), hash: row.try_get(2).map_err(failed)? })
    }

    async fn insert(&mut self, placed: &[Placed]) -> Result<()> {
        let mut rest = placed;
        while let Some(insert) = self.inserts.iter().find(|insert| insert.rows <= rest.len()) {
            let (now, later) = rest.split_at(insert.rows);
            rest = later;
            let sql = if rest.is_empty() { &insert.last_sql } else { &insert.sql };
            // The text is made of constants and question marks.
            let mut query = sqlx::query(AssertSqlSafe(Arc::clone(sql)));
            for one in now {
                query = one.bind_to(query);
            }
            query.execute(&mut self.connection).await.map_err(|error| journal_error(&self.path, error))?;
        }
        Ok(())
    }

    async fn move_anchor(&self, placed: &[Placed]) {
        let Some(newest) = placed.last() else { return };
        let anchor = Anchor { sequence: newest.sequence, hash: newest.hash.clone() };
        let path = Arc::clone(&self.path);
        let moved = tokio::task::spawn_blocking(move || anchor::advance(&path, &anchor)).await;
        // The records are on the disk; only a cut-off end could go unseen until the next one.
        match moved {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the journal's anchor could not be written"),
            Err(error) => tracing::warn!(%error, "the journal's anchor was not written"),
        }
    }
}

impl Insert {
    fn new(rows: usize) -> Self {
        let row = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
        let sql = format!(
            "INSERT INTO records \
             (sequence, version, run_id, at, event, tool, call_id, ok, body, previous_hash, hash) VALUES {}",
            vec![row; rows].join(", ")
        );
        Self { rows, last_sql: format!("{sql}; COMMIT").into(), sql: sql.into() }
    }
}

impl Placed {
    fn bind_to<'q>(&self, query: Query<'q, Sqlite, SqliteArguments>) -> Query<'q, Sqlite, SqliteArguments> {
        let event = &self.append.event;
        query
            .bind(self.sequence.cast_signed())
            .bind(RECORD_VERSION)
            .bind(event.run_id.as_str().to_owned())
            .bind(stored_time(event.at))
            .bind(event.body.name())
            .bind(event.body.tool().map(str::to_owned))
            .bind(event.body.call_id().map(|id| id.as_str().to_owned()))
            .bind(event.body.ok())
            .bind(self.append.body.clone())
            .bind(self.previous_hash.clone())
            .bind(self.hash.clone())
    }

    fn reply(self) {
        let record = Record {
            sequence: self.sequence,
            version: RECORD_VERSION,
            previous_hash: self.previous_hash,
            hash: self.hash,
            event: self.append.event,
        };
        // A caller that was cancelled no longer waits; the record stays.
        let _ = self.append.reply.send(Ok(record));
    }
}

fn place(mut head: Head, batch: Vec<Append>) -> Vec<Placed> {
    batch
        .into_iter()
        .map(|append| {
            let sequence = head.sequence + 1;
            let hash = record_hash(&head.hash, sequence, RECORD_VERSION, append.body.as_bytes());
            let previous_hash = std::mem::replace(&mut head, Head { sequence, hash: hash.clone() }).hash;
            Placed { sequence, previous_hash, hash, append }
        })
        .collect()
}

/// The same refusal for every append of a batch: none of them is kept.
fn reply_all(batch: Vec<Append>, error: &Error) {
    for append in batch {
        // A caller that was cancelled no longer waits.
        let _ = append.reply.send(Err(same(error)));
    }
}

fn same(error: &Error) -> Error {
    let mut copy = Error::new(error.code(), error.message()).with_help(error.help());
    if let (Some(limit), Some(observed)) = (error.limit(), error.observed()) {
        copy = copy.with_limit(limit.clone(), observed.clone());
    }
    for (name, value) in error.details() {
        copy = copy.with_detail(name, value.clone());
    }
    copy
}
