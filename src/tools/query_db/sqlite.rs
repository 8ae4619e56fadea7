//! SQLite: a file, opened for reading only unless writing is granted.
//!
//! Opened for every call, which is cheap, so that a file that was replaced or removed is noticed.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions, SqliteQueryResult, SqliteRow, SqliteValueRef};
use sqlx::{
    Arguments, AssertSqlSafe, Column, ConnectOptions, Decode, Executor, Row, Sqlite, SqliteConnection,
    TypeInfo, ValueRef,
};

use super::check::StatementKind;
use super::compose::Statement;
use super::failure::{Failed, query_failed, unreachable};
use super::number::float;
use super::pool::Pool;
use super::rows::Rows;
use super::session::Target;
use crate::base::Value;

/// Virtual machine steps between two looks at the stop flag: well under a millisecond.
const STEPS_BETWEEN_LOOKS: i32 = 1_000;
/// Rows the driver's thread may read ahead; each may be large.
const ROWS_AHEAD: usize = 16;

pub(super) struct SqliteDatabase {
    target: Target,
    path: PathBuf,
    reader: Pool<SqliteConnection>,
    writer: Pool<SqliteConnection>,
}

/// Makes a query stop at its next step when the call is over, however it ended.
struct StopAtEnd(Arc<AtomicBool>);

impl Drop for StopAtEnd {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl SqliteDatabase {
    pub(super) fn new(target: Target, path: PathBuf) -> Self {
        let (reader, writer) = (Pool::new(target.pool_size), Pool::new(1));
        Self { target, path, reader, writer }
    }

    pub(super) async fn run(&self, statement: &Statement, rows: &mut Rows) -> Result<(), Failed> {
        let pool = match statement.kind {
            StatementKind::Read => &self.reader,
            StatementKind::Write => &self.writer,
        };
        let mut lease = self.target.lease(pool, self.connect(statement.kind)).await?;
        let stop = StopAtEnd(Arc::new(AtomicBool::new(false)));
        let flag = Arc::clone(&stop.0);
        let mut handle = lease.connection.lock_handle().await.map_err(|error| self.target.failed(&error))?;
        handle.set_progress_handler(STEPS_BETWEEN_LOOKS, move || !flag.load(Ordering::Relaxed));
        drop(handle);
        let query = sqlx::query_with(
            AssertSqlSafe(statement.rendered.sql.as_str()),
            arguments(&statement.rendered.values)?,
        );
        let stream = (&mut lease.connection).fetch_many(query);
        let read = |row: &SqliteRow| self.values(row);
        self.target.read::<Sqlite>(stream, rows, read, SqliteQueryResult::rows_affected).await?;
        Ok(())
    }

    async fn connect(&self, kind: StatementKind) -> Result<SqliteConnection, Failed> {
        const BUSY_MAX: Duration = Duration::from_secs(2);
        let is_file = tokio::fs::metadata(&self.path).await.is_ok_and(|metadata| metadata.is_file());
        if !is_file {
            let reason = format!("there is no file {}", self.path.display());
            return Err(unreachable(&self.target.name, &reason));
        }
        let reading = kind == StatementKind::Read;
        SqliteConnectOptions::new()
            .filename(&self.path)
            .read_only(reading)
            .create_if_missing(false)
            .busy_timeout(self.target.statement_timeout.min(BUSY_MAX))
            .row_buffer_size(ROWS_AHEAD)
            .pragma("query_only", if reading { "on" } else { "off" })
            .pragma("trusted_schema", "off")
            .disable_statement_logging()
            .connect()
            .await
            .map_err(|error| self.target.failed(&error))
    }

    fn values(&self, row: &SqliteRow) -> Result<Vec<Value>, Failed> {
        row.columns()
            .iter()
            .map(|column| {
                let raw = row.try_get_raw(column.ordinal()).map_err(|error| self.target.failed(&error))?;
                value(raw, column.type_info().name())
                    .ok_or_else(|| self.target.unreadable(column.name(), column.type_info().name()))
            })
            .collect()
    }
}

/// A cell by the type it is stored with; the declared type only tells booleans.
fn value(raw: SqliteValueRef<'_>, declared: &str) -> Option<Value> {
    if raw.is_null() {
        return Some(Value::Null);
    }
    let stored = raw.type_info().name().to_owned();
    match stored.as_str() {
        "INTEGER" | "BOOLEAN" => {
            let integer = <i64 as Decode<'_, Sqlite>>::decode(raw).ok()?;
            let boolean = declared == "BOOLEAN" && matches!(integer, 0 | 1);
            Some(if boolean { Value::Bool(integer == 1) } else { Value::Integer(integer) })
        }
        "REAL" => <f64 as Decode<'_, Sqlite>>::decode(raw).ok().map(float),
        _ => {
            let bytes = <&[u8] as Decode<'_, Sqlite>>::decode(raw).ok()?;
            Some(Value::from_lua_bytes(bytes.to_vec()))
        }
    }
}

fn arguments(values: &[Value]) -> Result<SqliteArguments, Failed> {
    let mut arguments = SqliteArguments::default();
    for value in values {
        let added = match value {
            Value::Null => arguments.add(None::<i64>),
            Value::Bool(boolean) => arguments.add(*boolean),
            Value::Integer(integer) => arguments.add(*integer),
            Value::Float(number) => arguments.add(*number),
            Value::String(text) => arguments.add(text.clone()),
            Value::Bytes(bytes) => arguments.add(bytes.to_vec()),
            other => arguments.add(other.to_json().to_string()),
        };
        added.map_err(|error| query_failed(format!("a parameter cannot be sent: {error}")))?;
    }
    Ok(arguments)
}
