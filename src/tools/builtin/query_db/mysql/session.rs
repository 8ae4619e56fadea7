//! Questions to a MySQL or MariaDB server around a statement: which of its threads runs it, and which columns of
//! its tables are JSON. Each answer takes the server longer than a small query, so a connection keeps them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use sqlx::mysql::{MySqlColumn, MySqlConnectOptions};
use sqlx::{
    AssertSqlSafe, Column, ColumnOrigin, ConnectOptions, Connection as _, Executor, MySqlConnection, Row,
    SqlSafeStr as _, Statement as _, TypeInfo,
};
use tokio::time::Instant;

use super::super::pool::until_gone;
use super::super::session::Answers;

/// How long the known JSON columns of a table stay valid: it may be altered at any moment.
const KNOWN_FOR: Duration = Duration::from_secs(5);

/// A connection, and the answers it keeps.
pub(super) struct Session {
    pub(super) connection: MySqlConnection,
    thread: Option<Thread>,
    /// By `schema.table`.
    tables: HashMap<String, Table>,
}

/// The checks of a table that make columns JSON, and when they were asked for.
struct Table {
    checks: Vec<String>,
    asked: Instant,
}

impl Answers for Session {
    async fn answers(&mut self) -> bool {
        self.connection.ping().await.is_ok()
    }
}

impl Session {
    pub(super) fn new(connection: MySqlConnection) -> Self {
        Self { connection, thread: None, tables: HashMap::new() }
    }

    /// Runs `begin`, and returns the thread that runs it: behind a proxy each transaction may have another.
    pub(super) async fn begin(&mut self, begin: &str) -> Result<Thread, sqlx::Error> {
        let sql = format!("{begin}; SELECT CONNECTION_ID()");
        let row = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_one(&mut self.connection).await?;
        let id: u64 = row.try_get_unchecked(0)?;
        if let Some(thread) = self.thread.as_ref().filter(|thread| thread.id == id) {
            return Ok(thread.clone());
        }
        let thread = Thread::of(&mut self.connection).await?;
        Ok(self.thread.insert(thread).clone())
    }

    /// The JSON columns of the tables that a statement shows. On MariaDB JSON is text with the check `json_valid`, and
    /// the driver does not request the metadata that would show it; MySQL has a JSON type.
    pub(super) async fn documents(&mut self, sql: &str) -> Result<Documents, sqlx::Error> {
        if self.thread.as_ref().is_none_or(|thread| !thread.is_mariadb) {
            return Ok(Documents::default());
        }
        let statement = (&mut self.connection).prepare(AssertSqlSafe(sql).into_sql_str()).await?;
        let tables: BTreeSet<_> =
            statement.columns().iter().filter_map(origin).map(|(table, _)| table).collect();
        self.tables.retain(|_, table| table.asked.elapsed() < KNOWN_FOR);
        let mut found = Documents::default();
        for name in tables {
            if !self.tables.contains_key(&*name) {
                let checks = checks_of(&mut self.connection, &name).await?;
                self.tables.insert(name.to_string(), Table { checks, asked: Instant::now() });
            }
            if let Some(table) = self.tables.get(&*name).filter(|table| !table.checks.is_empty()) {
                found.0.insert(name.to_string(), table.checks.clone());
            }
        }
        Ok(found)
    }
}

/// The checks that make columns JSON, by `schema.table`.
#[derive(Default)]
pub(super) struct Documents(HashMap<String, Vec<String>>);

impl Documents {
    /// The places of those of a result's columns that show one.
    pub(super) fn among(&self, columns: &[MySqlColumn]) -> Vec<usize> {
        let shows_one = |column: &&MySqlColumn| {
            let type_name = column.type_info().name();
            // A collation by bytes, as JSON has it, makes the driver call a text binary.
            let is_text = type_name.ends_with("TEXT") || type_name.ends_with("BLOB");
            let is_checked = |(table, name): (Arc<str>, Arc<str>)| {
                let check = format!("json_valid(`{}`)", name.replace('`', "``"));
                self.0.get(&*table).is_some_and(|checks| checks.contains(&check))
            };
            is_text && origin(column).is_some_and(is_checked)
        };
        columns.iter().filter(shows_one).map(Column::ordinal).collect()
    }
}

