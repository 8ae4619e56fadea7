//! Requests of every shape bytes can have: each is answered rightly, refused or dropped; never twice, and never waited for
//! past the time-outs.

#![expect(clippy::expect_used, reason = "what is wrong with an answer should be named")]

use std::time::Duration;

use futures::future::join_all;
use serde_json::Value as Json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::http_support::{PATIENCE, Service};

/// In the statuses a case may have: the connection was closed without a word.
const CLOSED: u16 = 0;

/// How long a connection that says nothing more may stay: less than by the time-outs that hold where none is set.
const STAYS_MAX: Duration = Duration::from_secs(25);

const PLAN: &str = r#"{"plan":"function run() return 1 end"}"#;

async fn service() -> Service {
    let settings = [
        ("server.header_timeout", "\"500ms\""),
        ("server.idle_timeout", "\"500ms\""),
        ("server.request_timeout", "\"2s\""),
    ];
    Service::with(&settings, None).await
}

/// Statuses of the answers that stand one after another in `bytes`.
fn statuses(bytes: &[u8]) -> Vec<u16> {
    let mut found = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let end = rest.windows(4).position(|window| window == b"\r\n\r\n").expect("half a head") + 4;
        let head = String::from_utf8_lossy(&rest[..end]).to_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
        assert!(!head.contains("transfer-encoding"), "{head}");
        found.push(status);
        rest = rest.get(end + length..).expect("half a body");
    }
    found
}

/// Sends the bytes and waits for the end; with `then_close` says that nothing more comes.
async fn send(service: &Service, bytes: &[u8], then_close: bool) -> Vec<u16> {
    let mut stream = TcpStream::connect(service.client.host()).await.unwrap();
    // It may have been refused before all of it was sent.
    let _ = stream.write_all(bytes).await;
    if then_close {
        let _ = stream.shutdown().await;
    }
    let mut answer = Vec::new();
    let read = tokio::time::timeout(STAYS_MAX, stream.read_to_end(&mut answer)).await;
    // A reset is an end too.
    let _ = read.expect("the server keeps the connection");
    statuses(&answer)
}

async fn runs(service: &Service) -> usize {
    service.client.get("/v1/runs?limit=500").await.json()["runs"].as_array().unwrap().len()
}

/// Cases by what they are, with the statuses their one answer may have. All are sent at once.
async fn judge(cases: &[(&str, String, &[u16])]) {
    let service = service().await;
    // Who closes its side is gone for the server, so what may be right is sent by those who stay.
    let may_be_right = |allowed: &[u16]| allowed.iter().any(|status| (200..300).contains(status));
    let gone = cases.iter().filter(|(_, _, allowed)| !may_be_right(allowed)).map(|case| (case, true));
    let each = cases.iter().map(|case| (case, false)).chain(gone);
    let sent = each.map(async |((name, request, allowed), then_close)| {
        let seen = send(&service, request.as_bytes(), then_close).await;
        assert!(seen.len() <= 1, "{name}: {} answers to one request: {seen:?}", seen.len());
        let status = seen.first().copied().unwrap_or(CLOSED);
        let is_gone = then_close && status == CLOSED;
        assert!(is_gone || allowed.contains(&status), "{name}: {status}");
        usize::from(status == 202)
    });
    let begun: usize = join_all(sent).await.into_iter().sum();
    assert_eq!(runs(&service).await, begun, "something began a run that was not said to");
    assert_eq!(service.client.get("/healthz").await.status, 200);
}

fn post(headers: &str, body: &str) -> String {
    format!("POST /v1/runs HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n{body}")
}

fn chunked(body: &str) -> String {
    post("transfer-encoding: chunked\r\n", body)
}

fn get(head: &str) -> String {
    format!("GET {head}\r\n\r\n")
}

/// A body that holds another request, for a server that reads less of it.
fn with_second(headers: &str) -> String {
    post(headers, &format!("0\r\n\r\n{}", post("content-length: 38\r\n", PLAN)))
}

