//! Statements that a real database looks at and does not execute.

use std::sync::Arc;

use luaplan::app::config::{LoadOptions, load};
use luaplan::app::{App, AppParts, PlanOf, RunSpec, Work};
use luaplan::llm::{RecordedClient, RecordedReply};
use luaplan::plan::{Finding, Severity};
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, MySqlConnection, PgConnection, SqliteConnection};

use super::{folder, found, plan, under};
use crate::app_parts::{environment, setting};
use crate::http_support::Service;
use crate::postgres_support::Database;
use crate::support::Part;

const CODE: &str = "plan_sql_refused";

const TABLES: &str =
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, status VARCHAR(20) NOT NULL, total NUMERIC(10, 2))";

async fn sqlite(path: &std::path::Path) -> String {
    let url = format!("sqlite:{}", path.display());
    let mut connection = SqliteConnection::connect(&format!("{url}?mode=rwc")).await.unwrap();
    connection.execute(TABLES).await.unwrap();
    connection.execute("INSERT INTO orders VALUES (1, 'secret status', 7)").await.unwrap();
    connection.close().await.unwrap();
    url
}

/// An application on a database, and what is found in a plan there.
struct Place {
    app: App,
    _folder: tempfile::TempDir,
}

impl Place {
    async fn of(url: &str, settings: &[(&str, &str)], replies: Vec<RecordedReply>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let databases = format!("{{ shop = \"{url}\" }}");
        let all = [("tools.query_db.databases", databases.as_str())];
        let flags = all.iter().chain(settings).map(|(key, text)| setting(key, text)).collect();
        let environment = environment(folder.path());
        let loaded = load(&environment, &LoadOptions { file: None, flags }).unwrap();
        let llm = Some(Arc::new(RecordedClient::new("sql", replies)) as Arc<_>);
        let parts = AppParts { llm, ..AppParts::default() };
        Self { app: App::open_with(&loaded, &environment, parts).await.unwrap(), _folder: folder }
    }

    async fn found(&self, source: &str) -> Vec<Finding> {
        self.found_of(source, "plan_sql").await
    }

    async fn found_of(&self, source: &str, code: &str) -> Vec<Finding> {
        let limits = &self.app.config().limits;
        let plan = PlanOf { tenant: "local", name: "plan", source, limits, context: None };
        let findings = self.app.plans().check_live_for(plan).await.unwrap().findings;
        findings.into_iter().filter(|finding| finding.code.starts_with(code)).collect()
    }
}

/// A plan that reads a field of each row of a query.
fn reading(arguments: &str, field: &str) -> String {
    plan(&format!(
        "local rows = must(query_db{{{arguments}}}, \"rows\")\n  for _, row in ipairs(rows) do print(row.{field} .. \"\") end\n  return list.map(rows, function(row) return row.{field} end)"
    ))
}

/// Rows have the columns that a database tells, by their names in the result.
async fn judge_rows(place: &Place) {
    let orders = "sql = \"SELECT id, status AS state, total, total FROM orders\"";
    for (arguments, has, lacks) in [
        (orders, vec!["id", "state", "total_2"], vec!["status", "totl", "total_3"]),
        ("table = \"orders\", where = {id = context.id}", vec!["id", "status", "total"], vec!["state"]),
        ("table = \"orders\", columns = {\"id\", \"total\"}", vec!["id", "total"], vec!["status"]),
        ("table = \"orders\", columns = context.columns", vec!["id", "anything"], vec![]),
        ("sql = \"SELECT id FROM orders WHERE \" .. context.condition", vec!["anything"], vec![]),
    ] {
        for field in has {
            let found = place.found_of(&reading(arguments, field), "plan_unknown_field").await;
            assert_eq!(found, [], "{arguments}: {field}");
        }
        for field in lacks {
            let found = place.found_of(&reading(arguments, field), "plan_unknown_field").await;
            assert_eq!(found.len(), 2, "{arguments}: {field}: {found:?}");
            assert!(found.iter().all(|finding| finding.severity == Severity::Error), "{found:?}");
        }
    }
}

fn query(arguments: &str) -> String {
    plan(&format!("local rows = query_db{{{arguments}}}\n  return rows"))
}