/// `schema.table` and name of the table's column that a result's column shows.
fn origin(column: &MySqlColumn) -> Option<(Arc<str>, Arc<str>)> {
    match column.origin() {
        ColumnOrigin::Table(origin) => Some((origin.table, origin.name)),
        _ => None,
    }
}

async fn checks_of(connection: &mut MySqlConnection, table: &str) -> Result<Vec<String>, sqlx::Error> {
    const CHECKS: &str = "SELECT check_clause FROM information_schema.check_constraints
        WHERE constraint_schema = ? AND table_name = ? AND check_clause LIKE 'json_valid(%'";
    let (schema, table) = table.split_once('.').unwrap_or(("", table));
    sqlx::query_scalar(CHECKS).bind(schema).bind(table).fetch_all(connection).await
}

/// A connection's thread, as its server lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Thread {
    id: u64,
    user: Vec<u8>,
    /// With the port of the client's end, where it comes over TCP.
    host: Vec<u8>,
    is_mariadb: bool,
}

impl Thread {
    async fn of(connection: &mut MySqlConnection) -> Result<Self, sqlx::Error> {
        let own = "SELECT id, user, host, VERSION() LIKE '%MariaDB%' FROM information_schema.processlist \
                   WHERE id = CONNECTION_ID()";
        let row = sqlx::raw_sql(own).fetch_one(connection).await?;
        Ok(Self {
            id: row.try_get_unchecked(0)?,
            user: row.try_get_unchecked(1)?,
            host: row.try_get_unchecked(2)?,
            is_mariadb: row.try_get_unchecked(3)?,
        })
    }

    /// Whether the server still has this thread. After a restart its id may belong to another connection, as
    /// behind a proxy, where another server may use it.
    async fn is_left(&self, connection: &mut MySqlConnection) -> Result<bool, sqlx::Error> {
        let found =
            "SELECT COUNT(*) FROM information_schema.processlist WHERE id = ? AND user = ? AND host = ?";
        let query = sqlx::query_scalar::<_, i64>(found).bind(self.id).bind(&self.user).bind(&self.host);
        Ok(query.persistent(false).fetch_one(connection).await? > 0)
    }
}

/// Ends the server's thread of an abandoned connection, and waits until it is gone: a computation inside one
/// function continues after KILL.
pub(super) async fn end_thread(options: MySqlConnectOptions, thread: Thread) {
    until_gone(|| thread_ended(&options, &thread)).await;
}

async fn thread_ended(options: &MySqlConnectOptions, thread: &Thread) -> Result<bool, sqlx::Error> {
    let mut connection = options.connect().await?;
    let mut is_left = thread.is_left(&mut connection).await?;
    if is_left {
        let kill = AssertSqlSafe(format!("KILL CONNECTION {}", thread.id));
        // It may have ended meanwhile, which the next query shows.
        let _ = sqlx::raw_sql(kill).execute(&mut connection).await;
        is_left = thread.is_left(&mut connection).await?;
    }
    connection.close().await?;
    Ok(!is_left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_thread_that_ran_the_query_is_ended() {
        let Some(url) = crate::builtin::query_db::tests::server("mysql", "LUAPLAN_TEST_MYSQL_URL") else {
            return;
        };
        let options: MySqlConnectOptions = url.parse().unwrap();
        let mut session = Session::new(options.connect().await.unwrap());
        let thread = session.begin("START TRANSACTION").await.unwrap();
        session.thread = Some(Thread { id: 0, ..thread.clone() });
        let asked_anew = session.begin("START TRANSACTION").await.unwrap();
        assert_eq!(asked_anew, thread, "a connection whose thread is another asks for it");
        let moved = Thread { host: b"client.example:1".to_vec(), ..thread.clone() };
        let other = Thread { user: b"other".to_vec(), ..thread.clone() };
        for gone in [moved, other] {
            assert!(thread_ended(&options, &gone).await.unwrap(), "{gone:?}");
            assert!(session.answers().await, "a thread that only has the same id stays connected");
        }
        end_thread(options, thread).await;
        assert!(!session.answers().await);
    }
}
