//! Tools of the kind `http` against a real server.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::any;
use luaplan::base::Value;
use serde_json::{Value as Json, json};

use super::{Shop, manifest};

/// What a server was asked, and where it is.
pub(crate) struct Site {
    pub(crate) address: String,
    pub(crate) asked: Arc<Mutex<Vec<Json>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Site {
    pub(crate) async fn start() -> Self {
        let asked: Arc<Mutex<Vec<Json>>> = Arc::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let app = Router::new()
            .route("/items", any(items))
            .route("/cursor", any(cursor))
            .route("/to-items", any(|| async { Redirect::temporary("/items?page=3") }))
            .route("/away", any(|| async { Redirect::temporary("http://127.0.0.1:1/x") }))
            .route("/dotnet", any(dotnet))
            .route("/text", any(|| async { "plain" }))
            .route("/big", any(|| async { "x".repeat(200_000) }))
            .route(
                "/broken",
                any(|| async {
                    (StatusCode::UNPROCESSABLE_ENTITY, "{\"error\": {\"message\": \"no such colour\"}}")
                }),
            )
            .fallback(echo)
            .with_state(asked.clone());
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { address, asked, task }
    }

    pub(crate) fn hosts(&self) -> String {
        format!("[\"{}\"]", self.address)
    }

    fn last(&self) -> Json {
        self.asked.lock().unwrap().last().cloned().unwrap()
    }
}

/// Answers with what it was asked.
async fn echo(
    State(asked): State<Arc<Mutex<Vec<Json>>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: String,
) -> Response {
    if uri.path().starts_with("/missing") {
        return (StatusCode::NOT_FOUND, "gone").into_response();
    }
    let headers: serde_json::Map<String, Json> = headers
        .iter()
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into()))
        .collect();
    let seen = json!({ "method": method.as_str(), "uri": uri.to_string(), "headers": headers, "body": body });
    asked.lock().unwrap().push(seen.clone());
    axum::Json(seen).into_response()
}

/// Says the key it was shown as .NET writes JSON, as a text inside its answer.
async fn dotnet(State(asked): State<Arc<Mutex<Vec<Json>>>>, headers: HeaderMap) -> Response {
    let key = headers.get("x-key").map_or("", |value| value.to_str().unwrap());
    asked.lock().unwrap().push(json!({ "key": key }));
    let written: String = key
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_string() } else { format!("\\u{:04X}", u32::from(c)) })
        .collect();
    axum::Json(json!({ "log": format!("{{\"key\":\"{written}\"}}") })).into_response()
}

/// Seven items, three a page; with a `Link` header and a link in the answer.
async fn items(RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let number = |name: &str| {
        url::form_urlencoded::parse(query.as_bytes())
            .find(|(key, _)| key == name)
            .and_then(|(_, value)| value.parse::<usize>().ok())
    };
    let first = number("offset").unwrap_or((number("page").unwrap_or(1) - 1) * 3);
    let page: Vec<Json> = (first..7.min(first + 3))
        .map(|id| json!({ "id": id, "attributes": { "name": format!("n{id}") } }))
        .collect();
    let next = (first + 3 < 7).then(|| format!("/items?page={}", first / 3 + 2));
    let body = axum::Json(json!({ "data": page, "links": { "next": next } }));
    match next {
        Some(next) => ([("link", format!("<{next}>; rel=\"next\""))], body).into_response(),
        None => body.into_response(),
    }
}

/// Pages by cursor, the last link leading away.
async fn cursor(headers: HeaderMap, RawQuery(query): RawQuery) -> Response {
    let host = headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or_default();
    let signed = format!("http://user:secret@{host}/cursor?after=b%2F2");
    let query = query.unwrap_or_default();
    let (items, next) =
        if query.contains("after=b%2F2") { (json!([3]), Json::Null) } else { (json!([1, 2]), json!("b/2")) };
    axum::Json(json!({ "items": items, "next": next, "away": "http://127.0.0.1:1/next", "signed": signed }))
        .into_response()
}

const ANY: &str = "{ id = { type = [\"string\", \"integer\"] }, words = { type = \"string\" }, tags = { type = \"array\" } }";