/// What each of the databases refuses, and the word that PostgreSQL points at.
const REFUSED: [(&str, &str); 6] = [
    ("sql = \"SELECT id, totl FROM orders\"", "totl"),
    (
        "sql = [[\n    SELECT o.id FROM orders o\n    WHERE o.sttus = ? AND o.id = ?]], params = {context.status, 7}",
        "o",
    ),
    ("sql = \"SELECT id FROM ordrs WHERE id IN (?)\", params = {context.ids}", "ordrs"),
    ("sql = \"SELECT id FROM orders WHERE\"", ""),
    ("table = \"ordrs\", where = {id = context.id}", ""),
    ("table = \"orders\", columns = {\"id\", \"totl\"}, where = context.where", ""),
];

const TAKEN: [&str; 7] = [
    "sql = \"SELECT id, total FROM orders WHERE status = ?\", params = {context.status}",
    "sql = \"SELECT id FROM orders WHERE id IN (?) ORDER BY total\", params = {context.ids}",
    "sql = \"SELECT count(*) AS n FROM orders WHERE total > ? AND id > ?\", params = {1.5, 3}",
    "sql = \"SELECT id FROM orders WHERE id = ?\", params = context.params",
    "sql = \"WITH paid AS (SELECT id FROM orders WHERE status = 'paid') SELECT count(*) AS n FROM paid\"",
    "table = \"orders\", columns = {\"id\", \"status\"}, where = {status = {\"open\", context.status}}, limit = 5",
    "table = \"orders\", where = \"total > ?\", params = {context.most}, order_by = \"total DESC\"",
];

async fn judge(place: &Place, knows_position: bool) {
    for (arguments, word) in REFUSED {
        let source = query(arguments);
        let found = place.found(&source).await;
        assert_eq!(found.len(), 1, "{arguments}: {found:?}");
        let finding = &found[0];
        assert_eq!((finding.code.as_str(), finding.severity), (CODE, Severity::Error), "{finding:?}");
        assert!(finding.message.contains("database `shop`"), "{finding:?}");
        let told = under(&source, &serde_json::to_value(finding).unwrap());
        if knows_position && !word.is_empty() {
            assert_eq!(told, word, "{finding:?}");
        }
    }
    for arguments in TAKEN {
        let found = place.found(&query(arguments)).await;
        assert_eq!(found, [], "{arguments}");
    }
}

#[tokio::test]
async fn sqlite_looks_at_statements() {
    let folder = tempfile::tempdir().unwrap();
    let url = sqlite(&folder.path().join("shop.db")).await;
    let place = Place::of(&url, &[], Vec::new()).await;
    judge(&place, false).await;
    judge_rows(&place).await;
    for arguments in ["table = context.table", "sql = \"SELECT id FROM \" .. context.table"] {
        let found = place.found(&query(arguments)).await;
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].code.as_str(), found[0].severity), ("plan_sql_unasked", Severity::Warning));
        assert!(found[0].message.contains("put together while the plan runs"), "{found:?}");
    }
    // A granted statement that writes is looked at and not executed.
    let place = Place::of(&url, &[("tools.query_db.writes", "[\"shop\"]")], Vec::new()).await;
    let write = |column: &str| {
        query(&format!("sql = \"UPDATE orders SET {column} = ? WHERE id = 1\", params = {{9}}"))
    };
    assert_eq!(place.found(&write("total")).await, []);
    assert_eq!(place.found(&write("totl")).await.len(), 1);
    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    let total: f64 = sqlx::query_scalar("SELECT CAST(total AS REAL) FROM orders")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert!((total - 7.0).abs() < 0.001);
}

#[tokio::test]
async fn the_process_that_reads_files_looks_at_statements() {
    let folder = folder();
    sqlite(&folder.join("shop.db")).await;
    let source = query("sql = \"SELECT id, totl FROM orders\"");
    let told = found(&folder, &source, CODE, &["--live"]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].0 == "error" && told[0].2.contains("no such column: totl"), "{told:?}");
    assert_eq!(found(&folder, &source, CODE, &[]), [], "nothing is opened unasked");
    assert_eq!(found(&folder, &query(TAKEN[0]), CODE, &["--live"]), []);
    let rows = reading("table = \"orders\"", "totl");
    assert_eq!(found(&folder, &rows, "plan_unknown_field", &["--live"]).len(), 2);
    assert_eq!(found(&folder, &rows, "plan_unknown_field", &[]), []);
    folder.write("plan.lua", query("table = context.table"));
    let unasked = folder.run(&["check", "plan.lua", "--live"]).exits(0);
    assert!(unasked.out.contains("did not look at the statements of 1 place"), "{unasked}");
    folder.write("luaplan.toml", super::CONFIGURATION.replace("shop.db", "gone.db"));
    let away = found(&folder, &source, "plan_sql_unasked", &["--live"]);
    assert_eq!(away.len(), 1, "{away:?}");
    assert!(away[0].0 == "warning" && away[0].2.contains("gone.db"), "{away:?}");
}

