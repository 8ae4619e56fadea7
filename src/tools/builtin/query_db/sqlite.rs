//! SQLite: a file, opened for reading only unless writing is granted.
//!
//! Every call opens the file, which is cheap, so that it notices a replaced or removed file.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::error::DatabaseError;
use sqlx::sqlite::{
    SqliteArguments, SqliteColumn, SqliteConnectOptions, SqliteQueryResult, SqliteRow, SqliteValueRef,
};
use sqlx::{
    AssertSqlSafe, Column, ColumnOrigin, ConnectOptions, Decode, Executor, Row, SqlSafeStr as _, Sqlite,
    SqliteConnection, Statement as _, TypeInfo, ValueRef,
};
use tokio_util::sync::CancellationToken;

use luaplan_base::Value;

use super::dialect::Dialect;
use super::failure::{Failed, query_failed, unreachable};
use super::number::{float, json};
use super::pool::Pool;
use super::result_columns::{self, ColumnKind, ResultColumn};
use super::rows::{Caps, Room, Rows};
use super::server_error::{Cause, ServerError};
use super::session::{DatabaseTarget, arguments};
use super::sqlite_job::{Job, JobAnswer};
use super::sqlite_process::SqliteProcess;
use super::statement::{Statement, StatementKind};

/// Virtual machine steps between two checks of the stop flag: well under a millisecond.
const STEPS_BETWEEN_LOOKS: i32 = 1_000;
/// Rows the driver's thread may read ahead; each may be large.
const ROWS_AHEAD: usize = 16;

/// The most bytes SQLite may have in a process of its own.
const HEAP_BYTES_MAX: u64 = 256 << 20;

/// What the driver calls the type of an expression, or of a column whose declared type it does not know.
const UNDECLARED: &str = "NULL";

pub(super) struct SqliteDatabase {
    target: DatabaseTarget,
    path: PathBuf,
    place: Where,
}

/// Where statements run.
enum Where {
    /// In processes of this program: those that read, and the one that writes.
    Processes { program: PathBuf, readers: Pool<SqliteProcess>, writer: Pool<SqliteProcess> },
    /// In this process.
    Here { readers: Pool<SqliteConnection>, writer: Pool<SqliteConnection> },
    /// In this process, which does nothing else.
    Alone(Pool<SqliteConnection>),
}

/// Makes a query stop at its next step when the call is over, however it ended.
struct StopAtEnd(Arc<AtomicBool>);

impl Drop for StopAtEnd {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl SqliteDatabase {
    /// A file whose statements run in this process.
    pub(super) fn new(target: DatabaseTarget, path: PathBuf) -> Self {
        let place = Where::Here { readers: Pool::new(target.pool_size), writer: Pool::new(1) };
        Self { target, path, place }
    }

    /// Runs them in processes of `program`.
    pub(super) fn in_processes_of(&mut self, program: &Path) {
        let (readers, writer) = (Pool::new(self.target.pool_size), Pool::new(1));
        self.place = Where::Processes { program: program.to_path_buf(), readers, writer };
    }

    /// The same inside a process that was made for it.
    pub(super) fn alone(target: DatabaseTarget, path: PathBuf) -> Self {
        Self { target, path, place: Where::Alone(Pool::new(1)) }
    }

    /// Waits until a statement that was dropped in this process is rolled back and its file closed.
    pub(super) async fn closed(&self) {
        if let Where::Alone(pool) = &self.place {
            drop(pool.place().await);
        }
    }

    pub(super) async fn run(&self, statement: &Statement, rows: &mut Rows) -> Result<(), Failed> {
        match (&self.place, statement.kind) {
            (Where::Processes { program, readers, .. }, StatementKind::Read) => {
                self.run_in(program, readers, statement, rows).await
            }
            (Where::Processes { program, writer, .. }, StatementKind::Write) => {
                self.run_in(program, writer, statement, rows).await
            }
            (Where::Here { readers: pool, .. }, StatementKind::Read)
            | (Where::Here { writer: pool, .. }, StatementKind::Write)
            | (Where::Alone(pool), _) => self.run_here(pool, statement, rows).await,
        }
    }

    /// Prepares a statement, also one that writes, on a connection for reading. Executes nothing.
    ///
    /// A column may hold any kind of value whatever type it declares, so only the names of a result are told.
    pub(super) async fn look_at(&self, statement: &Statement) -> Result<Vec<ResultColumn>, Failed> {
        match &self.place {
            Where::Processes { program, readers, .. } => {
                let caps = Caps { rows_max: 1, bytes_max: 1, limit: None };
                let job = |file| Job::new(&self.target, file, statement, caps).into_look();
                let mut rows = Rows::new(caps);
                self.ask_in(program, readers, job).await?.put_into(&mut rows)?;
                Ok(result_columns::of_rows(&rows.into_rows()))
            }
            Where::Here { readers: pool, .. } | Where::Alone(pool) => {
                let mut lease = self.target.lease(pool, self.connect(StatementKind::Read)).await?;
                let sql = AssertSqlSafe(statement.rendered.sql.clone()).into_sql_str();
                let prepared = (&mut lease.connection).prepare(sql).await;
                let prepared = prepared.map_err(|error| self.target.failed(&error))?;
                let column = |column: &SqliteColumn| ResultColumn {
                    name: column.name().to_owned(),
                    kind: ColumnKind::Any,
                };
                Ok(prepared.columns().iter().map(column).collect())
            }
        }
    }

