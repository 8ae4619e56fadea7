//! Tenants of one service: however many runs one of them wants, another finds a place.

use std::sync::Arc;
use std::time::Duration;

use luaplan::app::AppParts;
use luaplan::base::{Clock, ManualClock, SystemClock};
use serde_json::{Value as Json, json};

use crate::approvals::{ABSENT_MAIL_SERVER, MAILER, POLICY};
use crate::http_support::{Client, Service, open, until};

const MANY: &str = "k-many-0123456789abcdefgh";
const FEW: &str = "k-few-0123456789abcdefghi";

/// Goes on for half a minute.
const BUSY: &str = "function run() retry(10, function() error('busy') end) end";

async fn service(settings: &[(&str, &str)], clock: Option<&Arc<ManualClock>>) -> (Service, Client, Client) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    std::fs::write(&file, format!("many {MANY}\nfew {FEW}\n")).unwrap();
    let file = format!("{:?}", file.display().to_string());
    let settings: Vec<_> =
        settings.iter().copied().chain([("server.api_keys_file", file.as_str())]).collect();
    let clock = clock.map(|clock| Arc::clone(clock) as Arc<dyn Clock>);
    let service = Service::of_parts(&settings, AppParts { clock, ..AppParts::default() }).await;
    let of = |key: &str| Client { key: Some(key.to_owned()), ..service.client.clone() };
    let (many, few) = (of(MANY), of(FEW));
    (service, many, few)
}

async fn begun(client: &Client, plan: &str) -> u16 {
    client.post("/v1/runs", &json!({ "plan": plan })).await.status
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_that_wants_every_place_leaves_one_for_the_next() {
    let (service, many, few) = service(&[("server.max_concurrent_runs", "4")], None).await;
    let mut answers = Vec::new();
    for _ in 0..6 {
        answers.push(begun(&many, BUSY).await);
    }
    assert_eq!(answers, [202, 202, 429, 429, 429, 429]);
    let refused = many.post("/v1/runs", &json!({ "plan": BUSY })).await;
    let problem = refused.problem(429, "too_many_requests");
    assert!(problem["message"].as_str().unwrap().contains("tenant"), "{problem}");
    assert_eq!(few.run("function run() return 7 end").await["result"], 7);
    drop(service);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_tenant_alone_may_have_every_place() {
    let service = Service::with(&[("server.max_concurrent_runs", "4")], None).await;
    for expected in [202, 202, 202, 202, 429] {
        assert_eq!(begun(&service.client, BUSY).await, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_of_a_tenant_that_wait_for_a_place_to_wake_hold_up_no_other() {
    let clock = Arc::new(ManualClock::new(SystemClock.now()));
    let (service, many, few) = service(&[("server.max_concurrent_runs", "4")], Some(&clock)).await;
    let now = clock.now();
    let after = |seconds: u64| (now + Duration::from_secs(seconds)).to_string();
    let asleep = async |client: &Client, wakes: &str, then: &str| {
        let plan = format!("function run() wait_until('{wakes}') {then} end");
        let run_id = client.begin(&plan).await;
        until(async || {
            let run = client.get(&format!("/v1/runs/{run_id}")).await.json();
            (run["status"] == "sleeping").then_some(())
        })
        .await;
        run_id
    };
    for _ in 0..6 {
        asleep(&many, &after(10), "retry(10, function() error('busy') end)").await;
    }
    // By then those before it have taken what they get.
    let other = asleep(&few, &after(12), "return 7").await;
    clock.advance(Duration::from_secs(10));
    until(async || {
        let runs = many.get("/v1/runs").await.json()["runs"].as_array().unwrap().clone();
        let running = runs.iter().filter(|run| run["status"] == "running").count();
        (running == 2).then_some(())
    })
    .await;
    clock.advance(Duration::from_secs(2));
    let woken = until(async || {
        let run = few.get(&format!("/v1/runs/{other}")).await.json();
        (run["status"] == "succeeded").then_some(run)
    });
    assert_eq!(woken.await["result"], 7);
    // Those of the other tenant go on for half a minute.
    let runs = many.get("/v1/runs").await.json()["runs"].as_array().unwrap().clone();
    assert_eq!(runs.len(), 6);
    assert!(runs.iter().all(|run| run["status"] != "succeeded" && run["status"] != "failed"), "{runs:?}");
    drop(service);
}

/// The run that waits for a person, and its request.
async fn paused(client: &Client) -> (String, String) {
    let paused = client.post("/v1/runs?wait=25s", &json!({ "plan": MAILER })).await.json();
    assert_eq!(paused["status"], "paused", "{paused}");
    let waits = client.get("/v1/approvals").await.json()["approvals"][0].clone();
    let text = |value: &Json| value.as_str().unwrap().to_owned();
    (text(&paused["run_id"]), text(&waits["approval_id"]))
}

fn policy(folder: &tempfile::TempDir) -> String {
    let path = folder.path().join("policy.toml");
    std::fs::write(&path, POLICY).unwrap();
    format!("{:?}", path.display().to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_decided_about_goes_on_once_there_is_a_place() {
    let folder = tempfile::tempdir().unwrap();
    let policy = policy(&folder);
    let mut settings = vec![("policy.file", policy.as_str()), ("server.max_concurrent_runs", "1")];
    settings.extend(ABSENT_MAIL_SERVER);
    let service = Service::with(&settings, None).await;
    let client = &service.client;
    let (run_id, approval_id) = paused(client).await;
    let busy = client.begin(BUSY).await;
    let decided = client.post(&format!("/v1/approvals/{approval_id}"), &json!({ "decision": "once" })).await;
    assert_eq!((decided.status, &decided.json()["run"]), (200, &json!("left")), "{}", decided.text);
    assert_eq!(client.post(&format!("/v1/runs/{busy}/cancel"), &json!({})).await.status, 202);
    until(async || {
        let run = client.get(&format!("/v1/runs/{run_id}")).await.json();
        (run["status"] == "succeeded").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_decided_about_goes_on_when_a_service_starts_and_one_left_paused_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let policy = policy(&folder);
    let mut settings = vec![("policy.file", policy.as_str())];
    settings.extend(ABSENT_MAIL_SERVER);
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let first = Service::over(Arc::new(open(&data, &settings, None).await)).await;
    let (left, left_approval) = paused(&first.client).await;
    let path = format!("/v1/approvals/{left_approval}");
    let decided = first.client.post(&path, &json!({ "decision": "once", "resume": false })).await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    let (run_id, approval_id) = paused(&first.client).await;
    first.signal("SIGTERM");
    first.ended().await;

    // Decided, and the process that was to resume it is gone.
    let app = Arc::new(open(&data, &settings, None).await);
    let by = luaplan::journal::Actor::named("ann");
    let (once, then) = (luaplan::app::ApprovalAnswer::Once, luaplan::app::AfterDecision::GoesOn);
    app.approvals().decide(&approval_id, once, then, &by).await.unwrap();
    let second = Service::over(app).await;
    until(async || {
        let run = second.client.get(&format!("/v1/runs/{run_id}")).await.json();
        (run["status"] == "succeeded").then_some(())
    })
    .await;
    let left = second.client.get(&format!("/v1/runs/{left}")).await.json();
    assert_eq!(left["status"], "paused", "{left}");
}
