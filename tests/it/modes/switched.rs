//! The mode of a run changes while it runs: for its calls, for its iterations, and only by who may.

use std::sync::Arc;

use luaplan::app::ModeChange;
use luaplan::base::ErrorCode;
use luaplan::bus::Mode;
use luaplan::journal::RunStatus;
use serde_json::{Value as Json, json};

use super::{Scripted, count, iterations, plan, verdict};
use crate::approvals::{ABSENT_MAIL_SERVER, POLICY};
use crate::http_support::{Client, Gate, Service};
use crate::http_tenants::{service_beside, with_key};

/// Waits for `gate`, then mails.
fn waits_and_mails(gate: &Gate, subject: &str) -> String {
    format!(
        "function run(context)\n  local body = fetch_url(\"http://{}/hold\")\n  if body.error then error(body.error) end\n  \
         local sent = send_email(\"admin@company.com\", {subject:?}, \"x\")\n  \
         if sent.error then return {{ code = sent.code }} end\n  return {{ code = \"sent\" }}\nend",
        gate.host
    )
}

async fn governed(gate: &Gate) -> (Service, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.toml");
    std::fs::write(&file, POLICY).unwrap();
    let policy = format!("{:?}", file.display().to_string());
    let settings = [&[("policy.file", policy.as_str())], ABSENT_MAIL_SERVER.as_slice()].concat();
    (Service::beside(gate, &settings).await, folder)
}

async fn begin(client: &Client, plan: &str, mode: &str) -> String {
    let begun = client.post("/v1/runs", &json!({ "plan": plan, "mode": mode })).await;
    assert_eq!(begun.status, 202, "{}", begun.text);
    begun.json()["run_id"].as_str().unwrap().to_owned()
}