    /// Reads an error of this driver.
    pub(super) fn server_error(error: &dyn DatabaseError) -> ServerError {
        let code = error.code().and_then(|code| code.parse::<i64>().ok());
        let number = code.map(|code| ("sqlite_code", code));
        ServerError { cause: cause(code.unwrap_or_default()), number, ..ServerError::default() }
    }

    async fn run_in(
        &self,
        program: &Path,
        pool: &Pool<SqliteProcess>,
        statement: &Statement,
        rows: &mut Rows,
    ) -> Result<(), Failed> {
        let job = |file| Job::new(&self.target, file, statement, rows.caps());
        self.ask_in(program, pool, job).await?.put_into(rows)
    }

    /// What a process answers to the job for the file.
    async fn ask_in(
        &self,
        program: &Path,
        pool: &Pool<SqliteProcess>,
        job: impl FnOnce(PathBuf) -> Job,
    ) -> Result<JobAnswer, Failed> {
        self.look_for_file().await?;
        // SQLite keeps its log beside the file itself, not beside a link to it.
        let file = tokio::fs::canonicalize(&self.path).await.map_err(|error| self.cannot_start(&error))?;
        let folder = file.parent().unwrap_or(Path::new("/"));
        let mut place = self.target.place(pool).await?;
        let idle = place.idle_connection.take();
        let process = match idle.filter(|process| process.is_alive() && process.folder() == folder) {
            Some(process) => process,
            None => SqliteProcess::start(program, folder).map_err(|error| self.cannot_start(&error))?,
        };
        let end = process.end();
        let mut lease = place.lease(process);
        lease.ends_with(end);
        let answer = lease.connection.ask(&job(file)).await.map_err(|error| {
            let ended = matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe);
            let what = if ended { "ended, most likely for want of memory" } else { "cannot be spoken with" };
            query_failed(format!(
                "database `{}`: the process that ran the query {what}: {error}",
                self.target.name
            ))
        })?;
        lease.give_back();
        Ok(answer)
    }

    fn cannot_start(&self, error: &std::io::Error) -> Failed {
        unreachable(&self.target.name, &format!("the process for its queries cannot be started: {error}"))
    }

    async fn run_here(
        &self,
        pool: &Pool<SqliteConnection>,
        statement: &Statement,
        rows: &mut Rows,
    ) -> Result<(), Failed> {
        let mut lease = self.target.lease(pool, self.connect(statement.kind)).await?;
        let stop = StopAtEnd(Arc::new(AtomicBool::new(false)));
        let flag = Arc::clone(&stop.0);
        // The driver's thread drops the handler when it has closed the connection, and not before its last
        // step is done.
        let closed = CancellationToken::new();
        let guard = closed.clone().drop_guard();
        let mut handle = lease.connection.lock_handle().await.map_err(|error| self.target.failed(&error))?;
        handle.set_progress_handler(STEPS_BETWEEN_LOOKS, move || {
            let _until_closed = &guard;
            !flag.load(Ordering::Relaxed)
        });
        drop(handle);
        lease.ends_with(closed.cancelled_owned());
        let query = sqlx::query_with(
            AssertSqlSafe(statement.rendered.sql.as_str()),
            arguments::<SqliteArguments>(&statement.rendered.values)?,
        );
        let documents = documents(&mut lease.connection, &statement.rendered.sql).await;
        let documents = documents.map_err(|error| self.target.failed(&error))?;
        let stream = (&mut lease.connection).fetch_many(query);
        let mut seen = Vec::new();
        let read = |row: &SqliteRow, room| self.values(row, &documents, &mut seen, room);
        self.target.read::<Sqlite>(stream, rows, read, SqliteQueryResult::rows_affected).await?;
        let mixed = seen.iter().enumerate().filter(|(_, seen)| seen.mixed).map(|(place, _)| place);
        rows.numbers_to_text(&mixed.collect::<Vec<_>>())
    }

    async fn look_for_file(&self) -> Result<(), Failed> {
        if tokio::fs::metadata(&self.path).await.is_ok_and(|metadata| metadata.is_file()) {
            return Ok(());
        }
        Err(unreachable(&self.target.name, &format!("there is no file {}", self.path.display())))
    }

