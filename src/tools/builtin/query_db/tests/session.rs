//! What the sessions refuse by themselves.

use std::time::Duration;

use sqlx::Connection as _;

use super::super::database::Database;
use super::super::rows::{Caps, Rows};
use super::super::settings::{DatabaseUrl, QueryDbSettings};
use super::super::statement::{Questions, Statement, StatementKind};
use super::super::template::Rendered;
use super::server;

/// The second wall alone: attacks that never went through the check, on each database that is there.
#[tokio::test]
async fn the_session_refuses_to_write_by_itself() {
    const SQLITE: &str = include_str!("../../../../../tests/cases/query_db/guard/attacks_sqlite.sql");
    const POSTGRES: &str = include_str!("../../../../../tests/cases/query_db/guard/attacks_postgres.sql");
    const MYSQL: &str = include_str!("../../../../../tests/cases/query_db/guard/attacks_mysql.sql");
    const TABLE: &str = "CREATE TABLE users (id INTEGER, name VARCHAR(40))";
    let folder = tempfile::tempdir().unwrap();
    let file = format!("sqlite:{}", folder.path().join("t.db").display());
    let mut connection = sqlx::SqliteConnection::connect(&format!("{file}?mode=rwc")).await.unwrap();
    sqlx::raw_sql(TABLE).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let mut databases = vec![(file, SQLITE, 15)];
    let name = format!("luaplan_session_{}", std::process::id());
    let postgres = server("postgres", "LUAPLAN_TEST_POSTGRES_URL");
    if let Some(url) = &postgres {
        let mut connection = sqlx::PgConnection::connect(url).await.unwrap();
        let setup = format!("CREATE SCHEMA {name}; SET search_path = {name}; {TABLE}");
        sqlx::raw_sql(sqlx::AssertSqlSafe(setup)).execute(&mut connection).await.unwrap();
        databases.push((format!("{url}?options=-csearch_path%3D{name}"), POSTGRES, 8));
    }
    let mysql = server("mysql", "LUAPLAN_TEST_MYSQL_URL");
    if let Some(url) = &mysql {
        let mut connection = sqlx::MySqlConnection::connect(url).await.unwrap();
        let setup = format!("CREATE DATABASE {name}; USE {name}; {TABLE}");
        sqlx::raw_sql(sqlx::AssertSqlSafe(setup)).execute(&mut connection).await.unwrap();
        let (host, _) = url.rsplit_once('/').unwrap();
        databases.push((format!("{host}/{name}"), MYSQL, 7));
    }
    for (url, cases, count) in databases {
        let settings = QueryDbSettings::default();
        let url = DatabaseUrl::new(url);
        let database =
            Database::new("main", &url, &settings, Duration::from_secs(20), folder.path()).unwrap();
        let mut seen = 0;
        for block in cases.split("\n-- ").skip(1) {
            let (title, sql) = block.split_once('\n').unwrap();
            if !title.ends_with("[session]") {
                continue;
            }
            let rendered = Rendered { sql: sql.trim().to_owned(), values: Vec::new() };
            let statement =
                Statement { rendered, kind: StatementKind::Read, questions: Questions::default() };
            let mut rows = Rows::new(Caps { rows_max: 9, bytes_max: 999, limit: None });
            let failure = database.run(&statement, &mut rows).await.unwrap_err().into_tool_failure();
            assert_eq!(failure.code, "query_refused", "{title}: {failure:?}");
            assert!(failure.message.contains("is open for reading only"), "{title}: {failure:?}");
            seen += 1;
        }
        assert!(seen >= count, "{url}: {seen}");
    }
    if let Some(url) = postgres {
        let mut connection = sqlx::PgConnection::connect(&url).await.unwrap();
        let drop = sqlx::AssertSqlSafe(format!("DROP SCHEMA {name} CASCADE"));
        sqlx::raw_sql(drop).execute(&mut connection).await.unwrap();
    }
    if let Some(url) = mysql {
        let mut connection = sqlx::MySqlConnection::connect(&url).await.unwrap();
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!("DROP DATABASE {name}")))
            .execute(&mut connection)
            .await
            .unwrap();
    }
}
