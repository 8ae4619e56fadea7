//! MySQL and MariaDB: every query inside a read-only transaction unless writing is granted.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use sqlx::mysql::{MySqlArguments, MySqlColumn, MySqlConnectOptions, MySqlQueryResult, MySqlRow};
use sqlx::{
    AssertSqlSafe, Column, ColumnOrigin, ConnectOptions, Connection as _, Decode, Executor, MySql,
    MySqlConnection, Row, SqlSafeStr as _, Statement as _, TypeInfo,
};

use super::check::StatementKind;
use super::compose::Statement;
use super::dialect::Dialect;
use super::failure::Failed;
use super::number::{decimal, float, fraction, json, seconds, single, unsigned};
use super::pool::{Pool, until_gone};
use super::rows::{Flow, Room, Rows};
use super::session::{Target, arguments};
use super::settings::{Decimals, Forms, Intervals};
use crate::base::Value;

pub(super) struct MysqlDatabase {
    target: Target,
    options: MySqlConnectOptions,
    pool: Pool<MySqlConnection>,
}

impl MysqlDatabase {
    pub(super) fn new(target: Target, options: MySqlConnectOptions) -> Self {
        let options = options.disable_statement_logging();
        let pool = Pool::new(target.pool_size);
        Self { target, options, pool }
    }

    pub(super) async fn run(&self, statement: &Statement, rows: &mut Rows) -> Result<(), Failed> {
        let mut lease = self.target.lease(&self.pool, self.connect()).await?;
        let connection = &mut lease.connection;
        let (begin, end) = match statement.kind {
            StatementKind::Read => ("START TRANSACTION READ ONLY", "ROLLBACK"),
            StatementKind::Write => ("START TRANSACTION READ WRITE", "COMMIT"),
        };
        // In the transaction, where a proxy keeps to one server and one of its threads.
        let thread =
            Thread::that_does(begin, connection).await.map_err(|error| self.target.failed(&error))?;
        let is_mariadb = thread.is_mariadb;
        lease.ends_with(end_thread(self.options.clone(), thread));
        let connection = &mut lease.connection;
        let documents = if is_mariadb {
            let found = documents(connection, &statement.rendered.sql).await;
            found.map_err(|error| self.target.failed(&error))?
        } else {
            Vec::new()
        };
        let query = sqlx::query_with(
            AssertSqlSafe(statement.rendered.sql.as_str()),
            arguments::<MySqlArguments>(&statement.rendered.values)?,
        );
        let stream = (&mut *connection).fetch_many(query);
        let forms = rows.forms;
        let read = |row: &MySqlRow, room| self.values(row, &documents, forms, room);
        let flow = self.target.read::<MySql>(stream, rows, read, MySqlQueryResult::rows_affected).await?;
        if flow == Flow::More {
            self.command(connection, end).await?;
            lease.give_back();
        }
        Ok(())
    }

    async fn command(&self, connection: &mut MySqlConnection, sql: &'static str) -> Result<(), Failed> {
        let sent = sqlx::raw_sql(sql).execute(connection).await;
        sent.map(|_| ()).map_err(|error| self.target.failed(&error))
    }

    /// The session's rules: quotes and backslashes read as the check reads them, and the time cap
    /// under the name this server knows.
    async fn connect(&self) -> Result<MySqlConnection, Failed> {
        const UNKNOWN_VARIABLE: u16 = 1193;
        let mut connection = self.options.connect().await.map_err(|error| self.target.failed(&error))?;
        let rules = "SET SESSION sql_mode = REPLACE(REPLACE(REPLACE(REPLACE(@@sql_mode, 'ANSI_QUOTES', ''), \
                     'NO_BACKSLASH_ESCAPES', ''), 'ORACLE', ''), 'MSSQL', ''), time_zone = '+00:00'";
        self.command(&mut connection, rules).await?;
        let timeout_ms = self.target.statement_timeout_ms();
        let seconds = format!("{}.{:03}", timeout_ms / 1_000, timeout_ms % 1_000);
        let mariadb = format!("SET SESSION max_statement_time = {seconds}, innodb_lock_wait_timeout = 5");
        let mysql = format!("SET SESSION max_execution_time = {timeout_ms}, innodb_lock_wait_timeout = 5");
        match sqlx::raw_sql(AssertSqlSafe(mariadb)).execute(&mut connection).await {
            Ok(_) => Ok(connection),
            Err(sqlx::Error::Database(error))
                if error
                    .try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>()
                    .is_some_and(|error| error.number() == UNKNOWN_VARIABLE) =>
            {
                let set = sqlx::raw_sql(AssertSqlSafe(mysql)).execute(&mut connection).await;
                set.map(|_| connection).map_err(|error| self.target.failed(&error))
            }
            Err(error) => Err(self.target.failed(&error)),
        }
    }

