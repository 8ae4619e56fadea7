//! `query_db` on a real SQLite file, PostgreSQL and MariaDB.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail and speak as tests do")]

mod arguments;
mod caps;
mod faults;
mod guard;
mod hostile;
mod intervals;
mod rows;
mod schema;
mod shop_report;
mod type_bounds;
mod types;
mod unreachable;
mod writes;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use luaplan::base::{CallOutcome, Value};
use luaplan::bus::{Invocation, Tool};
use luaplan::catalog::{ToolSpec, read_manifest};
use luaplan::tools::query_db::{DatabaseUrl, QueryDb, QueryDbSettings};
use serde_json::Value as Json;
use sqlx::{AssertSqlSafe, Connection, MySqlConnection, PgConnection, SqliteConnection};
use tokio_util::sync::CancellationToken;

use crate::support::Part;

/// The kinds of database a test can run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sqlite,
    Postgres,
    Mysql,
}

const KINDS: [Kind; 3] = [Kind::Sqlite, Kind::Postgres, Kind::Mysql];

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Mysql => "mysql",
        }
    }

    /// The server's address from the environment, or a word on why the test does not run.
    fn server(self) -> Option<String> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Part::Postgres.place(self.name()),
            Self::Mysql => Part::Mysql.place(self.name()),
        }
    }
}

/// A database of a test's own, with whatever the test put into it.
struct Fixture {
    kind: Kind,
    /// The address of the test's own database.
    url: String,
    /// The server's address and the name to drop; SQLite files go with their folder.
    server: Option<(String, String)>,
    folder: tempfile::TempDir,
}

const USERS: &str =
    "CREATE TABLE users (id INTEGER PRIMARY KEY, name VARCHAR(40), age INTEGER, city VARCHAR(40));
    INSERT INTO users VALUES (1, 'Ann', 34, 'Oslo'), (2, 'Ben', 28, 'Rome'), (3, 'Cid', 51, NULL),
        (4, 'it''s; -- fine', 30, 'Oslo');";

impl Fixture {
    /// `None` where this kind cannot be tested here.
    async fn new(kind: Kind, setup: &str) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("luaplan_t{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = tempfile::tempdir().unwrap();
        let fixture = match kind {
            Kind::Sqlite => {
                let path = folder.path().join("test.db");
                std::fs::File::create(&path).unwrap();
                Self { kind, url: format!("sqlite:{}", path.display()), server: None, folder }
            }
            Kind::Postgres => {
                let server = kind.server()?;
                execute(kind, &server, &format!("CREATE SCHEMA {name}")).await;
                let url = format!("{server}?options=-csearch_path%3D{name}");
                Self { kind, url, server: Some((server, name)), folder }
            }
            Kind::Mysql => {
                let server = kind.server()?;
                execute(kind, &server, &format!("CREATE DATABASE {name}")).await;
                let (host, _) = server.rsplit_once('/').unwrap();
                Self { kind, url: format!("{host}/{name}"), server: Some((server.clone(), name)), folder }
            }
        };
        fixture.execute(setup).await;
        Some(fixture)
    }

    /// A fixture on every kind that is there.
    async fn all(setup: &str) -> Vec<Self> {
        let mut fixtures = Vec::new();
        for kind in KINDS {
            fixtures.extend(Self::new(kind, setup).await);
        }
        fixtures
    }

    /// Runs statements outside of the tool.
    async fn execute(&self, sql: &str) {
        if !sql.is_empty() {
            execute(self.kind, &self.url, sql).await;
        }
    }

    fn settings(&self) -> QueryDbSettings {
        let mut settings = QueryDbSettings::default();
        settings.databases.insert("main".to_owned(), DatabaseUrl::new(&self.url));
        settings
    }

    fn tool(&self) -> QueryDb {
        self.tool_with(|_| {})
    }

    fn tool_with(&self, change: impl FnOnce(&mut QueryDbSettings)) -> QueryDb {
        let mut settings = self.settings();
        change(&mut settings);
        QueryDb::new(spec(), &settings, self.folder.path()).unwrap()
    }

    async fn close(self) {
        if let Some((server, name)) = &self.server {
            let drop = match self.kind {
                Kind::Postgres => format!("DROP SCHEMA {name} CASCADE"),
                _ => format!("DROP DATABASE {name}"),
            };
            execute(self.kind, server, &drop).await;
        }
    }
}

async fn execute(kind: Kind, url: &str, sql: &str) {
    let sql = AssertSqlSafe(sql.to_owned());
    match kind {
        Kind::Sqlite => {
            let mut connection = SqliteConnection::connect(url).await.unwrap();
            sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
            connection.close().await.unwrap();
        }
        Kind::Postgres => {
            let mut connection = PgConnection::connect(url).await.unwrap();
            sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
            connection.close().await.unwrap();
        }
        Kind::Mysql => {
            let mut connection = MySqlConnection::connect(url).await.unwrap();
            sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
            connection.close().await.unwrap();
        }
    }
}

fn spec() -> ToolSpec {
    let mut spec = read_manifest(include_str!("../../../tools/query_db.toml"), "query_db.toml").unwrap();
    // Room for a busy machine; tests of the time cap set their own.
    spec.timeout = Duration::from_secs(60);
    spec
}

async fn call(tool: &QueryDb, arguments: Json) -> CallOutcome {
    call_value(tool, Value::from_json(arguments).unwrap(), CancellationToken::new()).await
}

async fn call_value(tool: &QueryDb, arguments: Value, cancellation: CancellationToken) -> CallOutcome {
    tool.call(Invocation { cancellation, ..crate::support::invocation(arguments) }).await
}

/// The result of a call that must succeed, as JSON.
async fn rows(tool: &QueryDb, arguments: Json) -> Json {
    match call(tool, arguments.clone()).await {
        Ok(value) => value.to_json(),
        Err(failure) => panic!("{arguments} failed: {failure:?}"),
    }
}

/// The code and message of a call that must fail.
async fn failure(tool: &QueryDb, arguments: Json) -> luaplan::base::ToolFailure {
    match call(tool, arguments.clone()).await {
        Ok(value) => panic!("{arguments} succeeded: {}", value.to_json()),
        Err(failure) => failure,
    }
}