    async fn connect(&self, kind: StatementKind) -> Result<SqliteConnection, Failed> {
        const BUSY_MAX: Duration = Duration::from_secs(2);
        self.look_for_file().await?;
        let reading = kind == StatementKind::Read;
        let mut options = SqliteConnectOptions::new()
            .filename(&self.path)
            .read_only(reading)
            .create_if_missing(false)
            .busy_timeout(self.target.statement_timeout.min(BUSY_MAX))
            .row_buffer_size(ROWS_AHEAD)
            .pragma("query_only", if reading { "on" } else { "off" })
            .pragma("trusted_schema", "off")
            .disable_statement_logging();
        if matches!(self.place, Where::Alone(_)) {
            // Counts for the whole process.
            options = options.pragma("hard_heap_limit", HEAP_BYTES_MAX.to_string());
        }
        options.connect().await.map_err(|error| self.target.failed(&error))
    }

    /// A column is numbers, booleans or text, whatever each row stored: a mix would change what a plan computes.
    fn values(
        &self,
        row: &SqliteRow,
        documents: &[usize],
        seen: &mut Vec<Seen>,
        mut room: Room,
    ) -> Result<Vec<Value>, Failed> {
        seen.resize(row.columns().len(), Seen::default());
        row.columns()
            .iter()
            .zip(seen)
            .map(|(column, seen)| {
                let raw = row.try_get_raw(column.ordinal()).map_err(|error| self.target.failed(&error))?;
                let declared = column.type_info().name();
                let value = value(raw, declared)
                    .ok_or_else(|| self.target.unreadable(Dialect::Sqlite, column.name(), declared))?;
                if documents.contains(&column.ordinal()) {
                    return document(value, &mut room)?
                        .ok_or_else(|| self.target.unreadable(Dialect::Sqlite, column.name(), "JSON"));
                }
                if let Some(kind) = kind(&value) {
                    let first = *seen.kind.get_or_insert(kind);
                    if first != kind && declared != UNDECLARED {
                        return Err(self.mixed(column.name(), first, kind));
                    }
                    seen.mixed |= first != kind;
                }
                Ok(value)
            })
            .collect()
    }

    fn mixed(&self, column: &str, first: &str, second: &str) -> Failed {
        let name = &self.target.name;
        query_failed(format!("database `{name}`: the column `{column}` holds both {first} and {second}"))
            .with_help(format!(
                "give it one type in the query: CAST({column} AS REAL) or CAST({column} AS TEXT)"
            ))
    }
}

/// What a column held so far.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Of its first value that is not NULL.
    kind: Option<&'static str>,
    /// Both numbers and text, where no declared type forbids it.
    mixed: bool,
}

/// What a column holds, text and bytes being both strings of Lua.
fn kind(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => None,
        Value::Integer(_) | Value::Float(_) => Some("numbers"),
        Value::Bool(_) => Some("booleans"),
        _ => Some("text"),
    }
}

/// The places of the result's columns that show a table's column declared as JSON, which the driver does not report.
async fn documents(connection: &mut SqliteConnection, sql: &str) -> Result<Vec<usize>, sqlx::Error> {
    const DOCUMENTS: &str = "SELECT name FROM pragma_table_xinfo(?) WHERE upper(type) IN ('JSON', 'JSONB')";
    let statement = (&mut *connection).prepare(AssertSqlSafe(sql).into_sql_str()).await?;
    let mut places = Vec::new();
    let mut tables: HashMap<Arc<str>, Vec<String>> = HashMap::new();
    for column in statement.columns().iter().filter(|column| column.type_info().name() == UNDECLARED) {
        let ColumnOrigin::Table(origin) = column.origin() else { continue };
        let documents = match tables.entry(origin.table) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let asked = sqlx::query_scalar(DOCUMENTS).bind(entry.key().to_string());
                let found = asked.fetch_all(&mut *connection).await?;
                entry.insert(found)
            }
        };
        if documents.iter().any(|name| **name == *origin.name) {
            places.push(column.ordinal());
        }
    }
    Ok(places)
}

/// A cell of a JSON column. SQLite stores a number in it as one.
fn document(cell: Value, room: &mut Room) -> Result<Option<Value>, Failed> {
    Ok(match cell {
        Value::String(text) => {
            room.take(text.as_bytes())?;
            json(&text)
        }
        Value::Bytes(_) => None,
        stored => Some(stored),
    })
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
            match (declared, integer) {
                ("BOOLEAN", 0 | 1) => Some(Value::Bool(integer == 1)),
                ("BOOLEAN", _) => None,
                _ => Some(Value::Integer(integer)),
            }
        }
        "REAL" => <f64 as Decode<'_, Sqlite>>::decode(raw).ok().and_then(float),
        _ => {
            let bytes = <&[u8] as Decode<'_, Sqlite>>::decode(raw).ok()?;
            Some(Value::from_lua_bytes(bytes.to_vec()))
        }
    }
}

/// By result code; the low byte is the primary one.
fn cause(code: i64) -> Cause {
    match code & 0xff {
        5 | 6 => Cause::Contention,
        8 => Cause::ReadOnly,
        9 => Cause::Timeout,
        11 | 14 | 26 => Cause::Misconfigured,
        _ => Cause::Other,
    }
}
