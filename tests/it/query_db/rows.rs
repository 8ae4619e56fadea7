//! What comes back, on all three databases.

use serde_json::json;

use super::{Fixture, Kind, USERS, call, rows};

#[tokio::test]
async fn a_table_with_a_condition_gives_rows_in_column_order() {
    for fixture in Fixture::all(USERS).await {
        let kind = fixture.kind;
        let tool = fixture.tool();
        let found = rows(&tool, json!({"table": "users", "where": "age > 30", "order_by": "age DESC"})).await;
        let expected = json!([
            {"id": 3, "name": "Cid", "age": 51, "city": null},
            {"id": 1, "name": "Ann", "age": 34, "city": "Oslo"},
        ]);
        assert_eq!(found, expected, "{}", kind.name());
        assert_eq!(found.to_string(), expected.to_string(), "column order on {}", kind.name());
        fixture.close().await;
    }
}

#[tokio::test]
async fn columns_order_and_limit_narrow_the_result() {
    for fixture in Fixture::all(USERS).await {
        let tool = fixture.tool();
        let asked = json!({"table": "users", "columns": ["name", "id"], "order_by": "city DESC, id", "limit": 2,
            "where": "city IS NOT NULL"});
        let expected = json!([{"name": "Ben", "id": 2}, {"name": "Ann", "id": 1}]);
        assert_eq!(rows(&tool, asked).await, expected);
        let text = json!({"table": "users", "columns": "name", "order_by": "id", "limit": 1.0});
        assert_eq!(rows(&tool, text).await, json!([{"name": "Ann"}]));
        assert_eq!(rows(&tool, json!({"table": "users", "limit": 0})).await, json!([]));
        let qualified = json!({"table": "users", "columns": ["users.name"], "where": {"users.id": 2}});
        assert_eq!(rows(&tool, qualified).await, json!([{"name": "Ben"}]));
        fixture.close().await;
    }
}