    fn values(
        &self,
        row: &MySqlRow,
        documents: &[usize],
        forms: Forms,
        mut room: Room,
    ) -> Result<Vec<Value>, Failed> {
        row.columns()
            .iter()
            .map(|column| {
                let raw = row.try_get_raw(column.ordinal()).map_err(|error| self.target.failed(&error))?;
                // NULL cannot be read as bytes.
                let Ok(cell) = <&[u8] as Decode<'_, MySql>>::decode(raw) else { return Ok(Value::Null) };
                room.take(cell)?;
                let is_document = documents.contains(&column.ordinal());
                let type_name = if is_document { "JSON" } else { column.type_info().name() };
                value(cell, type_name, forms)
                    .ok_or_else(|| self.target.unreadable(Dialect::Mysql, column.name(), type_name))
            })
            .collect()
    }
}

/// The places of the result's columns that are JSON columns of a MariaDB table: there JSON is text with the
/// check `json_valid`, and the driver does not ask for the metadata that would tell.
async fn documents(connection: &mut MySqlConnection, sql: &str) -> Result<Vec<usize>, sqlx::Error> {
    let statement = (&mut *connection).prepare(AssertSqlSafe(sql).into_sql_str()).await?;
    let mut documents = Vec::new();
    let mut checks: HashMap<String, Vec<String>> = HashMap::new();
    for column in statement.columns() {
        let Some((table, name)) = origin_of_text(column) else { continue };
        let checks = match checks.entry(table) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let found = checks_of(connection, entry.key()).await?;
                entry.insert(found)
            }
        };
        if checks.contains(&format!("json_valid(`{}`)", name.replace('`', "``"))) {
            documents.push(column.ordinal());
        }
    }
    Ok(documents)
}

/// `schema.table` and name of the table's column that a result's column of text shows.
fn origin_of_text(column: &MySqlColumn) -> Option<(String, String)> {
    let type_name = column.type_info().name();
    // A collation by bytes, as JSON has it, makes the driver call a text binary.
    if !type_name.ends_with("TEXT") && !type_name.ends_with("BLOB") {
        return None;
    }
    match column.origin() {
        ColumnOrigin::Table(origin) => Some((origin.table.to_string(), origin.name.to_string())),
        _ => None,
    }
}

async fn checks_of(connection: &mut MySqlConnection, table: &str) -> Result<Vec<String>, sqlx::Error> {
    const CHECKS: &str = "SELECT check_clause FROM information_schema.check_constraints
        WHERE constraint_schema = ? AND table_name = ?";
    let (schema, table) = table.split_once('.').unwrap_or(("", table));
    sqlx::query_scalar(CHECKS).bind(schema).bind(table).fetch_all(connection).await
}

/// A connection's thread, as its server lists it.
#[derive(Debug, Clone)]
struct Thread {
    id: u64,
    user: Vec<u8>,
    /// With the port of the client's end, where it comes over TCP.
    host: Vec<u8>,
    is_mariadb: bool,
}

impl Thread {
    /// Has the thread do what `begin` says, and asks which it is, in one message.
    async fn that_does(begin: &str, connection: &mut MySqlConnection) -> Result<Self, sqlx::Error> {
        let own = "SELECT id, user, host, VERSION() LIKE '%MariaDB%' FROM information_schema.processlist \
                   WHERE id = CONNECTION_ID()";
        let row = sqlx::raw_sql(AssertSqlSafe(format!("{begin}; {own}"))).fetch_one(connection).await?;
        Ok(Self {
            id: row.try_get_unchecked(0)?,
            user: row.try_get_unchecked(1)?,
            host: row.try_get_unchecked(2)?,
            is_mariadb: row.try_get_unchecked(3)?,
        })
    }

    /// Whether the server has this thread still. An id comes again after a restart, and behind a proxy another server
    /// may have it: there it is another connection's.
    async fn is_left(&self, connection: &mut MySqlConnection) -> Result<bool, sqlx::Error> {
        let found =
            "SELECT COUNT(*) FROM information_schema.processlist WHERE id = ? AND user = ? AND host = ?";
        let query = sqlx::query_scalar::<_, i64>(found).bind(self.id).bind(&self.user).bind(&self.host);
        Ok(query.persistent(false).fetch_one(connection).await? > 0)
    }
}

/// Ends the server's thread of a connection that was left, and waits until it is gone: what it computes
/// inside one function goes on after KILL.
async fn end_thread(options: MySqlConnectOptions, thread: Thread) {
    until_gone(|| thread_ended(&options, &thread)).await;
}

async fn thread_ended(options: &MySqlConnectOptions, thread: &Thread) -> Result<bool, sqlx::Error> {
    let mut connection = options.connect().await?;
    let mut is_left = thread.is_left(&mut connection).await?;
    if is_left {
        let kill = AssertSqlSafe(format!("KILL CONNECTION {}", thread.id));
        // It may have ended since, which is looked at next.
        let _ = sqlx::raw_sql(kill).execute(&mut connection).await;
        is_left = thread.is_left(&mut connection).await?;
    }
    connection.close().await?;
    Ok(!is_left)
}

