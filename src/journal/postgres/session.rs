//! The connection of the writer, re-established when it breaks, and the steps of a transaction over it.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection, PgRow};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, Row as _};

use luaplan_base::{Error, ErrorCode};

use super::errors::{is_transient, journal_error, newer_record};
use crate::chain::{ChainedRow, Head};
use crate::select::stored_time;
use crate::{Durability, RECORD_VERSION};

/// The time-out for a new connection.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// A connection of the writer.
pub(super) struct WriterSession {
    options: PgConnectOptions,
    connection: Option<PgConnection>,
    shown: Arc<str>,
    /// The newest record known to be in the log.
    newest: Option<Head>,
    /// Whether the connection is new, so that the server's log must be compared with `newest`.
    is_new: bool,
}

/// A transaction that has begun.
pub(super) struct Transaction {
    pub(super) head: Head,
    /// Records are no longer in the log: the server crashed before it had flushed its own log.
    pub(super) lost_records: bool,
}

impl WriterSession {
    pub(super) fn new(
        options: PgConnectOptions,
        connection: PgConnection,
        shown: Arc<str>,
        newest: Head,
    ) -> Self {
        let newest = Some(newest).filter(|newest| newest.sequence > 0);
        Self { options, connection: Some(connection), shown, newest, is_new: false }
    }

    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// The connection, for a further step of the transaction.
    pub(super) fn get(&mut self) -> sqlx::Result<&mut PgConnection> {
        self.connection.as_mut().ok_or_else(|| sqlx::Error::Protocol("the connection is gone".into()))
    }

    /// Takes the lock and reads the head of the chain under it; connects first where the last connection
    /// broke.
    pub(super) async fn begin(&mut self, durability: Durability) -> Result<Transaction, TransactionError> {
        if self.connection.is_none() {
            let connecting = tokio::time::timeout(CONNECT_MAX, self.options.connect());
            self.connection = Some(connecting.await.map_err(|_| sqlx::Error::PoolTimedOut)??);
            self.is_new = true;
        }
        let synchronous = if durability == Durability::Forced { "on" } else { "off" };
        let sql = format!(
            "BEGIN; SET LOCAL synchronous_commit = {synchronous}; \
             SELECT sequence, version, hash FROM head FOR UPDATE"
        );
        let begun = self.fetch(sql).await;
        let row = self.drop_on_error(begun)?.pop();
        let row = row.ok_or_else(|| {
            TransactionError::Final(Error::new(
                ErrorCode::JournalCorrupt,
                format!("the journal `{}` has lost its note of the newest record", self.shown),
            ))
        })?;
        let (sequence, version): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        let head = Head { sequence: sequence.unsigned_abs(), hash: row.try_get(2)? };
        if version > i64::from(RECORD_VERSION) {
            self.roll_back().await;
            return Err(TransactionError::Final(newer_record(&self.shown, version)));
        }
        let lost_records = std::mem::take(&mut self.is_new) && !self.has_newest().await?;
        if lost_records {
            self.newest = None;
        }
        Ok(Transaction { head, lost_records })
    }

    async fn has_newest(&mut self) -> Result<bool, TransactionError> {
        let Some(newest) = self.newest.clone() else { return Ok(true) };
        Ok(self.hash_at(newest.sequence).await?.as_deref() == Some(newest.hash.as_str()))
    }

    /// Whether the last of `placed` is in the log. Called under the lock, so that an earlier writer has finished.
    pub(super) async fn has(&mut self, placed: &[ChainedRow]) -> Result<bool, TransactionError> {
        let Some(last) = placed.last() else { return Ok(false) };
        let is_there = self.hash_at(last.sequence).await?.as_deref() == Some(last.hash.as_str());
        if is_there {
            self.newest = Some(Head { sequence: last.sequence, hash: last.hash.clone() });
        }
        Ok(is_there)
    }

