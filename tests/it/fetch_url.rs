//! `fetch_url` against servers that behave.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Redirect;
use axum::routing::get;
use luaplan::base::{ToolFailure, Value};
use luaplan::tools::fetch_url::{FetchUrl, FetchUrlSettings, HostLookup};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::fetch_url_parts::{Names, Server, allowing, call, fetch, response, spec, tool, tool_for};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\xff\xfe";

/// An axum server; its address and its stop.
async fn site() -> (String, tokio::task::JoinHandle<()>) {
    let router = Router::new()
        .route("/text", get(|| async { "grüße" }))
        .route("/picture.png", get(|| async { ([(header::CONTENT_TYPE, "image/png")], PNG) }))
        .route(
            "/latin1",
            get(|| async {
                ([(header::CONTENT_TYPE, "text/plain; charset=iso-8859-1")], &b"gr\xfc\xdfe"[..])
            }),
        )
        .route("/empty", get(|| async { StatusCode::NO_CONTENT }))
        .route("/to-text", get(|| async { Redirect::permanent("/text") }))
        .route("/to-text-twice", get(|| async { Redirect::temporary("to-text?x=1") }))
        .route(
            "/agent",
            get(|headers: HeaderMap| async move { headers[header::USER_AGENT].as_bytes().to_vec() }),
        )
        .route(
            "/x-key",
            get(|headers: HeaderMap| async move {
                headers.get("x-key").map_or(b"none".to_vec(), |value| value.as_bytes().to_vec())
            }),
        );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (address, tokio::spawn(async move { axum::serve(listener, router).await.unwrap() }))
}

fn failure(value: &Value) -> &ToolFailure {
    match value {
        Value::Failure(failure) => failure,
        other => panic!("not a failure: {other:?}"),
    }
}

#[tokio::test]
async fn one_url_gives_its_body_and_a_picture_arrives_byte_for_byte() {
    let (address, _server) = site().await;
    let tool = tool(allowing([address.clone()]));
    assert_eq!(fetch(&tool, &format!("http://{address}/text")).await.unwrap(), Value::from("grüße"));
    let picture = fetch(&tool, &format!("http://{address}/picture.png")).await.unwrap();
    assert_eq!(picture, Value::Bytes(PNG.into()));
    let latin1 = fetch(&tool, &format!("http://{address}/latin1")).await.unwrap();
    assert_eq!(latin1.as_bytes(), Some(&b"gr\xfc\xdfe"[..]));
    assert_eq!(fetch(&tool, &format!("http://{address}/empty")).await.unwrap(), Value::from(""));
    let agent = fetch(&tool, &format!("http://{address}/agent")).await.unwrap();
    assert_eq!(agent, Value::from(concat!("luaplan/", env!("CARGO_PKG_VERSION"))));
}

#[tokio::test]
async fn a_list_gives_a_map_by_the_urls_asked_where_a_failed_one_is_a_failure() {
    let (address, _server) = site().await;
    let tool = tool(allowing([address.clone()]));
    let url = |path: &str| format!("http://{address}{path}");
    let urls = [
        url("/to-text-twice"),
        url("/missing"),
        "http://192.168.0.1/".to_owned(),
        "nonsense".to_owned(),
        url("/text"),
    ];
    for arguments in [json!({"urls": urls, "batch": true}), json!({"urls": urls})] {
        let map = call(&tool, arguments).await.unwrap();
        let map = map.as_object().unwrap();
        assert_eq!(map.keys().collect::<Vec<_>>(), urls.iter().collect::<Vec<_>>());
        assert_eq!(map[&urls[0]], Value::from("grüße"));
        assert_eq!(failure(&map[&urls[1]]).code, "http_status");
        assert_eq!(failure(&map[&urls[2]]).code, "url_blocked");
        assert_eq!(failure(&map[&urls[3]]).code, "url_invalid");
        assert_eq!(failure(&map[&urls[3]]).details["url"], Value::from("nonsense"));
    }
    let one = call(&tool, json!({"urls": url("/text"), "batch": true})).await.unwrap();
    assert_eq!(one.get(&url("/text")), Some(&Value::from("grüße")));
    assert_eq!(
        call(&tool, json!({"urls": [], "batch": true})).await.unwrap(),
        Value::Object(Default::default())
    );
}

