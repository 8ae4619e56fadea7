//! `/mcp` on the HTTP service.

use rmcp::ServiceExt as _;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value as Json, json};

use super::{SUM, Watcher, call, done, refused};
use crate::http_support::{Answer, PATIENCE};
use crate::mcp::serve::Serving;

const KEY: &str = "k-0123456789-abcdefghij";

fn initialize() -> Json {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } })
}

/// Posts a message with these headers.
async fn post(serving: &Serving, headers: &[(&str, &str)], message: &Json) -> reqwest::Response {
    let mut request = serving.client.request("POST", "/mcp");
    request = request.header("accept", "application/json, text/event-stream");
    request = request.header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    tokio::time::timeout(PATIENCE, request.body(message.to_string()).send()).await.unwrap().unwrap()
}

pub(super) async fn connect(
    serving: &Serving,
    key: Option<&str>,
) -> rmcp::service::RunningService<rmcp::RoleClient, Watcher> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(format!("{}/mcp", serving.client.base));
    if let Some(key) = key {
        config = config.auth_header(key);
    }
    let transport = StreamableHttpClientTransport::with_client(serving.client.http.clone(), config);
    tokio::time::timeout(PATIENCE, Watcher::default().serve(transport)).await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_runs_over_http_and_both_edges_see_it() {
    let serving = Serving::start(&[]).await;
    let client = connect(&serving, None).await;
    let outcome =
        done(call(&client, "run_lua", json!({ "program": SUM, "context": { "a": 2, "b": 3 } })).await);
    assert_eq!(outcome["result"], json!({ "sum": 5 }));
    let path = format!("/v1/runs/{}", outcome["run_id"].as_str().unwrap());
    assert_eq!(serving.client.get(&path).await.json()["status"], "succeeded");
    // Files of the server are not for those who are elsewhere.
    let tools = client.list_all_tools().await.unwrap();
    let run = tools.iter().find(|tool| tool.name == "run").unwrap();
    assert!(run.input_schema["properties"].get("file").is_none());
    let (code, _) = refused(call(&client, "run", json!({ "file": "plan.lua" })).await);
    assert_eq!(code, "bad_request");
    client.cancel().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_sessions_do_not_see_each_others_progress() {
    let serving = Serving::start(&[]).await;
    let (one, two) = (connect(&serving, None).await, connect(&serving, None).await);
    done(call(&one, "run_lua", json!({ "program": SUM, "context": { "a": 1, "b": 1 } })).await);
    assert!(!one.service().progress().is_empty());
    assert!(two.service().progress().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keys_of_the_api_guard_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("keys"), format!("assistant {KEY}\n")).unwrap();
    let keys = format!("server.api_keys_file={}", folder.path().join("keys").display());
    let serving = Serving::start(&[&keys, "server.allowed_hosts=[\"plans.example.com\"]"]).await;
    let answer = Answer::of(post(&serving, &[], &initialize()).await).await;
    answer.problem(401, "unauthorized");
    let key = format!("Bearer {KEY}");
    let with = |host: &'static str| vec![("authorization", key.clone()), ("host", host.to_owned())];
    for (host, status) in [("plans.example.com", 200), ("elsewhere.example.com", 403), ("127.0.0.1:1", 200)] {
        let headers = with(host);
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(post(&serving, &headers, &initialize()).await.status(), status, "{host}");
    }
    let client = connect(&serving, Some(KEY)).await;
    assert_eq!(done(call(&client, "list_runs", json!({})).await)["runs"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_other_sites_are_kept_out() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("keys"), format!("assistant {KEY}\n")).unwrap();
    let keys = format!("server.api_keys_file={}", folder.path().join("keys").display());
    let key = format!("Bearer {KEY}");
    let guarded = Serving::start(&[&keys, "server.allowed_origins=[\"https://app.example.com\"]"]).await;
    let own = format!("http://{}", guarded.client.host());
    for (origin, status) in [
        ("https://app.example.com", 200),
        ("https://app.example.com:444", 403),
        ("https://evil.example.com", 403),
        ("null", 403),
        (own.as_str(), 200),
    ] {
        let headers = [("authorization", key.as_str()), ("origin", origin)];
        assert_eq!(post(&guarded, &headers, &initialize()).await.status(), status, "{origin}");
    }
    let open = Serving::start(&[]).await;
    let answer =
        Answer::of(post(&open, &[("origin", "https://evil.example.com")], &initialize()).await).await;
    answer.problem(403, "origin_refused");
    let answer = Answer::of(post(&open, &[("host", "rebound.example.com")], &initialize()).await).await;
    answer.problem(403, "origin_refused");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_or_no_message_is_refused() {
    let serving = Serving::start(&["server.body_limit=64KiB"]).await;
    let mut large = initialize();
    large["params"]["clientInfo"]["name"] = json!("x".repeat(100 * 1024));
    Answer::of(post(&serving, &[], &large).await).await.problem(413, "payload_too_large");
    for (body, code) in [
        ("{\"jsonrpc\": \"2.0\",", -32700),
        ("", -32700),
        ("{\"not\": \"a message\"}", -32600),
        ("[]", -32600),
    ] {
        let mut request = serving.client.request("POST", "/mcp").body(body);
        request = request.header("accept", "application/json, text/event-stream");
        let answer =
            Answer::of(request.header("content-type", "application/json").send().await.unwrap()).await;
        assert_eq!(
            (answer.status, &answer.json()["error"]["code"]),
            (400, &json!(code)),
            "{body}: {}",
            answer.text
        );
        assert_eq!(answer.json()["id"], Json::Null);
    }
    let mut request = serving.client.request("POST", "/mcp").body(initialize().to_string());
    request = request.header("accept", "application/json, text/event-stream");
    let answer = Answer::of(request.header("content-type", "text/plain").send().await.unwrap()).await;
    assert_eq!(answer.status, 415, "{}", answer.text);
    let unknown = [("mcp-session-id", "no-such-session")];
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert_eq!(post(&serving, &unknown, &list).await.status(), 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_session_does_not_hold_up_the_stop() {
    let serving = Serving::start(&[]).await;
    let client = connect(&serving, None).await;
    done(call(&client, "list_runs", json!({})).await);
    serving.stop().await;
    drop(client);
}