#[tokio::test(flavor = "multi_thread")]
async fn where_a_body_ends_is_no_matter_of_opinion() {
    let refused: &[u16] = &[400, 408, CLOSED];
    let one = format!("{:x}\r\n{PLAN}\r\n0\r\n\r\n", PLAN.len());
    let cases = [
        ("two lengths", with_second("content-length: 5\r\ncontent-length: 60\r\n"), refused),
        ("a list of lengths", with_second("content-length: 5, 60\r\n"), refused),
        ("a length with a sign", post("content-length: +38\r\n", PLAN), refused),
        ("a negative length", post("content-length: -38\r\n", PLAN), refused),
        ("a length in hexadecimal", post("content-length: 0x26\r\n", PLAN), refused),
        ("a length of nothing", post("content-length:\r\n", PLAN), refused),
        (
            "a length beyond 64 bits",
            post("content-length: 18446744073709551617\r\n", PLAN),
            &[400, 413, CLOSED],
        ),
        ("a length that is too large", post("content-length: 99999999999\r\n", PLAN), &[408, 413, CLOSED]),
        (
            "a length, then chunks",
            with_second("content-length: 60\r\ntransfer-encoding: chunked\r\n"),
            refused,
        ),
        (
            "chunks, then a length",
            with_second("transfer-encoding: chunked\r\ncontent-length: 60\r\n"),
            refused,
        ),
        ("chunks twice", post("transfer-encoding: chunked, chunked\r\n", &one), &[202, 400, CLOSED]),
        ("chunks, then something", post("transfer-encoding: chunked, gzip\r\n", &one), refused),
        ("nearly chunks", post("transfer-encoding: xchunked\r\n", &one), refused),
        ("identity", post("transfer-encoding: identity\r\n", PLAN), refused),
        ("chunks in quotes", post("transfer-encoding: \"chunked\"\r\n", &one), refused),
        ("chunks in HTTP/1.0", chunked(&one).replace("HTTP/1.1", "HTTP/1.0"), refused),
        ("chunks", chunked(&one), &[202]),
        ("chunks with an extension", chunked(&one.replacen("\r\n", ";a=b\r\n", 1)), &[202, 400, CLOSED]),
        (
            "chunks with a trailer",
            chunked(&one.replace("0\r\n\r\n", "0\r\nhost: evil\r\n\r\n")),
            &[202, 400, CLOSED],
        ),
        ("a chunk with a sign", chunked(&format!("+{one}")), refused),
        ("a chunk with a minus", chunked(&format!("-{one}")), refused),
        ("a chunk with 0x", chunked(&format!("0x{one}")), refused),
        ("a chunk of no size", chunked(&format!("\r\n{PLAN}\r\n0\r\n\r\n")), refused),
        ("a chunk of a strange size", chunked(&format!("G{one}")), refused),
        ("a chunk beyond 64 bits", chunked(&format!("fffffffffffffffff\r\n{PLAN}")), refused),
        ("a chunk of 64 bits", chunked(&format!("ffffffffffffffff\r\n{PLAN}")), &[400, 408, 413, CLOSED]),
        ("a chunk longer than it says", chunked(&format!("5\r\n{PLAN}\r\n0\r\n\r\n")), refused),
        ("chunks without an end", chunked(&one.replace("0\r\n\r\n", "")), refused),
        ("a body that breaks off", post("content-length: 100\r\n", PLAN), refused),
        ("a body that breaks off at once", post("content-length: 100\r\n", ""), refused),
    ];
    judge(&cases).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_that_are_none_are_refused() {
    let refused: &[u16] = &[400, CLOSED];
    let cases = [
        ("a folded header", get("/healthz HTTP/1.1\r\nhost: localhost\r\nx: a\r\n b"), refused),
        ("a header that begins with a blank", get("/healthz HTTP/1.1\r\n host: localhost"), refused),
        ("a blank before the colon", get("/healthz HTTP/1.1\r\nhost : localhost"), refused),
        ("NUL in a header", get("/healthz HTTP/1.1\r\nhost: localhost\r\nx: a\0b"), refused),
        ("NUL in a name", get("/healthz HTTP/1.1\r\nhost: localhost\r\nx\0: a"), refused),
        ("NUL in the target", get("/healthz\0 HTTP/1.1\r\nhost: localhost"), refused),
        ("CR in a header", get("/healthz HTTP/1.1\r\nhost: localhost\r\nx: a\rb"), refused),
        ("a header without a colon", get("/healthz HTTP/1.1\r\nhost: localhost\r\nnothing"), refused),
        ("a header without a name", get("/healthz HTTP/1.1\r\nhost: localhost\r\n: x"), refused),
        ("HTTP/0.9", "GET /healthz\r\n".to_owned(), refused),
        ("HTTP/0.9, said", get("/healthz HTTP/0.9"), refused),
        ("HTTP/1.2", get("/healthz HTTP/1.2\r\nhost: localhost"), refused),
        ("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), refused),
        ("lower case", "GET /healthz http/1.1\r\nhost: localhost\r\n\r\n".to_owned(), refused),
        ("two blanks", get(" /healthz HTTP/1.1\r\nhost: localhost"), refused),
        ("no target", get("HTTP/1.1\r\nhost: localhost"), refused),
        ("nothing but line ends", "\r\n\r\n\r\n".to_owned(), &[CLOSED]),
        ("bytes that are no text", "\u{fffd}\u{fffd} / HTTP/1.1\r\n\r\n".to_owned(), refused),
        (
            "a very long target",
            get(&format!("/{} HTTP/1.1\r\nhost: localhost", "a".repeat(70_000))),
            &[414, 431, CLOSED],
        ),
        ("a very long method", format!("{} / HTTP/1.1\r\n\r\n", "A".repeat(70_000)), &[400, 431, CLOSED]),
        ("half a head", "GET /healthz HTTP/1.1\r\nhost: loc".to_owned(), refused),
    ];
    judge(&cases).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unusual_requests_that_are_right_are_answered_once() {
    let service = service().await;
    let host = service.client.host().to_owned();
    let cases: [(&str, String, &[u16]); 14] = [
        ("HTTP/1.0", get("/healthz HTTP/1.0"), &[200]),
        ("HTTP/1.0 kept", get("/healthz HTTP/1.0\r\nhost: localhost\r\nconnection: keep-alive"), &[200]),
        ("line feeds alone", "GET /healthz HTTP/1.1\nhost: localhost\n\n".to_owned(), &[200, 400, CLOSED]),
        ("an empty line before", format!("\r\n{}", get("/healthz HTTP/1.1\r\nhost: localhost")), &[200]),
        ("a whole address", get(&format!("http://{host}/healthz HTTP/1.1\r\nhost: {host}")), &[200]),
        (
            "a whole address of others",
            get(&format!("http://example.com/healthz HTTP/1.1\r\nhost: {host}")),
            &[400],
        ),
        ("another scheme", get(&format!("ftp://{host}/healthz HTTP/1.1\r\nhost: {host}")), &[200, 400, 404]),
        ("a long target", get(&format!("/{} HTTP/1.1\r\nhost: {host}", "a".repeat(30_000))), &[404, 414]),
        ("no path", get(&format!("* HTTP/1.1\r\nhost: {host}")), &[400, 404, CLOSED]),
        ("OPTIONS", format!("OPTIONS * HTTP/1.1\r\nhost: {host}\r\n\r\n"), &[400, 404, 405]),
        ("CONNECT", format!("CONNECT {host} HTTP/1.1\r\nhost: {host}\r\n\r\n"), &[400, 404, 405]),
        ("a method nobody knows", format!("BREW /healthz HTTP/1.1\r\nhost: {host}\r\n\r\n"), &[405]),
        (
            "an upgrade",
            get(&format!("/healthz HTTP/1.1\r\nhost: {host}\r\nconnection: upgrade\r\nupgrade: h2c")),
            &[200],
        ),
        (
            "an expectation nobody knows",
            get(&format!("/healthz HTTP/1.1\r\nhost: {host}\r\nexpect: 200-ok")),
            &[200, 417],
        ),
    ];
    judge(&cases).await;
    // Several at once are answered in their order, each once; what follows a body is the next request.
    let three = format!(
        "{}{}{}",
        get("/healthz HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5").replace("\r\n\r\n", "\r\n\r\nhello"),
        post("content-length: 38\r\n", PLAN),
        get("/v1/nothing HTTP/1.1\r\nhost: localhost")
    );
    assert_eq!(PLAN.len(), 38);
    assert_eq!(send(&service, three.as_bytes(), false).await, [200, 202, 404]);
    let many = get("/healthz HTTP/1.1\r\nhost: localhost").repeat(100);
    assert_eq!(send(&service, many.as_bytes(), false).await, vec![200; 100]);
    assert_eq!(runs(&service).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_before_sending_is_told_first() {
    let service = service().await;
    let head = |length: usize| post(&format!("content-length: {length}\r\nexpect: 100-continue\r\n"), "");
    let mut stream = TcpStream::connect(service.client.host()).await.unwrap();
    stream.write_all(head(PLAN.len()).as_bytes()).await.unwrap();
    let mut go_on = [0; 25];
    stream.read_exact(&mut go_on).await.unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(PLAN.as_bytes()).await.unwrap();
    let mut rest = Vec::new();
    tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await.unwrap().unwrap();
    assert_eq!(statuses(&rest), [202]);
    // What is too large is refused before a byte of it is sent, and what never comes is not waited for.
    assert_eq!(send(&service, head(99_000_000).as_bytes(), false).await, [413]);
    let never = send(&service, head(PLAN.len()).as_bytes(), false).await;
    assert!(
        never.starts_with(&[100]) && never.len() <= 2 && never.get(1).is_none_or(|last| *last == 408),
        "{never:?}"
    );
    assert_eq!(runs(&service).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_trickle_make_the_same_request() {
    let service = service().await;
    let request =
        chunked(&format!("5\r\n{}\r\n{:x}\r\n{}\r\n0\r\n\r\n", &PLAN[..5], PLAN.len() - 5, &PLAN[5..]));
    let mut stream = TcpStream::connect(service.client.host()).await.unwrap();
    stream.set_nodelay(true).unwrap();
    for byte in request.as_bytes() {
        stream.write_all(&[*byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    let mut answer = Vec::new();
    tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await.unwrap().unwrap();
    assert_eq!(statuses(&answer), [202]);
    let seen: Json = service.client.get("/v1/runs").await.json();
    assert_eq!(seen["runs"].as_array().unwrap().len(), 1);
}