#[tokio::test]
async fn with_detail_a_result_has_status_headers_type_body_and_final_url() {
    let (address, _server) = site().await;
    let tool = tool(allowing([address.clone()]));
    let detail =
        call(&tool, json!({"urls": format!("http://{address}/to-text"), "detail": true})).await.unwrap();
    assert_eq!(detail.get("status"), Some(&Value::Integer(200)));
    assert_eq!(detail.get("content_type"), Some(&Value::from("text/plain; charset=utf-8")));
    assert_eq!(detail.get("body"), Some(&Value::from("grüße")));
    assert_eq!(detail.get("url"), Some(&Value::from(format!("http://{address}/text"))));
    assert_eq!(detail.get("headers").unwrap().get("content-length"), Some(&Value::from("7")));
    let head =
        call(&tool, json!({"urls": format!("http://{address}/text"), "detail": true, "method": "HEAD"}))
            .await
            .unwrap();
    assert_eq!(head.get("body"), Some(&Value::from("")));
    assert_eq!(head.get("headers").unwrap().get("content-length"), Some(&Value::from("7")));
}

#[tokio::test]
async fn a_status_that_is_not_2xx_fails_with_the_status_and_what_the_server_said() {
    for (line, retryable) in [
        ("404 Not Found", false),
        ("400 Bad Request", false),
        ("500 Oops", true),
        ("503 Busy", true),
        ("304 Not Modified", false),
    ] {
        let server =
            Server::fixed(response(line, "", if line.starts_with("304") { b"" } else { b"because" })).await;
        let failure = fetch(&tool_for(&server), &server.url("/")).await.unwrap_err();
        assert_eq!(failure.code, "http_status", "{line}");
        assert_eq!(failure.retryable, retryable, "{line}");
        assert_eq!(failure.details["status"], Value::Integer(line[..3].parse().unwrap()));
        if !line.starts_with("304") {
            assert_eq!(failure.details["body"], Value::from("because"));
        }
    }
    let server = Server::fixed(response("429 Too Many Requests", "Retry-After: 7\r\n", &[b'x'; 9000])).await;
    let failure = fetch(&tool_for(&server), &server.url("/")).await.unwrap_err();
    assert!(failure.retryable);
    assert_eq!(failure.details["retry_after_ms"], Value::Integer(7000));
    assert_eq!(failure.details["body"].as_str().unwrap().len(), 2048);
}

#[tokio::test]
async fn a_url_asked_twice_is_fetched_once() {
    let server = Server::fixed(response("200 OK", "", b"once")).await;
    let url = server.url("/");
    let map = call(&tool_for(&server), json!({"urls": [url, url, url]})).await.unwrap();
    assert_eq!(map.as_object().unwrap().len(), 1);
    assert_eq!(server.requests(), 1);
}

#[tokio::test]
async fn a_batch_asks_no_more_at_once_than_configured() {
    let under_way = Arc::new(std::sync::Mutex::new((0_usize, 0_usize)));
    let seen = under_way.clone();
    let server = Server::start(move |mut stream, _| {
        let under_way = under_way.clone();
        async move {
            {
                let mut counts = under_way.lock().unwrap();
                counts.0 += 1;
                counts.1 = counts.1.max(counts.0);
            }
            tokio::time::sleep(std::time::Duration::from_millis(30)).await;
            under_way.lock().unwrap().0 -= 1;
            let _ = stream.write_all(&response("200 OK", "", b"x")).await;
        }
    })
    .await;
    let tool = tool(FetchUrlSettings { batch_concurrency: 3, ..allowing([server.address.to_string()]) });
    let urls: Vec<String> = (0..12).map(|number| server.url(&format!("/{number}"))).collect();
    let map = call(&tool, json!({"urls": urls})).await.unwrap();
    assert!(map.as_object().unwrap().values().all(|body| *body == Value::from("x")));
    assert_eq!(seen.lock().unwrap().1, 3);
}

#[tokio::test]
async fn headers_of_a_plan_reach_the_server_but_not_another_origin_it_redirects_to() {
    let (address, _server) = site().await;
    let target = format!("Location: http://{address}/x-key\r\n");
    let other = Server::fixed(response("302 Found", &target, b"")).await;
    let tool = tool(allowing([address.clone(), other.address.to_string()]));
    let with_key = |url: String| json!({"urls": url, "headers": {"X-Key": "secret"}});
    let direct = call(&tool, with_key(format!("http://{address}/x-key"))).await.unwrap();
    assert_eq!(direct, Value::from("secret"));
    let redirected = call(&tool, with_key(other.url("/"))).await.unwrap();
    assert_eq!(redirected, Value::from("none"));
}

