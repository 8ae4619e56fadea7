//! `fetch_url` against servers that mean harm or are broken.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use luaplan::base::{ErrorCode, ToolFailure, Value};
use luaplan::bus::Tool as _;
use luaplan::tools::fetch_url::{FetchUrl, FetchUrlSettings};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::fetch_url_parts::{Server, allowing, call, fetch, response, spec, tool, tool_for};
use crate::support::invocation;

/// Quick limits, so that a test of a slow server is short.
fn impatient(server: &Server) -> FetchUrl {
    tool(FetchUrlSettings {
        read_timeout: Duration::from_millis(200),
        url_timeout: Duration::from_millis(400),
        ..allowing([server.address.to_string()])
    })
}

fn rule(failure: &ToolFailure) -> &str {
    failure.details["rule"].as_str().unwrap()
}

#[tokio::test]
async fn a_redirect_from_an_allowed_host_to_a_private_one_is_not_followed() {
    let inside = Server::fixed(response("200 OK", "", b"secret")).await;
    for (target, expected) in [
        (inside.url("/"), "allow_list"),
        ("http://169.254.169.254/latest/meta-data/".to_owned(), "allow_list"),
        ("//127.0.0.2/".to_owned(), "allow_list"),
    ] {
        let outside = Server::fixed(response("302 Found", &format!("Location: {target}\r\n"), b"")).await;
        let failure = fetch(&tool_for(&outside), &outside.url("/")).await.unwrap_err();
        assert_eq!((failure.code.as_str(), rule(&failure)), ("url_blocked", expected), "{target}");
        let with_public = tool(allowing([outside.address.to_string(), "*".to_owned()]));
        let failure = fetch(&with_public, &outside.url("/")).await.unwrap_err();
        assert_eq!(failure.code, "url_blocked", "{target}");
    }
    assert_eq!(inside.requests(), 0);
}

#[tokio::test]
async fn a_redirect_to_another_scheme_or_with_a_password_is_not_followed() {
    for target in [
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "http://user:pass@127.0.0.1/",
        "http://[::1/",
        "javascript:1",
    ] {
        let server = Server::fixed(response("301 Moved", &format!("Location: {target}\r\n"), b"")).await;
        let failure = fetch(&tool_for(&server), &server.url("/")).await.unwrap_err();
        assert_eq!(failure.code, "url_invalid", "{target}");
    }
}

#[tokio::test]
async fn a_redirect_loop_ends_at_its_limit() {
    let server = Server::fixed(response("307 Temporary Redirect", "Location: /again\r\n", b"")).await;
    let failure = fetch(&tool_for(&server), &server.url("/")).await.unwrap_err();
    assert_eq!(failure.code, "too_many_redirects");
    assert_eq!(failure.details["limit"], Value::Integer(5));
    assert_eq!(failure.details["observed"], Value::Integer(6));
    assert_eq!(server.requests(), 6);
}

#[tokio::test]
async fn a_server_that_never_answers_times_out() {
    let server = Server::start(|stream, _| async move {
        tokio::time::sleep(Duration::from_secs(60)).await;
        drop(stream);
    })
    .await;
    let failure = fetch(&impatient(&server), &server.url("/")).await.unwrap_err();
    assert_eq!(failure.code, "tool_timeout");
    assert!(failure.retryable);
}

#[tokio::test]
async fn headers_or_a_body_that_trickle_time_out_though_there_is_always_a_next_byte() {
    for start in ["HTTP/1.1 200 OK\r\nX-Slow: ", "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"] {
        let server = Server::start(move |mut stream, _| async move {
            let _ = stream.write_all(start.as_bytes()).await;
            for _ in 0..200 {
                tokio::time::sleep(Duration::from_millis(50)).await;
                if stream.write_all(b"x").await.is_err() {
                    return;
                }
            }
        })
        .await;
        let failure = fetch(&impatient(&server), &server.url("/")).await.unwrap_err();
        assert_eq!(failure.code, "tool_timeout", "{start}");
    }
}

#[tokio::test]
async fn what_arrived_in_time_is_kept_when_another_url_is_too_slow_for_the_call() {
    let slow = Server::start(|stream, _| async move {
        tokio::time::sleep(Duration::from_secs(60)).await;
        drop(stream);
    })
    .await;
    let quick = Server::fixed(response("200 OK", "", b"here")).await;
    let settings = FetchUrlSettings {
        url_timeout: Duration::from_secs(60),
        ..allowing([slow.address.to_string(), quick.address.to_string()])
    };
    let timeout = Duration::from_secs(1);
    let tool = FetchUrl::new(spec(timeout), settings).unwrap();
    let arguments = json!({"urls": [slow.url("/"), quick.url("/")], "batch": true});
    // The bus drops a call that takes longer than its timeout, and with it all its results.
    let map = tokio::time::timeout(timeout, call(&tool, arguments)).await.unwrap().unwrap();
    assert_eq!(map.get(&quick.url("/")), Some(&Value::from("here")));
    assert!(
        matches!(map.get(&slow.url("/")), Some(Value::Failure(failure)) if failure.code == "tool_timeout")
    );
}

