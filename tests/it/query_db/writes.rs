//! Writing, where it is granted and where it is not.

use luaplan::base::Effect;
use luaplan::bus::Tool;
use serde_json::json;

use super::{Fixture, Kind, USERS, failure, rows};

#[tokio::test]
async fn granted_writes_tell_how_many_rows_changed() {
    for fixture in Fixture::all(USERS).await {
        let tool = fixture.tool_with(|settings| settings.writes = vec!["main".to_owned()]);
        assert_eq!((tool.spec().effect, tool.spec().idempotent), (Effect::Write, false));
        let written = async |sql: &str, params: serde_json::Value| {
            rows(&tool, json!({"sql": sql, "params": params})).await["rows_affected"].clone()
        };
        assert_eq!(
            written("INSERT INTO users (id, name) VALUES (?, ?), (6, 'Fay')", json!([5, "Eve"])).await,
            2
        );
        assert_eq!(written("UPDATE users SET age = age + ? WHERE city = ?", json!([1, "Oslo"])).await, 2);
        assert_eq!(written("DELETE FROM users WHERE id >= :id", json!({"id": 5})).await, 2);
        assert_eq!(
            written("INSERT INTO users SELECT id + 100, name, age, city FROM users WHERE id = 1", json!([]))
                .await,
            1
        );
        let left = rows(&tool, json!({"table": "users", "columns": ["id", "age"], "order_by": "id"})).await;
        let expected = json!([{"id": 1, "age": 35}, {"id": 2, "age": 28}, {"id": 3, "age": 51}, {"id": 4, "age": 31},
            {"id": 101, "age": 35}]);
        assert_eq!(left, expected);
        fixture.close().await;
    }
}

#[tokio::test]
async fn a_write_can_return_its_rows() {
    for fixture in Fixture::all(USERS).await {
        let kind = fixture.kind;
        if kind == Kind::Mysql {
            // MariaDB has RETURNING for INSERT and DELETE, MySQL for neither.
            fixture.close().await;
            continue;
        }
        let tool = fixture.tool_with(|settings| settings.writes = vec!["main".to_owned()]);
        let upsert = json!({"sql": "INSERT INTO users (id, name) VALUES (1, 'Zoe') \
            ON CONFLICT (id) DO UPDATE SET name = excluded.name RETURNING id, name"});
        assert_eq!(
            rows(&tool, upsert).await,
            json!({"rows_affected": 1, "rows": [{"id": 1, "name": "Zoe"}]})
        );
        fixture.close().await;
    }
}

#[tokio::test]
async fn a_write_whose_rows_are_limited_is_kept_whole() {
    for fixture in Fixture::all(USERS).await {
        let tool = fixture.tool_with(|settings| settings.writes = vec!["main".to_owned()]);
        let sql = "INSERT INTO users (id, name) VALUES (201, 'A'), (202, 'B') RETURNING id";
        let written = rows(&tool, json!({"sql": sql, "limit": 1})).await;
        assert_eq!(written["rows"], json!([{"id": 201}]), "{}", fixture.kind.name());
        let kept = rows(&tool, json!({"sql": "SELECT id FROM users WHERE id > 200 ORDER BY id"})).await;
        assert_eq!(kept, json!([{"id": 201}, {"id": 202}]), "{}", fixture.kind.name());
        fixture.close().await;
    }
}

#[tokio::test]
async fn the_grant_covers_single_data_statements_and_nothing_else() {
    for fixture in Fixture::all(USERS).await {
        let tool = fixture.tool_with(|settings| settings.writes = vec!["main".to_owned()]);
        for sql in [
            "DROP TABLE users",
            "CREATE TABLE more (id INTEGER)",
            "ALTER TABLE users ADD COLUMN x INTEGER",
            "TRUNCATE TABLE users",
            "DELETE FROM users; DELETE FROM users",
            "REPLACE INTO users (id) VALUES (1)",
            "SELECT * INTO more FROM users",
            "WITH gone AS (DELETE FROM users RETURNING *) SELECT * FROM gone",
            "VACUUM",
            "GRANT ALL ON users TO PUBLIC",
        ] {
            assert_eq!(failure(&tool, json!({"sql": sql})).await.code, "query_refused", "{sql}");
        }
        assert_eq!(rows(&tool, json!({"sql": "SELECT count(*) AS n FROM users"})).await, json!([{"n": 4}]));
        fixture.close().await;
    }
}

#[tokio::test]
async fn a_failed_write_leaves_nothing_behind() {
    for fixture in Fixture::all(USERS).await {
        let tool = fixture.tool_with(|settings| settings.writes = vec!["main".to_owned()]);
        let clash = json!({"sql": "INSERT INTO users (id, name) VALUES (50, 'New'), (1, 'Clash')"});
        assert_eq!(failure(&tool, clash).await.code, "query_failed");
        assert_eq!(rows(&tool, json!({"sql": "SELECT count(*) AS n FROM users"})).await, json!([{"n": 4}]));
        fixture.close().await;
    }
}

#[tokio::test]
async fn without_a_grant_the_effect_stays_reading_and_the_session_itself_refuses() {
    for fixture in Fixture::all(USERS).await {
        let tool = fixture.tool();
        assert_eq!((tool.spec().effect, tool.spec().idempotent), (Effect::Read, true));
        for sql in ["INSERT INTO users (id) VALUES (9)", "UPDATE users SET age = 0", "DELETE FROM users"] {
            let failure = failure(&tool, json!({"sql": sql})).await;
            assert_eq!((failure.code.as_str(), failure.retryable), ("query_refused", false), "{sql}");
        }
        fixture.close().await;
    }
}

/// The second wall alone: a function that writes passes the check of words.
#[tokio::test]
async fn a_function_that_writes_is_stopped_by_the_read_only_session() {
    let setups = [
        (
            Kind::Postgres,
            "CREATE FUNCTION sneak() RETURNS int LANGUAGE sql AS \
            'DELETE FROM users; SELECT 1'",
        ),
        (
            Kind::Mysql,
            "CREATE FUNCTION sneak() RETURNS INT DETERMINISTIC MODIFIES SQL DATA \
            BEGIN DELETE FROM users; RETURN 1; END",
        ),
    ];
    for (kind, function) in setups {
        let Some(fixture) = super::Fixture::new(kind, USERS).await else { continue };
        fixture.execute(function).await;
        let tool = fixture.tool();
        let failure = failure(&tool, json!({"sql": "SELECT sneak()"})).await;
        assert_eq!(failure.code, "query_refused", "{failure:?}");
        assert_eq!(rows(&tool, json!({"sql": "SELECT count(*) AS n FROM users"})).await, json!([{"n": 4}]));
        fixture.close().await;
    }
}