#[tokio::test]
async fn postgres_looks_at_statements_and_points_at_the_word() {
    let Some(database) = Database::new("statements").await else { return };
    let mut connection = PgConnection::connect(&database.url()).await.unwrap();
    connection.execute(TABLES).await.unwrap();
    connection
        .execute("CREATE TYPE kind AS ENUM ('small', 'large'); CREATE TABLE boxes (kind kind)")
        .await
        .unwrap();
    let place = Place::of(&database.url(), &[], Vec::new()).await;
    judge(&place, true).await;
    judge_rows(&place).await;
    let hinted = place.found(&query(REFUSED[0].0)).await;
    assert!(hinted[0].message.contains("SQLSTATE 42703"), "{hinted:?}");
    let value = place.found(&query("sql = \"SELECT 1 AS n FROM boxes WHERE kind = 'medium'\"")).await;
    assert!(value[0].message.contains("invalid input value for enum kind"), "{value:?}");
    let asked = place.found(&query("sql = \"SELECT pg_sleep(1)\"")).await;
    assert_eq!(asked.len(), 0, "refused before: {asked:?}");
    database.cut_connections().await;
    drop(place);
}

#[tokio::test]
async fn mariadb_looks_at_statements() {
    let Some(server) = Part::Mysql.place("statements") else { return };
    let mut connection = MySqlConnection::connect(&server).await.unwrap();
    let name = format!("luaplan_{}", luaplan::base::RunId::generate().as_str().replace('-', "_"));
    connection.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.unwrap();
    let mut url = url::Url::parse(&server).unwrap();
    url.set_path(&name);
    let mut inside = MySqlConnection::connect(url.as_str()).await.unwrap();
    inside.execute(TABLES).await.unwrap();
    let place = Place::of(url.as_str(), &[], Vec::new()).await;
    judge(&place, false).await;
    judge_rows(&place).await;
    connection.execute(AssertSqlSafe(format!("DROP DATABASE {name}"))).await.unwrap();
}

fn reply(plan: &str) -> RecordedReply {
    RecordedReply { matches: None, text: json!({ "plan": plan, "explanation": "x" }).to_string() }
}

#[tokio::test]
async fn a_model_hears_names_of_the_schema_and_no_data() {
    let folder = tempfile::tempdir().unwrap();
    let url = sqlite(&folder.path().join("shop.db")).await;
    let (wrong, right) = (query(REFUSED[0].0), query("sql = \"SELECT id FROM orders\""));
    let place = Place::of(&url, &[], vec![reply(&wrong), reply(&right)]).await;
    let spec = RunSpec::new(Work::Task("the orders".to_owned()), place.app.config().limits.clone());
    let outcome = place.app.run(spec).await;
    assert_eq!(outcome.result.as_ref().unwrap().to_json(), json!([{ "id": 1 }]), "{outcome:?}");
    // A database that is away tells nothing, and the plan is judged without it.
    std::fs::remove_file(folder.path().join("shop.db")).unwrap();
    let place = Place::of(&url, &[], vec![reply(&wrong)]).await;
    let spec = RunSpec::new(Work::Task("the orders".to_owned()), place.app.config().limits.clone());
    let outcome = place.app.run(spec).await;
    let told = format!("{:?}", outcome.result);
    assert!(told.contains("there is no file"), "{told}");
}

#[tokio::test]
async fn the_service_asks_where_it_is_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let url = sqlite(&folder.path().join("shop.db")).await;
    let databases = format!("{{ shop = \"{url}\" }}");
    let service = Service::with(&[("tools.query_db.databases", &databases)], None).await;
    let source = query(REFUSED[0].0);
    let explained = async |live: bool| {
        let body = json!({ "plan": source, "live": live });
        service.client.post("/v1/plans/explain", &body).await.json()
    };
    assert_eq!(explained(false).await["ok"], true);
    let told = explained(true).await;
    assert_eq!(told["ok"], false, "{told}");
    assert_eq!(told["findings"][0]["code"], CODE, "{told}");
    assert!(!told.to_string().contains("secret status"));
}
