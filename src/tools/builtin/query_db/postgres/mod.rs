//! PostgreSQL: every query inside a read-only transaction unless writing is granted.

mod decode;
mod encode;
mod session;

use std::collections::BTreeMap;
use std::str::FromStr as _;

use sqlx::error::DatabaseError;
use sqlx::postgres::{
    PgColumn, PgConnectOptions, PgDatabaseError, PgErrorPosition, PgQueryResult, PgRow, PgStatement,
};
use sqlx::{
    AssertSqlSafe, Column, ConnectOptions, Connection as _, Either, Executor, PgConnection, Postgres, Row,
    SqlSafeStr, Statement as _, TypeInfo, ValueRef,
};

use luaplan_base::Value;

use self::decode::decode;
use self::encode::{Encoded, arguments, encode};
use super::dialect::Dialect;
use super::failure::{Failed, query_failed};
use super::lex::{TokenKind, lex};
use super::pool::Pool;
use super::result_columns::ResultColumn;
use super::rows::{Room, RowFlow, Rows};
use super::server_error::{Cause, ServerError};
use super::session::DatabaseTarget;
use super::settings::{BadUrl, Forms, Intervals};
use super::statement::{Statement, StatementKind};

pub(super) struct PostgresDatabase {
    target: DatabaseTarget,
    options: PgConnectOptions,
    pool: Pool<PgConnection>,
}

impl PostgresDatabase {
    /// The database at a `postgres:` URL. Nothing is opened yet.
    pub(super) fn of(target: DatabaseTarget, url: &str) -> Result<Self, BadUrl> {
        let options = PgConnectOptions::from_str(url).map_err(|error| BadUrl::malformed(&error))?;
        let options = options.application_name("luaplan").disable_statement_logging();
        let pool = Pool::new(target.pool_size);
        Ok(Self { target, options, pool })
    }

    pub(super) async fn run(&self, statement: &Statement, rows: &mut Rows) -> Result<(), Failed> {
        let mut lease = self.target.lease(&self.pool, self.connect()).await?;
        let connection = &mut lease.connection;
        let (begin, end) = match statement.kind {
            StatementKind::Read => ("BEGIN READ ONLY", "ROLLBACK"),
            StatementKind::Write => ("BEGIN READ WRITE", "COMMIT"),
        };
        self.command(connection, begin).await?;
        let backend =
            session::ask(connection, &statement.questions, |error| self.target.failed(error)).await?;
        lease.ends_with(session::end(self.options.clone(), backend));
        let connection = &mut lease.connection;
        let (prepared, parameters) = self.prepare(connection, statement).await?;
        let query = prepared.query_with(arguments(parameters)?);
        let stream = (&mut *connection).fetch_many(query);
        let forms = rows.forms;
        let read = |row: &PgRow, room| self.values(row, forms, room);
        let flow = self.target.read::<Postgres>(stream, rows, read, PgQueryResult::rows_affected).await?;
        if flow == RowFlow::More {
            self.command(connection, end).await?;
            self.forget(connection).await?;
            lease.give_back();
        }
        Ok(())
    }

    /// Prepares a statement and executes nothing.
    pub(super) async fn look_at(&self, statement: &Statement) -> Result<Vec<ResultColumn>, Failed> {
        let mut lease = self.target.lease(&self.pool, self.connect()).await?;
        let connection = &mut lease.connection;
        self.command(connection, "BEGIN READ ONLY").await?;
        session::ask(connection, &statement.questions, |error| self.target.failed(error)).await?;
        let prepared = self.prepare_text(connection, statement.rendered.sql.clone()).await?;
        self.command(connection, "ROLLBACK").await?;
        self.forget(connection).await?;
        lease.give_back();
        let column = |column: &PgColumn| ResultColumn {
            name: column.name().to_owned(),
            kind: decode::kind(column.type_info()),
        };
        Ok(prepared.columns().iter().map(column).collect())
    }

    /// Reads an error of this driver. Its DETAIL is left out: it quotes rows.
    pub(super) fn server_error(error: &dyn DatabaseError) -> ServerError {
        let Some(error) = error.try_downcast_ref::<PgDatabaseError>() else { return ServerError::default() };
        let position = match error.position() {
            Some(PgErrorPosition::Original(position)) => Some(position),
            _ => None,
        };
        let sqlstate = Some(error.code().to_owned());
        let hint = error.hint().map(str::to_owned);
        ServerError { cause: cause(error.code()), sqlstate, hint, position, number: None }
    }

    async fn command(&self, connection: &mut PgConnection, sql: &'static str) -> Result<(), Failed> {
        let sent = sqlx::raw_sql(sql).execute(connection).await;
        sent.map(|_| ()).map_err(|error| self.target.failed(&error))
    }

    async fn connect(&self) -> Result<PgConnection, Failed> {
        let mut connection = self.options.connect().await.map_err(|error| self.target.failed(&error))?;
        self.set_rules(&mut connection).await?;
        Ok(connection)
    }

    /// Clears a call's traces from the session: settings, locks, prepared statements, temporary tables.
    async fn forget(&self, connection: &mut PgConnection) -> Result<(), Failed> {
        connection.clear_cached_statements().await.map_err(|error| self.target.failed(&error))?;
        self.command(connection, "DISCARD ALL").await?;
        self.set_rules(connection).await
    }

