//! What a database says when a query is wrong, and settings that make no sense.

use luaplan::base::ErrorCode;
use luaplan::tools::query_db::{QueryDb, QueryDbSettings};
use serde_json::json;

use super::{Fixture, Kind, USERS, failure, rows, spec};

#[tokio::test]
async fn a_wrong_query_brings_the_databases_own_words() {
    for fixture in Fixture::all(USERS).await {
        let tool = fixture.tool();
        let cases = [
            (json!({"table": "no_such"}), "no_such"),
            (json!({"table": "users", "columns": ["shoe_size"]}), "shoe_size"),
            (json!({"table": "users", "where": "age >"}), ""),
            (json!({"table": "users", "where": "1=1 ORDER BY id"}), ""),
            (json!({"table": "users", "where": "1 UNION SELECT 2"}), ""),
            (json!({"sql": "SELECT FROM WHERE"}), ""),
        ];
        for (arguments, word) in cases {
            let failure = failure(&tool, arguments.clone()).await;
            assert_eq!((failure.code.as_str(), failure.retryable), ("query_failed", false), "{arguments}");
            assert!(failure.message.contains(word), "{}", failure.message);
        }
        assert_eq!(
            rows(&tool, json!({"sql": "SELECT 1 AS x"})).await,
            json!([{"x": 1}]),
            "a failure breaks nothing"
        );
        fixture.close().await;
    }
}

#[test]
fn settings_have_safe_defaults_and_refuse_what_makes_no_sense() {
    let settings: QueryDbSettings = toml::from_str("").unwrap();
    assert_eq!((settings.rows_max, settings.bytes_max, settings.pool_size), (10_000, 8 * 1024 * 1024, 4));
    assert!(settings.databases.is_empty() && settings.writes.is_empty());
    let written = "databases = { b = \"sqlite:b.db\", a = \"postgres://u:geheim@h/d\" }\nrows_max = 5\n\
        bytes_max = \"64KiB\"\nstatement_timeout = \"2s\"\nconnect_timeout = \"1s\"\nwrites = [\"b\"]\npool_size = 2";
    let settings: QueryDbSettings = toml::from_str(written).unwrap();
    assert_eq!(settings.databases.keys().collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!((settings.bytes_max, settings.statement_timeout.unwrap().as_secs()), (65_536, 2));
    let shown = serde_json::to_string(&settings.databases).unwrap();
    assert!(!shown.contains("geheim") && shown.contains("***"), "{shown}");
    for refused in ["row_max = 1", "bytes_max = \"much\"", "connect_timeout = 5", "rows_max = -1"] {
        assert!(toml::from_str::<QueryDbSettings>(refused).is_err(), "{refused}");
    }
    for (text, key) in [
        ("rows_max = 0", "rows_max"),
        ("pool_size = 0", "pool_size"),
        ("connect_timeout = \"0s\"", "connect_timeout"),
        ("writes = [\"main\"]", "writes"),
    ] {
        let settings: QueryDbSettings = toml::from_str(text).unwrap();
        let Err(error) = QueryDb::new(spec(), &settings, std::path::Path::new(".")) else { panic!("{text}") };
        assert_eq!(error.code(), ErrorCode::ConfigInvalid);
        assert!(error.message().contains(key), "{}", error.message());
    }
}

#[tokio::test]
async fn what_the_server_says_reaches_the_reader() {
    let setup = "CREATE TABLE people (id INTEGER PRIMARY KEY, family_name VARCHAR(40) NOT NULL)";
    for fixture in Fixture::all(setup).await {
        let failed = failure(&fixture.tool(), json!({"sql": "SELECT familyname FROM people"})).await;
        let detail = |name: &str| failed.details.get(name).map(luaplan::base::Value::to_json);
        let message = &failed.message;
        match fixture.kind {
            Kind::Postgres => {
                assert_eq!(detail("sqlstate"), Some(json!("42703")));
                assert_eq!(detail("position"), Some(json!(8)));
                let hint = detail("hint").unwrap();
                assert!(hint.as_str().unwrap().contains("\"people.family_name\""), "{hint}");
                assert!(message.contains("(at character 8, SQLSTATE 42703; hint: "), "{message}");
                assert!(message.contains("\"people.family_name\""), "{message}");
            }
            Kind::Mysql => {
                assert_eq!((detail("sqlstate"), detail("errno")), (Some(json!("42S22")), Some(json!(1054))));
                assert!(message.ends_with("(error 1054, SQLSTATE 42S22)"), "{message}");
            }
            Kind::Sqlite => {
                assert_eq!(detail("sqlite_code"), Some(json!(1)));
                let tool = fixture.tool_with(|settings| settings.writes = vec!["main".to_owned()]);
                let refused = failure(&tool, json!({"sql": "INSERT INTO people (id) VALUES (1)"})).await;
                const NOT_NULL: i64 = 1299;
                assert_eq!(refused.details["sqlite_code"].to_json(), json!(NOT_NULL));
            }
        }
        fixture.close().await;
    }
}

#[tokio::test]
async fn rows_that_the_server_quotes_are_left_out() {
    let setup = "CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(40) UNIQUE);
        INSERT INTO people VALUES (1, 'hidden-value')";
    let Some(fixture) = Fixture::new(Kind::Postgres, setup).await else { return };
    let tool = fixture.tool_with(|settings| settings.writes = vec!["main".to_owned()]);
    let refused = failure(&tool, json!({"sql": "INSERT INTO people SELECT 2, name FROM people"})).await;
    assert_eq!(refused.details["sqlstate"].to_json(), json!("23505"));
    assert!(!format!("{refused:?}").contains("hidden-value"), "{refused:?}");
    fixture.close().await;
}

/// Only a process that ended is said to have had too little memory.
#[cfg(unix)]
#[tokio::test]
async fn a_process_that_breaks_is_told_by_what_it_did() {
    use std::os::unix::fs::PermissionsExt as _;

    let fixture = Fixture::new(Kind::Sqlite, USERS).await.unwrap();
    let babbles = "printf '\\377\\377\\377\\377'; exec /bin/cat > /dev/null";
    for (does, told) in
        [("exit 1", "ended, most likely for want of memory"), (babbles, "its answer is too long")]
    {
        let program = fixture.folder.path().join("process");
        std::fs::write(&program, format!("#!/bin/sh\n{does}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
        let failed =
            failure(&fixture.tool().in_processes_of(Some(&program)), json!({"table": "users"})).await;
        assert!(failed.message.contains(told), "{failed:?}");
        assert_eq!(failed.message.contains("memory"), does == "exit 1", "{failed:?}");
    }
    fixture.close().await;
}
