//! What a database says when a query is wrong, and settings that make no sense.

use luaplan::base::ErrorCode;
use luaplan::tools::query_db::{QueryDb, QueryDbSettings};
use serde_json::json;

use super::{Fixture, USERS, failure, rows, spec};

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
