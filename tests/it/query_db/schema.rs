//! What a planner is told of a database: names and types, as far as its user may read them, and never rows.

use std::time::Duration;

use luaplan::bus::Tool as _;
use luaplan::catalog::DatabaseSchema;
use luaplan::tools::query_db::{DatabaseUrl, Describe, QueryDb, QueryDbSettings};

use serde_json::json;

use super::{Fixture, Kind, execute, rows};

const SHOP: &str = "
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL, email VARCHAR(80));
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id),
        status VARCHAR(10) NOT NULL CHECK (status IN ('open', 'paid', 'it''s')), total NUMERIC(12,2) NOT NULL CHECK (total >= 0),
        CONSTRAINT to_customer FOREIGN KEY (customer_id) REFERENCES customers (id));
    CREATE TABLE items (order_id INTEGER NOT NULL, place INTEGER NOT NULL, amount INTEGER, PRIMARY KEY (order_id, place));
    CREATE TABLE parts (order_id INTEGER NOT NULL, place INTEGER NOT NULL, note TEXT,
        FOREIGN KEY (order_id, place) REFERENCES items (order_id, place));
    CREATE VIEW open_orders AS SELECT id, total FROM orders WHERE status = 'open';
    INSERT INTO customers VALUES (1, 'Canary Ann', 'canary@example.com');
    INSERT INTO orders VALUES (1, 1, 'open', 4.5);";

async fn schema(fixture: &Fixture) -> DatabaseSchema {
    schema_of(&fixture.tool()).await
}

async fn schema_of(tool: &QueryDb) -> DatabaseSchema {
    let schemas = tool.schemas().await;
    let [(name, schema)] = schemas.as_slice() else { panic!("{schemas:?}") };
    let mut schema = schema.as_ref().unwrap().clone();
    assert_eq!((schema.name.as_str(), schema.is_default), (name.as_str(), true));
    // Beside the tables of this test stand those of others in the same PostgreSQL database.
    schema.tables.retain(|table| !table.name.contains('.'));
    // What a server estimates is its own affair, and comes when it likes.
    schema.tables.iter_mut().for_each(|table| table.rows_estimate = None);
    schema
}

fn lines(schema: &DatabaseSchema) -> Vec<String> {
    let mut lines: Vec<String> = schema.tables.iter().map(ToString::to_string).collect();
    lines.sort();
    lines
}

#[tokio::test]
async fn tables_columns_keys_and_enumerations_are_told_and_no_row() {
    for fixture in Fixture::all(SHOP).await {
        let schema = schema(&fixture).await;
        let (int, text, open) = match fixture.kind {
            Kind::Sqlite => ("integer", "varchar(80)", "integer?"),
            Kind::Postgres => ("integer", "character varying(80)", "integer?"),
            Kind::Mysql => ("int(11)", "varchar(80)", "int(11)"),
        };
        let (name, total, note) = match fixture.kind {
            Kind::Sqlite => ("varchar(40)", "numeric(12,2)", "text?"),
            Kind::Postgres => ("character varying(40)", "numeric(12,2)", "text?"),
            Kind::Mysql => ("varchar(40)", "decimal(12,2)", "text?"),
        };
        let open_total = if fixture.kind == Kind::Mysql { total.to_owned() } else { format!("{total}?") };
        let mut expected = [
            format!("customers(id {int}, name {name}, email {text}?) key id"),
            format!(
                "orders(id {int}, customer_id {int} -> customers.id, status 'open'|'paid'|'it's', total {total}) key id"
            ),
            format!("items(order_id {int}, place {int}, amount {int}?) key order_id, place"),
            format!(
                "parts(order_id {int}, place {int}, note {note}); (order_id, place) -> items(order_id, place)"
            ),
            format!("view open_orders(id {open}, total {open_total})"),
        ];
        expected.sort();
        assert_eq!(lines(&schema), expected, "{:?}", fixture.kind);
        let heading = schema.heading();
        let product = match fixture.kind {
            Kind::Sqlite => "SQLite 3.",
            Kind::Postgres => "PostgreSQL ",
            Kind::Mysql => "MariaDB ",
        };
        assert!(heading.contains(&format!(": {product}")), "{heading}");
        assert!(heading.ends_with(", read only, the default"), "{heading}");
        let whole = serde_json::to_string(&schema).unwrap();
        assert!(!whole.to_lowercase().contains("canary"), "{whole}");
        fixture.close().await;
    }
}

