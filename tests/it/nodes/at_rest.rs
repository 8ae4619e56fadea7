//! Runs that sleep, and runs that called agents, whichever remaining node resumes them.

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::{Ledger, Node, journal, records};
use crate::postgres_support::Database;

async fn begin(node: &Node, plan: &str) -> String {
    let begun = node.client.post("/v1/runs", &json!({ "plan": plan })).await;
    assert_eq!(begun.status, 202, "{}", begun.text);
    begun.json()["run_id"].as_str().unwrap().to_owned()
}

/// Waits until the run stands as `status`, at most for a minute.
async fn until(node: &Node, run_id: &str, status: &str) -> Json {
    let polled = async {
        loop {
            let run = node.client.get(&format!("/v1/runs/{run_id}")).await.json();
            if run["status"] == status {
                return run;
            }
            assert!(
                !["failed", "cancelled", "succeeded"].contains(&run["status"].as_str().unwrap()),
                "{run}"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), polled).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_sleeps_is_woken_by_the_node_that_is_left() {
    let Some(database) = Database::new("sleepers").await else { return };
    let ledger = Ledger::start().await;
    let (one, two) = (Node::start(&database, &ledger, "").await, Node::start(&database, &ledger, "").await);
    let plan = "function run()\n  mark(\"before\")\n  sleep(5)\n  return mark(\"after\").marked\nend";
    let (run_id, ended) = (begin(&one, plan).await, begin(&one, plan).await);
    until(&two, &run_id, "sleeping").await;
    until(&two, &ended, "sleeping").await;
    let cancelled = two.client.post(&format!("/v1/runs/{ended}/cancel"), &json!({})).await;
    assert_eq!(cancelled.status, 202, "{}", cancelled.text);
    until(&two, &ended, "cancelled").await;
    one.kill().await;
    until(&two, &run_id, "succeeded").await;
    assert_eq!(ledger.book().marks.values().copied().collect::<Vec<_>>(), [1, 2], "after once, before twice");
    let journal = journal(&database).await;
    let names: Vec<&str> =
        records(&journal, &run_id).await.iter().map(|record| record.event.body.name()).collect();
    assert_eq!(names.iter().filter(|name| **name == "run_resumed").count(), 1, "{names:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_and_the_agent_it_called_go_on_at_the_node_that_is_left() {
    let Some(database) = Database::new("agents on nodes").await else { return };
    let ledger = Ledger::start().await;
    ledger.hold("held");
    let plan = tempfile::NamedTempFile::with_suffix(".lua").unwrap();
    std::fs::write(
        plan.path(),
        "function run(context)\n  mark(\"begun\")\n  return book(context.what).key\nend",
    )
    .unwrap();
    let settings =
        format!("[agents.booker]\nplan = \"{}\"\ntools = [\"book\", \"mark\"]", plan.path().display());
    let (one, two) =
        (Node::start(&database, &ledger, &settings).await, Node::start(&database, &ledger, &settings).await);
    let run_id =
        begin(&one, "function run()\n  return call_agent(\"booker\", { what = \"held\" })\nend").await;
    ledger.asked(1, 1).await;
    one.kill().await;
    ledger.let_go();
    let ended = until(&two, &run_id, "succeeded").await;
    let book = ledger.book();
    let keys: Vec<&String> = book.keys.keys().collect();
    assert_eq!(keys.len(), 1, "asked again under its own key alone");
    assert_eq!(ended["result"].as_str(), Some(keys[0].as_str()));
    assert_eq!(
        book.marks.values().copied().collect::<Vec<_>>(),
        [1],
        "what was on record was not done again"
    );
}