#[tokio::test]
async fn a_name_leads_to_a_private_address_only_where_it_is_named() {
    let server = Server::fixed(response("200 OK", "", b"inside")).await;
    let port = server.address.port();
    let url = format!("http://intranet.example:{port}/");
    let with = |hosts: &[&str]| {
        let settings = FetchUrlSettings {
            allow_hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            ..FetchUrlSettings::default()
        };
        let names = Names(vec![("intranet.example", [127, 0, 0, 1].into())]);
        FetchUrl::with_lookup(spec(std::time::Duration::from_secs(10)), settings, Arc::new(names)).unwrap()
    };
    assert_eq!(fetch(&with(&["intranet.example"]), &url).await.unwrap(), Value::from("inside"));
    for hosts in [&[][..], &["*"], &["*.example"], &["intranet.example:1", "*"]] {
        let failure = fetch(&with(hosts), &url).await.unwrap_err();
        assert_eq!(failure.code, "url_blocked", "{hosts:?}");
        assert_eq!(failure.details["rule"], Value::from("loopback"), "{hosts:?}");
        assert!(!failure.message.contains("127.0.0.1"), "{}", failure.message);
    }
    assert_eq!(server.requests(), 1);
    let unknown = fetch(&with(&[]), "http://nowhere.example/").await.unwrap_err();
    assert_eq!(unknown.code, "fetch_failed");
    assert!(unknown.retryable);
}

/// A name that leads somewhere else each time it is asked for, and counts how often that is.
struct Turning(Mutex<Vec<IpAddr>>);

#[async_trait]
impl HostLookup for Turning {
    async fn lookup(&self, _host: &str) -> std::io::Result<Vec<IpAddr>> {
        Ok(vec![self.0.lock().unwrap().remove(0)])
    }
}

#[tokio::test]
async fn a_connection_goes_where_its_one_lookup_led() {
    let server = Server::fixed(response("200 OK", "", b"inside")).await;
    let url = format!("http://turning.example:{}/", server.address.port());
    // A name on the list may lead inwards, but never to the metadata service.
    let settings =
        FetchUrlSettings { allow_hosts: vec!["turning.example".to_owned()], ..FetchUrlSettings::default() };
    let answers = vec![[127, 0, 0, 1].into(), [169, 254, 169, 254].into(), [127, 0, 0, 1].into()];
    let names = Arc::new(Turning(Mutex::new(answers)));
    let tool = FetchUrl::with_lookup(spec(Duration::from_secs(10)), settings, names.clone()).unwrap();
    assert_eq!(fetch(&tool, &url).await.unwrap(), Value::from("inside"));
    assert_eq!(names.0.lock().unwrap().len(), 2, "one question for one connection");
    assert_eq!(fetch(&tool, &url).await.unwrap_err().code, "url_blocked");
    assert_eq!(names.0.lock().unwrap().len(), 1);
    assert_eq!(fetch(&tool, &url).await.unwrap(), Value::from("inside"));
    assert_eq!(server.requests(), 2);
}

#[tokio::test]
async fn a_name_that_turns_inwards_is_never_connected_to() {
    let server = Server::fixed(response("200 OK", "", b"inside")).await;
    let url = format!("http://turning.example:{}/", server.address.port());
    let answers = ["127.0.0.1", "10.0.0.7", "169.254.169.254", "::1", "::ffff:127.0.0.1"];
    let names = Arc::new(Turning(Mutex::new(answers.map(|answer| answer.parse().unwrap()).to_vec())));
    let settings = FetchUrlSettings::default();
    let tool = FetchUrl::with_lookup(spec(Duration::from_secs(10)), settings, names.clone()).unwrap();
    for (asked, answer) in (1..).zip(answers) {
        assert_eq!(fetch(&tool, &url).await.unwrap_err().code, "url_blocked", "{answer}");
        assert_eq!(names.0.lock().unwrap().len(), answers.len() - asked, "one question for one connection");
    }
    assert_eq!(server.requests(), 0);
}