    async fn set_rules(&self, connection: &mut PgConnection) -> Result<(), Failed> {
        let timeout_ms = self.target.statement_timeout_ms();
        // Set after connecting, not as start-up options, which connection poolers refuse.
        let rules = format!(
            "SET default_transaction_read_only = on; SET standard_conforming_strings = on; \
             SET statement_timeout = {timeout_ms}; SET lock_timeout = {timeout_ms}; \
             SET idle_in_transaction_session_timeout = {timeout_ms}"
        );
        let set = sqlx::raw_sql(AssertSqlSafe(rules)).execute(connection).await;
        set.map(|_| ()).map_err(|error| self.target.failed(&error))
    }

    /// Lets the server infer the parameters' types. A value that does not fit its type's binary
    /// form is sent as text and cast by the server, which needs a second look at the statement.
    async fn prepare(
        &self,
        connection: &mut PgConnection,
        statement: &Statement,
    ) -> Result<(PgStatement, Vec<Encoded>), Failed> {
        let values = &statement.rendered.values;
        let first = self.prepare_text(connection, statement.rendered.sql.clone()).await?;
        let (encoded, casts) = encode_all(&first, values, &BTreeMap::new())?;
        if casts.is_empty() {
            return Ok((first, encoded));
        }
        let second = self.prepare_text(connection, with_casts(&statement.rendered.sql, &casts)?).await?;
        let (encoded, _) = encode_all(&second, values, &casts)?;
        Ok((second, encoded))
    }

    async fn prepare_text(&self, connection: &mut PgConnection, sql: String) -> Result<PgStatement, Failed> {
        connection.prepare(AssertSqlSafe(sql).into_sql_str()).await.map_err(|error| {
            let failed = self.target.failed(&error);
            let undetermined = error
                .as_database_error()
                .is_some_and(|error| error.code().is_some_and(|code| code == "42P18"));
            if undetermined { failed.with_help("say the type: `$1::int`, `CAST(? AS date)`") } else { failed }
        })
    }

    fn values(&self, row: &PgRow, forms: Forms, mut room: Room) -> Result<Vec<Value>, Failed> {
        row.columns()
            .iter()
            .map(|column| {
                let raw = row.try_get_raw(column.ordinal()).map_err(|error| self.target.failed(&error))?;
                if raw.is_null() {
                    return Ok(Value::Null);
                }
                let type_name = column.type_info().name();
                let unreadable = || match forms.intervals {
                    Intervals::Seconds if type_name.starts_with("INTERVAL") => has_months(column.name()),
                    _ => self.target.unreadable(Dialect::Postgres, column.name(), type_name),
                };
                let cell = raw.as_bytes().map_err(|_| unreadable())?;
                room.take(cell)?;
                decode(column.type_info(), cell, forms).ok_or_else(unreadable)
            })
            .collect()
    }
}

/// By SQLSTATE, PostgreSQL manual appendix A.
fn cause(state: &str) -> Cause {
    match state {
        "57014" => Cause::Timeout,
        "57P01" | "57P02" | "57P03" | "57P05" | "53300" => Cause::Unreachable,
        "25006" => Cause::ReadOnly,
        "40001" | "40P01" | "55P03" => Cause::Contention,
        "3D000" => Cause::Misconfigured,
        state if state.starts_with("08") => Cause::Unreachable,
        state if state.starts_with("28") => Cause::Misconfigured,
        _ => Cause::Other,
    }
}

/// An interval whose length in seconds nothing says.
fn has_months(column: &str) -> Failed {
    query_failed(format!(
        "an interval in the column `{column}` has months, which have no fixed length in seconds"
    ))
    .with_help(format!(
        "leave `intervals` out and use date.duration(text, {{days_per_month = 30, days_per_year = 365}}), \
             or ask for EXTRACT(EPOCH FROM {column})"
    ))
}

/// The parameters in binary form, and the types to cast to (by parameter, from 0) where there is
/// none. `cast` holds those that the statement casts already.
fn encode_all(
    statement: &PgStatement,
    values: &[Value],
    cast: &BTreeMap<usize, String>,
) -> Result<(Vec<Encoded>, BTreeMap<usize, String>), Failed> {
    let types = match statement.parameters() {
        Some(Either::Left(types)) => types,
        _ => &[],
    };
    let (mut encoded, mut casts) = (Vec::new(), BTreeMap::new());
    for (index, (value, info)) in values.iter().zip(types).enumerate() {
        match encode(info, value, cast.get(&index).map(String::as_str))? {
            Some(parameter) => encoded.push(parameter),
            None => {
                casts.insert(index, info.name().to_owned());
            }
        }
    }
    Ok((encoded, casts))
}

fn with_casts(sql: &str, casts: &BTreeMap<usize, String>) -> Result<String, Failed> {
    let mut written = String::new();
    let mut copied = 0;
    for token in lex(Dialect::Postgres, sql)? {
        if token.kind != TokenKind::Placeholder {
            continue;
        }
        let number = token.text.get(1..).and_then(|digits| digits.parse::<usize>().ok());
        let cast = number.and_then(|number| number.checked_sub(1)).and_then(|index| casts.get(&index));
        if let Some(type_name) = cast {
            written.push_str(sql.get(copied..token.end()).unwrap_or_default());
            // `bit` alone is `bit(1)` in a cast, and would cut.
            let type_name = if type_name == "BIT" { "VARBIT" } else { type_name };
            written.push_str("::text::");
            written.push_str(type_name);
            copied = token.end();
        }
    }
    written.push_str(sql.get(copied..).unwrap_or_default());
    Ok(written)
}
