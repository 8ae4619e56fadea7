//! Intervals as text and as seconds.

use serde_json::json;

use super::{Fixture, Kind, failure, rows};

#[tokio::test]
async fn postgres_intervals_come_as_text_or_as_seconds() {
    let setup = "CREATE TABLE t (id int, took interval, all_of_them interval[]);
        INSERT INTO t VALUES (1, '1 day 02:00:03.5', '{1 hour,NULL}'), (2, '-1 day -00:00:01', '{}'), (3, NULL, NULL),
            (4, '26 hours', NULL), (5, '1 year 2 months 3 days', NULL);";
    let Some(fixture) = Fixture::new(Kind::Postgres, setup).await else { return };
    let tool = fixture.tool();
    let asked = |intervals: &str| json!({"table": "t", "columns": ["took"], "where": "id < 5", "order_by": "id", "intervals": intervals});
    let text = json!([{"took": "P1DT2H3.5S"}, {"took": "P-1DT-1S"}, {"took": null}, {"took": "PT26H"}]);
    assert_eq!(rows(&tool, asked("iso")).await, text);
    assert_eq!(rows(&tool, json!({"sql": "SELECT took FROM t WHERE id < 5 ORDER BY id"})).await, text);
    let seconds = json!([{"took": 93603.5}, {"took": -86401}, {"took": null}, {"took": 93600}]);
    assert_eq!(rows(&tool, asked("seconds")).await, seconds);
    let list = json!({"table": "t", "columns": ["all_of_them"], "where": {"id": 1}, "intervals": "seconds"});
    assert_eq!(rows(&tool, list).await, json!([{"all_of_them": [3600, null]}]));

    let months = json!({"table": "t", "columns": ["id", "took"], "intervals": "seconds"});
    let refused = failure(&tool, months).await;
    assert_eq!(refused.code, "query_failed");
    assert!(refused.message.contains("the column `took` has months"), "{}", refused.message);
    let wrong = failure(&tool, json!({"table": "t", "intervals": "minutes"})).await;
    assert_eq!(wrong.code, "bad_arguments");
    assert!(wrong.message.contains("`intervals` must be"), "{}", wrong.message);
    fixture.close().await;
}

#[tokio::test]
async fn mysql_times_come_as_text_or_as_seconds() {
    let setup = "CREATE TABLE t (id INT, took TIME(6));
        INSERT INTO t VALUES (1, '26:00:03.5'), (2, '-30:00:00.000001'), (3, NULL), (4, '00:00:00'), (5, '838:59:59');";
    let Some(fixture) = Fixture::new(Kind::Mysql, setup).await else { return };
    let tool = fixture.tool();
    let sql = "SELECT took FROM t ORDER BY id";
    let text = json!([{"took": "26:00:03.5"}, {"took": "-30:00:00.000001"}, {"took": null}, {"took": "00:00:00"},
        {"took": "838:59:59"}]);
    assert_eq!(rows(&tool, json!({"sql": sql})).await, text);
    let seconds =
        json!([{"took": 93603.5}, {"took": -108000.000001}, {"took": null}, {"took": 0}, {"took": 3020399}]);
    assert_eq!(rows(&tool, json!({"sql": sql, "intervals": "seconds"})).await, seconds);
    fixture.close().await;
}
