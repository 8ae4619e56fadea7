//! Databases that are not there, hang, or go away.

use std::time::Duration;

use luaplan::base::ErrorCode;
use luaplan::tools::query_db::{DatabaseUrl, QueryDb, QueryDbSettings};
use serde_json::json;
use tokio::net::TcpListener;

use super::{Fixture, Kind, USERS, failure, rows, spec};

fn tool_for(url: &str, change: impl FnOnce(&mut QueryDbSettings)) -> QueryDb {
    let mut settings = QueryDbSettings::default();
    settings.databases.insert("main".to_owned(), DatabaseUrl::new(url));
    change(&mut settings);
    QueryDb::new(spec(), &settings, std::path::Path::new(".")).unwrap()
}

#[tokio::test]
async fn a_missing_file_is_named_and_not_created() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = QueryDbSettings::default();
    settings.databases.insert("main".to_owned(), DatabaseUrl::new("sqlite:sub/none.db"));
    settings.writes = vec!["main".to_owned()];
    let tool = QueryDb::new(spec(), &settings, folder.path()).unwrap();
    for sql in ["SELECT 1", "INSERT INTO t VALUES (1)"] {
        let failure = failure(&tool, json!({"sql": sql})).await;
        assert_eq!((failure.code.as_str(), failure.retryable), ("database_unreachable", false));
        let path = folder.path().join("sub/none.db");
        assert!(failure.message.contains(&path.display().to_string()), "{}", failure.message);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_unreachable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "not a database, only a text that is long enough to be looked at".repeat(40))
        .unwrap();
    let tool = tool_for(&format!("sqlite:{}", path.display()), |_| {});
    assert_eq!(failure(&tool, json!({"sql": "SELECT * FROM t"})).await.code, "database_unreachable");
}

#[tokio::test]
async fn a_closed_port_is_unreachable_at_once_and_worth_another_try() {
    let (_held, address) = crate::http_support::refusing();
    for scheme in ["postgres", "mysql"] {
        let tool = tool_for(&format!("{scheme}://u:geheim42@{address}/x"), |_| {});
        let failure = failure(&tool, json!({"sql": "SELECT 1"})).await;
        assert_eq!((failure.code.as_str(), failure.retryable), ("database_unreachable", true), "{failure:?}");
        assert!(failure.message.contains("refused"), "{}", failure.message);
    }
}

#[tokio::test]
async fn a_server_that_never_answers_runs_into_the_time_cap() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let accepting = tokio::spawn(async move {
        let mut held = Vec::new();
        loop {
            held.push(listener.accept().await);
        }
    });
    for scheme in ["postgres", "mysql"] {
        let url = format!("{scheme}://u:geheim42@127.0.0.1:{port}/x");
        let slow = tool_for(&url, |settings| settings.connect_timeout = Duration::from_millis(50));
        let first = failure(&slow, json!({"sql": "SELECT 1"})).await;
        assert_eq!((first.code.as_str(), first.retryable), ("database_unreachable", true));
        assert!(first.message.contains("longer than 50 ms"), "{}", first.message);
        let whole = tool_for(&url, |settings| settings.statement_timeout = Some(Duration::from_millis(50)));
        let second = failure(&whole, json!({"sql": "SELECT 1"})).await;
        assert_eq!((second.code.as_str(), second.retryable), ("tool_timeout", true));
        let probed = whole.probe().await;
        assert_eq!(probed[0].1.as_ref().unwrap_err().code(), ErrorCode::ToolTimeout);
    }
    accepting.abort();
}

#[tokio::test]
async fn a_password_is_never_printed() {
    let secret = "s3cr%40t+geheim";
    for kind in [Kind::Postgres, Kind::Mysql] {
        let Some(server) = kind.server() else { continue };
        let (_, host) = server.split_once("://").unwrap();
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let url = format!("{}://nobody-here:{secret}@{host}", kind.name());
        let tool = tool_for(&url, |_| {});
        let failure = failure(&tool, json!({"sql": "SELECT 1"})).await;
        let probed = tool.probe().await;
        let shown =
            format!("{failure:?} {:?} {:?} {}", probed, DatabaseUrl::new(&url), DatabaseUrl::new(&url));
        assert!(!shown.contains(secret) && !shown.contains("s3cr@t+geheim"), "{shown}");
        assert_eq!(
            (failure.code.as_str(), failure.retryable),
            ("database_unreachable", false),
            "{failure:?}"
        );
    }
    for url in [
        "postgres://u:geheim42@host:99999/db",
        "mysql://u:geheim42@ho st/db",
        "postgres://host/db?password=geheim42&sslmode=nonsense",
        "oracle://u:geheim42@host/db",
        "sqlite::memory:",
        "sqlite:x.db?mode=rwc",
    ] {
        let mut settings = QueryDbSettings::default();
        settings.databases.insert("main".to_owned(), DatabaseUrl::new(url));
        let Err(error) = QueryDb::new(spec(), &settings, std::path::Path::new(".")) else {
            panic!("{url} was taken")
        };
        assert_eq!(error.code(), ErrorCode::ConfigInvalid);
        let shown = format!("{error:?} {} {settings:?}", error.to_json());
        assert!(!shown.contains("geheim42"), "{shown}");
        assert!(shown.contains("databases.main"), "{shown}");
    }
}

