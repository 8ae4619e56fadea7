//! What a client sees of a run is the same at every node.

use serde_json::{Value as Json, json};

use super::{Ledger, Node, journal, records};
use crate::http_support::EventStream;
use crate::postgres_support::Database;

const HELD: &str = "function run(context)\n  book(\"held\")\n  return 1\nend";

async fn begin(node: &Node, plan: &str) -> String {
    let begun = node.client.post("/v1/runs", &json!({ "plan": plan })).await;
    assert_eq!(begun.status, 202, "{}", begun.text);
    begun.json()["run_id"].as_str().unwrap().to_owned()
}

async fn names(mut stream: EventStream) -> Vec<String> {
    let mut names = Vec::new();
    while let Some(event) = stream.next().await {
        names.push(event.name);
    }
    names
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_node_shows_streams_and_cancels_the_runs_of_all() {
    let Some(database) = Database::new("any node").await else { return };
    let ledger = Ledger::start().await;
    let (one, two) = (Node::start(&database, &ledger, "").await, Node::start(&database, &ledger, "").await);
    ledger.hold("held");
    let run_id = begin(&one, HELD).await;
    ledger.asked(1, 0).await;
    let shown = two.client.get(&format!("/v1/runs/{run_id}")).await.json();
    assert_eq!((&shown["status"], &shown["under_way_here"]), (&json!("running"), &json!(false)));
    let stream = two.client.events(&run_id, None).await;
    let refused = two.client.post(&format!("/v1/runs/{run_id}/resume"), &json!({})).await;
    refused.problem(409, "run_active");
    let cancelled = two.client.post(&format!("/v1/runs/{run_id}/cancel"), &json!({})).await;
    assert_eq!(cancelled.status, 202, "{}", cancelled.text);
    assert_eq!(two.client.until_ended(&run_id).await["status"], "cancelled");
    let seen = names(stream).await;
    assert_eq!(seen.first().map(String::as_str), Some("run_started"));
    assert_eq!(seen.last().map(String::as_str), Some("run_cancelled"));
    let again = one.client.post(&format!("/v1/runs/{run_id}/cancel"), &json!({})).await;
    again.problem(409, "run_not_active");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_finds_no_room_waits_for_a_node_that_has() {
    let Some(database) = Database::new("runs that wait").await else { return };
    let ledger = Ledger::start().await;
    ledger.hold("held");
    let full = Node::start(&database, &ledger, "max_concurrent_runs = 1").await;
    let held = begin(&full, HELD).await;
    ledger.asked(1, 0).await;
    let waiting = begin(&full, "function run() return mark('waited').marked end").await;
    let shown = full.client.get(&format!("/v1/runs/{waiting}")).await.json();
    assert_eq!(shown["status"], "running", "{shown}");
    assert!(ledger.book().marks.is_empty());
    // A secret's run cannot wait for others; a run that waits can be ended.
    let ended = begin(&full, "function run() return mark('not wanted').marked end").await;
    let cancelled = full.client.post(&format!("/v1/runs/{ended}/cancel"), &json!({})).await;
    assert_eq!(cancelled.status, 202, "{}", cancelled.text);

    // The node dies with one run under way and two that wait for it.
    full.kill().await;
    ledger.let_go();
    let other = Node::start(&database, &ledger, "").await;
    for (run_id, status) in [(&held, "succeeded"), (&waiting, "succeeded"), (&ended, "cancelled")] {
        assert_eq!(other.client.until_ended(run_id).await["status"], status, "{run_id}");
    }
    let marks: Vec<(String, u32)> = ledger.book().marks.clone().into_iter().collect();
    assert_eq!(marks, [("waited".to_owned(), 1)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_asked_to_stop_hands_its_runs_on() {
    let Some(database) = Database::new("a node that stops").await else { return };
    let ledger = Ledger::start().await;
    ledger.hold("held");
    let settings = "shutdown_grace = \"100ms\"";
    let (one, two) =
        (Node::start(&database, &ledger, settings).await, Node::start(&database, &ledger, settings).await);
    let answered = {
        let client = one.client.clone();
        tokio::spawn(async move { client.post("/v1/runs?wait=20s", &json!({ "plan": HELD })).await })
    };
    ledger.asked(1, 0).await;
    assert_eq!(one.stop().await, Some(0));
    // The waiting client learns that the run resumed, or how it ended.
    let answer = answered.await.unwrap();
    assert!([200, 202].contains(&answer.status), "{}", answer.text);
    let run_id = answer.json()["run_id"].as_str().unwrap().to_owned();
    assert_eq!(two.client.until_ended(&run_id).await["status"], "succeeded");
    let journal = journal(&database).await;
    let records = records(&journal, &run_id).await;
    let names: Vec<&str> = records.iter().map(|record| record.event.body.name()).collect();
    assert!(!names.contains(&"run_failed"), "{names:?}");
    assert_eq!(ledger.book().keys.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approval_is_decided_at_any_node_and_by_the_command_line() {
    let Some(database) = Database::new("approvals at any node").await else { return };
    let ledger = Ledger::start().await;
    let policy = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        policy.path(),
        "version = 1\n[[rule]]\nname = \"marks\"\ntool = \"mark\"\ndecision = \"prompt\"\nreason = \"asked\"\n",
    )
    .unwrap();
    let settings = format!("[policy]\nfile = \"{}\"", policy.path().display());
    let (one, two) =
        (Node::start(&database, &ledger, &settings).await, Node::start(&database, &ledger, &settings).await);
    for by_command in [false, true] {
        let run_id = begin(&one, "function run() return mark('asked').marked end").await;
        assert_eq!(two.client.until_ended(&run_id).await["status"], "paused");
        if by_command {
            let (code, out, err) = two.luaplan(&["approve", &run_id, "--all"]).await;
            assert_eq!(code, Some(0), "{out}{err}");
        } else {
            let waits = two.client.get(&format!("/v1/approvals?run={run_id}")).await.json();
            let id = waits["approvals"][0]["approval_id"].as_str().unwrap().to_owned();
            let decided =
                two.client.post(&format!("/v1/approvals/{id}"), &json!({ "decision": "once" })).await;
            assert_eq!(
                (decided.status, &decided.json()["run"]),
                (200, &json!("resumed")),
                "{}",
                decided.text
            );
        }
        assert_eq!(one.client.until_ended(&run_id).await["status"], "succeeded");
    }
    assert_eq!(ledger.book().marks.values().copied().collect::<Vec<_>>(), [2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_grant_is_revoked_at_any_node_while_the_run_it_came_from_goes_on_at_another() {
    let Some(database) = Database::new("grants at any node").await else { return };
    let ledger = Ledger::start().await;
    let policy = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(policy.path(), "version = 1\n[defaults]\nwrite = \"auto\"\nsend = \"prompt\"\n").unwrap();
    let settings = format!("[policy]\nfile = \"{}\"", policy.path().display());
    let (one, two) =
        (Node::start(&database, &ledger, &settings).await, Node::start(&database, &ledger, &settings).await);
    ledger.hold("held");
    let run_id = begin(&one, "function run()\n  mark(\"first\")\n  book(\"held\")\n  return 1\nend").await;
    assert_eq!(one.client.until_ended(&run_id).await["status"], "paused");
    let waits = one.client.get(&format!("/v1/approvals?run={run_id}")).await.json();
    let id = waits["approvals"][0]["approval_id"].as_str().unwrap().to_owned();
    let decided =
        one.client.post(&format!("/v1/approvals/{id}"), &json!({ "decision": "for", "for": "1h" })).await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    ledger.asked(1, 1).await;
    let grants = two.client.get("/v1/grants").await.json();
    let grant = grants["grants"][0]["grant_id"].as_str().unwrap().to_owned();
    let revoked = two.client.post(&format!("/v1/grants/{grant}/revoke"), &json!({})).await;
    assert_eq!(revoked.status, 200, "{}", revoked.text);
    assert_eq!(one.client.get("/v1/grants").await.json()["grants"], json!([]));
    ledger.let_go();
    assert_eq!(one.client.until_ended(&run_id).await["status"], "succeeded");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_commands_work_on_a_database() {
    let Some(database) = Database::new("commands on a database").await else { return };
    let ledger = Ledger::start().await;
    let node = Node::start(&database, &ledger, "").await;
    let done = node.client.run("function run() return mark('once').marked end").await;
    let run_id = done["run_id"].as_str().unwrap().to_owned();
    let (code, out, _) = node.luaplan(&["runs"]).await;
    assert!(code == Some(0) && out.contains(&run_id), "{out}");
    let (code, out, _) = node.luaplan(&["show", "last"]).await;
    assert!(code == Some(0) && out.contains("mark"), "{out}");
    let (code, out, err) = node.luaplan(&["replay", &run_id]).await;
    assert!(code == Some(0) && out.starts_with("the same"), "{out}{err}");
    let (code, out, _) = node.luaplan(&["audit", "--run", &run_id]).await;
    assert!(code == Some(0) && out.contains("run_finished"), "{out}");
    let (code, out, _) = node.luaplan(&["audit", "verify"]).await;
    assert!(code == Some(0) && out.contains("the chain is whole"), "{out}");
    let (_, out, _) = node.luaplan(&["doctor"]).await;
    assert!(out.contains("journal") && out.contains("postgres://"), "{out}");
    let (code, out, err) = node.luaplan(&["config", "show"]).await;
    assert!(code == Some(0) && out.contains("postgres"), "{out}{err}");
    let plan = node.folder.path().join("plan.lua");
    std::fs::write(&plan, "function run() return book('by hand').key ~= nil end").unwrap();
    let (code, out, err) = node.luaplan(&["run", "plan.lua"]).await;
    assert_eq!(code, Some(0), "{out}{err}");
    let listed: Json = node.client.get("/v1/runs").await.json();
    assert_eq!(listed["runs"].as_array().unwrap().len(), 2, "{listed}");
    assert_eq!(ledger.book().marks.len(), 1);
}
