//! The guard of statements on the real databases: attacks that it refuses, ordinary queries that it lets pass.

use std::time::Duration;

use luaplan::base::Value;
use serde_json::json;

use super::{Fixture, KINDS, Kind, call, failure, rows};

/// A file of cases, as it is now.
fn cases(name: &str) -> Vec<(String, String)> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/query_db/guard").join(name);
    blocks(&std::fs::read_to_string(path).unwrap())
}

fn attacks(kind: Kind) -> Vec<(String, String)> {
    cases(&format!("attacks_{}.sql", kind.name()))
}

/// What each block is called, and its statement.
fn blocks(file: &str) -> Vec<(String, String)> {
    let mut blocks: Vec<(String, String)> = Vec::new();
    for line in file.lines() {
        match (line.strip_prefix("-- "), blocks.last_mut()) {
            (Some(title), _) => blocks.push((title.to_owned(), String::new())),
            (None, Some((_, statement))) => {
                statement.push_str(line);
                statement.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks.retain(|(_, statement)| !statement.trim().is_empty());
    blocks.into_iter().map(|(title, statement)| (title, statement.trim_end().to_owned())).collect()
}

fn tables(kind: Kind) -> String {
    let (time, document) = match kind {
        Kind::Sqlite => ("TEXT", "TEXT"),
        Kind::Postgres => ("TIMESTAMP", "JSON"),
        Kind::Mysql => ("DATETIME", "JSON"),
    };
    let texts = match kind {
        Kind::Sqlite => {
            "CREATE VIRTUAL TABLE notes USING fts5(note); INSERT INTO notes VALUES ('hello there');"
        }
        _ => "",
    };
    format!(
        "{} CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INTEGER, total DECIMAL(10, 2), status VARCHAR(20),
            data {document}, created_at {time});
        INSERT INTO orders VALUES (1, 1, 20.5, 'paid', '{{\"a\": 1, \"b\": \"x\", \"c\": [1, 2]}}', '2026-01-02 10:00:00'),
            (2, 2, 99, 'open', '{{\"a\": 2}}', '2026-02-03 11:00:00');
        CREATE TABLE words (update_time INTEGER, delete_flag INTEGER, into_stock INTEGER, call_count INTEGER,
            procedure_name INTEGER, sleep INTEGER, benchmark INTEGER, version INTEGER, date_in INTEGER,
            http_status INTEGER, lo_revenue INTEGER); {texts}",
        super::USERS
    )
}

/// Functions of the schema that nothing allows.
fn outside(kind: Kind) -> &'static str {
    match kind {
        Kind::Sqlite => "",
        Kind::Postgres => {
            "CREATE FUNCTION outside(text) RETURNS text LANGUAGE sql AS 'SELECT $1';
            CREATE FUNCTION outside_default(text, integer DEFAULT 1) RETURNS text LANGUAGE sql AS 'SELECT $1';
            CREATE FUNCTION \"Lower\"(text) RETURNS text LANGUAGE sql AS 'SELECT $1';
            CREATE FUNCTION lower(numeric) RETURNS text LANGUAGE sql AS 'SELECT $1::text';
            CREATE FUNCTION outside_row(users) RETURNS text LANGUAGE sql AS 'SELECT $1.name';
            CREATE AGGREGATE outside_sum(integer) (sfunc = int4pl, stype = integer);
            CREATE FUNCTION outside_sign(integer, integer) RETURNS integer LANGUAGE sql AS 'SELECT $1';
            CREATE OPERATOR @#@ (LEFTARG = integer, RIGHTARG = integer, FUNCTION = outside_sign);
            CREATE SEQUENCE s;"
        }
        Kind::Mysql => {
            "CREATE FUNCTION outside(x TEXT) RETURNS TEXT DETERMINISTIC RETURN x;
            CREATE FUNCTION `count`(x INT) RETURNS INT DETERMINISTIC RETURN x; CREATE SEQUENCE s;"
        }
    }
}

#[tokio::test]
async fn every_attack_is_refused_before_the_database_runs_it() {
    let all: usize = KINDS.iter().map(|kind| attacks(*kind).len()).sum();
    assert!(all >= 300, "{all}");
    for kind in KINDS {
        let setup = format!("{} {}", tables(kind), outside(kind));
        let Some(fixture) = Fixture::new(kind, &setup).await else { continue };
        let tool = fixture.tool();
        let everything = json!({"sql": "SELECT * FROM users ORDER BY id"});
        let before = rows(&tool, everything.clone()).await;
        let mut faults = Vec::new();
        for (title, sql) in attacks(kind) {
            match call(&tool, json!({"sql": sql})).await {
                Ok(value) => faults.push(format!("{title}: passed: {}", value.to_json())),
                Err(failure) => {
                    let by_guard = failure.code == "query_refused"
                        && !failure.message.contains("is open for reading only");
                    let by_placeholders = title.contains("placeholder") && failure.code == "bad_arguments";
                    if !(by_guard || by_placeholders) || failure.retryable {
                        faults.push(format!("{title}: {failure:?}"));
                    }
                }
            }
        }
        assert!(faults.is_empty(), "{}: {}", kind.name(), faults.join("\n"));
        assert_eq!(rows(&tool, everything).await, before, "{}", kind.name());
        fixture.close().await;
    }
}

#[tokio::test]
async fn every_ordinary_query_passes() {
    for kind in KINDS {
        let Some(fixture) = Fixture::new(kind, &tables(kind)).await else { continue };
        let tool = fixture.tool();
        let queries = [cases("honest_all.sql"), cases(&format!("honest_{}.sql", kind.name()))].concat();
        assert!(queries.len() >= 100, "{}: {}", kind.name(), queries.len());
        let mut faults = Vec::new();
        for (title, sql) in queries {
            if let Err(failure) = call(&tool, json!({"sql": sql})).await {
                faults.push(format!("{title}: {}: {}", failure.code, failure.message));
            }
        }
        assert!(faults.is_empty(), "{}: {}", kind.name(), faults.join("\n"));
        fixture.close().await;
    }
}

#[tokio::test]
async fn configuration_allows_functions_of_the_schema_and_no_others() {
    for kind in [Kind::Postgres, Kind::Mysql] {
        let setup = format!("{} {}", tables(kind), outside(kind));
        let Some(fixture) = Fixture::new(kind, &setup).await else { continue };
        let tool = fixture.tool_with(|settings| settings.allow_functions = vec!["OUTSIDE".to_owned()]);
        let one = json!([{"a": "x"}]);
        assert_eq!(rows(&tool, json!({"sql": "SELECT outside('x') AS a"})).await, one);
        if kind == Kind::Postgres {
            assert_eq!(rows(&tool, json!({"sql": "SELECT ('x'::text).outside AS a"})).await, one);
            let other = failure(&tool, json!({"sql": "SELECT outside_default('x')"})).await;
            assert_eq!(other.code, "query_refused");
            let help = format!("{:?}", other.details["help"]);
            assert!(help.contains("allow_functions = [\\\"outside_default\\\"]"), "{help}");
        }
        let wide = fixture.tool_with(|settings| settings.allow_functions = vec!["outs*".to_owned()]);
        assert_eq!(rows(&wide, json!({"sql": "SELECT outside('x') AS a"})).await, one);
        fixture.close().await;
    }
}

/// What a call left in its session must not reach the next one.
#[tokio::test]
async fn a_session_is_as_new_when_it_comes_back() {
    let Some(fixture) = Fixture::new(Kind::Postgres, "CREATE FUNCTION leave() RETURNS text LANGUAGE sql AS \
        $$ SELECT set_config('search_path', 'pg_catalog', false) || set_config('statement_timeout', '0', false) \
        || coalesce(pg_try_advisory_lock(4711)::text, '') $$").await else { return };
    let tool = fixture.tool_with(|settings| {
        settings.pool_size = 1;
        settings.allow_functions = vec!["leave".to_owned()];
    });
    rows(&tool, json!({"sql": "SELECT leave()"})).await;
    let seen = rows(&tool, json!({"sql": "SHOW statement_timeout"})).await;
    assert_ne!(seen[0]["statement_timeout"], "0", "{seen}");
    let locks = "SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711";
    let mut watching = <sqlx::PgConnection as sqlx::Connection>::connect(&fixture.url).await.unwrap();
    let left: i64 = sqlx::query_scalar(locks).fetch_one(&mut watching).await.unwrap();
    assert_eq!(left, 0, "a lock of the call before");
    rows(&tool, json!({"sql": "SELECT leave()"})).await;
    fixture.close().await;
}

/// A query that computes inside one function is stopped at its time by the end of its process, and the
/// place it held is free again.
#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_looks_for_no_interruption_is_ended_with_its_process() {
    let fixture = Fixture::new(Kind::Sqlite, super::USERS).await.unwrap();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_luaplan"));
    let tool = fixture.tool_with(|settings| {
        settings.statement_timeout = Some(Duration::from_secs(3));
        settings.pool_size = 1;
    });
    let tool = tool.in_processes_of(Some(program));
    let all = json!({"sql": "SELECT id, name FROM users ORDER BY id"});
    let here = rows(&fixture.tool(), all.clone()).await;
    assert_eq!(rows(&tool, all.clone()).await, here, "the process answers as this one does");
    // 40 MB of text searched for 20 MB that differ at their end.
    let endless = json!({"sql": "SELECT instr(replace(hex(printf('%020000000d', 0)), '3', ''), \
        replace(hex(printf('%010000000d', 0)), '3', '') || 'x')"});
    let stopped = failure(&tool, endless).await;
    assert_eq!(stopped.code, "tool_timeout", "{stopped:?}");
    assert_eq!(stopped.details["limit_ms"], Value::Integer(3_000), "{stopped:?}");
    assert_eq!(rows(&tool, all.clone()).await, here, "the place is free");
    let large = failure(&tool, json!({"sql": "SELECT length(printf('%0900000000d', 0))"})).await;
    assert_eq!(large.code, "query_failed", "memory is bounded: {large:?}");
    assert_eq!(rows(&tool, all).await, here);
    fixture.close().await;
}

