//! The mode changes at one node and holds at the one that runs the run, also where that is another one by then.

use serde_json::json;

use crate::nodes::{Ledger, Node};
use crate::postgres_support::Database;

/// Books, which is held, and then marks, which is asked about.
const PLAN: &str = "function run(context)\n  must(book(\"held\"), \"booked\")\n  return must(mark(\"made\"), \"marked\").marked\nend";
const POLICY: &str = r#"version = 1

[[rule]]
name = "books"
tool = "book"
decision = "auto"
reason = "it is only booked"

[[rule]]
name = "asks"
tool = "mark"
decision = "prompt"
reason = "it marks"
"#;

/// Two nodes on `database`.
async fn nodes(database: &Database) -> (Ledger, Node, Node, tempfile::TempDir) {
    let (ledger, folder) = (Ledger::start().await, tempfile::tempdir().unwrap());
    let file = folder.path().join("policy.toml");
    std::fs::write(&file, POLICY).unwrap();
    let settings = format!("[policy]\nfile = {:?}", file.display().to_string());
    let one = Node::start(database, &ledger, &settings).await;
    let two = Node::start(database, &ledger, &settings).await;
    (ledger, one, two, folder)
}

async fn begin(node: &Node, mode: &str) -> String {
    let begun = node.client.post("/v1/runs", &json!({ "plan": PLAN, "mode": mode })).await;
    assert_eq!(begun.status, 202, "{}", begun.text);
    begun.json()["run_id"].as_str().unwrap().to_owned()
}

async fn switch(node: &Node, run_id: &str, mode: &str) {
    let answer = node.client.post(&format!("/v1/runs/{run_id}/mode"), &json!({ "mode": mode })).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_at_one_node_holds_at_the_other() {
    let Some(database) = Database::new("modes").await else { return };
    let (ledger, one, two, _folder) = nodes(&database).await;
    ledger.hold("held");
    let run_id = begin(&one, "structured").await;
    ledger.asked(1, 0).await;
    switch(&two, &run_id, "autonomous").await;
    ledger.let_go();
    let ended = two.client.until_ended(&run_id).await;
    assert_eq!((&ended["status"], &ended["result"]), (&json!("succeeded"), &json!(true)), "{ended}");

    ledger.hold("held");
    let run_id = begin(&one, "autonomous").await;
    ledger.asked(2, 1).await;
    switch(&two, &run_id, "structured").await;
    ledger.let_go();
    let paused = two.client.until_ended(&run_id).await;
    assert_eq!(paused["status"], "paused", "{paused}");
    assert_eq!(ledger.book().marks.values().sum::<u32>(), 1, "the second was not made");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_takes_a_run_over_goes_on_in_its_new_mode() {
    let Some(database) = Database::new("modes taken over").await else { return };
    let (ledger, one, two, _folder) = nodes(&database).await;
    ledger.hold("held");
    let run_id = begin(&one, "structured").await;
    ledger.asked(1, 0).await;
    switch(&two, &run_id, "autonomous").await;
    one.kill().await;
    ledger.let_go();
    let ended = two.client.until_ended(&run_id).await;
    assert_eq!((&ended["status"], &ended["result"]), (&json!("succeeded"), &json!(true)), "{ended}");
    assert_eq!(ledger.book().marks.values().sum::<u32>(), 1);
}
