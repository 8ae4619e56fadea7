//! Arguments that do not make sense are told so before any database is asked.

use serde_json::json;

use super::{Fixture, Kind, USERS, failure};

#[tokio::test]
async fn arguments_that_do_not_fit_together_are_refused_by_name() {
    let fixture = Fixture::new(Kind::Sqlite, USERS).await.unwrap();
    let tool = fixture.tool();
    let cases = [
        (json!({}), "neither `table` nor `sql`"),
        (json!({"table": "users", "sql": "SELECT 1"}), "both `table` and `sql`"),
        (json!({"sql": "SELECT 1", "where": "1=1"}), "`where` belongs to `table`"),
        (json!({"sql": "SELECT 1", "columns": ["a"]}), "`columns` belongs to `table`"),
        (json!({"table": ""}), "`table` is empty"),
        (json!({"table": 5}), "`table` must be a string"),
        (json!({"table": "users", "where": [1]}), "`where` must be"),
        (json!({"table": "users", "where": {"id": {"a": 1}}}), "`where.id`"),
        (json!({"table": "users", "where": {"id": [1, null]}}), "holds null"),
        (json!({"table": "users", "columns": [1]}), "`columns` must be"),
        (json!({"table": "users", "limit": -1}), "`limit`"),
        (json!({"table": "users", "limit": 1.5}), "`limit`"),
        (json!({"table": "users", "limit": "5"}), "`limit`"),
        (json!({"table": "users", "params": [1]}), "`params`"),
        (json!({"table": "users", "where": {"id": 1}, "params": [1]}), "`params`"),
        (json!({"sql": "SELECT ?", "params": []}), "no value for the placeholder `?`"),
        (json!({"sql": "SELECT ?, ?", "params": [1]}), "no value for the placeholder `?`"),
        (json!({"sql": "SELECT ?", "params": [1, 2]}), "2 values"),
        (json!({"sql": "SELECT $2", "params": [1, 2]}), "2 values"),
        (json!({"sql": "SELECT $3", "params": [1, 2]}), "`$3`"),
        (json!({"sql": "SELECT $0", "params": [1]}), "`$0`"),
        (json!({"sql": "SELECT ?, $1", "params": [1]}), "mixes"),
        (json!({"sql": "SELECT :a", "params": {"b": 1}}), "`:a`"),
        (json!({"sql": "SELECT :a", "params": {"a": 1, "b": 1}}), "`b`"),
        (json!({"sql": "SELECT :a", "params": [1]}), "`params` is a list, and the placeholder `:a`"),
        (json!({"sql": "SELECT :a", "params": []}), "no value for the placeholder `:a`: `params` is empty"),
        (json!({"sql": "SELECT ?", "params": {"a": 1}}), "a table with names, and the placeholder `?`"),
        (json!({"sql": "SELECT ?", "params": [[1]]}), "is a list"),
        (json!({"sql": "SELECT 1 WHERE 1 IN (?)", "params": [[]]}), "empty"),
        (json!({"sql": "SELECT 1", "params": "x"}), "`params` must be"),
    ];
    for (arguments, expected) in cases {
        let failure = failure(&tool, arguments.clone()).await;
        assert_eq!((failure.code.as_str(), failure.retryable), ("bad_arguments", false), "{arguments}");
        assert!(failure.message.contains(expected), "{arguments}: {}", failure.message);
    }
}

#[tokio::test]
async fn the_default_database_is_main_or_the_first_and_unknown_ones_are_named() {
    let fixture = Fixture::new(Kind::Sqlite, USERS).await.unwrap();
    let other = Fixture::new(Kind::Sqlite, "CREATE TABLE marks (id INTEGER)").await.unwrap();
    let url = luaplan::tools::query_db::DatabaseUrl::new(&other.url);
    let tool = fixture.tool_with(|settings| {
        settings.databases.insert("archive".to_owned(), url);
    });
    assert_eq!(super::rows(&tool, json!({"table": "marks", "database": "archive"})).await, json!([]));
    assert_eq!(failure(&tool, json!({"table": "marks"})).await.code, "query_failed", "main is the default");
    let unknown = failure(&tool, json!({"table": "users", "database": "sales"})).await;
    assert_eq!(unknown.code, "database_unknown");
    assert!(unknown.message.contains("`main`, `archive`"), "{}", unknown.message);
    let none = fixture.tool_with(|settings| settings.databases.clear());
    assert_eq!(failure(&none, json!({"table": "users"})).await.code, "database_unknown");
}