#[tokio::test]
async fn a_killed_connection_fails_one_call_and_the_next_recovers() {
    let kill = [
        (
            Kind::Postgres,
            "SELECT count(*) FROM generate_series(1, 1000000000000) victim",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'luaplan' \
             AND query LIKE '%victim' AND state = 'active'",
        ),
        (
            Kind::Mysql,
            "SELECT count(*) FROM information_schema.columns victim, information_schema.columns b, \
             information_schema.columns c, information_schema.columns d",
            "",
        ),
    ];
    for (kind, victim, statement) in kill {
        let Some(fixture) = Fixture::new(kind, USERS).await else { continue };
        let tool = fixture.tool_with(|settings| settings.pool_size = 1);
        let killer = async {
            // Until the query is seen running; the tool's own time cap bounds the wait.
            loop {
                match kind {
                    Kind::Postgres => fixture.execute(statement).await,
                    _ => kill_mysql(&fixture).await,
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let failed = tokio::select! {
            failed = failure(&tool, json!({"sql": victim})) => failed,
            () = killer => unreachable!("the killer only ends with the query"),
        };
        assert_eq!((failed.code.as_str(), failed.retryable), ("database_unreachable", true), "{failed:?}");
        let after = rows(&tool, json!({"table": "users", "columns": ["id"], "limit": 1})).await;
        assert_eq!(after, json!([{"id": 1}]));
        fixture.close().await;
    }
}

/// Kills the connection whose query names the victim.
async fn kill_mysql(fixture: &Fixture) {
    use sqlx::{AssertSqlSafe, Connection, Row};
    let mut connection = sqlx::MySqlConnection::connect(&fixture.url).await.unwrap();
    let (_, database) = fixture.url.rsplit_once('/').unwrap();
    let found = format!(
        "SELECT id FROM information_schema.processlist WHERE db = '{database}' AND info LIKE 'SELECT count%victim%'"
    );
    let rows = sqlx::query(AssertSqlSafe(found)).fetch_all(&mut connection).await.unwrap();
    for row in rows {
        let id: u64 = row.try_get_unchecked("id").unwrap();
        // It may be gone by now.
        sqlx::raw_sql(AssertSqlSafe(format!("KILL {id}"))).execute(&mut connection).await.ok();
    }
}

#[tokio::test]
async fn a_connection_that_died_while_idle_is_replaced_unnoticed() {
    let Some(fixture) = Fixture::new(Kind::Postgres, USERS).await else { return };
    let tool = fixture.tool_with(|settings| {
        settings.pool_size = 1;
        settings.allow_functions = vec!["pg_backend_pid".to_owned()];
    });
    // The connections of other tests have the same name.
    let own = rows(&tool, json!({"sql": "SELECT pg_backend_pid() AS id"})).await;
    fixture.execute(&format!("SELECT pg_terminate_backend({})", own[0]["id"])).await;
    assert_eq!(rows(&tool, json!({"sql": "SELECT 1 AS x"})).await, json!([{"x": 1}]));
    fixture.close().await;
}

#[tokio::test]
async fn probing_tells_product_and_version_or_the_reason() {
    for fixture in Fixture::all(USERS).await {
        let kind = fixture.kind;
        let tool = fixture.tool_with(|settings| {
            settings.databases.insert("gone".to_owned(), DatabaseUrl::new("sqlite:gone.db"));
        });
        let probed = tool.probe().await;
        let product = match kind {
            Kind::Sqlite => "SQLite 3.",
            Kind::Postgres => "PostgreSQL ",
            Kind::Mysql => "MySQL ",
        };
        let text = probed[0].1.as_ref().unwrap();
        assert!(text.starts_with(product) && text.ends_with("read only"), "{text}");
        assert_eq!(probed[1].0, "gone");
        assert_eq!(probed[1].1.as_ref().unwrap_err().code(), ErrorCode::DatabaseUnreachable);
        fixture.close().await;
    }
}

#[tokio::test]
async fn a_replaced_or_removed_file_is_noticed() {
    let fixture = Fixture::new(Kind::Sqlite, USERS).await.unwrap();
    let other =
        Fixture::new(Kind::Sqlite, "CREATE TABLE users (id INTEGER); INSERT INTO users VALUES (77)").await;
    let other = other.unwrap();
    let tool = fixture.tool();
    let asked = json!({"sql": "SELECT max(id) AS id FROM users"});
    assert_eq!(rows(&tool, asked.clone()).await, json!([{"id": 4}]));
    let path = |fixture: &Fixture| fixture.url.trim_start_matches("sqlite:").to_owned();
    std::fs::rename(path(&other), path(&fixture)).unwrap();
    assert_eq!(rows(&tool, asked.clone()).await, json!([{"id": 77}]));
    std::fs::remove_file(path(&fixture)).unwrap();
    assert_eq!(failure(&tool, asked).await.code, "database_unreachable");
}