async fn switch(client: &Client, run_id: &str, body: &Json) -> Json {
    let answer = client.post(&format!("/v1/runs/{run_id}/mode"), body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

#[tokio::test(flavor = "multi_thread")]
async fn from_its_next_call_on_a_run_asks_by_its_new_mode() {
    for (began, then, subject, status) in [
        ("structured", "autonomous", "hello", "succeeded"),
        ("autonomous", "structured", "hello", "paused"),
        // What a person must decide in any mode stays so.
        ("structured", "autonomous", "FINAL", "paused"),
        ("autonomous", "autonomous", "FINAL", "paused"),
    ] {
        let gate = Gate::new().await;
        let (service, _folder) = governed(&gate).await;
        let client = &service.client;
        let run_id = begin(client, &waits_and_mails(&gate, subject), began).await;
        gate.asked(1).await;
        let said = switch(client, &run_id, &json!({ "mode": then })).await;
        assert_eq!(said, json!({ "run_id": run_id, "mode": then, "max_iterations": null }));
        gate.open();
        let ended = client.until_ended(&run_id).await;
        assert_eq!(ended["status"], status, "{began} to {then}, {subject}: {ended}");
        let records = service.records(&run_id).await;
        assert_eq!(count(&records, "mode_changed"), 1);
        assert_eq!(count(&records, "approval_requested"), usize::from(status == "paused"));
        assert!(service.app.journal().verify().await.unwrap().ok);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_goes_on_by_its_new_mode_once_it_is_resumed() {
    let gate = Gate::new().await;
    gate.open();
    let (service, _folder) = governed(&gate).await;
    let client = &service.client;
    let run_id = begin(client, &waits_and_mails(&gate, "hello"), "structured").await;
    assert_eq!(client.until_ended(&run_id).await["status"], "paused");
    switch(client, &run_id, &json!({ "mode": "autonomous", "max_iterations": 3 })).await;
    let resumed = client.post(&format!("/v1/runs/{run_id}/resume?wait=25s"), &json!({})).await.json();
    assert_eq!(resumed["status"], "succeeded", "{resumed}");
    let records = service.records(&run_id).await;
    assert_eq!(count(&records, "approval_resolved"), 0, "nobody decided");
    assert_eq!(gate.count(), 1, "what was done is not done again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_goes_on_until_it_is_done_from_its_switch_on() {
    let gate = Gate::new().await;
    let model = Scripted::new(&[
        plan(&gate.plan("/first")),
        verdict(false, "only half of it"),
        plan(&gate.plan("/second")),
        verdict(false, "not yet"),
        plan(&gate.plan("/third")),
        verdict(false, "not even now"),
    ]);
    let hosts = format!("[\"{}\"]", gate.host);
    let settings = [("tools.fetch_url.allow_hosts", hosts.as_str())];
    let service = Service::with(&settings, Some(Arc::clone(&model) as _)).await;
    let client = &service.client;
    let begun = client.post("/v1/tasks", &json!({ "task": "Fetch all of it." })).await;
    let run_id = begun.json()["run_id"].as_str().unwrap().to_owned();
    gate.asked(1).await;
    switch(client, &run_id, &json!({ "mode": "autonomous", "max_iterations": 2 })).await;
    gate.open();
    let ended = client.until_ended(&run_id).await;
    assert_eq!(ended["error"]["code"], "iterations_exceeded", "{ended}");
    let records = service.records(&run_id).await;
    let numbers: Vec<(u32, u32, Option<bool>)> = iterations(&records)
        .into_iter()
        .map(|(number, most, said)| (number, most, said.map(|(done, _)| done)))
        .collect();
    let no = Some(false);
    // The plan under way at the switch is judged, and not counted.
    assert_eq!(numbers, [(0, 2, no), (1, 2, None), (1, 2, no), (2, 2, None), (2, 2, no)]);
    assert_eq!(model.asked().len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_is_put_back_ends_with_its_plan() {
    let gate = Gate::new().await;
    let model = Scripted::new(&[plan(&gate.plan("/only"))]);
    let hosts = format!("[\"{}\"]", gate.host);
    let settings = [("tools.fetch_url.allow_hosts", hosts.as_str())];
    let service = Service::with(&settings, Some(Arc::clone(&model) as _)).await;
    let client = &service.client;
    let body = json!({ "task": "Fetch it.", "mode": "autonomous", "max_iterations": 5 });
    let begun = client.post("/v1/tasks", &body).await;
    let run_id = begun.json()["run_id"].as_str().unwrap().to_owned();
    gate.asked(1).await;
    switch(client, &run_id, &json!({ "mode": "structured" })).await;
    gate.open();
    assert_eq!(client.until_ended(&run_id).await["status"], "succeeded");
    assert_eq!(model.asked().len(), 1, "nobody was asked whether it is done");
    assert_eq!(iterations(&service.records(&run_id).await), [(1, 5, None)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_changed_is_refused() {
    let service = Service::new().await;
    let client = &service.client;
    let run = client.run("function run() return 1 end").await;
    let over = format!("/v1/runs/{}/mode", run["run_id"].as_str().unwrap());
    client.post(&over, &json!({ "mode": "autonomous" })).await.problem(409, "run_not_active");
    let asleep = client.begin("function run() sleep(600) return 1 end").await;
    client.until_ended(&asleep).await;
    let path = format!("/v1/runs/{asleep}/mode");
    for body in [
        json!({}),
        json!({ "mode": "auto" }),
        json!({ "mode": "autonomous", "max_iterations": 0 }),
        json!({ "mode": "autonomous", "max_iterations": 1001 }),
        json!({ "mode": "structured", "max_iterations": 2 }),
        json!({ "mode": "autonomous", "more": 1 }),
    ] {
        client.post(&path, &body).await.problem(400, "bad_request");
    }
    let missing = format!("/v1/runs/{}/mode", crate::http_tenants::MISSING);
    client.post(&missing, &json!({ "mode": "autonomous" })).await.problem(404, "not_found");
    assert_eq!(count(&service.records(&asleep).await, "mode_changed"), 0);
    // A run that sleeps is not over.
    switch(client, &asleep, &json!({ "mode": "autonomous" })).await;
    let state = service.app.journal();
    let state =
        luaplan::journal::JournalRead::run_state(&**state, &asleep.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!((state.status, state.mode), (RunStatus::Sleeping, Some(Mode::Autonomous.into())));
    let change = ModeChange { mode: Mode::Structured, max_iterations: None };
    let missing = crate::http_tenants::MISSING.parse().unwrap();
    let refused = service.app.runs().set_mode(&missing, change, None).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_changes_modes_of_its_own_tenant_with_its_scopes() {
    let (folder, gate) = (tempfile::tempdir().unwrap(), Gate::new().await);
    let service = service_beside(folder.path(), &gate).await;
    let client = &service.client;
    let beta = with_key(client, "beta");
    let asleep = beta.begin("function run() sleep(600) return 1 end").await;
    beta.until_ended(&asleep).await;
    let path = format!("/v1/runs/{asleep}/mode");
    let (structured, autonomous) = (json!({ "mode": "structured" }), json!({ "mode": "autonomous" }));
    with_key(client, "acme").post(&path, &structured).await.problem(404, "not_found");
    with_key(client, "reads").post(&path, &structured).await.problem(403, "forbidden");
    let refused = beta.post(&path, &autonomous).await.problem(403, "forbidden");
    assert_eq!(refused["scope"], "mode:autonomous", "{refused}");
    with_key(client, "overseer").post(&path, &autonomous).await.problem(403, "forbidden");
    switch(&beta, &asleep, &structured).await;
    switch(&with_key(client, "root"), &asleep, &autonomous).await;
    let records = service.records(&asleep).await;
    assert_eq!(count(&records, "mode_changed"), 2);
    let last = serde_json::to_value(&records.last().unwrap().event).unwrap();
    assert_eq!((&last["mode"], &last["by"]), (&json!("autonomous"), &json!("root")), "{last}");
}