#[tokio::test]
async fn a_body_that_breaks_off_fails_and_may_be_tried_again() {
    let server = Server::fixed(&b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this"[..]).await;
    let failure = fetch(&tool_for(&server), &server.url("/")).await.unwrap_err();
    assert_eq!(failure.code, "fetch_failed");
    assert!(failure.retryable);
    for nonsense in
        [&b"SSH-2.0-OpenSSH_9\r\n"[..], b"", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"]
    {
        let server = Server::fixed(nonsense).await;
        let failure = fetch(&tool_for(&server), &server.url("/")).await.unwrap_err();
        assert_eq!(failure.code, "fetch_failed", "{nonsense:?}");
    }
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let failure =
        fetch(&tool(allowing([closed.to_string()])), &format!("http://{closed}/")).await.unwrap_err();
    assert_eq!((failure.code.as_str(), failure.retryable), ("fetch_failed", true));
}

#[tokio::test]
async fn two_gigabytes_stop_at_the_cap() {
    const TWO_GIB: u64 = 2 * 1024 * 1024 * 1024;
    let announced = Server::fixed(format!("HTTP/1.1 200 OK\r\nContent-Length: {TWO_GIB}\r\n\r\n")).await;
    let failure = fetch(&tool_for(&announced), &announced.url("/")).await.unwrap_err();
    assert_eq!(failure.code, "result_too_large");
    assert_eq!(failure.details["observed"], Value::Integer(TWO_GIB as i64));

    let sent = Arc::new(AtomicU64::new(0));
    let counter = sent.clone();
    let endless = Server::start(move |mut stream, _| {
        let sent = counter.clone();
        async move {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
            let block = vec![b'x'; 64 * 1024];
            while sent.load(Ordering::Relaxed) < TWO_GIB && stream.write_all(&block).await.is_ok() {
                sent.fetch_add(block.len() as u64, Ordering::Relaxed);
            }
        }
    })
    .await;
    let failure = fetch(&tool_for(&endless), &endless.url("/")).await.unwrap_err();
    assert_eq!(failure.code, "result_too_large");
    assert_eq!(failure.details["limit"], Value::Integer(5 * 1024 * 1024));
    assert!(
        sent.load(Ordering::Relaxed) < TWO_GIB / 20,
        "the server could send {} bytes",
        sent.load(Ordering::Relaxed)
    );
}

#[tokio::test]
async fn bodies_of_one_call_stop_at_their_common_cap() {
    let server = Server::fixed(response("200 OK", "", &vec![b'x'; 40_000])).await;
    let settings = FetchUrlSettings { bytes_max_total: 100_000, ..allowing([server.address.to_string()]) };
    let urls: Vec<String> = (0..5).map(|number| server.url(&format!("/{number}"))).collect();
    let map = call(&tool(settings), json!({"urls": urls})).await.unwrap();
    let whole = map.as_object().unwrap().values().filter(|value| value.as_str().is_some()).count();
    assert!(whole <= 2, "{whole} bodies of 40 kB fitted into 100 kB");
    assert!(map.as_object().unwrap().values().any(
        |value| matches!(value, Value::Failure(failure) if failure.message.contains("bytes_max_total"))
    ));
}

#[tokio::test]
async fn a_compressed_body_is_decoded_and_a_bomb_stops_at_the_cap() {
    let zip = |body: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    };
    let good = Server::fixed(response("200 OK", "Content-Encoding: gzip\r\n", &zip(b"small"))).await;
    assert_eq!(fetch(&tool_for(&good), &good.url("/")).await.unwrap(), Value::from("small"));

    let packed = zip(&vec![0; 200 * 1024 * 1024]);
    assert!(packed.len() < 1024 * 1024);
    let bomb = Server::fixed(response("200 OK", "Content-Encoding: gzip\r\n", &packed)).await;
    let failure = fetch(&tool_for(&bomb), &bomb.url("/")).await.unwrap_err();
    assert_eq!(failure.code, "result_too_large");
    let seen = failure.details["observed"].to_json().as_i64().unwrap();
    assert!(seen < 6 * 1024 * 1024, "{seen} bytes were unpacked");

    let broken = Server::fixed(response("200 OK", "Content-Encoding: gzip\r\n", b"not gzip at all")).await;
    let failure = fetch(&tool_for(&broken), &broken.url("/")).await.unwrap_err();
    assert_eq!(failure.code, "fetch_failed");
}

#[tokio::test]
async fn a_cancelled_run_stops_waiting() {
    let server = Server::start(|stream, _| async move {
        tokio::time::sleep(Duration::from_secs(60)).await;
        drop(stream);
    })
    .await;
    let tool = tool_for(&server);
    let invocation = invocation(Value::from_json(json!({"urls": server.url("/")})).unwrap());
    invocation.cancellation.cancel();
    assert_eq!(tool.call(invocation).await.unwrap_err().code, ErrorCode::Cancelled.as_str());
}

#[tokio::test]
async fn a_header_cannot_be_smuggled_in_through_a_url() {
    let server = Server::start(|mut stream, head| async move {
        let lines = head.trim_end().lines().count();
        let _ = stream.write_all(&response("200 OK", "", format!("{lines} {head}").as_bytes())).await;
    })
    .await;
    let tool = tool_for(&server);
    for path in ["/\r\nX-Evil: 1", "/\nX-Evil: 1", "/a\tb", "/\0"] {
        assert_eq!(fetch(&tool, &server.url(path)).await.unwrap_err().code, "url_invalid", "{path:?}");
    }
    let escaped = fetch(&tool, &server.url("/%0d%0aX-Evil:%201")).await.unwrap();
    assert!(!escaped.as_str().unwrap().lines().any(|line| line.starts_with("X-Evil")));
}
