//! Shared by the three databases: leasing a connection, reading a stream of rows.

use std::future::Future;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use sqlx::{Arguments, Column, Connection, Database, Either, Encode, Row, Type};

use luaplan_base::{ErrorCode, Value};

use super::dialect::Dialect;
use super::failure::{Failed, Secrets, query_failed, unreachable};
use super::pool::{Lease, Pool, PoolPlace};
use super::rows::{Room, RowFlow, Rows};
use super::server_error::{ReadError, from_sqlx};

/// What a running statement yields: rows, and how many it changed.
type RowStream<'c, DB> =
    BoxStream<'c, Result<Either<<DB as Database>::QueryResult, <DB as Database>::Row>, sqlx::Error>>;

/// A connection that can be tested for being alive.
pub(super) trait Answers {
    fn answers(&mut self) -> impl Future<Output = bool> + Send;
}

impl<C: Connection> Answers for C {
    async fn answers(&mut self) -> bool {
        self.ping().await.is_ok()
    }
}

/// One configured database, as far as every kind has it.
#[derive(Clone)]
pub(super) struct DatabaseTarget {
    /// The configured name.
    pub(super) name: String,
    pub(super) secrets: Secrets,
    /// Reads the errors of its driver.
    pub(super) read_error: ReadError,
    pub(super) connect_timeout: Duration,
    pub(super) statement_timeout: Duration,
    pub(super) pool_size: usize,
}

impl DatabaseTarget {
    pub(super) fn failed(&self, error: &sqlx::Error) -> Failed {
        let failed = from_sqlx(error, self.read_error, &self.name, &self.secrets);
        if failed.tool_failure().code == ErrorCode::ToolTimeout.as_str() {
            let limit_ms = i64::try_from(self.statement_timeout_ms()).unwrap_or(i64::MAX);
            return failed.with_detail("limit_ms", limit_ms);
        }
        failed
    }

    /// The statement timeout in whole milliseconds, at least one.
    pub(super) fn statement_timeout_ms(&self) -> u128 {
        self.statement_timeout.as_millis().max(1)
    }

    /// A connection that answers: an idle one, or a new one.
    ///
    /// # Errors
    /// `database_unreachable`, also where connecting takes too long.
    pub(super) async fn lease<C: Answers>(
        &self,
        pool: &Pool<C>,
        connect: impl Future<Output = Result<C, Failed>>,
    ) -> Result<Lease<C>, Failed> {
        let mut place = self.place(pool).await?;
        let idle = place.idle_connection.take();
        let open = async move {
            if let Some(mut idle) = idle
                && idle.answers().await
            {
                return Ok(idle);
            }
            connect.await
        };
        let connection = tokio::time::timeout(self.connect_timeout, open).await.map_err(|_| {
            let waited = self.connect_timeout.as_millis();
            unreachable(&self.name, &format!("connecting took longer than {waited} ms")).retryable()
        })??;
        Ok(place.lease(connection))
    }

    /// A place among the connections.
    ///
    /// # Errors
    /// `database_unreachable` where stopped work that still runs holds all places.
    pub(super) async fn place<C>(&self, pool: &Pool<C>) -> Result<PoolPlace<C>, Failed> {
        let place = match tokio::time::timeout(self.connect_timeout, pool.place()).await {
            Ok(place) => place,
            Err(_) => match pool.all_ending() {
                Some(size) => {
                    let reason = format!(
                        "all {size} connections are held by queries that were stopped and still compute"
                    );
                    return Err(unreachable(&self.name, &reason).retryable());
                }
                None => pool.place().await,
            },
        };
        place.ok_or_else(|| unreachable(&self.name, "its connections are closed"))
    }

    /// Reads rows until the end, a cap, or the limit.
    ///
    /// # Errors
    /// `result_too_large`, or what the database says.
    pub(super) async fn read<DB: Database>(
        &self,
        mut stream: RowStream<'_, DB>,
        rows: &mut Rows,
        mut values: impl FnMut(&DB::Row, Room) -> Result<Vec<Value>, Failed>,
        affected: impl Fn(&DB::QueryResult) -> u64,
    ) -> Result<RowFlow, Failed> {
        while let Some(item) = stream.next().await {
            match item.map_err(|error| self.failed(&error))? {
                Either::Left(done) => rows.affected = rows.affected.saturating_add(affected(&done)),
                Either::Right(row) => {
                    let names = || row.columns().iter().map(Column::name).collect();
                    if rows.push(values(&row, rows.room())?, names)? == RowFlow::Enough {
                        return Ok(RowFlow::Enough);
                    }
                }
            }
        }
        Ok(RowFlow::More)
    }

    /// A column whose type has no form here.
    pub(super) fn unreadable(&self, dialect: Dialect, column: &str, type_name: &str) -> Failed {
        query_failed(format!(
            "database `{}`: the column `{column}` of the type {type_name} holds a value that has no form in a plan",
            self.name
        ))
        .with_help(format!("cast it in the query: CAST({column} AS {})", dialect.text_type()))
    }
}

/// The values of a statement for a driver that takes them by their own kind; lists and tables as JSON.
pub(super) fn arguments<A: Arguments>(values: &[Value]) -> Result<A, Failed>
where
    for<'q> Option<i64>: Encode<'q, A::Database> + Type<A::Database>,
    for<'q> bool: Encode<'q, A::Database> + Type<A::Database>,
    for<'q> i64: Encode<'q, A::Database> + Type<A::Database>,
    for<'q> f64: Encode<'q, A::Database> + Type<A::Database>,
    for<'q> String: Encode<'q, A::Database> + Type<A::Database>,
    for<'q> Vec<u8>: Encode<'q, A::Database> + Type<A::Database>,
{
    let mut arguments = A::default();
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
