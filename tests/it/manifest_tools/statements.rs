//! Tools of the kind `sql` on SQLite, PostgreSQL and MariaDB.

use luaplan::base::Value;
use serde_json::{Value as Json, json};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};

use super::{Shop, manifest};
use crate::support::Part;

const FIND: &str =
    "[settings]\nsql = \"SELECT id, name FROM PEOPLE WHERE city = :city AND id <= :most ORDER BY id\"";
const FIND_PARAMS: &str = "{ city = { type = \"string\" }, most = { type = \"integer\", default = 100 } }";
const ADD: &str = "[settings]\nsql = \"INSERT INTO PEOPLE (id, name, city) VALUES (:id, :name, :city)\"";
const ADD_PARAMS: &str =
    "{ id = { type = \"integer\" }, name = { type = \"string\" }, city = { type = \"string\" } }";

const HOSTILE: &str = "Oslo' OR 1=1; DROP TABLE people; --";

fn rows() -> [(i64, &'static str, &'static str); 3] {
    [(1, "Person A", "Oslo"), (2, "Person B", "Rome"), (3, "Person C", "Oslo")]
}

/// The statements that make a table of people.
fn setup(table: &str) -> Vec<String> {
    let mut statements = vec![
        format!("DROP TABLE IF EXISTS {table}"),
        format!("CREATE TABLE {table} (id BIGINT PRIMARY KEY, name VARCHAR(50), city VARCHAR(50))"),
    ];
    statements.extend(
        rows()
            .iter()
            .map(|(id, name, city)| format!("INSERT INTO {table} VALUES ({id}, '{name}', '{city}')")),
    );
    statements
}

/// The same story on every database.
async fn story(url: &str, table: &str) {
    let find = manifest("find_people", "sql", "read", FIND_PARAMS, &FIND.replace("PEOPLE", table));
    let add = manifest("add_person", "sql", "write", ADD_PARAMS, &ADD.replace("PEOPLE", table));
    let manifests = [("find_people", &*find), ("add_person", &*add)];
    let databases = format!("{{ main = \"{url}\" }}");
    let settings = [("tools.query_db.databases", &*databases)];
    let shop = Shop::open(&manifests, &settings, &[]).await;
    let found = shop.call("find_people", json!({"city": "Oslo"})).await.unwrap().to_json();
    assert_eq!(found, json!([{"id": 1, "name": "Person A"}, {"id": 3, "name": "Person C"}]));
    let first = shop.call("find_people", json!({"city": "Oslo", "most": 2})).await.unwrap().to_json();
    assert_eq!(first.as_array().unwrap().len(), 1);
    assert_eq!(shop.call("find_people", json!({"city": HOSTILE})).await.unwrap().to_json(), json!([]));
    assert_eq!(shop.call("find_people", json!({})).await.unwrap().to_json(), json!([]), "absent is NULL");

    let person = json!({"id": 9, "name": HOSTILE, "city": "Rome"});
    let failure = shop.call("add_person", person.clone()).await.unwrap_err();
    assert_eq!(failure.code, "tool_not_configured");
    assert!(failure.message.contains("[tools.add_person] write = true"), "{}", failure.message);
    let granted = [("tools.query_db.databases", &*databases), ("tools.add_person.write", "true")];
    let shop = Shop::open(&manifests, &granted, &[]).await;
    let added = shop.call("add_person", person).await.unwrap().to_json();
    assert_eq!(added, json!({"rows_affected": 1}));
    let rome = shop.call("find_people", json!({"city": "Rome"})).await.unwrap().to_json();
    assert_eq!(rome[1], json!({"id": 9, "name": HOSTILE}));
    let twice = shop.call("add_person", json!({"id": 9, "name": "x", "city": "y"})).await.unwrap_err();
    assert_eq!(twice.code, "query_failed");
}

async fn sqlite(folder: &std::path::Path) -> String {
    let path = folder.join("people.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let mut database = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    for statement in setup("people") {
        database.execute(sqlx::raw_sql(AssertSqlSafe(statement))).await.unwrap();
    }
    database.close().await.unwrap();
    format!("sqlite:{}", path.display())
}

