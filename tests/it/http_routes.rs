//! Every route, when things go well.

use std::sync::Arc;
use std::time::Duration;

use luaplan::app::AppParts;
use luaplan::base::{Clock as _, ManualClock, SystemClock};
use luaplan::llm::{RecordedClient, RecordedReply};
use serde_json::json;

use crate::http_support::{Gate, Service, until};

const PLAN: &str =
    "function run(context)\n  print(\"working\")\n  return { sum = (context.a or 1) + 1 }\nend";

#[tokio::test(flavor = "multi_thread")]
async fn a_posted_plan_is_accepted_and_can_be_polled_to_its_result() {
    let service = Service::new().await;
    let body = json!({ "plan": PLAN, "name": "sum", "context": { "a": 41 } });
    let accepted = service.client.post("/v1/runs", &body).await;
    assert_eq!(accepted.status, 202);
    let answer = accepted.json();
    let run_id = answer["run_id"].as_str().unwrap();
    assert_eq!(answer["status"], "running");
    assert_eq!(accepted.header("location"), format!("/v1/runs/{run_id}"));
    let run = service.client.until_ended(run_id).await;
    assert_eq!(run["run_id"], run_id);
    assert_eq!(run["status"], "succeeded");
    assert_eq!(run["result"], json!({ "sum": 42 }));
    assert_eq!(run["printed"], "working\n");
    assert_eq!(run["plan_name"], "sum");
    // Its end is on record a moment before its place is free.
    let path = format!("/v1/runs/{run_id}");
    until(async || (service.client.get(&path).await.json()["under_way_here"] == false).then_some(())).await;
    assert!(run["usage"]["instructions"].as_u64().unwrap() > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_answers_with_the_outcome() {
    let service = Service::new().await;
    let outcome = service.client.run(PLAN).await;
    assert_eq!(outcome["status"], "succeeded");
    assert_eq!(outcome["result"], json!({ "sum": 2 }));
    assert_eq!(outcome["printed"], "working\n");
    let failed = service.client.run("function run(context) error(\"broken\") end").await;
    assert_eq!(failed["status"], "failed");
    assert_eq!(failed["error"]["code"], "plan_error");
    let shown = service.client.get(&format!("/v1/runs/{}", failed["run_id"].as_str().unwrap())).await.json();
    assert_eq!(shown["error"], failed["error"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_that_is_too_short_ends_in_202_and_the_run_goes_on() {
    let gate = Gate::new().await;
    let service = Service::beside(&gate, &[]).await;
    let answer = service.client.post("/v1/runs?wait=30ms", &json!({ "plan": gate.plan("/hold") })).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
    let run_id = answer.json()["run_id"].as_str().unwrap().to_owned();
    gate.asked(1).await;
    let running = service.client.get(&format!("/v1/runs/{run_id}")).await.json();
    assert_eq!((&running["status"], &running["under_way_here"]), (&json!("running"), &json!(true)));
    gate.open();
    assert_eq!(service.client.until_ended(&run_id).await["result"], "body");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_longer_than_a_request_may_take_still_gets_its_202_out() {
    let gate = Gate::new().await;
    let service = Service::beside(&gate, &[("server.request_timeout", "\"3s\"")]).await;
    let client = service.client.with_fresh_connections();
    let answer = client.post("/v1/runs?wait=1h", &json!({ "plan": gate.plan("/hold") })).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
    gate.open();
    client.until_ended(answer.json()["run_id"].as_str().unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_planned_and_run() {
    let reply = RecordedReply { matches: None, text: json!({ "plan": PLAN }).to_string() };
    let model = Arc::new(RecordedClient::new("recorded", vec![reply]));
    let service = Service::with(&[], Some(model)).await;
    let body =
        json!({ "task": "add one", "context": { "a": 2 }, "limits": { "wall": "20s", "tool_calls": 3 } });
    let outcome = service.client.post("/v1/tasks?wait=25s", &body).await;
    assert_eq!(outcome.status, 200, "{}", outcome.text);
    assert_eq!(outcome.json()["result"], json!({ "sum": 3 }));
    let run_id = outcome.json()["run_id"].as_str().unwrap().to_owned();
    let run = service.client.get(&format!("/v1/runs/{run_id}")).await.json();
    assert_eq!(run["task"], "add one");
    let started = &service.records(&run_id).await[0];
    let started = serde_json::to_value(&started.event).unwrap();
    assert_eq!(started["limits"]["tool_calls"], 3);
    let plan = service.client.get(&format!("/v1/runs/{run_id}/plan")).await;
    assert_eq!(plan.text.trim(), PLAN);
    assert_eq!(plan.header("content-type"), "text/x-lua; charset=utf-8");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_named_context_is_taken_up_by_the_next_run() {
    let service = Service::new().await;
    let plan = "function run(context) return { count = (context.count or 0) + 1 } end";
    for count in 1..=3 {
        let body = json!({ "plan": plan, "context_name": "counter" });
        let outcome = service.client.post("/v1/runs?wait=25s", &body).await.json();
        assert_eq!(outcome["result"], json!({ "count": count }));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_listed_newest_first_by_status_and_page_by_page() {
    let service = Service::new().await;
    let mut ids = Vec::new();
    for index in 0..5 {
        let plan = if index == 2 { "function run() error(\"x\") end" } else { PLAN };
        ids.push(service.client.run(plan).await["run_id"].clone());
    }
    ids.reverse();
    let listed = |answer: &crate::http_support::Answer| -> Vec<serde_json::Value> {
        answer.json()["runs"].as_array().unwrap().iter().map(|run| run["run_id"].clone()).collect()
    };
    let all = service.client.get("/v1/runs").await;
    assert_eq!(listed(&all), ids);
    assert_eq!(all.json()["next"], json!(null));
    let failed = service.client.get("/v1/runs?status=failed").await;
    assert_eq!(listed(&failed), ids[2..3]);
    let first = service.client.get("/v1/runs?limit=3").await;
    assert_eq!(listed(&first), ids[..3]);
    let next = first.json()["next"].as_str().unwrap().to_owned();
    let second = service.client.get(&format!("/v1/runs?limit=3&before={next}")).await;
    assert_eq!(listed(&second), ids[3..]);
    assert_eq!(second.json()["next"], json!(null));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_is_filtered_and_paged_without_loss() {
    let gate = Gate::new().await;
    let service = Service::beside(&gate, &[]).await;
    let outcome = service.client.run(&gate.plan("/now")).await;
    service.client.run(PLAN).await;
    let run_id = outcome["run_id"].as_str().unwrap();
    let calls = service.client.get(&format!("/v1/audit?run={run_id}&tool=fetch_url&outcome=ok")).await.json();
    assert_eq!(calls["records"].as_array().unwrap().len(), 1);
    assert_eq!(calls["records"][0]["event"], "tool_call_finished");
    let started = service.client.get("/v1/audit?event=run_started").await.json();
    assert_eq!(started["records"].as_array().unwrap().len(), 2);
    let (mut after, mut sequences) = (0, Vec::new());
    loop {
        let page = service.client.get(&format!("/v1/audit?limit=4&after={after}")).await.json();
        sequences.extend(
            page["records"].as_array().unwrap().iter().map(|record| record["sequence"].as_u64().unwrap()),
        );
        match page["next"].as_u64() {
            Some(next) => after = next,
            None => break,
        }
    }
    assert!(sequences.len() > 8);
    assert_eq!(sequences, (1..=sequences.len() as u64).collect::<Vec<_>>());
    let later = service.client.get("/v1/audit?since=2100-01-01T00:00:00Z").await.json();
    assert_eq!(later["records"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_health_and_readiness_answer() {
    let service = Service::new().await;
    let tools = service.client.get("/v1/tools").await.json();
    let names: Vec<&str> =
        tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in ["query_db", "fetch_url", "send_email", "transform_data", "call_llm"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert_eq!(service.client.get("/healthz").await.json()["status"], "ok");
    assert_eq!(service.client.get("/readyz").await.json(), json!({ "status": "ready" }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_run_ends_and_its_call_is_journaled_as_cut() {
    let gate = Gate::new().await;
    let service = Service::beside(&gate, &[]).await;
    let run_id = service.client.begin(&gate.plan("/hold")).await;
    gate.asked(1).await;
    let cancelled = service.client.post(&format!("/v1/runs/{run_id}/cancel"), &json!({})).await;
    assert_eq!(cancelled.status, 202);
    assert_eq!(cancelled.json(), json!({ "run_id": run_id, "status": "cancelling" }));
    let run = service.client.until_ended(&run_id).await;
    assert_eq!(run["status"], "cancelled");
    assert_eq!(run["error"]["code"], "cancelled");
    let records = service.records(&run_id).await;
    let cut = records.iter().find(|record| record.event.body.name() == "tool_call_finished").unwrap();
    assert_eq!(cut.event.body.code(), Some("call_cut"));
    assert!(service.app.journal().verify().await.unwrap().ok);
    service
        .client
        .post(&format!("/v1/runs/{run_id}/cancel"), &json!({}))
        .await
        .problem(409, "run_not_active");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_explained_without_being_run() {
    let service = Service::new().await;
    let plan = "function run(context)\n  local page = fetch_url(context.url)\n  return page\nend";
    let body = json!({ "plan": plan, "context": { "url": "https://a.example/x" } });
    let answer = service.client.post("/v1/plans/explain", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let answer = answer.json();
    assert_eq!(answer["ok"], true);
    assert_eq!(answer["preview"]["calls_max"], 1);
    assert_eq!(
        answer["preview"]["targets"][0],
        json!({"kind": "host", "known": "exactly", "what": "a.example"})
    );
    assert_eq!(answer["graph"]["nodes"].as_array().unwrap().len(), 3);
    let refused = service.client.post("/v1/plans/explain", &json!({ "plan": "nothing()" })).await.json();
    assert_eq!((&refused["ok"], &refused["preview"]), (&json!(false), &json!(null)));
    assert!(!refused["findings"].as_array().unwrap().is_empty());
    assert_eq!(service.client.get("/v1/runs").await.json()["runs"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_graph_of_a_run_comes_in_every_form() {
    let service = Service::new().await;
    let run_id = service.client.run(PLAN).await["run_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/runs/{run_id}/graph");
    for (form, kind, begins) in [
        ("json", "application/json", "{"),
        ("mermaid", "text/vnd.mermaid; charset=utf-8", "flowchart"),
        ("dot", "text/vnd.graphviz; charset=utf-8", "digraph"),
        ("svg", "image/svg+xml; charset=utf-8", "<svg"),
    ] {
        let answer = service.client.get(&format!("{path}?format={form}")).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, kind));
        assert!(answer.text.starts_with(begins), "{}", answer.text);
    }
    service.client.get(&format!("{path}?format=png")).await.problem(400, "bad_request");
    let accepts = service.client.request("GET", &path).header("accept", "image/svg+xml");
    assert!(accepts.send().await.unwrap().text().await.unwrap().starts_with("<svg"));
    let absent = "01890000-0000-7000-8000-000000000000";
    service.client.get(&format!("/v1/runs/{absent}/graph")).await.problem(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_outlasts_a_sleep_that_ends_within_it_and_no_other() {
    let gate = Gate::new().await;
    let hosts = format!("[\"{}\"]", gate.host);
    // A wait for nothing is longer than the client's time-out.
    let settings = [("server.request_timeout", "\"10m\""), ("tools.fetch_url.allow_hosts", hosts.as_str())];
    let clock = Arc::new(ManualClock::new(SystemClock.now()));
    let parts = AppParts { clock: Some(clock.clone()), ..AppParts::default() };
    let service = Service::of_parts(&settings, parts).await;
    let _hurries = tokio_util::task::AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_millis(10)).await;
            clock.advance(Duration::from_millis(200));
        }
    }));
    let sleeping = |plan: &str| json!({ "plan": plan });
    let twice = "function run()\n  sleep(1.2)\n  sleep(1.2)\n  return 'awake'\nend";
    let outcome = service.client.post("/v1/runs?wait=5m", &sleeping(twice)).await;
    assert_eq!(outcome.status, 200, "{}", outcome.text);
    assert_eq!(
        (&outcome.json()["status"], &outcome.json()["result"]),
        (&json!("succeeded"), &json!("awake"))
    );
    let later = "function run()\n  sleep(1.2)\n  sleep(3600)\n  return 'awake'\nend";
    let outcome = service.client.post("/v1/runs?wait=5m", &sleeping(later)).await;
    assert_eq!((outcome.status, &outcome.json()["status"]), (200, &json!("sleeping")), "{}", outcome.text);
    assert!(outcome.json()["wake_at"].is_string(), "{}", outcome.text);
    let outcome = service.client.post("/v1/runs?wait=5m", &sleeping("function run() sleep(3600) end")).await;
    assert_eq!((outcome.status, &outcome.json()["status"]), (200, &json!("sleeping")), "{}", outcome.text);
    assert!(outcome.json()["error"]["wake_at"].is_string(), "{}", outcome.text);
    // One that wakes in time and then goes on for longer is still running.
    let busy =
        format!("function run()\n  sleep(1.2)\n  return fetch_url(\"http://{}/hold\")\nend", gate.host);
    let outcome = service.client.post("/v1/runs?wait=2s", &sleeping(&busy)).await;
    assert_eq!((outcome.status, &outcome.json()["status"]), (202, &json!("running")), "{}", outcome.text);
}