/// One tool `t` with these settings, allowed to reach the site.
async fn shop(site: &Site, effect: &str, settings: &str) -> Shop {
    let text =
        manifest("t", "http", effect, ANY, &settings.replace("SITE", &format!("http://{}", site.address)));
    Shop::open(&[("t", &text)], &[("tools.t.allow_hosts", &site.hosts())], &[]).await
}

#[tokio::test]
async fn each_part_of_a_request_comes_from_the_manifest_and_its_arguments() {
    let site = Site::start().await;
    let settings = r#"
        [settings]
        method = "POST"
        url = "SITE/v1/{id}/notes?kind={words}"
        query = { tag = "{tags}", id = "{id}", none = "{words}" }
        headers = { "X-Note" = "about {id}", "X-None" = "{words}" }
        idempotency_header = "Idempotency-Key"
        [settings.body]
        json = { id = "{id}", tags = "{tags}", nested = { text = "Words: {words}" } }"#;
    let text = settings.replace("required", "");
    let manifest_text = manifest(
        "t",
        "http",
        "write",
        "{ id = { type = \"integer\" }, words = { type = \"string\", default = \"a&b\" }, tags = { type = \"array\" } }\nrequired = [\"id\"]",
        &text.replace("SITE", &format!("http://{}", site.address)),
    );
    let shop = Shop::open(&[("t", &manifest_text)], &[("tools.t.allow_hosts", &site.hosts())], &[]).await;
    let answer = shop.call("t", json!({"id": 7, "tags": ["x", "y z"]})).await.unwrap().to_json();
    assert_eq!(answer["method"], "POST");
    assert_eq!(answer["uri"], "/v1/7/notes?kind=a%26b&tag=x&tag=y+z&id=7&none=a%26b");
    assert_eq!(answer["headers"]["x-note"], "about 7");
    assert_eq!(answer["headers"]["content-type"], "application/json");
    assert_eq!(answer["headers"]["idempotency-key"], "run-1.call-1");
    let body: Json = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
    assert_eq!(body, json!({"id": 7, "tags": ["x", "y z"], "nested": {"text": "Words: a&b"}}));
    assert_eq!(site.last()["uri"], answer["uri"]);
}

#[tokio::test]
async fn a_form_and_a_text_are_bodies_too() {
    let site = Site::start().await;
    let form = shop(&site, "send", "[settings]\nmethod = \"PUT\"\nurl = \"SITE/f\"\nbody = { form = { w = \"{words}\", t = \"{tags}\" } }").await;
    let answer = form.call("t", json!({"words": "a=b c", "tags": [1, 2]})).await.unwrap().to_json();
    assert_eq!(answer["body"], "w=a%3Db+c&t=1&t=2");
    assert_eq!(answer["headers"]["content-type"], "application/x-www-form-urlencoded");
    let settings = "required = [\"words\"]\n[settings]\nmethod = \"POST\"\nonly_reads = true\nurl = \"SITE/x\"\nbody = { text = \"<q>{words}</q>\" }\nheaders = { Content-Type = \"application/xml\" }";
    let text = shop(&site, "read", settings).await;
    let answer = text.call("t", json!({"words": "ü"})).await.unwrap().to_json();
    assert_eq!(
        (&answer["body"], &answer["headers"]["content-type"]),
        (&json!("<q>ü</q>"), &json!("application/xml"))
    );
}

