//! MySQL and MariaDB: every query inside a read-only transaction unless writing is granted.

mod session;

use std::borrow::Cow;
use std::str::FromStr as _;

use sqlx::error::DatabaseError;
use sqlx::mysql::{
    MySqlArguments, MySqlColumn, MySqlConnectOptions, MySqlDatabaseError, MySqlQueryResult, MySqlRow,
};
use sqlx::{
    AssertSqlSafe, Column, ConnectOptions, Decode, Executor, MySql, MySqlConnection, Row, SqlSafeStr as _,
    Statement as _, TypeInfo,
};

use luaplan_base::Value;

use self::session::{Session, end_thread};
use super::dialect::Dialect;
use super::failure::Failed;
use super::number::{decimal, float, fraction, json, seconds, single, unsigned};
use super::pool::Pool;
use super::result_columns::{ColumnKind, ResultColumn};
use super::rows::{Room, RowFlow, Rows};
use super::server_error::{Cause, ServerError};
use super::session::{DatabaseTarget, arguments};
use super::settings::{BadUrl, Decimals, Forms, Intervals};
use super::statement::{Statement, StatementKind};

pub(super) struct MysqlDatabase {
    target: DatabaseTarget,
    options: MySqlConnectOptions,
    pool: Pool<Session>,
}

impl MysqlDatabase {
    /// The database at a `mysql:` URL. Nothing is opened yet.
    pub(super) fn of(target: DatabaseTarget, url: &str) -> Result<Self, BadUrl> {
        let options = MySqlConnectOptions::from_str(url).map_err(|error| BadUrl::malformed(&error))?;
        let options = options.disable_statement_logging();
        let pool = Pool::new(target.pool_size);
        Ok(Self { target, options, pool })
    }

    pub(super) async fn run(&self, statement: &Statement, rows: &mut Rows) -> Result<(), Failed> {
        let mut lease = self.target.lease(&self.pool, self.connect()).await?;
        let session = &mut lease.connection;
        let (begin, end) = match statement.kind {
            StatementKind::Read => ("START TRANSACTION READ ONLY", "ROLLBACK"),
            StatementKind::Write => ("START TRANSACTION READ WRITE", "COMMIT"),
        };
        let thread = session.begin(begin).await.map_err(|error| self.target.failed(&error))?;
        lease.ends_with(end_thread(self.options.clone(), thread));
        let session = &mut lease.connection;
        let sql = statement.rendered.sql.as_str();
        let documents = session.documents(sql).await.map_err(|error| self.target.failed(&error))?;
        let arguments = arguments::<MySqlArguments>(&statement.rendered.values)?;
        let stream = session.connection.fetch_many(sqlx::query_with(AssertSqlSafe(sql), arguments));
        let forms = rows.forms;
        // By the columns that come with the rows: a statement prepared before its table was altered has the old ones.
        let mut places = None;
        let read = |row: &MySqlRow, room| {
            let places = places.get_or_insert_with(|| documents.among(row.columns()));
            self.values(row, places, forms, room)
        };
        let flow = self.target.read::<MySql>(stream, rows, read, MySqlQueryResult::rows_affected).await?;
        if flow == RowFlow::More {
            self.command(&mut session.connection, end).await?;
            lease.give_back();
        }
        Ok(())
    }

    /// Prepares a statement and executes nothing.
    pub(super) async fn look_at(&self, statement: &Statement) -> Result<Vec<ResultColumn>, Failed> {
        let mut lease = self.target.lease(&self.pool, self.connect()).await?;
        let connection = &mut lease.connection.connection;
        let sql = AssertSqlSafe(statement.rendered.sql.clone()).into_sql_str();
        let prepared = (&mut *connection).prepare(sql).await;
        let prepared = prepared.map_err(|error| self.target.failed(&error))?;
        let column = |column: &MySqlColumn| ResultColumn {
            name: column.name().to_owned(),
            kind: kind(column.type_info().name()),
        };
        let columns = prepared.columns().iter().map(column).collect();
        lease.give_back();
        Ok(columns)
    }

    /// Reads an error of this driver.
    pub(super) fn server_error(error: &dyn DatabaseError) -> ServerError {
        let number = error.try_downcast_ref::<MySqlDatabaseError>().map_or(0, MySqlDatabaseError::number);
        ServerError {
            cause: cause(number),
            sqlstate: error.code().map(Cow::into_owned),
            number: Some(("errno", i64::from(number))),
            ..ServerError::default()
        }
    }

    async fn command(&self, connection: &mut MySqlConnection, sql: &'static str) -> Result<(), Failed> {
        let sent = sqlx::raw_sql(sql).execute(connection).await;
        sent.map(|_| ()).map_err(|error| self.target.failed(&error))
    }

    /// The session's rules: quotes and backslashes read as the check reads them, and the time cap
    /// under the name this server knows.
    async fn connect(&self) -> Result<Session, Failed> {
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
            Ok(_) => Ok(Session::new(connection)),
            Err(sqlx::Error::Database(error))
                if error
                    .try_downcast_ref::<MySqlDatabaseError>()
                    .is_some_and(|error| error.number() == UNKNOWN_VARIABLE) =>
            {
                let set = sqlx::raw_sql(AssertSqlSafe(mysql)).execute(&mut connection).await;
                set.map(|_| Session::new(connection)).map_err(|error| self.target.failed(&error))
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

/// By error number, MySQL and MariaDB.
fn cause(number: u16) -> Cause {
    match number {
        1969 | 3024 => Cause::Timeout,
        1040 | 1053 | 1158..=1161 | 1203 | 1317 | 1927 | 2006 | 2013 => Cause::Unreachable,
        1792 | 1290 => Cause::ReadOnly,
        1205 | 1213 => Cause::Contention,
        1044 | 1045 | 1049 | 1698 => Cause::Misconfigured,
        _ => Cause::Other,
    }
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

/// What a column holds, by what [`value`] makes of its cells. A text or binary one may be a document.
fn kind(type_name: &str) -> ColumnKind {
    match type_name {
        "BOOLEAN" => ColumnKind::Boolean,
        "TINYINT" | "SMALLINT" | "INT" | "MEDIUMINT" | "BIGINT" | "TINYINT UNSIGNED"
        | "SMALLINT UNSIGNED" | "INT UNSIGNED" | "MEDIUMINT UNSIGNED" | "YEAR" => ColumnKind::Integer,
        "FLOAT" | "DOUBLE" => ColumnKind::Number,
        "DECIMAL" | "BIGINT UNSIGNED" | "BIT" => ColumnKind::Decimal,
        "TIME" => ColumnKind::Interval,
        "DATE" | "DATETIME" | "TIMESTAMP" | "VARCHAR" | "CHAR" | "ENUM" => ColumnKind::Text,
        _ => ColumnKind::Any,
    }
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
