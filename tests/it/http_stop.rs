//! How the server stops: no new work, running calls finish or are journaled as cut.

use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::http_support::{Gate, Service, records, until};

const PLAN: &str = "function run(context) return 1 end";

#[tokio::test(flavor = "multi_thread")]
async fn while_stopping_new_work_is_refused_and_running_work_finishes() {
    let gate = Gate::new().await;
    let service = Service::beside(&gate, &[]).await;
    let client = service.client.clone();
    let run_id = client.begin(&gate.plan("/hold")).await;
    gate.asked(1).await;
    let watcher = client.events(&run_id, None).await;
    let waiting = tokio::spawn({
        let (client, plan) = (client.clone(), gate.plan("/hold"));
        async move { client.post("/v1/runs?wait=25s", &json!({ "plan": plan })).await }
    });
    gate.asked(2).await;
    service.signal("SIGTERM");
    until(async || (client.get("/readyz").await.status == 503).then_some(())).await;
    client.get("/readyz").await.problem(503, "shutting_down");
    let refused = client.post("/v1/runs", &json!({ "plan": PLAN })).await;
    refused.problem(503, "shutting_down");
    assert_eq!(refused.header("retry-after"), "1");
    assert_eq!(client.get("/healthz").await.status, 200, "looking is still possible");
    assert_eq!(client.get(&format!("/v1/runs/{run_id}")).await.json()["status"], "running");
    gate.open();
    let names: Vec<String> = watcher.all().await.into_iter().map(|event| event.name).collect();
    assert!(names.contains(&"signal_received".to_owned()), "{names:?}");
    assert!(names.contains(&"graceful_shutdown_started".to_owned()), "{names:?}");
    assert_eq!(names.last().unwrap(), "run_finished");
    let answer = waiting.await.unwrap();
    assert_eq!((answer.status, &answer.json()["result"]), (200, &json!("body")));
    service.ended().await;
    assert!(client.http.get(&client.base).send().await.is_err(), "it still listens");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_who_resume_a_run_one_does_and_the_stop_waits_for_it() {
    let (gate, folder) = (Gate::new().await, tempfile::tempdir().unwrap());
    let policy = folder.path().join("policy.toml");
    std::fs::write(&policy, crate::approvals::POLICY).unwrap();
    let policy = format!("{:?}", policy.display().to_string());
    let mut settings = vec![("policy.file", policy.as_str())];
    settings.extend(crate::approvals::ABSENT_MAIL_SERVER);
    let service = Service::beside(&gate, &settings).await;
    let client = service.client.clone();
    let plan = format!(
        "function run()\n  local sent = send_email('a@company.com', 'hello', 'x')\n  \
         local body = fetch_url('http://{}/hold')\n  if body.error then return body.code end\n  \
         return sent.code or body\nend",
        gate.host
    );
    let paused = client.post("/v1/runs?wait=20s", &json!({ "plan": plan })).await.json();
    let run_id = paused["run_id"].as_str().unwrap_or_else(|| panic!("{paused}")).to_owned();
    let waits = client.get(&format!("/v1/approvals?run={run_id}")).await.json();
    let path = format!("/v1/approvals/{}", waits["approvals"][0]["approval_id"].as_str().unwrap());
    let denied = json!({ "decision": "deny", "reason": "no", "resume": false });
    assert_eq!(client.post(&path, &denied).await.status, 200);
    let resumed = futures::future::join_all((0..8).map(|_| {
        let (client, path) = (client.clone(), format!("/v1/runs/{run_id}/resume"));
        tokio::spawn(async move { client.post(&path, &json!({})).await.status })
    }));
    let mut statuses: Vec<u16> = resumed.await.into_iter().map(Result::unwrap).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [202, 409, 409, 409, 409, 409, 409, 409]);
    gate.asked(1).await;
    service.signal("SIGTERM");
    until(async || (client.get("/readyz").await.status == 503).then_some(())).await;
    // Its place is still there: the late request did not return it.
    let again = client.post(&format!("/v1/runs/{run_id}/cancel"), &json!({})).await;
    assert_eq!(again.status, 202, "{}", again.text);
    gate.open();
    let (app, _folder) = service.ended().await;
    let end = records(&app, &run_id).await.pop().unwrap();
    assert_eq!(end.event.body.name(), "run_cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_outlasts_the_grace_is_journaled_as_cut_and_its_run_as_interrupted() {
    let gate = Gate::new().await;
    let service = Service::beside(&gate, &[("server.shutdown_grace", "\"50ms\"")]).await;
    let run_id = service.client.begin(&gate.plan("/hold")).await;
    gate.asked(1).await;
    let watcher = service.client.events(&run_id, None).await;
    service.signal("SIGINT");
    let events = watcher.all().await;
    let end = events.last().unwrap();
    assert_eq!((end.name.as_str(), &end.data["code"]), ("run_failed", &json!("interrupted")));
    assert_eq!(end.data["recoverable"], true);
    let signal = events.iter().find(|event| event.name == "signal_received").unwrap();
    assert_eq!(signal.data["signal"], "SIGINT");
    let cut = events.iter().find(|event| event.name == "tool_call_finished").unwrap();
    assert_eq!((&cut.data["ok"], &cut.data["code"]), (&json!(false), &json!("call_cut")));
    let (app, _folder) = service.ended().await;
    assert!(app.journal().verify().await.unwrap().ok);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_ends_the_grace() {
    let gate = Gate::new().await;
    let service = Service::beside(&gate, &[("server.shutdown_grace", "\"1h\"")]).await;
    let run_id = service.client.begin(&gate.plan("/hold")).await;
    gate.asked(1).await;
    service.signal("SIGINT");
    service.signal("SIGINT");
    let (app, _folder) = service.ended().await;
    let end = records(&app, &run_id).await.pop().unwrap();
    assert_eq!(end.event.body.code(), Some("interrupted"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_looping_plan_does_not_keep_the_server() {
    let settings = [("server.shutdown_grace", "\"50ms\""), ("limits.instructions", "1000000000000")];
    let service = Service::with(&settings, None).await;
    let run_id = service.client.begin("function run() while true do end end").await;
    service.signal("SIGTERM");
    let (app, _folder) = service.ended().await;
    let end = records(&app, &run_id).await.pop().unwrap();
    assert_eq!(end.event.body.code(), Some("interrupted"));
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_half_sent_and_unread_connections_do_not_keep_the_server() {
    let gate = Gate::new().await;
    let service = Service::beside(&gate, &[]).await;
    let host = service.client.host().to_owned();
    let idle = TcpStream::connect(&host).await.unwrap();
    let mut half = TcpStream::connect(&host).await.unwrap();
    half.write_all(b"POST /v1/runs HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-le").await.unwrap();
    let mut body = TcpStream::connect(&host).await.unwrap();
    let head = format!("POST /v1/runs HTTP/1.1\r\nhost: {host}\r\ncontent-length: 100\r\n\r\n{{");
    body.write_all(head.as_bytes()).await.unwrap();
    // A watcher of a run that no process will ever end.
    let other = crate::http_support::open(service.folder.path(), &[], None).await;
    let stray = stray_run(&other).await;
    let mut watcher = service.client.events(&stray, None).await;
    assert_eq!(watcher.next().await.unwrap().name, "run_started");
    service.client.run(PLAN).await;
    service.signal("SIGTERM");
    let last = watcher.next().await.unwrap();
    assert_eq!((last.name.as_str(), &last.data["code"]), ("stream_error", &json!("shutting_down")));
    service.ended().await;
    drop((idle, half, body));
}

/// A run with a beginning and no end, as a killed process leaves it.
async fn stray_run(app: &luaplan::app::App) -> String {
    use luaplan::journal::{Durability, EventBody, RunLog};
    let run_id = luaplan::base::RunId::generate();
    let log = RunLog::new(
        run_id.clone(),
        app.journal().clone(),
        std::sync::Arc::new(luaplan::base::SystemClock),
        std::sync::Arc::new(luaplan::base::SystemRandomness),
        std::sync::Arc::new(luaplan::journal::Redactor::without_secrets()),
        Vec::new(),
    );
    let body = EventBody::RunStarted {
        task: None,
        plan_hash: None,
        plan_name: None,
        context: json!({}),
        limits: json!({}),
        version: "0".to_owned(),
        mocked: false,
        engine: None,
        isolation: None,
        context_name: None,
        owner: None,
        tenant: None,
        mode: None,
        parent_run_id: None,
        parent_call_id: None,
        agent: None,
        starts_over: None,
        follows: None,
        approve: false,
        plan_only: false,
        planning: None,
        by: None,
        os_user: None,
    };
    log.emit(body, Durability::Forced).await.unwrap();
    run_id.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_work_stops_at_once() {
    let service = Service::with(&[("server.shutdown_grace", "\"1h\"")], None).await;
    service.client.get("/healthz").await;
    service.signal("SIGTERM");
    tokio::time::timeout(Duration::from_secs(20), service.ended()).await.unwrap();
}
