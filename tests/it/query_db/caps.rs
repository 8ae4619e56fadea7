//! Rows, bytes and time end where they are told to.

use std::time::Duration;

use luaplan::base::Value;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{Fixture, Kind, USERS, call_value, failure, rows};

/// A query that never ends by itself, in each dialect.
fn endless(kind: Kind) -> &'static str {
    match kind {
        Kind::Sqlite => {
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
        }
        Kind::Postgres => "SELECT count(*) FROM generate_series(1, 1000000000000) n",
        Kind::Mysql => {
            "SELECT count(*) FROM information_schema.columns a, information_schema.columns b, \
             information_schema.columns c, information_schema.columns d"
        }
    }
}

/// A query of two gigabytes in rows of about a kilobyte.
fn huge(kind: Kind) -> &'static str {
    match kind {
        Kind::Sqlite => {
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 2000000) \
             SELECT x, printf('%01000d', x) AS filler FROM n"
        }
        Kind::Postgres => "SELECT n, repeat('x', 1000) AS filler FROM generate_series(1, 2000000) n",
        Kind::Mysql => {
            "SELECT a.ordinal_position AS n, repeat('x', 1000) AS filler FROM information_schema.columns a, \
             information_schema.columns b LIMIT 2000000"
        }
    }
}

#[tokio::test]
async fn more_rows_than_allowed_are_a_failure_with_both_numbers() {
    for fixture in Fixture::all(USERS).await {
        let tool = fixture.tool_with(|settings| settings.rows_max = 3);
        for asked in [json!({"table": "users"}), json!({"sql": "SELECT id FROM users"})] {
            let failure = failure(&tool, asked).await;
            assert_eq!((failure.code.as_str(), failure.retryable), ("result_too_large", false));
            assert_eq!(failure.details["limit"], Value::Integer(3));
            assert_eq!(failure.details["observed"], Value::Integer(4));
        }
        let within = rows(&tool, json!({"table": "users", "limit": 3})).await;
        assert_eq!(within.as_array().unwrap().len(), 3);
        fixture.close().await;
    }
}

#[tokio::test]
async fn two_gigabytes_stop_at_the_cap() {
    for fixture in Fixture::all("").await {
        let kind = fixture.kind;
        let tool = fixture.tool_with(|settings| {
            settings.bytes_max = 1_000_000;
            settings.rows_max = u64::MAX;
        });
        let failure = failure(&tool, json!({"sql": huge(kind)})).await;
        assert_eq!(failure.code, "result_too_large", "{failure:?}");
        let Value::Integer(observed) = failure.details["observed"] else { panic!("{failure:?}") };
        assert!((1_000_001..1_010_000).contains(&observed), "{observed} on {}", kind.name());
        assert_eq!(rows(&tool, json!({"sql": "SELECT 1 AS x"})).await, json!([{"x": 1}]));
        fixture.close().await;
    }
}

#[tokio::test]
async fn a_cell_is_judged_before_it_is_decoded() {
    for fixture in Fixture::all("").await {
        let (sql, sent_bytes) = match fixture.kind {
            Kind::Sqlite => continue,
            // A header of 20 bytes, and 8 for each item.
            Kind::Postgres => ("SELECT array_agg(n) AS a FROM generate_series(1, 1000) n", 8_020),
            Kind::Mysql => ("SELECT REPEAT('x', 5000) AS a", 5_000),
        };
        let tool = fixture.tool_with(|settings| settings.bytes_max = 1_000);
        let failure = failure(&tool, json!({"sql": sql})).await;
        assert_eq!(failure.code, "result_too_large", "{failure:?}");
        assert_eq!(failure.details["observed"], Value::Integer(sent_bytes), "{failure:?}");
        fixture.close().await;
    }
}

#[tokio::test]
async fn an_endless_query_is_stopped_and_the_next_one_answered() {
    for fixture in Fixture::all("").await {
        let kind = fixture.kind;
        let tool = fixture.tool_with(|settings| {
            settings.statement_timeout = Some(Duration::from_millis(1_500));
            settings.pool_size = 1;
        });
        let failure = failure(&tool, json!({"sql": endless(kind)})).await;
        assert_eq!((failure.code.as_str(), failure.retryable), ("tool_timeout", true), "{failure:?}");
        assert_eq!(rows(&tool, json!({"sql": "SELECT 1 AS x"})).await, json!([{"x": 1}]));
        fixture.close().await;
    }
}

#[tokio::test]
async fn a_cancelled_run_stops_its_query() {
    for fixture in Fixture::all("").await {
        let kind = fixture.kind;
        let tool = fixture.tool_with(|settings| settings.pool_size = 1);
        let cancellation = CancellationToken::new();
        let arguments = Value::from_json(json!({"sql": endless(kind)})).unwrap();
        let cancel = async {
            tokio::task::yield_now().await;
            cancellation.cancel();
        };
        let (outcome, ()) = tokio::join!(call_value(&tool, arguments, cancellation.clone()), cancel);
        assert_eq!(outcome.unwrap_err().code, "cancelled");
        assert_eq!(rows(&tool, json!({"sql": "SELECT 1 AS x"})).await, json!([{"x": 1}]));
        fixture.close().await;
    }
}

/// A file stays locked for writers while a query reads it.
#[tokio::test]
async fn a_dropped_query_lets_go_of_its_file() {
    let fixture = Fixture::new(Kind::Sqlite, USERS).await.unwrap();
    let tool = fixture.tool_with(|settings| settings.statement_timeout = Some(Duration::from_millis(300)));
    let sql = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM users, n";
    let failure = failure(&tool, json!({"sql": sql})).await;
    assert_eq!(failure.code, "tool_timeout");
    assert_eq!(failure.details["limit_ms"], Value::Integer(300));
    fixture.execute("DELETE FROM users WHERE id = 1").await;
}