    async fn hash_at(&mut self, sequence: u64) -> Result<Option<String>, TransactionError> {
        let connection = self.get()?;
        let found = sqlx::query_scalar("SELECT hash FROM records WHERE sequence = $1")
            .bind(sequence.cast_signed())
            .fetch_optional(connection)
            .await;
        self.drop_on_error(found)
    }

    pub(super) async fn insert(&mut self, placed: &[ChainedRow]) -> Result<(), TransactionError> {
        let connection = self.get()?;
        let column = |of: fn(&ChainedRow) -> String| placed.iter().map(of).collect::<Vec<String>>();
        let optional = |of: fn(&ChainedRow) -> Option<String>| placed.iter().map(of).collect::<Vec<_>>();
        let inserted = sqlx::query(
            "INSERT INTO records \
             (sequence, version, run_id, at, event, tool, call_id, ok, body, previous_hash, hash) \
             SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], \
             $7::text[], $8::boolean[], $9::text[], $10::text[], $11::text[])",
        )
        .bind(placed.iter().map(|one| one.sequence.cast_signed()).collect::<Vec<_>>())
        .bind(vec![i64::from(RECORD_VERSION); placed.len()])
        .bind(column(|one| one.row.event.run_id.to_string()))
        .bind(column(|one| stored_time(one.row.event.at)))
        .bind(column(|one| one.row.event.body.name().to_owned()))
        .bind(optional(|one| one.row.event.body.tool().map(str::to_owned)))
        .bind(optional(|one| one.row.event.body.call_id().map(ToString::to_string)))
        .bind(placed.iter().map(|one| one.row.event.body.ok()).collect::<Vec<_>>())
        .bind(column(|one| one.row.body.clone()))
        .bind(column(|one| one.previous_hash.clone()))
        .bind(column(|one| one.hash.clone()))
        .execute(connection)
        .await;
        self.drop_on_error(inserted).map(drop)
    }

    pub(super) async fn commit(&mut self, placed: &[ChainedRow]) -> Result<(), TransactionError> {
        let Some(last) = placed.last() else { return Ok(()) };
        // Both values are our own: a number and 64 hexadecimal digits.
        let sql = format!(
            "UPDATE head SET sequence = {}, hash = '{}', version = {RECORD_VERSION}; COMMIT",
            last.sequence, last.hash
        );
        let committed = self.fetch(sql).await;
        self.drop_on_error(committed)?;
        self.newest = Some(Head { sequence: last.sequence, hash: last.hash.clone() });
        Ok(())
    }

    async fn fetch(&mut self, sql: String) -> sqlx::Result<Vec<PgRow>> {
        let connection = self.get()?;
        connection.fetch_all(sqlx::raw_sql(AssertSqlSafe(sql))).await
    }

    pub(super) async fn roll_back(&mut self) {
        if let Some(connection) = &mut self.connection
            && connection.execute("ROLLBACK").await.is_err()
        {
            self.connection = None;
        }
    }

    /// Drops a connection on which a step failed: the server ends its transaction.
    pub(super) fn drop_on_error<T>(&mut self, done: sqlx::Result<T>) -> Result<T, TransactionError> {
        done.map_err(|error| {
            self.connection = None;
            error.into()
        })
    }

    /// Closes the connection. Where that fails, the server notices the lost connection.
    pub(super) async fn close(&mut self) {
        if let Some(connection) = self.connection.take() {
            // All work is committed, so a failed close loses nothing.
            let _ = connection.close().await;
        }
    }
}

/// Why a transaction failed.
pub(super) enum TransactionError {
    /// A retry over a new connection may succeed.
    Transient(sqlx::Error),
    Database(sqlx::Error),
    Final(Error),
}

impl From<sqlx::Error> for TransactionError {
    fn from(error: sqlx::Error) -> Self {
        if is_transient(&error) { Self::Transient(error) } else { Self::Database(error) }
    }
}

impl TransactionError {
    pub(super) fn into_error(self, shown: &str) -> Error {
        match self {
            Self::Transient(error) | Self::Database(error) => journal_error(shown, error),
            Self::Final(error) => error,
        }
    }
}
