//! Every way a request can be refused, with its code, its status and what it says.

use std::collections::HashSet;

use serde_json::json;

use crate::http_support::{Answer, Gate, Service};

const ABSENT: &str = "01890a5d-ac96-774b-bcce-b302099a8057";
const PLAN: &str = "function run(context) return 1 end";

async fn post_text(service: &Service, path: &str, body: impl Into<reqwest::Body>) -> Answer {
    Answer::of(service.client.request("POST", path).body(body).send().await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_not_what_a_route_takes_is_refused_with_the_reason() {
    let service = Service::new().await;
    for (path, body, reason) in [
        ("/v1/runs", "", "missing field `plan`"),
        ("/v1/runs", "{", "EOF"),
        ("/v1/runs", "[\"function run() end\", null, null, null, {}]", "expected a JSON object"),
        ("/v1/runs", " \n{}", "missing field `plan`"),
        ("/v1/runs", "null", "expected a JSON object"),
        ("/v1/runs", "{\"plan\": 1}", "invalid type"),
        ("/v1/runs", "{\"plan\": \"x\", \"plam\": 1}", "unknown field `plam`"),
        ("/v1/runs", "{\"task\": \"x\"}", "unknown field `task`"),
        ("/v1/tasks", "{}", "missing field `task`"),
        ("/v1/tasks", "{\"task\": \"  \"}", "`task` is empty"),
        ("/v1/tasks", "{\"task\": \"x\", \"mood\": 1}", "unknown field `mood`"),
    ] {
        let problem = post_text(&service, path, body).await.problem(400, "bad_request");
        assert!(problem["message"].as_str().unwrap().contains(reason), "{body}: {problem}");
    }
    assert_eq!(service.client.get("/v1/runs").await.json()["runs"], json!([]), "nothing was begun");
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_cannot_be_carried_are_refused_before_the_run() {
    let service = Service::new().await;
    let context = |text: &str| format!("{{\"plan\": {}, \"context\": {text}}}", json!(PLAN));
    let problem = post_text(&service, "/v1/runs", context("{\"n\": 18446744073709551615}")).await;
    problem.problem(400, "value_integer_out_of_range");
    post_text(&service, "/v1/runs", context("1e999")).await.problem(400, "bad_request");
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    post_text(&service, "/v1/runs", context(&deep)).await.problem(400, "bad_request");
    post_text(&service, "/v1/runs", b"{\"plan\": \"\xff\"}".to_vec()).await.problem(400, "bad_request");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_checked_before_the_run() {
    let service = Service::new().await;
    let long = "x".repeat(129);
    for name in ["", long.as_str()] {
        let answer = service.client.post("/v1/runs", &json!({ "plan": PLAN, "name": name })).await;
        answer.problem(400, "bad_request");
    }
    for name in ["", "../x", "a b", "line\nbreak"] {
        let answer = service.client.post("/v1/runs", &json!({ "plan": PLAN, "context_name": name })).await;
        answer.problem(400, "bad_request");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_the_check_refuses_is_422_with_findings_and_begins_no_run() {
    let service = Service::new().await;
    let body = json!({ "plan": "function run(context)\n  return query_dbase(\"users\")\nend" });
    let problem = service.client.post("/v1/runs?wait=5s", &body).await.problem(422, "check_refused");
    assert_eq!(problem["findings"][0]["code"], "plan_unknown_tool");
    assert_eq!(problem["findings"][0]["line"], 2);
    let long = format!("function run(context) return 1 end -- {}", "x".repeat(70_000));
    let problem =
        service.client.post("/v1/runs", &json!({ "plan": long })).await.problem(422, "limit_source");
    assert_eq!(problem["limit"], 65_536);
    let empty = service.client.post("/v1/runs", &json!({ "plan": "" })).await;
    assert_eq!(empty.problem(422, "check_refused")["findings"][0]["code"], "plan_no_run");
    assert_eq!(service.client.get("/v1/runs").await.json()["runs"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_without_a_model_is_503_and_begins_no_run() {
    let service = Service::new().await;
    let answer = service.client.post("/v1/tasks", &json!({ "task": "do something" })).await;
    answer.problem(503, "llm_not_configured");
    assert_eq!(service.client.get("/v1/runs").await.json()["runs"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_can_be_lowered_and_never_raised() {
    let service = Service::new().await;
    let with = |limits: serde_json::Value| json!({ "plan": PLAN, "limits": limits });
    let above = service.client.post("/v1/runs", &with(json!({ "memory": "1GiB" }))).await;
    let problem = above.problem(400, "bad_request");
    assert_eq!(problem["limit"], 64 * 1024 * 1024);
    assert!(problem["message"].as_str().unwrap().contains("limits.memory"));
    for bad in [
        json!({ "wall": "soon" }),
        json!({ "wals": "1s" }),
        json!({ "tool_calls": -1 }),
        json!({ "memory": [] }),
    ] {
        service.client.post("/v1/runs", &with(bad)).await.problem(400, "bad_request");
    }
    let loops = json!({ "plan": "function run() while true do end end", "limits": { "instructions": 1000 } });
    let outcome = service.client.post("/v1/runs?wait=25s", &loops).await.json();
    assert_eq!(outcome["error"]["code"], "limit_instructions");
    assert_eq!(outcome["error"]["limit"], 1000);
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_are_read_strictly() {
    let service = Service::new().await;
    for (path, reason) in [
        ("/v1/runs?limit=0", "`limit` must be 1 to 500"),
        ("/v1/runs?limit=501", "`limit` must be 1 to 500"),
        ("/v1/runs?limit=many", "invalid digit"),
        ("/v1/runs?status=asleep", "`asleep` is not a run status"),
        ("/v1/runs?before=x", "`x` is not a run id"),
        ("/v1/runs?stauts=failed", "unknown field `stauts`"),
        ("/v1/audit?outcome=good", "expected `ok` or `failed`"),
        ("/v1/audit?since=yesterday", "`since` is not an instant"),
        ("/v1/audit?until=2026", "`until` is not an instant"),
        ("/v1/audit?event=nope", "there is no event `nope`"),
        ("/v1/audit?tool=nosuch", "there is no tool `nosuch`"),
        ("/v1/audit?run=x", "`x` is not a run id"),
        ("/v1/audit?limit=1001", "`limit` must be 1 to 1000"),
        ("/v1/audit?after=-1", "invalid digit"),
        ("/v1/audit?ruin=x", "unknown field `ruin`"),
    ] {
        let problem = service.client.get(path).await.problem(400, "bad_request");
        assert!(problem["message"].as_str().unwrap().contains(reason), "{path}: {problem}");
    }
    for wait in ["soon", "30", "-5s", "", "1s&wait=2s", "1s&weit=2s"] {
        let path = format!("/v1/runs?wait={wait}");
        service.client.post(&path, &json!({ "plan": PLAN })).await.problem(400, "bad_request");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_runs_and_bad_ids_are_told_apart() {
    let service = Service::new().await;
    for (method, path) in
        [("GET", ""), ("GET", "/plan"), ("GET", "/graph"), ("GET", "/events"), ("POST", "/cancel")]
    {
        let ask = async |id: &str| {
            let request = service.client.request(method, &format!("/v1/runs/{id}{path}"));
            Answer::of(request.send().await.unwrap()).await
        };
        let problem = ask(ABSENT).await.problem(404, "not_found");
        assert_eq!(problem["message"], format!("there is no run {ABSENT}"));
        ask("last").await.problem(400, "bad_request");
        ask("%FF%FE").await.problem(400, "bad_request");
        ask("a%0Ab%1B%5B31m").await.problem(400, "bad_request");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_got_no_plan_has_none() {
    let model = std::sync::Arc::new(luaplan::llm::RecordedClient::new("recorded", Vec::new()));
    let service = Service::with(&[], Some(model)).await;
    let outcome = service.client.post("/v1/tasks?wait=25s", &json!({ "task": "x" })).await.json();
    assert_eq!(outcome["error"]["code"], "llm_unavailable");
    let answer = service.client.get(&format!("/v1/runs/{}/plan", outcome["run_id"].as_str().unwrap())).await;
    let problem = answer.problem(404, "not_found");
    assert!(problem["message"].as_str().unwrap().contains("no plan"), "{problem}");
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_paths_and_methods_are_problems_too() {
    let service = Service::new().await;
    for path in ["/", "/v1", "/v1/run", "/v1/runs/", "/v1//runs", "/metrics", "/..%2f..%2fetc/passwd", "/%00"]
    {
        service.client.get(path).await.problem(404, "not_found");
    }
    for (method, path, allowed) in [
        ("DELETE", "/v1/runs", "GET,HEAD,POST"),
        ("GET", "/v1/tasks", "POST"),
        ("PUT", "/healthz", "GET,HEAD"),
        ("BREW", "/v1/tools", "GET,HEAD"),
    ] {
        let answer = Answer::of(service.client.request(method, path).send().await.unwrap()).await;
        answer.problem(405, "method_not_allowed");
        let mut allow: Vec<&str> = answer.header("allow").split(',').collect();
        allow.sort_unstable();
        assert_eq!(allow.join(","), allowed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_over_the_limit_is_413_however_it_is_sent() {
    let service = Service::with(&[("server.body_limit", "\"1KiB\"")], None).await;
    for size in [1025, 9_000, 3_000_000] {
        let body = format!("{{\"plan\": \"{}\"}}", "x".repeat(size - 12));
        let problem = post_text(&service, "/v1/runs", body).await.problem(413, "payload_too_large");
        assert_eq!((&problem["limit"], &problem["observed"]), (&json!(1024), &json!(size)));
    }
    let chunks = (0..100).map(|_| Ok::<_, std::io::Error>("x".repeat(100)));
    let body = reqwest::Body::wrap_stream(futures::stream::iter(chunks));
    post_text(&service, "/v1/runs", body).await.problem(413, "payload_too_large");
    let asks = format!(
        "POST /v1/runs HTTP/1.1\r\nhost: {}\r\ncontent-length: 5000\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n",
        service.client.host()
    );
    let answer = service.client.raw(asks.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    let fits = format!("{{\"plan\": \"function run() return 1 end --{}\"}}", "x".repeat(900));
    assert_eq!(post_text(&service, "/v1/runs?wait=20s", fits).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_runs_than_allowed_are_429_and_a_place_comes_free_again() {
    let gate = Gate::new().await;
    let service = Service::beside(&gate, &[("server.max_concurrent_runs", "2")]).await;
    let first = service.client.begin(&gate.plan("/hold")).await;
    let second = service.client.begin(&gate.plan("/hold")).await;
    let refused = service.client.post("/v1/runs", &json!({ "plan": PLAN })).await;
    let problem = refused.problem(429, "too_many_requests");
    assert_eq!((&problem["limit"], &problem["observed"]), (&json!(2), &json!(2)));
    assert_eq!(refused.header("retry-after"), "1");
    gate.open();
    for run_id in [&first, &second] {
        assert_eq!(service.client.until_ended(run_id).await["status"], "succeeded");
    }
    let answer = crate::http_support::until(async || {
        let answer = service.client.post("/v1/runs?wait=20s", &json!({ "plan": PLAN })).await;
        (answer.status == 200).then_some(answer)
    });
    answer.await;
    assert_eq!(service.client.get("/v1/runs").await.json()["runs"].as_array().unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_posts_at_once_all_get_an_answer_and_the_count_is_right() {
    let service = Service::with(&[("server.max_concurrent_runs", "8")], None).await;
    let posts = (0..200).map(|_| {
        let client = service.client.clone();
        tokio::spawn(async move { client.post("/v1/runs", &json!({ "plan": PLAN })).await })
    });
    let posts: Vec<_> = posts.collect();
    let mut accepted = HashSet::new();
    for post in posts {
        let answer = post.await.unwrap();
        match answer.status {
            202 => assert!(accepted.insert(answer.json()["run_id"].as_str().unwrap().to_owned())),
            // A plan has no place in the queue of checks, or its run has none.
            status => {
                let code = if status == 503 { "analysis_busy" } else { "too_many_requests" };
                answer.problem(if status == 503 { 503 } else { 429 }, code);
                assert_eq!(answer.header("retry-after"), "1", "{}", answer.text);
            }
        }
    }
    assert!(accepted.len() >= 8, "{}", accepted.len());
    for run_id in &accepted {
        assert_eq!(service.client.until_ended(run_id).await["result"], 1);
    }
    let listed = service.client.get("/v1/runs?limit=500").await.json();
    let listed: HashSet<String> = listed["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["run_id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(listed, accepted);
    assert!(service.app.journal().verify().await.unwrap().ok);
}