#[tokio::test]
async fn values_writes_and_failures_cross_to_the_process_and_back() {
    let fixture = Fixture::new(Kind::Sqlite, super::USERS).await.unwrap();
    let program = Some(std::path::Path::new(env!("CARGO_BIN_EXE_luaplan")));
    let tool =
        fixture.tool_with(|settings| settings.writes = vec!["main".to_owned()]).in_processes_of(program);
    let sql = "SELECT ? AS a, ? AS b, ? AS c, x'00ff' AS d, 1e300 AS e, -9223372036854775808 AS f, NULL AS g";
    let params = json!({"sql": sql, "params": [1, "grün\u{0}x", 0.1]});
    assert_eq!(call(&tool, params.clone()).await.unwrap(), call(&fixture.tool(), params).await.unwrap());
    let written = rows(&tool, json!({"sql": "UPDATE users SET age = 1 WHERE id < 3 RETURNING id"})).await;
    assert_eq!(
        written,
        rows(&tool, json!({"sql": "UPDATE users SET age = 2 WHERE id < 3 RETURNING id"})).await
    );
    assert_eq!(
        rows(&tool, json!({"table": "users", "columns": "age", "limit": 1})).await,
        json!([{"age": 2}])
    );
    let unknown = failure(&tool, json!({"table": "nowhere"})).await;
    assert_eq!(unknown.code, "query_failed");
    assert_eq!(unknown, failure(&fixture.tool(), json!({"table": "nowhere"})).await);
    let capped = fixture.tool_with(|settings| settings.rows_max = 2).in_processes_of(program);
    assert_eq!(failure(&capped, json!({"table": "users"})).await.code, "result_too_large");
    fixture.close().await;
}

