//! Runs that a client starts: progress, waiting, cancelling, disconnecting.

use std::time::Duration;

use luaplan::base::ErrorCode;
use luaplan::journal::JournalRead as _;
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
use rmcp::service::PeerRequestOptions;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use super::{Session, command, held, rests};
use crate::http_support::{Gate, PATIENCE, open, until};

async fn beside(gate: &Gate, folder: &std::path::Path) -> Session {
    let hosts = format!("tools.fetch_url.allow_hosts=[\"{}\"]", gate.host);
    Session::start(folder, &[&hosts]).await
}

/// Sends a call without waiting for its answer.
async fn begin(session: &Session, arguments: Json) -> rmcp::service::RequestHandle<rmcp::RoleClient> {
    let arguments = arguments.as_object().cloned().unwrap();
    let params = CallToolRequestParams::new("run_lua").with_arguments(arguments);
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    session.client.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap()
}

async fn newest(session: &Session) -> Json {
    session.done("list_runs", json!({ "limit": 1 })).await["runs"][0].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_tells_what_happens_and_nothing_after_the_answer() {
    let (gate, folder) = (Gate::new().await, tempfile::tempdir().unwrap());
    // On the wire: clients may hand notifications on in another order.
    let hosts = format!("tools.fetch_url.allow_hosts=[\"{}\"]", gate.host);
    let mut child = command(folder.path(), &[&hosts]).spawn().unwrap();
    let (mut input, mut output) =
        (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "run_lua",
            "arguments": { "program": gate.plan("/now?token=hidden") }, "_meta": { "progressToken": "here" } } }),
    ] {
        input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
    let mut until_answer = async |id: u64| {
        let mut told = Vec::new();
        loop {
            let line = tokio::time::timeout(PATIENCE, output.next_line()).await.unwrap().unwrap().unwrap();
            let message: Json = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                assert!(message["result"].is_object(), "{message}");
                return told;
            }
            if message["method"] == "notifications/progress" {
                told.push(message["params"].clone());
            }
        }
    };
    assert_eq!(until_answer(1).await, Vec::<Json>::new());
    let told = until_answer(2).await;
    let messages: Vec<&str> = told.iter().map(|progress| progress["message"].as_str().unwrap()).collect();
    assert_eq!(messages.first(), Some(&"run_started"), "{messages:?}");
    assert!(messages.contains(&"tool_call_started fetch_url (1)"), "{messages:?}");
    assert!(messages.contains(&"tool_call_finished fetch_url (1)"), "{messages:?}");
    assert!(!messages.iter().any(|message| message.contains("hidden")), "{messages:?}");
    assert!(told.iter().all(|progress| progress["progressToken"] == "here"), "{told:?}");
    let steps: Vec<f64> = told.iter().map(|progress| progress["progress"].as_f64().unwrap()).collect();
    assert!(steps.is_sorted_by(|one, next| one < next), "{told:?}");
    // An answer to a later request comes after whatever was sent before it.
    let later =
        json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": "list_runs" } });
    input.write_all(format!("{later}\n").as_bytes()).await.unwrap();
    assert_eq!(until_answer(3).await, Vec::<Json>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_the_request_cancels_the_run() {
    let (gate, folder) = (Gate::new().await, tempfile::tempdir().unwrap());
    let session = beside(&gate, folder.path()).await;
    let request = begin(&session, held(&gate)).await;
    gate.asked(1).await;
    assert_eq!(newest(&session).await["status"], "running");
    request.cancel(Some("no longer wanted".to_owned())).await.unwrap();
    let run = until(async || Some(newest(&session).await).filter(|run| run["status"] != "running")).await;
    assert_eq!(run["status"], "cancelled");
    let audit = session.done("audit", json!({ "run": run["run_id"], "tool": "fetch_url" })).await;
    assert!(audit.to_string().contains("call_cut"), "{audit}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_wait_can_come_back() {
    let (gate, folder) = (Gate::new().await, tempfile::tempdir().unwrap());
    let session = beside(&gate, folder.path()).await;
    let mut arguments = held(&gate);
    arguments["wait"] = json!("1ms");
    let begun = session.done("run_lua", arguments).await;
    assert_eq!(begun["status"], "running");
    let run_id = begun["run_id"].clone();
    gate.asked(1).await;
    let status = session.done("run_status", json!({ "run_id": run_id, "wait": "1ms" })).await;
    assert_eq!((&status["status"], &status["under_way_here"]), (&json!("running"), &json!(true)));
    gate.open();
    let status = session.done("run_status", json!({ "run_id": run_id, "wait": "25s" })).await;
    assert_eq!((&status["status"], &status["result"]), (&json!("succeeded"), &json!("body")));
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_on_record_when_its_answer_comes_though_the_server_is_killed_then() {
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let mut session = Session::start(folder.path(), &[]).await;
        let program = "function run(context) sleep(3600) return context.n end";
        let begun = json!({ "program": program, "context": { "n": 7 }, "wait": "1ms" });
        let answer = session.done("run_lua", begun).await;
        session.child.kill().await.unwrap();
        let run_id = answer["run_id"].as_str().unwrap().parse().unwrap();
        let app = open(folder.path(), &[], None).await;
        let state = app.journal().run_state(&run_id).await.unwrap().expect("the run is on record");
        assert_eq!((state.source.as_deref(), &state.context), (Some(program), &json!({ "n": 7 })));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_can_be_cancelled_by_its_id() {
    let (gate, folder) = (Gate::new().await, tempfile::tempdir().unwrap());
    let session = beside(&gate, folder.path()).await;
    let mut arguments = held(&gate);
    arguments["wait"] = json!("1ms");
    let run_id = session.done("run_lua", arguments).await["run_id"].clone();
    gate.asked(1).await;
    let ended = session.done("cancel_run", json!({ "run_id": run_id })).await;
    assert_eq!(ended["status"], "cancelled", "{ended}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_leaves_a_run_that_can_be_resumed() {
    let (gate, folder) = (Gate::new().await, tempfile::tempdir().unwrap());
    let mut session = beside(&gate, folder.path()).await;
    let request = begin(&session, held(&gate)).await;
    gate.asked(1).await;
    let run_id = newest(&session).await["run_id"].as_str().unwrap().to_owned();
    session.client.close().await.unwrap();
    drop(request);
    let status = tokio::time::timeout(PATIENCE, session.child.wait()).await.unwrap().unwrap();
    assert!(status.success(), "{status}");
    let app = open(folder.path(), &[], None).await;
    let state = app.journal().run_state(&run_id.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(state.code, Some(ErrorCode::Interrupted.into()));
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn sigterm_lets_a_run_end_and_its_answer_out() {
    let (gate, folder) = (Gate::new().await, tempfile::tempdir().unwrap());
    let mut session = beside(&gate, folder.path()).await;
    let request = begin(&session, held(&gate)).await;
    gate.asked(1).await;
    let id = session.child.id().unwrap().to_string();
    let sent = tokio::process::Command::new("kill").args(["-TERM", &id]).status().await.unwrap();
    assert!(sent.success());
    let refused = until(async || {
        let (code, _) = super::refused(session.call("run_lua", json!({ "program": super::SUM })).await);
        (code == "shutting_down").then_some(code)
    });
    // Until the signal has arrived, runs start, and fail for lack of a context.
    assert_eq!(refused.await, "shutting_down");
    gate.open();
    let answer =
        tokio::time::timeout(Duration::from_secs(30), request.await_response()).await.unwrap().unwrap();
    assert!(serde_json::to_string(&answer).unwrap().contains("succeeded"));
    let status = tokio::time::timeout(PATIENCE, session.child.wait()).await.unwrap().unwrap();
    assert!(status.success(), "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_outlasts_a_sleep_that_ends_within_it() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::start(folder.path(), &[]).await;
    let program = "function run()\n  sleep(1.2)\n  return 'awake'\nend";
    let outcome = session.done("run_lua", json!({ "program": program, "wait": "25s" })).await;
    assert_eq!((&outcome["status"], &outcome["result"]), (&json!("succeeded"), &json!("awake")));
    // Who does not wait is told until when it sleeps, and may wait for it afterwards.
    let (code, asleep) = rests(session.call("run_lua", json!({ "program": program })).await);
    assert_eq!((code.as_str(), &asleep["status"]), ("run_sleeping", &json!("sleeping")));
    let status = session.done("run_status", json!({ "run_id": asleep["run_id"], "wait": "25s" })).await;
    assert_eq!((&status["status"], &status["result"]), (&json!("succeeded"), &json!("awake")));
    let long = json!({ "program": "function run()\n  sleep(3600)\n  return 1\nend", "wait": "1s" });
    let (code, asleep) = rests(session.call("run_lua", long).await);
    assert_eq!(code, "run_sleeping");
    let status = session.done("run_status", json!({ "run_id": asleep["run_id"], "wait": "25s" })).await;
    assert_eq!(status["status"], "sleeping");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_cancelled_while_its_run_sleeps_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::start(folder.path(), &[]).await;
    let program = "function run()\n  sleep(20)\n  return 'awake'\nend";
    let request = begin(&session, json!({ "program": program, "wait": "30s" })).await;
    until(async || (newest(&session).await["status"] == "sleeping").then_some(())).await;
    request.cancel(None).await.unwrap();
    until(async || (newest(&session).await["status"] == "cancelled").then_some(())).await;
}
