//! What clients send that mean no good, or know no better.

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::http_support::{Answer, Service};

const PLAN: &str = "function run(context) return 1 end";

async fn with_headers(service: &Service, headers: &[(&str, &str)]) -> Answer {
    let mut request = service.client.request("POST", "/v1/runs?wait=20s");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    Answer::of(request.body(json!({ "plan": PLAN }).to_string()).send().await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn without_keys_a_web_page_cannot_reach_the_server() {
    let service = Service::new().await;
    let port = service.client.host().rsplit(':').next().unwrap().to_owned();
    for origin in ["https://example.com", "null", "http://127.0.0.1", "http://localhost:1", "", "x y"] {
        with_headers(&service, &[("origin", origin)]).await.problem(403, "origin_refused");
    }
    // A name of the page's own that points here.
    for host in ["example.com", "127.0.0.1.example.com", "localhost.example.com", "0.0.0.0", "10.0.0.1"] {
        with_headers(&service, &[("host", &format!("{host}:{port}"))]).await.problem(403, "origin_refused");
    }
    with_headers(&service, &[("host", &format!(":{port}"))]).await.problem(400, "bad_request");
    assert_eq!(service.client.get("/v1/runs").await.json()["runs"], json!([]));
    for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.8.8.8", "[::1]"] {
        let host = format!("{host}:{port}");
        let own = [("host", host.as_str()), ("origin", &format!("http://{host}"))];
        assert_eq!(with_headers(&service, &own).await.status, 200, "{host}");
    }
    let missing = service.client.raw(b"GET /v1/runs HTTP/1.0\r\n\r\n").await;
    assert!(missing.starts_with("HTTP/1.0 200"), "an old client names no host: {missing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_and_huge_headers_are_refused_and_the_server_goes_on() {
    let service = Service::new().await;
    let huge = format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "y".repeat(100_000));
    let answer = service.client.raw(huge.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    let many: String = (0..500).map(|index| format!("x{index}: y\r\n")).collect();
    let answer = service.client.raw(format!("GET /healthz HTTP/1.1\r\n{many}\r\n").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    for nonsense in
        [&b"\x16\x03\x01\x02\x00\x01"[..], b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\0\0\0\0\r\n\r\n"]
    {
        let answer = service.client.raw(nonsense).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
    // Two lengths, or a length and chunks: where one request ends must not be a matter of opinion.
    for lengths in [
        "content-length: 5\r\ncontent-length: 6\r\n",
        "content-length: 5, 6\r\n",
        "content-length: -1\r\n",
        "transfer-encoding: gzip\r\n",
    ] {
        let head = format!("POST /v1/runs HTTP/1.1\r\nhost: localhost\r\n{lengths}\r\nhello");
        let answer = service.client.raw(head.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{lengths}: {answer}");
    }
    assert_eq!(service.client.get("/healthz").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_clients_take_nothing_from_others_and_are_dropped() {
    let service = Service::with(&[("server.request_timeout", "\"1s\"")], None).await;
    let client = service.client.with_fresh_connections();
    let mut slow = Vec::new();
    for index in 0..60 {
        let mut stream = TcpStream::connect(service.client.host()).await.unwrap();
        let head: &[u8] = match index % 3 {
            0 => b"",
            1 => b"POST /v1/runs HTTP/1.1\r\nhost: localhost\r\ncontent-",
            _ => b"POST /v1/runs HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{\"plan",
        };
        stream.write_all(head).await.unwrap();
        slow.push(stream);
    }
    assert_eq!(client.get("/healthz").await.status, 200);
    for (index, mut stream) in slow.into_iter().enumerate() {
        let mut answer = String::new();
        let read =
            tokio::time::timeout(crate::http_support::PATIENCE, stream.read_to_string(&mut answer)).await;
        read.expect("the server keeps a slow client").unwrap();
        if index % 3 == 2 {
            assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
            assert!(answer.contains("\"code\":\"request_timeout\""), "{answer}");
        }
    }
    assert_eq!(client.get("/v1/runs").await.json()["runs"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_connection_whose_first_request_does_not_come_is_dropped() {
    let settings = [("server.header_timeout", "\"300ms\""), ("server.idle_timeout", "\"10m\"")];
    let service = Service::with(&settings, None).await;
    for sent in [&b""[..], b"GET /healthz HTTP/1.1\r\nhost: local"] {
        assert_eq!(service.client.raw(sent).await, "");
    }
    // One that was used may wait for longer.
    let mut used = TcpStream::connect(service.client.host()).await.unwrap();
    let request = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    for _ in 0..2 {
        used.write_all(request).await.unwrap();
        let mut head = [0; 15];
        used.read_exact(&mut head).await.unwrap();
        assert_eq!(&head, b"HTTP/1.1 200 OK");
        tokio::time::sleep(std::time::Duration::from_millis(600)).await;
        let mut rest = [0; 4096];
        assert!(used.try_read(&mut rest).unwrap() > 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_names_the_server_and_its_page_once_and_plainly() {
    let service = Service::new().await;
    let own = service.client.host().to_owned();
    let get = |lines: String| format!("GET /v1/runs HTTP/1.1\r\n{lines}connection: close\r\n\r\n");
    for lines in [
        String::new(),
        format!("host: {own}\r\nhost: {own}\r\n"),
        format!("host: {own}\r\nhost: evil.example.com\r\n"),
        format!("host: {own}\r\norigin: http://{own}\r\norigin: http://evil.example.com\r\n"),
        format!("host: evil@{own}\r\n"),
        format!("host: evil:x@{own}\r\n"),
        "host: 127.0.0.1:x\r\n".to_owned(),
        "host: 127.0.0.1:\r\n".to_owned(),
        "host: 127.0.0.1:99999\r\n".to_owned(),
        "host: 127.0.0.1/x\r\n".to_owned(),
        "host: \r\n".to_owned(),
        "host: 127.0.0.1, localhost\r\n".to_owned(),
    ] {
        let answer = service.client.raw(get(lines.clone()).as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{lines:?}: {answer}");
        assert!(answer.contains("\"code\":\"bad_request\""), "{lines:?}: {answer}");
    }
    // A target that names another server than `Host` does.
    let elsewhere =
        format!("GET http://evil.example.com/v1/runs HTTP/1.1\r\nhost: {own}\r\nconnection: close\r\n\r\n");
    let answer = service.client.raw(elsewhere.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    let answer = service.client.raw(get(format!("host: {own}\r\n")).as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_stays_on_its_line() {
    let service = Service::new().await;
    for name in ["a\nb", "a\rb", "\u{0}", "tab\there", "\u{1b}[31mred", "a\u{2028}b", "a\u{202e}b", "\u{85}"]
    {
        let answer = service.client.post("/v1/runs", &json!({ "plan": PLAN, "name": name })).await;
        answer.problem(400, "bad_request");
        let answer = service.client.post("/v1/plans/explain", &json!({ "plan": PLAN, "name": name })).await;
        answer.problem(400, "bad_request");
    }
    let answer = service.client.post("/v1/runs", &json!({ "plan": PLAN, "name": "Größe – 東京 🗼" })).await;
    assert_eq!(answer.status, 202);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deep_body_is_refused_and_the_server_goes_on() {
    let service = Service::new().await;
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep =
            format!("{{\"plan\": \"x\", \"context\": {}1{}}}", open.repeat(10_000), close.repeat(10_000));
        let request = service.client.request("POST", "/v1/runs").body(deep);
        Answer::of(request.send().await.unwrap()).await.problem(400, "bad_request");
    }
    assert_eq!(service.client.get("/healthz").await.status, 200);
}