/// A cell of the binary protocol, by its column's type.
fn value(bytes: &[u8], type_name: &str, forms: Forms) -> Option<Value> {
    let decimals = forms.decimals;
    let text = || std::str::from_utf8(bytes).ok();
    Some(match type_name {
        "NULL" => Value::Null,
        "BOOLEAN" => match integer(bytes, true, decimals)? {
            Value::Integer(number @ (0 | 1)) => Value::Bool(number == 1),
            _ => return None,
        },
        "TINYINT" | "SMALLINT" | "INT" | "MEDIUMINT" | "BIGINT" => integer(bytes, true, decimals)?,
        "TINYINT UNSIGNED" | "SMALLINT UNSIGNED" | "INT UNSIGNED" | "MEDIUMINT UNSIGNED" | "YEAR" => {
            integer(bytes, false, Decimals::Number)?
        }
        "BIGINT UNSIGNED" => integer(bytes, false, decimals)?,
        "BIT" => {
            let number = bytes.iter().try_fold(0_u64, |number, byte| {
                number.checked_mul(256).map(|number| number | u64::from(*byte))
            })?;
            unsigned(number, decimals)?
        }
        "FLOAT" => single(f32::from_le_bytes(bytes.try_into().ok()?))?,
        "DOUBLE" => float(f64::from_le_bytes(bytes.try_into().ok()?))?,
        "DECIMAL" => decimal(text()?, decimals)?,
        "DATE" | "DATETIME" | "TIMESTAMP" => date(bytes, type_name)?,
        "TIME" => time(bytes, forms.intervals)?,
        "JSON" => json(text()?)?,
        _ => Value::from_lua_bytes(bytes.to_vec()),
    })
}

/// Little-endian, in as many bytes as the type has.
fn integer(bytes: &[u8], signed: bool, decimals: Decimals) -> Option<Value> {
    if bytes.is_empty() || bytes.len() > 8 {
        return None;
    }
    let negative = signed && bytes.last().is_some_and(|last| *last >= 0x80);
    let mut wide = [if negative { 0xff } else { 0 }; 8];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    if signed {
        return Some(Value::Integer(i64::from_le_bytes(wide)));
    }
    unsigned(u64::from_le_bytes(wide), decimals)
}

/// Length, year, month, day, then hour, minute, second and microseconds as far as they are not 0.
/// Zero dates are NULL, as the driver has it.
fn date(bytes: &[u8], type_name: &str) -> Option<Value> {
    let [_, year_low, year_high, month, day, rest @ ..] = bytes else { return Some(Value::Null) };
    let mut text = format!("{:04}-{month:02}-{day:02}", u16::from_le_bytes([*year_low, *year_high]));
    if type_name != "DATE" {
        let (clock, micros) = rest.split_at_checked(3).unwrap_or((&[0, 0, 0], &[]));
        let [hour, minute, second] = clock else { return None };
        text.push_str(&format!("T{hour:02}:{minute:02}:{second:02}{}", fraction(microseconds(micros)?)));
        if type_name == "TIMESTAMP" {
            // The session runs in UTC.
            text.push('Z');
        }
    }
    Some(Value::String(text))
}

/// Length, sign, days, hour, minute, second and microseconds; a zero has the length alone.
fn time(bytes: &[u8], intervals: Intervals) -> Option<Value> {
    let (negative, days, [hour, minute, second], micros) = match bytes {
        [_, negative, d0, d1, d2, d3, hour, minute, second, micros @ ..] => {
            (*negative != 0, u32::from_le_bytes([*d0, *d1, *d2, *d3]), [*hour, *minute, *second], micros)
        }
        _ => (false, 0, [0, 0, 0], &[][..]),
    };
    let hours = u64::from(days) * 24 + u64::from(hour);
    let sign = if negative { "-" } else { "" };
    let micros = microseconds(micros)?;
    if intervals == Intervals::Iso {
        let text = format!("{sign}{hours:02}:{minute:02}:{second:02}{}", fraction(micros));
        return Some(Value::String(text));
    }
    let whole = hours * 3_600 + u64::from(minute) * 60 + u64::from(second);
    let size = i128::from(whole) * 1_000_000 + i128::from(micros);
    seconds(if negative { -size } else { size })
}

/// Absent where there are none.
fn microseconds(bytes: &[u8]) -> Option<u64> {
    if bytes.is_empty() { Some(0) } else { Some(u32::from_le_bytes(bytes.try_into().ok()?).into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_thread_that_ran_the_query_is_ended() {
        #[expect(clippy::disallowed_methods, reason = "tests take server addresses from the environment")]
        let Ok(url) = std::env::var("LUAPLAN_TEST_MYSQL_URL") else { return };
        let options: MySqlConnectOptions = url.parse().unwrap();
        let mut connection = options.connect().await.unwrap();
        let thread = Thread::that_does("START TRANSACTION", &mut connection).await.unwrap();
        let moved = Thread { host: b"client.example:1".to_vec(), ..thread.clone() };
        let other = Thread { user: b"other".to_vec(), ..thread.clone() };
        for gone in [moved, other] {
            assert!(thread_ended(&options, &gone).await.unwrap(), "{gone:?}");
            connection.ping().await.expect("a thread that only has the same id goes on");
        }
        end_thread(options, thread).await;
        assert!(connection.ping().await.is_err());
    }
}
