//! What clients send that mean no good, or know no better.

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::http_support::{Answer, Service, until};

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
    for host in ["example.com", "127.0.0.1.example.com", "localhost.example.com", "0.0.0.0", "10.0.0.1", ""] {
        with_headers(&service, &[("host", &format!("{host}:{port}"))]).await.problem(403, "origin_refused");
    }
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
async fn more_connections_than_are_served_wait_for_their_turn() {
    let service = Service::with(&[("server.request_timeout", "\"700ms\"")], None).await;
    let mut held = Vec::new();
    for _ in 0..1024 {
        held.push(TcpStream::connect(service.client.host()).await.unwrap());
    }
    // Served once the silent ones are dropped.
    let answer = until(async || {
        let sent = service.client.request("GET", "/healthz").send().await;
        sent.ok().filter(|answer| answer.status() == 200)
    });
    answer.await;
    drop(held);
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