#[tokio::test]
async fn a_table_of_columns_and_values_is_a_condition() {
    for fixture in Fixture::all(USERS).await {
        let tool = fixture.tool();
        let ids = async |condition: serde_json::Value| {
            let asked = json!({"table": "users", "columns": ["id"], "where": condition, "order_by": "id"});
            rows(&tool, asked)
                .await
                .as_array()
                .unwrap()
                .iter()
                .map(|row| row["id"].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(json!({"city": "Oslo", "age": 34})).await, [1]);
        assert_eq!(ids(json!({"city": null})).await, [3]);
        assert_eq!(ids(json!({"id": [1, 3, 9]})).await, [1, 3]);
        assert_eq!(ids(json!({"id": []})).await, Vec::<i64>::new());
        assert_eq!(ids(json!({"name": "it's; -- fine"})).await, [4]);
        assert_eq!(ids(json!({})).await, [1, 2, 3, 4]);
        fixture.close().await;
    }
}

#[tokio::test]
async fn every_style_of_placeholder_works_on_every_database() {
    for fixture in Fixture::all(USERS).await {
        let kind = fixture.kind;
        let tool = fixture.tool();
        let expected = json!([{"name": "Ann"}]);
        let styles = [
            json!({"sql": "SELECT name FROM users WHERE age > ? AND city = ?", "params": [30, "Oslo"]}),
            json!({"sql": "SELECT name FROM users WHERE city = $2 AND age > $1", "params": [30, "Oslo"]}),
            json!({"sql": "SELECT name FROM users WHERE age > :age AND city = :city AND city <> 'a:b?$1'",
                "params": {"age": 30, "city": "Oslo"}}),
            json!({"sql": "SELECT name FROM users WHERE age > $1 AND age + 1 > $1 AND city = $2",
                "params": [33, "Oslo"]}),
            json!({"table": "users", "columns": ["name"], "where": "age > :a AND id IN (:ids)",
                "params": {"a": 30, "ids": [1, 2, 4]}}),
            json!({"sql": "SELECT name FROM users /* ? */ WHERE id IN (?) -- ?\n AND age > ?;",
                "params": [[1, 2], 28]}),
        ];
        for style in styles {
            assert_eq!(rows(&tool, style.clone()).await, expected, "{style} on {}", kind.name());
        }
        fixture.close().await;
    }
}

#[tokio::test]
async fn values_are_bound_and_never_read_as_sql() {
    for fixture in Fixture::all(USERS).await {
        let tool = fixture.tool();
        let hostile = "' OR 1=1; DROP TABLE users; --";
        for asked in [
            json!({"table": "users", "where": "name = ?", "params": [hostile]}),
            json!({"table": "users", "where": {"name": hostile}}),
            json!({"sql": "SELECT * FROM users WHERE name = :n", "params": {"n": hostile}}),
        ] {
            assert_eq!(rows(&tool, asked).await, json!([]));
        }
        let count = rows(&tool, json!({"sql": "SELECT count(*) AS n FROM users"})).await;
        assert_eq!(count, json!([{"n": 4}]));
        fixture.close().await;
    }
}

#[tokio::test]
async fn joins_aggregates_common_tables_and_explain_work() {
    for fixture in Fixture::all(USERS).await {
        let kind = fixture.kind;
        let tool = fixture.tool();
        let grouped = json!({"sql": "WITH grown AS (SELECT * FROM users WHERE age >= 30) \
            SELECT city, count(*) AS n FROM grown GROUP BY city HAVING count(*) > 1"});
        assert_eq!(rows(&tool, grouped).await, json!([{"city": "Oslo", "n": 2}]));
        let joined = json!({"sql": "SELECT a.id, b.id, a.name AS id_2 FROM users a JOIN users b ON a.id = b.id + 1 \
            ORDER BY a.id LIMIT 1"});
        assert_eq!(rows(&tool, joined).await, json!([{"id": 2, "id_3": 1, "id_2": "Ben"}]));
        let union = json!({"sql": "(SELECT 1 AS x)"});
        if kind != super::Kind::Sqlite {
            assert_eq!(rows(&tool, union).await, json!([{"x": 1}]));
        }
        assert!(call(&tool, json!({"sql": "EXPLAIN SELECT * FROM users"})).await.is_ok());
        let subquery =
            json!({"table": "users", "columns": ["id"], "where": "age = (SELECT max(age) FROM users)"});
        assert_eq!(rows(&tool, subquery).await, json!([{"id": 3}]));
        fixture.close().await;
    }
}

#[tokio::test]
async fn the_limit_cuts_a_statement_of_ones_own() {
    for fixture in Fixture::all(USERS).await {
        let tool = fixture.tool();
        let asked = json!({"sql": "SELECT id FROM users ORDER BY id", "limit": 2});
        assert_eq!(rows(&tool, asked.clone()).await, json!([{"id": 1}, {"id": 2}]));
        assert_eq!(rows(&tool, asked).await, json!([{"id": 1}, {"id": 2}]), "the next call is not disturbed");
        fixture.close().await;
    }
}

#[tokio::test]
async fn an_empty_table_gives_an_empty_list() {
    for fixture in Fixture::all("CREATE TABLE empties (id INTEGER)").await {
        assert_eq!(rows(&fixture.tool(), json!({"table": "empties"})).await, json!([]));
        fixture.close().await;
    }
}

#[tokio::test]
async fn eight_queries_run_at_once_over_fewer_connections() {
    for fixture in Fixture::all(USERS).await {
        let kind = fixture.kind;
        let tool = fixture.tool_with(|settings| settings.pool_size = 3);
        let calls = (0..8).map(|index| {
            let tool = &tool;
            async move {
                let asked = json!({"sql": "SELECT count(*) + ? AS n FROM users a, users b, users c, users d",
                    "params": [index]});
                rows(tool, asked).await
            }
        });
        let results = futures::future::join_all(calls).await;
        for (index, result) in results.into_iter().enumerate() {
            assert_eq!(result, json!([{"n": 256 + index}]), "{}", kind.name());
        }
        fixture.close().await;
    }
}

#[tokio::test]
async fn a_parameter_alone_takes_the_kind_of_its_value() {
    for fixture in Fixture::all(USERS).await {
        let kind = fixture.kind;
        let tool = fixture.tool();
        let asked = json!({"table": "users", "columns": ["id"], "where": "age > ?", "params": [30.5], "order_by": "id"});
        assert_eq!(rows(&tool, asked).await, json!([{"id": 1}, {"id": 3}]));
        let asked = json!({"table": "users", "columns": ["id"], "where": "age = ?", "params": ["34"]});
        assert_eq!(
            rows(&tool, asked).await,
            json!([{"id": 1}]),
            "text against an integer on {}",
            kind.name()
        );
        let asked = json!({"table": "users", "columns": ["id"], "where": "age = ?", "params": [34.0]});
        assert_eq!(rows(&tool, asked).await, json!([{"id": 1}]));
        let asked = json!({"table": "users", "columns": ["id"], "where": "name = ?", "params": [34]});
        assert_eq!(rows(&tool, asked).await, json!([]), "an integer against text on {}", kind.name());
        fixture.close().await;
    }
}

#[tokio::test]
async fn the_schema_can_be_looked_up() {
    for fixture in Fixture::all(USERS).await {
        let tool = fixture.tool();
        let columns = match fixture.kind {
            Kind::Sqlite => "SELECT name FROM pragma_table_info('users') ORDER BY cid",
            Kind::Postgres => {
                "SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'users' \
                 AND table_schema = current_schema() ORDER BY ordinal_position"
            }
            Kind::Mysql => {
                "SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'users' \
                 AND table_schema = database() ORDER BY ordinal_position"
            }
        };
        let expected = json!([{"name": "id"}, {"name": "name"}, {"name": "age"}, {"name": "city"}]);
        assert_eq!(rows(&tool, json!({"sql": columns})).await, expected);
        let more = match fixture.kind {
            Kind::Sqlite => {
                vec!["SELECT name FROM sqlite_master WHERE type = 'table'", "EXPLAIN QUERY PLAN SELECT 1"]
            }
            Kind::Postgres => vec!["SHOW server_version", "EXPLAIN (FORMAT JSON) SELECT 1", "TABLE users"],
            Kind::Mysql => {
                vec![
                    "SHOW TABLES",
                    "DESCRIBE users",
                    "SHOW CREATE TABLE users",
                    "EXPLAIN FORMAT=JSON SELECT 1",
                ]
            }
        };
        for sql in more {
            assert_ne!(rows(&tool, json!({"sql": sql})).await, json!([]), "{sql}");
        }
        fixture.close().await;
    }
}

/// A read of a table ends by its own LIMIT, so that its connection serves the next.
#[tokio::test]
async fn limited_reads_of_a_table_keep_their_connection() {
    for kind in [Kind::Postgres, Kind::Mysql] {
        let id = if kind == Kind::Postgres { "pg_backend_pid()" } else { "CONNECTION_ID()" };
        let view = format!("CREATE VIEW sessions AS SELECT {id} AS id UNION ALL SELECT {id}");
        let Some(fixture) = Fixture::new(kind, &view).await else { continue };
        let tool = fixture.tool_with(|settings| settings.pool_size = 1);
        let asked = json!({"table": "sessions", "limit": 1});
        let first = rows(&tool, asked.clone()).await;
        assert_eq!(first.as_array().unwrap().len(), 1);
        for _ in 0..5 {
            assert_eq!(rows(&tool, asked.clone()).await, first, "{kind:?}");
        }
        fixture.close().await;
    }
}
