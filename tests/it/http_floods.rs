//! Callers that take all there is to take: what they hold stands while others are served.

use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::http_support::{Answer, Client, Gate, Service, until};
use crate::mcp::serve::Serving;

const GREEDY: &str = "k-greedy-0123456789abcdef";
const OTHER: &str = "k-other-0123456789abcdefg";
const THIRD: &str = "k-third-0123456789abcdefg";

/// A file with three keys, and the setting that names it.
fn keys() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    std::fs::write(&path, format!("greedy {GREEDY}\nother {OTHER}\nthird {THIRD}\n")).unwrap();
    (folder, format!("\"{}\"", path.display()))
}

fn of(client: &Client, key: &str) -> Client {
    Client { key: Some(key.to_owned()), ..client.with_fresh_connections() }
}

#[tokio::test(flavor = "multi_thread")]
async fn half_sent_requests_hold_nothing_against_others() {
    let (_folder, keys) = keys();
    // Time-outs that cannot help within a test.
    let settings = [
        ("server.api_keys_file", keys.as_str()),
        ("server.max_connections", "64"),
        ("server.kept_connections", "8"),
        ("server.header_timeout", "\"10m\""),
        ("server.request_timeout", "\"10m\""),
    ];
    let service = Service::with(&settings, None).await;
    let mut held = Vec::new();
    for index in 0..400 {
        let mut stream = TcpStream::connect(service.client.host()).await.unwrap();
        let sent: &[u8] = match index % 2 {
            0 => b"",
            _ => b"GET /healthz HTTP/1.1\r\nhost: local",
        };
        stream.write_all(sent).await.unwrap();
        held.push(stream);
    }
    assert_eq!(service.client.with_fresh_connections().get("/healthz").await.status, 200);
    let other = of(&service.client, OTHER);
    assert_eq!(other.run("function run() return 7 end").await["result"], 7);
    // The flood stands: its last connections are open still.
    let mut byte = [0];
    let last = held.pop().unwrap();
    let unread = last.try_read(&mut byte).map_err(|error| error.kind());
    assert_eq!(unread, Err(std::io::ErrorKind::WouldBlock));
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_without_an_end_are_held_by_their_key_alone() {
    let (_folder, keys) = keys();
    let settings = [
        ("server.api_keys_file", keys.as_str()),
        ("server.max_requests_per_key", "20"),
        ("server.request_timeout", "\"10m\""),
    ];
    let service = Service::with(&settings, None).await;
    let mut held = Vec::new();
    for _ in 0..20 {
        held.push(half_a_body(&service.client, GREEDY).await);
    }
    let greedy = of(&service.client, GREEDY);
    until(async || (greedy.get("/v1/tools").await.status == 429).then_some(())).await;
    let refused = greedy.get("/v1/tools").await;
    assert_eq!(refused.header("retry-after"), "1");
    let problem = refused.problem(429, "key_limit");
    assert_eq!((&problem["limit"], &problem["observed"]), (&json!(20), &json!(20)));
    assert!(problem["message"].as_str().unwrap().contains("server.max_requests_per_key"), "{problem}");
    assert_eq!(of(&service.client, OTHER).get("/v1/tools").await.status, 200);
    assert_eq!(service.client.with_fresh_connections().get("/healthz").await.status, 200);
    // What is given back can be used again.
    held.clear();
    until(async || (greedy.get("/v1/tools").await.status == 200).then_some(())).await;
}

/// A request whose body does not come.
async fn half_a_body(client: &Client, key: &str) -> TcpStream {
    let mut stream = TcpStream::connect(client.host()).await.unwrap();
    let head = format!(
        "POST /v1/runs HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\ncontent-length: 999\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn greedy_keys_together_leave_places_for_the_next() {
    let (_folder, keys) = keys();
    let settings = [
        ("server.api_keys_file", keys.as_str()),
        ("server.max_connections", "48"),
        ("server.kept_connections", "8"),
        ("server.request_timeout", "\"10m\""),
    ];
    let service = Service::with(&settings, None).await;
    let mut held = Vec::new();
    for key in [GREEDY, OTHER] {
        let caller = of(&service.client, key);
        // Takes what it is given, and something more.
        until(async || {
            held.push(half_a_body(&service.client, key).await);
            (caller.get("/v1/tools").await.status == 503).then_some(())
        })
        .await;
        let refused = caller.get("/v1/tools").await;
        assert_eq!(refused.header("retry-after"), "1");
        refused.problem(503, "server_busy");
    }
    assert_eq!(of(&service.client, THIRD).get("/v1/tools").await.status, 200);
    assert_eq!(service.client.with_fresh_connections().get("/healthz").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn event_streams_of_one_key_leave_room_for_others() {
    let (_folder, keys) = keys();
    let gate = Gate::new().await;
    let settings = [("server.api_keys_file", keys.as_str()), ("server.max_streams_per_key", "5")];
    let service = Service::beside(&gate, &settings).await;
    let greedy = of(&service.client, GREEDY);
    let run = greedy.begin(&gate.plan("/hold")).await;
    let mut streams = Vec::new();
    for _ in 0..5 {
        streams.push(greedy.events(&run, None).await);
    }
    let path = format!("/v1/runs/{run}/events");
    let refused = greedy.get(&path).await;
    assert_eq!(refused.header("retry-after"), "1");
    refused.problem(429, "key_limit");
    // Nor by another way, and then nothing starts.
    let asked = greedy.request("POST", "/v1/runs").header("accept", "text/event-stream");
    let asked = asked.body(json!({ "plan": "function run() return 1 end" }).to_string()).send().await;
    Answer::of(asked.unwrap()).await.problem(429, "key_limit");
    let listed = greedy.get("/v1/runs").await.json();
    assert_eq!(listed["runs"].as_array().unwrap().len(), 1);
    // Another key's stream opens.
    let other = of(&service.client, OTHER);
    let own = other.begin("function run() return 1 end").await;
    assert_eq!(other.events(&own, None).await.all().await.last().unwrap().name, "run_finished");
    drop(streams);
    until(async || {
        let opened = greedy.request("GET", &path).send().await.unwrap();
        (opened.status() == 200).then_some(())
    })
    .await;
    gate.open();
}

fn initialize() -> Json {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } })
}

async fn send(client: &Client, method: &str, session: Option<&str>, message: &Json) -> reqwest::Response {
    let mut request = client.request(method, "/mcp");
    request = request.header("accept", "application/json, text/event-stream");
    request = request.header("content-type", "application/json");
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    request.body(message.to_string()).send().await.unwrap()
}

/// A new session's id.
async fn session(client: &Client) -> String {
    let answer = send(client, "POST", None, &initialize()).await;
    assert_eq!(answer.status(), 200);
    let id = answer.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(send(client, "POST", Some(&id), &ready).await.status(), 202);
    id
}

async fn list(client: &Client, session: &str) -> u16 {
    let message = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let answer = send(client, "POST", Some(session), &message).await;
    let status = answer.status().as_u16();
    answer.bytes().await.unwrap();
    status
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_are_begun_and_forgotten_close_none_but_their_keys_oldest() {
    let (_folder, keys) = keys();
    let keys = format!("server.api_keys_file={keys}");
    let serving = Serving::start(&[&keys, "server.max_mcp_sessions_per_key=8"]).await;
    let (greedy, other) = (of(&serving.client, GREEDY), of(&serving.client, OTHER));
    let kept = session(&other).await;
    let first = session(&greedy).await;
    // All at once, as the attack does.
    let flood: Vec<_> = (0..256)
        .map(|_| {
            let greedy = greedy.clone();
            tokio::spawn(async move { send(&greedy, "POST", None, &initialize()).await.status().as_u16() })
        })
        .collect();
    for answer in flood {
        let status = answer.await.unwrap();
        assert!(status == 200 || status == 429, "{status}");
    }
    assert_eq!(list(&greedy, &first).await, 404, "the oldest makes room");
    let last = session(&greedy).await;
    assert_eq!((list(&greedy, &last).await, list(&other, &kept).await), (200, 200));
    let newest = session(&other).await;
    assert_eq!(list(&other, &newest).await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_full_of_sessions_the_key_with_most_gives_one() {
    let (_folder, keys) = keys();
    let keys = format!("server.api_keys_file={keys}");
    let settings = [keys.as_str(), "server.max_mcp_sessions=5", "server.max_mcp_sessions_per_key=4"];
    let serving = Serving::start(&settings).await;
    let (greedy, other) = (of(&serving.client, GREEDY), of(&serving.client, OTHER));
    let kept = session(&other).await;
    let mut of_greedy = Vec::new();
    for _ in 0..4 {
        of_greedy.push(session(&greedy).await);
    }
    let third = of(&serving.client, THIRD);
    let third_session = session(&third).await;
    assert_eq!((list(&other, &kept).await, list(&third, &third_session).await), (200, 200));
    assert_eq!(list(&greedy, &of_greedy[0]).await, 404);
    assert_eq!(list(&greedy, &of_greedy[3]).await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_there_for_its_own_key_alone() {
    let (_folder, keys) = keys();
    let serving = Serving::start(&[&format!("server.api_keys_file={keys}")]).await;
    let (owner, other) = (of(&serving.client, GREEDY), of(&serving.client, OTHER));
    let id = session(&owner).await;
    assert_eq!(list(&other, &id).await, 404);
    let stream = other.request("GET", "/mcp").header("accept", "text/event-stream");
    assert_eq!(stream.header("mcp-session-id", &id).send().await.unwrap().status(), 404);
    let ended = send(&other, "DELETE", Some(&id), &json!({})).await;
    assert_eq!(ended.status(), 404);
    assert_eq!(list(&owner, &id).await, 200);
    assert_eq!(send(&owner, "DELETE", Some(&id), &json!({})).await.status(), 202);
    assert_eq!(list(&owner, &id).await, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_works_is_not_closed_for_another() {
    let (_folder, keys) = keys();
    let keys = format!("server.api_keys_file={keys}");
    let gate = Gate::new().await;
    let hosts = format!("tools.fetch_url.allow_hosts=[\"{}\"]", gate.host);
    let settings = [keys.as_str(), "server.max_mcp_sessions_per_key=1", hosts.as_str()];
    let serving = Serving::start(&settings).await;
    let greedy = of(&serving.client, GREEDY);
    let busy = session(&greedy).await;
    let call = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "run_lua", "arguments": { "program": gate.plan("/hold") } } });
    let working = send(&greedy, "POST", Some(&busy), &call).await;
    assert_eq!(working.status(), 200);
    gate.asked(1).await;
    let refused = Answer::of(send(&greedy, "POST", None, &initialize()).await).await;
    assert_eq!(refused.header("retry-after"), "1");
    let problem = refused.problem(429, "key_limit");
    assert!(problem["message"].as_str().unwrap().contains("max_mcp_sessions_per_key"), "{problem}");
    gate.open();
    let text = tokio::time::timeout(Duration::from_secs(30), working.text()).await.unwrap().unwrap();
    assert!(text.contains("body"), "{text}");
    until(async || (send(&greedy, "POST", None, &initialize()).await.status() == 200).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_session_expires() {
    let serving = Serving::start(&["server.mcp_session_idle=300ms"]).await;
    // Any look at a session is a use of it, so a new one is left alone each time.
    until(async || {
        let id = session(&serving.client).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        (list(&serving.client, &id).await == 404).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_whose_connection_is_gone_count_for_their_key() {
    const MAX: usize = 10;
    let (_folder, keys) = keys();
    let keys = format!("server.api_keys_file={keys}");
    let max = format!("server.max_requests_per_key={MAX}");
    let serving = Serving::start(&[&keys, &max]).await;
    let (greedy, other) = (of(&serving.client, GREEDY), of(&serving.client, OTHER));
    let run_id = greedy.begin("function run() sleep(600) end").await;
    let session = session(&greedy).await;
    let wait = |id: u32, wait: &str| {
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "run_status",
            "arguments": { "run_id": run_id, "wait": wait } } })
    };
    // One after the other, so that no request has to be refused for those beside it. A busy server may notice that a
    // connection is gone before it reads the call, which then never was: more are sent until the key has its fill.
    let mut sent = 0;
    let refused = until(async || {
        sent += 1;
        let answer = send(&greedy, "POST", Some(&session), &wait(10 + sent, "1h")).await;
        assert!(sent > MAX as u32 || answer.status() == 200);
        drop(answer);
        if sent < MAX as u32 {
            return None;
        }
        let answer = send(&greedy, "POST", Some(&session), &wait(10_000 + sent, "1ms")).await;
        let text = answer.text().await.unwrap();
        text.contains("key_limit").then_some(text)
    })
    .await;
    assert!(refused.contains("max_requests_per_key"), "{refused}");
    let of_other = self::session(&other).await;
    let list = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": "list_runs", "arguments": {} } });
    let answer = send(&other, "POST", Some(&of_other), &list).await.text().await.unwrap();
    assert!(answer.contains("\"runs\":[]"), "{answer}");
    // The end of the session ends its calls.
    assert_eq!(send(&greedy, "DELETE", Some(&session), &json!({})).await.status(), 202);
    let again = self::session(&greedy).await;
    until(async || {
        let answer = send(&greedy, "POST", Some(&again), &wait(4, "1ms")).await;
        answer.text().await.unwrap().contains("sleeping").then_some(())
    })
    .await;
}