#[tokio::test]
async fn a_change_of_the_schema_is_told_after_seconds_and_many_who_ask_meanwhile_ask_once() {
    for fixture in Fixture::all("CREATE TABLE a (x INTEGER)").await {
        let tool = fixture.tool();
        let asked = futures::future::join_all((0..50).map(|_| tool.schemas())).await;
        assert!(asked.iter().all(|schemas| schemas[0].1.is_ok()));
        fixture.execute("CREATE TABLE b (y INTEGER); ALTER TABLE a ADD z INTEGER").await;
        assert_eq!(lines(&schema_of(&tool).await).len(), 1, "asked again");
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(6)).await;
        tokio::time::resume();
        let told = lines(&schema_of(&tool).await);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told.iter().any(|line| line.starts_with("a(x ") && line.contains(", z ")), "{told:?}");
        fixture.close().await;
    }
}

#[tokio::test]
async fn names_are_written_as_a_statement_must_write_them() {
    for fixture in Fixture::all("").await {
        let quote = if fixture.kind == Kind::Mysql { '`' } else { '"' };
        let sql = r#"CREATE TABLE "order" (id INTEGER, "group" INTEGER, "two words" INTEGER)"#;
        fixture.execute(&sql.replace('"', &quote.to_string())).await;
        let told = schema(&fixture).await;
        let table = &told.tables[0];
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let sql = format!("SELECT {} FROM {}", columns.join(", "), table.name);
        assert_eq!(rows(&fixture.tool(), json!({ "sql": sql })).await, json!([]));
        fixture.close().await;
    }
}

#[tokio::test]
async fn postgres_comments_and_enumerations_are_told_and_only_what_its_user_may_read() {
    let setup = "CREATE TYPE mood AS ENUM ('glad', 'sad');
        CREATE TABLE people (id int PRIMARY KEY, mood mood NOT NULL, salary int);
        CREATE TABLE secrets (id int);
        COMMENT ON TABLE people IS 'Everyone who
            works here';
        COMMENT ON COLUMN people.mood IS 'as of today';";
    let Some(fixture) = Fixture::new(Kind::Postgres, setup).await else { return };
    let told = lines(&schema(&fixture).await);
    assert_eq!(
        told,
        [
            "people(id integer, mood 'glad'|'sad' \"as of today\", salary integer?) key id \"Everyone who works here\"",
            "secrets(id integer?)"
        ]
    );
    let (server, name) = fixture.server.clone().unwrap();
    let grants = format!(
        "CREATE ROLE {name}_reader LOGIN; GRANT USAGE ON SCHEMA {name} TO {name}_reader;
        GRANT SELECT (id, mood) ON {name}.people TO {name}_reader"
    );
    execute(Kind::Postgres, &server, &grants).await;
    let url = fixture.url.replacen("postgres@", &format!("{name}_reader@"), 1);
    assert_ne!(url, fixture.url, "the server's address names no user `postgres`");
    let change = |settings: &mut QueryDbSettings| {
        settings.databases.insert("main".to_owned(), DatabaseUrl::new(url));
    };
    let schemas = fixture.tool_with(change).schemas().await;
    let told = schemas[0].1.as_ref().unwrap();
    let own: Vec<_> =
        told.tables.iter().filter(|table| !table.name.contains('.')).map(ToString::to_string).collect();
    let drop = format!("DROP OWNED BY {name}_reader; DROP ROLE {name}_reader");
    execute(Kind::Postgres, &server, &drop).await;
    fixture.close().await;
    assert_eq!(
        own,
        ["people(id integer, mood 'glad'|'sad' \"as of today\") key id \"Everyone who works here\""]
    );
}

#[tokio::test]
async fn a_database_that_is_away_is_told_by_its_error() {
    let Some(fixture) = Fixture::new(Kind::Sqlite, "CREATE TABLE t (x INTEGER)").await else { return };
    let change = |settings: &mut QueryDbSettings| {
        settings.databases.insert("gone".to_owned(), DatabaseUrl::new("sqlite:there-is-none.db"));
    };
    let schemas = fixture.tool_with(change).schemas().await;
    assert_eq!(schemas[0].1.as_ref().unwrap().tables.len(), 1);
    let error = schemas[1].1.as_ref().unwrap_err();
    assert_eq!((schemas[1].0.as_str(), error.code().as_str()), ("gone", "database_unreachable"));
}

#[tokio::test]
async fn what_is_told_can_be_chosen_or_turned_off() {
    let Some(fixture) = Fixture::new(Kind::Sqlite, "CREATE TABLE a (x); CREATE TABLE b (y)").await else {
        return;
    };
    let told = async |describe: Describe| {
        let tool = fixture.tool_with(|settings| settings.describe = describe);
        let schemas = tool.schemas().await;
        let tables = schemas.iter().flat_map(|(_, schema)| &schema.as_ref().unwrap().tables);
        tables.map(|table| table.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(told(Describe::Auto).await, ["a", "b"]);
    assert_eq!(told(Describe::Tables(vec!["b".to_owned()])).await, ["b"]);
    assert_eq!(told(Describe::Off).await, [""; 0]);
}