#[tokio::test]
async fn a_statement_finds_and_writes_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    story(&sqlite(folder.path()).await, "people").await;
}

async fn decimals_are_as_configured(url: &str) {
    let price = "[settings]\nresult = \"value\"\nsql = \"SELECT CAST(19.90 AS DECIMAL(10, 2)) AS price\"";
    let price = manifest("price", "sql", "read", "{}", price);
    let url = format!("\"{url}\"");
    for (decimals, expected) in [("\"number\"", json!(19.9)), ("\"text\"", json!("19.90"))] {
        let settings = [("tools.price.url", &*url), ("tools.price.decimals", decimals)];
        let shop = Shop::open(&[("price", &price)], &settings, &[]).await;
        assert_eq!(shop.call("price", json!({})).await.unwrap().to_json(), expected);
    }
}

#[tokio::test]
async fn a_statement_finds_and_writes_on_postgresql() {
    let Some(url) = Part::Postgres.place("statements on PostgreSQL") else { return };
    let mut database = sqlx::PgConnection::connect(&url).await.unwrap();
    for statement in setup("manifest_people") {
        database.execute(sqlx::raw_sql(AssertSqlSafe(statement))).await.unwrap();
    }
    story(&url, "manifest_people").await;
    database.execute("DROP TABLE manifest_people").await.unwrap();
    decimals_are_as_configured(&url).await;
}

#[tokio::test]
async fn a_statement_finds_and_writes_on_mariadb() {
    let Some(url) = Part::Mysql.place("statements on MariaDB") else { return };
    let mut database = sqlx::MySqlConnection::connect(&url).await.unwrap();
    for statement in setup("manifest_people") {
        database.execute(sqlx::raw_sql(AssertSqlSafe(statement))).await.unwrap();
    }
    story(&url, "manifest_people").await;
    database.execute("DROP TABLE manifest_people").await.unwrap();
    decimals_are_as_configured(&url).await;
}

#[tokio::test]
async fn rows_take_the_form_the_manifest_says_on_a_database_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("\"{}\"", sqlite(folder.path()).await);
    let form = |result: &str| {
        let rest = format!(
            "[settings]\nresult = \"{result}\"\nsql = \"SELECT name, id FROM people WHERE id IN (:ids) ORDER BY id\""
        );
        manifest("t", "sql", "read", "{ ids = { type = \"array\" } }", &rest)
    };
    for (result, ids, expected) in [
        ("rows", json!([1, 2]), json!([{"name": "Person A", "id": 1}, {"name": "Person B", "id": 2}])),
        ("row", json!([2]), json!({"name": "Person B", "id": 2})),
        ("row", json!([77]), Json::Null),
        ("value", json!([3]), json!("Person C")),
        ("value", json!([77]), Json::Null),
    ] {
        let shop = Shop::open(&[("t", &form(result))], &[("tools.t.url", &url)], &[]).await;
        assert_eq!(shop.call("t", json!({"ids": ids})).await.unwrap().to_json(), expected, "{result}");
    }
    let shop = Shop::open(&[("t", &form("row"))], &[("tools.t.url", &url)], &[]).await;
    let failure = shop.call("t", json!({"ids": [1, 2]})).await.unwrap_err();
    assert_eq!(
        (failure.code.as_str(), failure.details["observed"].clone()),
        ("response_invalid", Value::Integer(2))
    );
    let capped = [("tools.t.url", &*url), ("tools.t.rows_max", "1")];
    let shop = Shop::open(&[("t", &form("rows"))], &capped, &[]).await;
    assert_eq!(shop.call("t", json!({"ids": [1, 2]})).await.unwrap_err().code, "result_too_large");
    let nowhere = Shop::open(&[("t", &form("rows"))], &[], &[]).await;
    let failure = nowhere.call("t", json!({"ids": [1]})).await.unwrap_err();
    assert_eq!(failure.code, "tool_not_configured");
    assert!(failure.message.contains("`[tools.t] url`"), "{}", failure.message);
}
