//! Rates that protect the other side without failing ordinary use.

use luaplan::journal::EventBody;
use serde_json::{Value as Json, json};

use crate::http_support::{Service, records};
use crate::mcp_servers::{accepted, run};

const READ_ONCE: &str = "function run()\n  local rows = query_db{sql = \"SELECT 1 AS one\"}\n  \
                         if rows.error then error(rows.error) end\n  return rows[1].one\nend";

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_runs_at_once_that_each_read_once_succeed_with_defaults() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("shop.db");
    empty_database(&database).await;
    let databases = format!("{{ main = \"sqlite:{}\" }}", database.display());
    let service = Service::with(&[("tools.query_db.databases", databases.as_str())], None).await;
    let posts = (0..200).map(|_| {
        let client = service.client.clone();
        tokio::spawn(async move { client.post("/v1/runs?wait=25s", &json!({ "plan": READ_ONCE })).await })
    });
    for post in posts.collect::<Vec<_>>() {
        let answer = post.await.unwrap();
        let outcome: Json = serde_json::from_str(&answer.text).unwrap();
        assert_eq!((&outcome["status"], &outcome["result"]), (&json!("succeeded"), &json!(1)), "{outcome}");
    }
}

async fn empty_database(path: &std::path::Path) {
    use sqlx::ConnectOptions as _;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    sqlx::query("CREATE TABLE shop (id INTEGER)").execute(&mut connection).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_reads_of_an_mcp_tool_wait_for_the_server_alone() {
    let folder = tempfile::tempdir().unwrap();
    let app = accepted(folder.path(), &[]).await;
    let plan = "function run()\n  local n = 0\n  for i = 1, 60 do\n    local answer = small.echo{text = \"hi\"}\n    \
                if answer.error then error(answer.error) end\n    n = n + 1\n  end\n  return n\nend";
    let outcome = run(&app, plan).await;
    assert_eq!(outcome.result.as_ref().unwrap().to_json(), json!(60));
    assert_eq!(outcome.usage.rate_wait_ms, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waited_for_its_turn_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let app =
        accepted(folder.path(), &[("tools", "{ \"small.echo\" = { rate = \"2/s\", burst = 1 } }")]).await;
    let plan = "function run()\n  local call = function() return small.echo{text = \"hi\"} end\n  \
                for _, answer in ipairs(parallel{call, call, call}) do\n    \
                if answer.error then error(answer.error) end\n  end\n  return true\nend";
    let outcome = run(&app, plan).await;
    assert_eq!(outcome.result.as_ref().unwrap().to_json(), json!(true));
    assert!(outcome.usage.rate_wait_ms > 0);
    assert_eq!(outcome.to_json()["usage"]["rate_wait_ms"], outcome.usage.rate_wait_ms);
    let waits: Vec<bool> = records(&app, outcome.run_id.as_str())
        .await
        .iter()
        .filter_map(|record| match &record.event.body {
            EventBody::ToolCallStarted { waited_ms, .. } => Some(waited_ms.is_some()),
            _ => None,
        })
        .collect();
    assert_eq!(waits, [false, true, true]);
}
