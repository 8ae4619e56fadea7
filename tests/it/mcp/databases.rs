//! What databases hold, as an assistant is told it.

use rmcp::model::{ReadResourceRequestParams, ResourceContents};
use serde_json::{Value as Json, json};
use sqlx::{Connection as _, SqliteConnection};

use super::Session;

#[tokio::test(flavor = "multi_thread")]
async fn databases_are_described_by_a_tool_and_as_resources_without_rows() {
    let folder = tempfile::tempdir().unwrap();
    let address = format!("sqlite:{}", folder.path().join("shop.db").display());
    let mut connection = SqliteConnection::connect(&format!("{address}?mode=rwc")).await.unwrap();
    let sql = "CREATE TABLE orders (id INTEGER PRIMARY KEY, code TEXT CHECK (code IN ('a', 'b')));
        INSERT INTO orders VALUES (77123, 'b')";
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    std::fs::write(folder.path().join("schema.md"), "code is a label.").unwrap();
    let settings = [
        format!("tools.query_db.databases={{ shop = \"{address}\" }}"),
        "tools.query_db.notes=\"schema.md\"".to_owned(),
    ];
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let session = Session::start(folder.path(), &settings).await;

    let told = session.done("describe_databases", json!({})).await;
    assert_eq!((&told["tool"], &told["notes"]), (&json!("query_db"), &json!("code is a label.")));
    assert_eq!(told["databases"][0]["tables"][0]["columns"][0]["name"], "id");
    assert!(!told.to_string().contains("77123"), "{told}");
    let part = session.done("describe_databases", json!({"path": "/databases/0/tables"})).await;
    assert_eq!(part["path"], "/databases/0/tables");
    assert_eq!(session.refused("describe_databases", json!({"tool": "none"})).await.0, "not_found");

    let resources = session.client.list_all_resources().await.unwrap();
    let addresses: Vec<&str> = resources.iter().map(|resource| resource.uri.as_str()).collect();
    assert_eq!(addresses, ["luaplan://databases/query_db"]);
    let read = |uri: &str| session.client.read_resource(ReadResourceRequestParams::new(uri));
    let contents = read(addresses[0]).await.unwrap().contents;
    let [ResourceContents::TextResourceContents { text, .. }] = contents.as_slice() else {
        panic!("{contents:?}")
    };
    let same: Json = serde_json::from_str(text).unwrap();
    assert_eq!(same["databases"], told["databases"]);
    assert!(read("luaplan://databases/sleep").await.is_err(), "a tool without databases has no resource");
}