#[tokio::test]
async fn results_are_mapped_and_checked_by_the_manifest() {
    let site = Site::start().await;
    let mapped = "[settings]\nurl = \"SITE/items\"\n[settings.response]\npointer = \"/data\"\nfields = { id = \"/id\", name = \"/attributes/name\", none = \"/x\" }";
    let answer = shop(&site, "read", mapped).await.call("t", json!({})).await.unwrap().to_json();
    assert_eq!(answer[1], json!({"id": 1, "name": "n1", "none": null}));

    let text = shop(&site, "read", "[settings]\nurl = \"SITE/text\"\nresponse = { format = \"text\" }").await;
    assert_eq!(text.call("t", json!({})).await.unwrap(), Value::from("plain"));

    for (settings, part) in [
        ("[settings]\nurl = \"SITE/text\"", "not JSON"),
        ("[settings]\nurl = \"SITE/items\"\nresponse = { pointer = \"/rows\" }", "nothing at `/rows`"),
        ("[settings]\nurl = \"SITE/items\"\n[result]\ntype = \"array\"", "not what its manifest says"),
    ] {
        let failure = shop(&site, "read", settings).await.call("t", json!({})).await.unwrap_err();
        assert_eq!(failure.code, "response_invalid", "{settings}");
        assert!(failure.message.contains(part), "{}", failure.message);
    }

    let absent =
        shop(&site, "read", "[settings]\nurl = \"SITE/missing\"\nresponse = { null_on = [404] }").await;
    assert_eq!(absent.call("t", json!({})).await.unwrap(), Value::Null);
    let failing = shop(
        &site,
        "read",
        "[settings]\nurl = \"SITE/broken\"\nresponse = { error_message = \"/error/message\" }",
    )
    .await;
    let failure = failing.call("t", json!({})).await.unwrap_err();
    assert_eq!(
        (failure.code.as_str(), failure.details["status"].clone()),
        ("http_status", Value::Integer(422))
    );
    assert!(failure.message.ends_with(": no such colour"), "{}", failure.message);
}

#[tokio::test]
async fn pages_are_followed_to_their_end_and_no_further_than_allowed() {
    let site = Site::start().await;
    let pages = [
        ("items", "by = \"link_header\"\nmax = 5", 7),
        ("items", "by = \"next_link\"\npointer = \"/links/next\"\nmax = 5", 7),
        ("items", "by = \"page\"\nparameter = \"page\"\nsize = 3\nmax = 5", 7),
        ("items", "by = \"page\"\nparameter = \"page\"\nmax = 5", 7),
        ("items", "by = \"offset\"\nparameter = \"offset\"\nfirst = 0\nsize = 3\nmax = 3", 7),
        ("items", "by = \"link_header\"\nmax = 2\non_more = \"stop\"", 6),
    ];
    for (path, pages, expected) in pages {
        let settings = format!(
            "[settings]\nurl = \"SITE/{path}\"\nresponse = {{ pointer = \"/data\", fields = {{ id = \"/id\" }} }}\n[settings.pages]\n{pages}"
        );
        let answer = shop(&site, "read", &settings).await.call("t", json!({})).await.unwrap().to_json();
        let ids: Vec<i64> =
            answer.as_array().unwrap().iter().map(|item| item["id"].as_i64().unwrap()).collect();
        assert_eq!(ids, (0..expected).collect::<Vec<_>>(), "{pages}");
    }
    let cursor = "[settings]\nurl = \"SITE/cursor\"\nresponse = { pointer = \"/items\" }\n[settings.pages]\nby = \"cursor\"\npointer = \"/next\"\nparameter = \"after\"\nmax = 5";
    assert_eq!(
        shop(&site, "read", cursor).await.call("t", json!({})).await.unwrap().to_json(),
        json!([1, 2, 3])
    );
    let capped = "[settings]\nurl = \"SITE/items\"\nresponse = { pointer = \"/data\" }\n[settings.pages]\nby = \"link_header\"\nmax = 2";
    let failure = shop(&site, "read", capped).await.call("t", json!({})).await.unwrap_err();
    assert_eq!(
        (failure.code.as_str(), failure.details["limit"].clone()),
        ("result_too_large", Value::Integer(2))
    );
    let away = cursor
        .replace("by = \"cursor\"", "by = \"next_link\"")
        .replace("\"/next\"", "\"/away\"")
        .replace("parameter = \"after\"\n", "");
    let failure = shop(&site, "read", &away).await.call("t", json!({})).await.unwrap_err();
    assert_eq!(
        (failure.code.as_str(), failure.details["rule"].clone()),
        ("url_blocked", Value::from("other_host"))
    );
    let signed = away.replace("\"/away\"", "\"/signed\"");
    let failure = shop(&site, "read", &signed).await.call("t", json!({})).await.unwrap_err();
    assert_eq!(failure.code, "url_invalid", "{failure:?}");
    assert!(!failure.message.contains("secret"), "{failure:?}");
}