/// Some seconds in one function, which neither a time-out nor the end of its connection ends, and how to look
/// for it on the server. `mark` makes the statement this test's own.
fn long_search(kind: Kind, mark: &str) -> (String, String) {
    let text = if kind == Kind::Postgres { "text" } else { "CHAR(300000)" };
    let double = if kind == Kind::Postgres { "t || t" } else { "CONCAT(t, t)" };
    let search = match kind {
        Kind::Postgres => "position('b' || left(t, length(t) / 2) IN t)",
        _ => "INSTR(t, CONCAT(LEFT(t, LENGTH(t) / 2), 'b'))",
    };
    let statement = format!(
        "WITH RECURSIVE {mark}(t, n) AS (SELECT CAST('aaaaaaaaaaaaaaaa' AS {text}), 1 UNION ALL \
        SELECT {double}, n + 1 FROM {mark} WHERE n < 15) SELECT {search} AS place FROM {mark} WHERE n = 15"
    );
    let looked_for = match kind {
        Kind::Postgres => {
            format!("pg_stat_activity WHERE state = 'active' AND query LIKE 'WITH RECURSIVE {mark}(%'")
        }
        _ => format!("information_schema.processlist WHERE info LIKE 'WITH RECURSIVE {mark}(%'"),
    };
    (statement, format!("SELECT COUNT(*) FROM {looked_for}"))
}

async fn count(kind: Kind, url: &str, sql: &str) -> i64 {
    let sql = sqlx::AssertSqlSafe(sql.to_owned());
    if kind == Kind::Postgres {
        let mut connection = <sqlx::PgConnection as sqlx::Connection>::connect(url).await.unwrap();
        return sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap();
    }
    let mut connection = <sqlx::MySqlConnection as sqlx::Connection>::connect(url).await.unwrap();
    sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
}

/// Where the server continues to compute after it was told to stop, the place stays occupied.
#[tokio::test(flavor = "multi_thread")]
async fn a_place_is_held_until_the_server_says_that_the_work_has_ended() {
    for kind in [Kind::Postgres, Kind::Mysql] {
        let Some(fixture) = Fixture::new(kind, super::USERS).await else { continue };
        let tool = fixture.tool_with(|settings| {
            settings.statement_timeout = Some(Duration::from_secs(1));
            settings.connect_timeout = Duration::from_millis(400);
            settings.pool_size = 1;
        });
        let (long, computing) = long_search(kind, &format!("search_{}", std::process::id()));
        let stopped = failure(&tool, json!({"sql": long})).await;
        assert_eq!(stopped.code, "tool_timeout", "{stopped:?}");
        let under_way = count(kind, &fixture.url, &computing).await;
        assert_eq!(under_way, 1, "{}: the server was to compute on", kind.name());
        let held = failure(&tool, json!({"table": "users"})).await;
        assert_eq!(held.code, "database_unreachable", "{held:?}");
        assert!(held.retryable && held.message.contains("still compute"), "{held:?}");
        while count(kind, &fixture.url, &computing).await > 0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let free = async { while call(&tool, json!({"table": "users"})).await.is_err() {} };
        tokio::time::timeout(Duration::from_secs(30), free).await.unwrap();
        fixture.close().await;
    }
}
