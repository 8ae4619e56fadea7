//! Three nodes under load: one is killed, one stands still, connections are cut. No run is lost, no effect
//! repeated beyond the rules.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use luaplan::journal::JournalRead as _;
use nix::sys::signal::Signal;
use serde_json::{Value as Json, json};
use tokio::sync::Mutex;

use super::history::faults;
use super::{Ledger, Node, journal, records};
use crate::http_support::Client;
use crate::postgres_support::Database;

const SETTINGS: &str = "max_concurrent_runs = 12";

/// `long` for more runs and rounds.
const LENGTH: &str = "LUAPLAN_TEST_NODES";

/// Reads nothing from outside but its number, calls both kinds of tools, alone and together.
const PLAN: &str = r#"function run(context)
  local n = context.n
  book("a" .. n)
  mark("m" .. n)
  local both = parallel{
    function() return book("b" .. n) end,
    function() return book("c" .. n) end,
  }
  local last = book("z" .. n)
  print("booked " .. n)
  return { n = n, key = last.key, both = #both }
end"#;

/// The nodes that take requests; others come and go.
pub(super) type Clients = Arc<Mutex<Vec<Client>>>;

/// Posts a run to any node until one takes it.
async fn post(clients: &Clients, n: usize) -> String {
    let body = json!({ "plan": PLAN, "context": { "n": n } });
    for turn in n.. {
        let client = {
            let clients = clients.lock().await;
            clients[turn % clients.len()].clone()
        };
        let sent = client.request("POST", "/v1/runs").timeout(Duration::from_secs(5)).body(body.to_string());
        // One that is killed or stands still does not answer: its run may be there or not, so another
        // one is posted, and only answered ones are counted on.
        let Ok(answer) = sent.send().await else { continue };
        if answer.status() == 202 {
            let accepted: Json = answer.json().await.unwrap();
            return accepted["run_id"].as_str().unwrap().to_owned();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    unreachable!("turns do not end")
}

/// Somebody who looks whether a mark arrived and says so.
async fn resolve(clients: &Clients, ledger: &Ledger, run_id: &str, n: usize) {
    let client = clients.lock().await[0].clone();
    let run = client.get(&format!("/v1/runs/{run_id}")).await.json();
    let arrived = ledger.book().marks.contains_key(&format!("m{n}"));
    let answer = if arrived { json!({ "done": { "marked": true } }) } else { json!({ "retry": true }) };
    let calls = run["paused"]["calls_in_doubt"].as_array().unwrap();
    let resolve: BTreeMap<&str, Json> = calls
        .iter()
        .filter(|call| call["tool"] == "mark")
        .map(|call| (call["call_id"].as_str().unwrap(), answer.clone()))
        .collect();
    let resumed = client.post(&format!("/v1/runs/{run_id}/resume"), &json!({ "resolve": resolve })).await;
    assert!([200, 202, 409, 429].contains(&resumed.status), "{}", resumed.text);
}

/// The accepted runs, by id, and the number each was started with.
pub(super) type Accepted = BTreeMap<String, usize>;

/// Three nodes.
pub(super) async fn three(database: &Database, ledger: &Ledger) -> (Vec<Node>, Clients) {
    let mut nodes = Vec::new();
    for _ in 0..3 {
        nodes.push(Node::start(database, ledger, SETTINGS).await);
    }
    let clients = nodes.iter().map(|node| node.client.clone()).collect();
    (nodes, Arc::new(Mutex::new(clients)))
}

/// Posts `count` runs, at most 16 at once.
pub(super) async fn post_all(clients: &Clients, count: usize) -> Accepted {
    let posted = futures::stream::iter(0..count).map(|n| async move { (post(clients, n).await, n) });
    posted.buffer_unordered(16).collect().await
}

/// Posts `count` runs, hurts the nodes meanwhile, and judges what came of it. Says how many effects were asked
/// for again under their key, and how often a person was asked.
async fn round(database: &Database, count: usize) -> (u32, usize) {
    let ledger = Ledger::start().await;
    let (mut nodes, clients) = three(database, &ledger).await;
    let (stalled, killed) = (nodes.remove(1), nodes.remove(0));
    let hurting = async {
        ledger.asked(count / 3, 0).await;
        killed.kill().await;
        database.cut_connections().await;
        ledger.asked(count, 0).await;
        stalled.signal(Signal::SIGSTOP);
        let fresh = Node::start(database, &ledger, SETTINGS).await;
        clients.lock().await[0] = fresh.client.clone();
        ledger.asked(count * 2, 0).await;
        database.cut_connections().await;
        // Past its lease, which is two seconds long.
        tokio::time::sleep(Duration::from_secs(5)).await;
        stalled.signal(Signal::SIGCONT);
        database.cut_connections().await;
        fresh
    };
    let (accepted, fresh) = tokio::join!(post_all(&clients, count), hurting);
    nodes.push(fresh);
    let judged = judge(database, &ledger, &clients, &accepted).await;
    for node in nodes {
        assert_eq!(node.stop().await, Some(0));
    }
    assert_eq!(stalled.stop().await, Some(0));
    judged
}

/// Waits until every accepted run has ended, and judges its records and what the server was asked.
pub(super) async fn judge(
    database: &Database,
    ledger: &Ledger,
    clients: &Clients,
    accepted: &Accepted,
) -> (u32, usize) {
    let count = accepted.len();
    let journal = journal(database).await;
    let mut asked = BTreeSet::new();
    let mut open: Vec<&String> = accepted.keys().collect();
    for _ in 0..1_200 {
        let mut still = Vec::new();
        for run_id in open {
            let summary = journal.run_summary(&run_id.parse().unwrap()).await.unwrap();
            match summary.unwrap_or_else(|| panic!("{run_id} is not on record")).status.as_str() {
                "running" => still.push(run_id),
                "paused" => {
                    asked.insert(run_id);
                    resolve(clients, ledger, run_id, accepted[run_id]).await;
                    still.push(run_id);
                }
                _ => {}
            }
        }
        open = still;
        if open.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(open.is_empty(), "lost: {open:?}");

    let mut repeated = 0;
    let mut found = Vec::new();
    for (run_id, n) in accepted {
        let run = records(&journal, run_id).await;
        found.extend(
            faults(&run, |tool| tool == "book").into_iter().map(|fault| format!("{run_id}: {fault}")),
        );
        let state = journal.run_state(&run_id.parse().unwrap()).await.unwrap().unwrap();
        let keys: Vec<String> = state.calls.iter().filter_map(|call| call.idempotency_key.clone()).collect();
        let result = state.result.clone().unwrap_or_else(|| panic!("{run_id}: {:?}", state.error));
        assert_eq!((&result["n"], &result["both"]), (&json!(n), &json!(2)), "{run_id}");
        assert_eq!(state.printed, format!("booked {n}\n"), "{run_id}");
        assert_eq!(state.calls.len(), 5, "{run_id}");
        let book = ledger.book();
        for (call, key) in state.calls.iter().zip(&keys) {
            if call.tool == "book" {
                let times = book.keys.get(key).copied().unwrap_or_default();
                assert!((1..=call.attempts).contains(&times), "{run_id} {key}: {times} of {}", call.attempts);
                repeated += times - 1;
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    let (runs, marks) = {
        let book = ledger.book();
        // Runs that were posted but not answered for are there as well; none marks more than once itself.
        (book.keys.len() / 4, book.marks.clone())
    };
    let unanswered = runs.saturating_sub(count);
    for n in 0..count {
        let times = marks.get(&format!("m{n}")).copied().unwrap_or_default();
        assert!(times >= 1, "mark m{n} was lost");
    }
    let marks_total: u32 = marks.values().sum();
    let most = u32::try_from(count + unanswered).unwrap();
    assert!(marks_total <= most, "{marks_total} marks of {most} runs");
    let report = journal.verify().await.unwrap();
    assert!(report.ok, "{report:?}");
    (repeated, asked.len())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_are_killed_stalled_and_cut_lose_no_run_and_repeat_no_effect() {
    let Some(database) = Database::new("nodes under load").await else { return };
    #[expect(clippy::disallowed_methods, reason = "a switch of this test, not of the program")]
    let is_long = std::env::var(LENGTH).is_ok_and(|length| length == "long");
    let (rounds, count) = if is_long { (10, 600) } else { (1, 60) };
    for round_number in 1..=rounds {
        let (repeated, asked) = round(&database, count).await;
        eprintln!(
            "round {round_number}: {count} runs, {repeated} effects asked for again under their key, \
             a person asked about {asked} runs"
        );
    }
}
