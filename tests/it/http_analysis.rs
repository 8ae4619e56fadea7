//! Plans that take long to check, sent to a service of two runtime threads: everything else is answered meanwhile.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::http_support::Service;
use crate::http_tenants::{settings, with_key};

/// How long the service is asked beside a flood that goes on.
const FLOOD_MAX: Duration = Duration::from_secs(15);

/// A plan within the limits whose analysis takes long.
fn slow_plan() -> String {
    let turns = "if x then x = nil elseif context.a then x = {a = x} else x = {b = x} end\n".repeat(600);
    format!("function run(context)\nlocal x\n{turns}return x\nend")
}

async fn answers_beside(floods: usize) {
    let service = Service::new().await;
    let body = json!({ "plan": slow_plan() });
    let mut flood = tokio::task::JoinSet::new();
    for _ in 0..floods {
        let (client, body) = (service.client.clone(), body.clone());
        flood.spawn(async move {
            let answer = client.post("/v1/plans/explain", &body).await;
            let retry_after = answer.header("retry-after").to_owned();
            (answer.status, retry_after, answer.json())
        });
    }
    let began = Instant::now();
    let mut rounds = 0_u32;
    // As long as plans are looked at, and a few times in any case.
    while rounds < 5 || (flood.len() > floods / 2 && began.elapsed() < FLOOD_MAX) {
        for path in ["/healthz", "/v1/runs", "/v1/tools"] {
            assert_eq!(service.client.get(path).await.status, 200, "{path}");
        }
        rounds += 1;
        while let Some(answered) = flood.try_join_next() {
            let answered = answered.unwrap();
            // A runtime that analyses would hold up would have answered these first.
            assert!(
                rounds > 1 || answered.0 != 200,
                "an analysis was over before anything else was answered"
            );
            judged(answered);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    flood.abort_all();
}

fn judged((status, retry_after, body): (u16, String, serde_json::Value)) {
    match status {
        200 => assert_eq!(body["ok"], true, "{body}"),
        503 => {
            assert_eq!(body["code"], "analysis_busy");
            assert_eq!(retry_after, "1");
        }
        408 => {}
        other => panic!("{other}: {body}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_slow_explanations_hold_nothing_up() {
    answers_beside(2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_slow_explanations_hold_nothing_up() {
    answers_beside(200).await;
}

#[tokio::test]
async fn databases_work_only_for_keys_that_may_start_runs() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let service = Service::with(&settings, None).await;
    let plan = "function run() return query_db('SELECT 1 AS n') end";
    for (name, live, expected) in [
        ("starts", true, 200),
        ("reads", false, 200),
        ("reads", true, 403),
        ("audits", true, 403),
        ("decides", true, 403),
    ] {
        let body = json!({ "plan": plan, "live": live });
        let answer = with_key(&service.client, name).post("/v1/plans/explain", &body).await;
        assert_eq!(answer.status, expected, "{name} {live}: {}", answer.text);
    }
}
