//! The writer: one task for each process.

use std::path::Path;
use std::sync::Arc;

use sqlx::query::Query;
use sqlx::sqlite::{Sqlite, SqliteArguments, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Row as _};
use tokio::sync::{mpsc, oneshot};

use luaplan_base::Result;

use super::errors::{journal_error, newer};
use super::identity::FileIdentity;
use super::record_row::decode;
use crate::anchor::Anchor;
use crate::chain::{ChainedRow, Head, Row, place};
use crate::select::{select_precluding, stored_time};
use crate::{ConflictGuard, Durability, RECORD_VERSION, Record, Settled, anchor};

/// The most appends in one transaction.
const BATCH_MAX: usize = 256;

/// Row counts of the insert statements, longest first: few enough to keep all of them prepared.
const INSERT_ROWS: [usize; 3] = [32, 8, 1];

const BEGIN: &str =
    "BEGIN IMMEDIATE; SELECT sequence, version, hash FROM records ORDER BY sequence DESC LIMIT 1";

/// A request to the writer.
pub(super) enum WriterCommand {
    Append(Append),
    Settle(Settle),
    /// Write the queue, close the file, answer.
    Close(oneshot::Sender<()>),
}

/// Events to append, all or none.
pub(super) struct Append {
    pub(super) rows: Vec<Row>,
    pub(super) durability: Durability,
    pub(super) reply: oneshot::Sender<Result<Vec<Record>>>,
}

/// Events to append, all or none, unless a record conflicts.
pub(super) struct Settle {
    pub(super) rows: Vec<Row>,
    pub(super) unless: ConflictGuard,
    pub(super) reply: oneshot::Sender<Result<Settled>>,
}

pub(super) struct Writer {
    connection: SqliteConnection,
    path: Arc<Path>,
    file: FileIdentity,
    inserts: Vec<Insert>,
    /// The last setting of `PRAGMA synchronous`; `None` before the first.
    durability: Option<Durability>,
}

/// An insert of so many rows: alone, and with the end of the transaction in the same step.
struct Insert {
    rows: usize,
    sql: Arc<str>,
    last_sql: Arc<str>,
}

/// The callers of a batch, each with the number of its events.
type Waiting = (usize, oneshot::Sender<Result<Vec<Record>>>);

impl Writer {
    pub(super) fn new(connection: SqliteConnection, path: Arc<Path>) -> Self {
        let inserts = INSERT_ROWS.into_iter().map(Insert::new).collect();
        let file = FileIdentity::of(&path);
        Self { connection, path, file, inserts, durability: None }
    }