#[tokio::test]
async fn a_tool_stays_on_its_host_and_private_hosts_need_a_grant() {
    let site = Site::start().await;
    let followed =
        shop(&site, "read", "[settings]\nurl = \"SITE/to-items\"\nresponse = { pointer = \"/data\" }").await;
    assert_eq!(followed.call("t", json!({})).await.unwrap().to_json()[0]["id"], 6);
    let away = shop(&site, "read", "[settings]\nurl = \"SITE/away\"").await;
    let failure = away.call("t", json!({})).await.unwrap_err();
    assert_eq!(
        (failure.code.as_str(), failure.details["rule"].clone()),
        ("url_blocked", Value::from("other_host"))
    );
    let posted = shop(&site, "write", "[settings]\nmethod = \"POST\"\nurl = \"SITE/to-items\"").await;
    assert_eq!(posted.call("t", json!({})).await.unwrap_err().code, "http_status");

    let text =
        manifest("t", "http", "read", ANY, &format!("[settings]\nurl = \"http://{}/x\"", site.address));
    let ungranted = Shop::open(&[("t", &text)], &[("tools.fetch_url.allow_hosts", &site.hosts())], &[]).await;
    let failure = ungranted.call("t", json!({})).await.unwrap_err();
    assert_eq!(
        (failure.code.as_str(), failure.details["rule"].clone()),
        ("url_blocked", Value::from("loopback"))
    );
    let elsewhere = Shop::open(&[("t", &text)], &[("tools.t.allow_hosts", "[\"example.com\"]")], &[]).await;
    assert_eq!(elsewhere.call("t", json!({})).await.unwrap_err().details["rule"], Value::from("allow_list"));
    assert!(site.asked.lock().unwrap().is_empty(), "nothing was asked");

    let big =
        format!("[settings]\nurl = \"http://{}/big\"\nresponse = {{ format = \"text\" }}", site.address);
    let text = manifest("t", "http", "read", ANY, &big);
    let settings = [("tools.t.allow_hosts", &*site.hosts()), ("tools.t.bytes_max", "\"64KiB\"")];
    let failure = Shop::open(&[("t", &text)], &settings, &[]).await.call("t", json!({})).await.unwrap_err();
    assert_eq!(
        (failure.code.as_str(), failure.details["limit"].clone()),
        ("result_too_large", Value::Integer(65536))
    );
}

#[tokio::test]
async fn secrets_go_where_the_manifest_says_and_come_back_nowhere() {
    let site = Site::start().await;
    let cases = [
        ("{ bearer = \"key\" }", "authorization", "Bearer s3cret-value"),
        ("{ basic = { user = \"me\", password = \"key\" } }", "authorization", "Basic bWU6czNjcmV0LXZhbHVl"),
        ("{ header = { name = \"X-Key\", secret = \"key\" } }", "x-key", "s3cret-value"),
        ("{ query = { name = \"key\", secret = \"key\" } }", "", ""),
    ];
    for (auth, header, expected) in cases {
        let settings = format!("[settings]\nurl = \"http://{}/echo\"\nauth = {auth}", site.address);
        let text = manifest("t", "http", "read", ANY, &settings);
        let configuration = [("tools.t.allow_hosts", &*site.hosts()), ("secrets.key.env", "\"KEY\"")];
        let shop = Shop::open(&[("t", &text)], &configuration, &[("KEY", "s3cret-value")]).await;
        let answer = shop.call("t", json!({})).await.unwrap().to_json();
        let sent = site.last();
        if header.is_empty() {
            assert_eq!(sent["uri"], "/echo?key=s3cret-value");
        } else {
            assert_eq!(sent["headers"][header], expected);
        }
        // The server repeats what it was sent; the plan does not see it.
        let seen = answer.to_string();
        assert!(
            !seen.contains("s3cret") && !seen.contains("czNjcmV0") && !seen.contains("zM2NyZXQ"),
            "{seen}"
        );
        let shape =
            shop.app.tools().tool("t").unwrap().request_shape(&Value::Null).unwrap().unwrap().to_string();
        assert!(shape.contains("secret") && !shape.contains("s3cret"), "{shape}");
        let missing = Shop::open(&[("t", &text)], &configuration, &[]).await;
        let failure = missing.call("t", json!({})).await.unwrap_err();
        assert_eq!(failure.code, "tool_not_configured");
        assert!(failure.message.contains("$KEY"), "{}", failure.message);
        assert!(missing.app.tools().usable().get("t").is_none(), "no prompt names it");
    }
}