    pub(super) async fn run(mut self, mut commands: mpsc::Receiver<WriterCommand>) {
        let mut waiting = Vec::with_capacity(BATCH_MAX);
        let mut closers = Vec::new();
        while commands.recv_many(&mut waiting, BATCH_MAX).await != 0 {
            let mut batch = Vec::with_capacity(waiting.len());
            for command in waiting.drain(..) {
                match command {
                    WriterCommand::Append(append) => batch.push(append),
                    WriterCommand::Settle(settle) => {
                        // Earlier appends come first.
                        if !batch.is_empty() {
                            self.write(std::mem::take(&mut batch)).await;
                        }
                        self.settle(settle).await;
                    }
                    WriterCommand::Close(done) => {
                        // The queue accepts no more; what it holds is still received.
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
            // The caller may have stopped waiting.
            let _ = done.send(());
        }
    }

    async fn settle(&mut self, settle: Settle) {
        let Settle { rows, unless, reply } = settle;
        let settled = match self.settled(rows, &unless).await {
            Ok(settled) => Ok(settled),
            Err(error) => {
                // SQLite may already have rolled back by itself.
                let _ = self.connection.execute("ROLLBACK").await;
                Err(error)
            }
        };
        // The caller may have stopped waiting.
        let _ = reply.send(settled);
    }

    /// Looks for a conflict and writes under one write lock.
    async fn settled(&mut self, rows: Vec<Row>, unless: &ConflictGuard) -> Result<Settled> {
        let head = self.begin(Durability::Forced).await?;
        let first = self.first_of(unless).await?;
        if first.is_some() || rows.is_empty() {
            let path = Arc::clone(&self.path);
            self.connection.execute("ROLLBACK").await.map_err(|error| journal_error(&path, error))?;
            return Ok(first.map_or(Settled::Written(Vec::new()), |first| Settled::Conflict(Box::new(first))));
        }
        let placed = place(head, rows);
        self.insert(&placed).await?;
        self.move_anchor(&placed).await;
        Ok(Settled::Written(placed.into_iter().map(ChainedRow::into_record).collect()))
    }

    /// The first conflicting record.
    async fn first_of(&mut self, unless: &ConflictGuard) -> Result<Option<Record>> {
        let path = Arc::clone(&self.path);
        let mut query = select_precluding::<Sqlite>(unless);
        let row = query.build().fetch_optional(&mut self.connection).await;
        let row = row.map_err(|error| journal_error(&path, error))?;
        row.map(|row| decode(&path, &row)).transpose()
    }

    async fn write(&mut self, batch: Vec<Append>) {
        let durability = batch.iter().map(|append| append.durability).max().unwrap_or(Durability::Ordered);
        let mut rows = Vec::with_capacity(batch.len());
        let mut waiting = Vec::with_capacity(batch.len());
        for append in batch {
            waiting.push((append.rows.len(), append.reply));
            rows.extend(append.rows);
        }
        match self.keep(rows, durability).await {
            Ok(placed) => {
                if durability == Durability::Forced {
                    self.move_anchor(&placed).await;
                }
                reply_kept(placed, waiting);
            }
            Err(error) => {
                // SQLite may already have rolled back by itself.
                let _ = self.connection.execute("ROLLBACK").await;
                for (_, reply) in waiting {
                    // A cancelled caller no longer waits.
                    let _ = reply.send(Err(error.without_source()));
                }
            }
        }
    }

    async fn keep(&mut self, rows: Vec<Row>, durability: Durability) -> Result<Vec<ChainedRow>> {
        let head = self.begin(durability).await?;
        let placed = place(head, rows);
        self.insert(&placed).await?;
        Ok(placed)
    }

    /// Takes the write lock and reads the head of the chain under it.
    async fn begin(&mut self, durability: Durability) -> Result<Head> {
        let path = Arc::clone(&self.path);
        self.file.is_still_at(&path)?;
        let failed = |error| journal_error(&path, error);
        let durability = durability.max(Durability::Ordered);
        if self.durability != Some(durability) {
            // SQLite applies it while it prepares the statement, so the statement must not be cached.
            let sql = match durability {
                Durability::Forced => "PRAGMA synchronous = FULL",
                Durability::Queued | Durability::Ordered => "PRAGMA synchronous = NORMAL",
            };
            sqlx::query(sql).persistent(false).execute(&mut self.connection).await.map_err(failed)?;
            self.durability = Some(durability);
        }
        let Some(row) = sqlx::query(BEGIN).fetch_optional(&mut self.connection).await.map_err(failed)? else {
            return Ok(Head::genesis());
        };
        let version: i64 = row.try_get(1).map_err(failed)?;
        if version > i64::from(RECORD_VERSION) {
            return Err(newer(&path, "record", i64::from(RECORD_VERSION), version));
        }
        let sequence: i64 = row.try_get(0).map_err(failed)?;
        Ok(Head { sequence: sequence.unsigned_abs(), hash: row.try_get(2).map_err(failed)? })
    }

    async fn insert(&mut self, placed: &[ChainedRow]) -> Result<()> {
        let mut rest = placed;
        while let Some(insert) = self.inserts.iter().find(|insert| insert.rows <= rest.len()) {
            let (now, later) = rest.split_at(insert.rows);
            rest = later;
            let sql = if rest.is_empty() { &insert.last_sql } else { &insert.sql };
            // The text consists of constants and question marks.
            let mut query = sqlx::query(AssertSqlSafe(Arc::clone(sql)));
            for one in now {
                query = bound(one, query);
            }
            query.execute(&mut self.connection).await.map_err(|error| journal_error(&self.path, error))?;
        }
        Ok(())
    }

    async fn move_anchor(&self, placed: &[ChainedRow]) {
        let Some(newest) = placed.last() else { return };
        let anchor = Anchor { sequence: newest.sequence, hash: newest.hash.clone() };
        let path = Arc::clone(&self.path);
        let moved = tokio::task::spawn_blocking(move || anchor::advance(&path, &anchor)).await;
        // The records are on the disk; until the next anchor, only a truncated end could go undetected.
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

fn bound<'q>(
    one: &ChainedRow,
    query: Query<'q, Sqlite, SqliteArguments>,
) -> Query<'q, Sqlite, SqliteArguments> {
    let event = &one.row.event;
    query
        .bind(one.sequence.cast_signed())
        .bind(RECORD_VERSION)
        .bind(event.run_id.as_str().to_owned())
        .bind(stored_time(event.at))
        .bind(event.body.name())
        .bind(event.body.tool().map(str::to_owned))
        .bind(event.body.call_id().map(|id| id.as_str().to_owned()))
        .bind(event.body.ok())
        .bind(one.row.body.clone())
        .bind(one.previous_hash.clone())
        .bind(one.hash.clone())
}

fn reply_kept(placed: Vec<ChainedRow>, waiting: Vec<Waiting>) {
    let mut records = placed.into_iter().map(ChainedRow::into_record);
    for (count, reply) in waiting {
        // A cancelled caller no longer waits; the records stay.
        let _ = reply.send(Ok(records.by_ref().take(count).collect()));
    }
}
