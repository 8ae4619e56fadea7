//! An MCP server that wants tokens, and the authorization server that gives them, on one port of loopback.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::Digest as _;
use tokio::net::TcpListener;

/// The prefix of every token and secret.
pub(super) const CANARY: &str = "canary-7f3a9zz";

/// What it does, and what it saw.
pub(super) struct Site {
    pub(super) base: String,
    pub(super) state: Arc<Mutex<Seen>>,
}

pub(super) struct Seen {
    base: String,
    /// How long tokens last, as the answers say.
    pub(super) expires_in: u64,
    /// The authorization server that the resource names; its own host where empty.
    pub(super) authority: String,
    /// It wants no token.
    pub(super) is_open: bool,
    pub(super) has_resource_metadata: bool,
    pub(super) has_metadata: bool,
    /// Its own metadata is where a refused message says, and nowhere else.
    pub(super) is_elsewhere: bool,
    pub(super) has_pkce: bool,
    pub(super) has_registration: bool,
    /// Instead of its own.
    pub(super) token_endpoint: String,
    pub(super) authorization_endpoint: String,
    pub(super) denies: bool,
    /// What it calls itself where it sends the browser back.
    pub(super) issuer_sent: String,
    pub(super) refuses_renewal: bool,
    pub(super) renewal_fails: bool,
    pub(super) token_hangs: bool,
    /// How long after a request it gives a token.
    pub(super) token_delay: Duration,
    pub(super) token_floods: bool,
    /// Refuses every message with this status, without a challenge.
    pub(super) status: Option<StatusCode>,
    /// A call needs this scope.
    pub(super) scope_needed: String,
    /// Tokens that hold.
    valid: Vec<String>,
    /// Tokens to renew with; each holds once.
    renewing: Vec<String>,
    code: Option<Given>,
    made: u32,
    /// The fields of each request for a token.
    pub(super) token_requests: Vec<Vec<(String, String)>>,
    pub(super) authorized: Vec<Vec<(String, String)>>,
    /// The `Authorization` of each message.
    pub(super) bearers: Vec<Option<String>>,
    /// Taken back after so many calls of tools.
    pub(super) revoke_after_calls: Option<u32>,
}

struct Given {
    code: String,
    challenge: String,
    redirect_uri: String,
    scope: String,
}

type Shared = Arc<Mutex<Seen>>;

impl Site {
    pub(super) async fn start() -> Self {
        install_tls();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(Seen {
            base: base.clone(),
            expires_in: 3600,
            authority: String::new(),
            is_open: false,
            has_resource_metadata: true,
            has_metadata: true,
            is_elsewhere: false,
            has_pkce: true,
            has_registration: true,
            token_endpoint: String::new(),
            authorization_endpoint: String::new(),
            denies: false,
            issuer_sent: String::new(),
            refuses_renewal: false,
            renewal_fails: false,
            token_hangs: false,
            token_delay: Duration::ZERO,
            token_floods: false,
            status: None,
            scope_needed: String::new(),
            valid: Vec::new(),
            renewing: Vec::new(),
            code: None,
            made: 0,
            token_requests: Vec::new(),
            authorized: Vec::new(),
            bearers: Vec::new(),
            revoke_after_calls: None,
        }));
        let router = Router::new()
            .route("/.well-known/oauth-protected-resource/mcp", get(resource_metadata))
            .route("/elsewhere", get(resource_metadata))
            .route("/.well-known/{name}", get(metadata))
            .route("/register", post(register))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .route("/mcp", post(message).get(no_stream))
            .with_state(state.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { base, state }
    }

    pub(super) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.state.lock().unwrap()
    }

    /// Takes back every token there is; those to renew with still hold.
    pub(super) fn revoke(&self) {
        self.seen().valid.clear();
    }

    pub(super) fn configuration(&self, rest: &str) -> String {
        format!("[mcp.far]\nurl = \"{}/mcp\"\n{rest}\n", self.base)
    }

    /// What a browser does whose person allows it: where it is sent to in the end.
    pub(super) async fn browse(address: &str) -> String {
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let answer = client.get(address).send().await.unwrap();
        assert!(answer.status().is_redirection(), "{}", answer.text().await.unwrap());
        answer.headers()["location"].to_str().unwrap().to_owned()
    }
}

/// For the clients of tests; luaplan's own bring theirs.
pub(super) fn install_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

impl Seen {
    fn tokens(&mut self, scope: &str) -> Value {
        self.made += 1;
        let (access, renew) =
            (format!("{CANARY}-access-{}", self.made), format!("{CANARY}-renew-{}", self.made));
        self.valid.push(access.clone());
        self.renewing.push(renew.clone());
        json!({ "access_token": access, "token_type": "Bearer", "expires_in": self.expires_in,
            "refresh_token": renew, "scope": scope, "id_token": format!("{CANARY}-id") })
    }

    /// How often a token was renewed.
    pub(super) fn renewals(&self) -> usize {
        self.token_requests.iter().filter(|request| field(request, "grant_type") == "refresh_token").count()
    }
}

pub(super) fn field<'a>(fields: &'a [(String, String)], name: &str) -> &'a str {
    fields.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
}

fn fields(text: &[u8]) -> Vec<(String, String)> {
    url::form_urlencoded::parse(text).into_owned().collect()
}

async fn resource_metadata(State(state): State<Shared>, at: axum::http::Uri) -> Response {
    let seen = state.lock().unwrap();
    if !seen.has_resource_metadata || seen.is_elsewhere != (at.path() == "/elsewhere") {
        return StatusCode::NOT_FOUND.into_response();
    }
    let authority = if seen.authority.is_empty() { &seen.base } else { &seen.authority };
    Json(json!({ "resource": format!("{}/mcp", seen.base), "authorization_servers": [authority],
        "scopes_supported": ["notes"] }))
    .into_response()
}

async fn metadata(State(state): State<Shared>, Path(name): Path<String>) -> Response {
    let seen = state.lock().unwrap();
    if !seen.has_metadata || name != "oauth-authorization-server" {
        return StatusCode::NOT_FOUND.into_response();
    }
    let or = |given: &str, path: &str| {
        if given.is_empty() { format!("{}{path}", seen.base) } else { given.to_owned() }
    };
    let mut metadata = json!({
        "issuer": seen.base,
        "authorization_endpoint": or(&seen.authorization_endpoint, "/authorize"),
        "token_endpoint": or(&seen.token_endpoint, "/token"),
        "response_types_supported": ["code"],
    });
    if seen.has_registration {
        metadata["registration_endpoint"] = json!(format!("{}/register", seen.base));
    }
    if seen.has_pkce {
        metadata["code_challenge_methods_supported"] = json!(["S256"]);
    }
    Json(metadata).into_response()
}

async fn register(Json(asked): Json<Value>) -> Response {
    assert_eq!(asked["client_name"], "luaplan");
    let answer = json!({ "client_id": "made-here", "client_secret": format!("{CANARY}-client"),
        "redirect_uris": asked["redirect_uris"] });
    (StatusCode::CREATED, Json(answer)).into_response()
}

async fn authorize(State(state): State<Shared>, RawQuery(query): RawQuery) -> Response {
    let asked = fields(query.unwrap_or_default().as_bytes());
    let mut seen = state.lock().unwrap();
    assert_eq!(field(&asked, "code_challenge_method"), "S256");
    let redirect_uri = field(&asked, "redirect_uri").to_owned();
    let mut target = url::Url::parse(&redirect_uri).unwrap();
    target.query_pairs_mut().append_pair("state", field(&asked, "state"));
    if !seen.issuer_sent.is_empty() {
        target.query_pairs_mut().append_pair("iss", &seen.issuer_sent);
    }
    if seen.denies {
        target.query_pairs_mut().append_pair("error", "access_denied");
        target.query_pairs_mut().append_pair("error_description", "the person\u{1b}[31m said no");
    } else {
        let code = format!("{CANARY}-code-{}", seen.authorized.len());
        target.query_pairs_mut().append_pair("code", &code);
        let challenge = field(&asked, "code_challenge").to_owned();
        let scope = field(&asked, "scope").to_owned();
        seen.code = Some(Given { code, challenge, redirect_uri, scope });
    }
    seen.authorized.push(asked);
    (StatusCode::FOUND, [("location", target.to_string())]).into_response()
}

async fn token(State(state): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    if state.lock().unwrap().token_hangs {
        tokio::time::sleep(Duration::from_secs(3600)).await;
    }
    let answer = token_now(&state, &headers, &fields(&body));
    let delay = state.lock().unwrap().token_delay;
    tokio::time::sleep(delay).await;
    answer
}

fn token_now(state: &Shared, headers: &HeaderMap, asked: &[(String, String)]) -> Response {
    let mut seen = state.lock().unwrap();
    seen.token_requests.push(asked.to_vec());
    if seen.token_floods {
        let endless =
            futures::stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from(vec![b' '; 65536])));
        return Body::from_stream(endless).into_response();
    }
    let refused = |error: &str| {
        let words = format!("no, not with {}", field(asked, "client_secret"));
        (StatusCode::BAD_REQUEST, Json(json!({ "error": error, "error_description": words }))).into_response()
    };
    match field(asked, "grant_type") {
        "authorization_code" => {
            let Some(given) = seen.code.take() else { return refused("invalid_grant") };
            let digest = sha2::Sha256::digest(field(asked, "code_verifier").as_bytes());
            let is_good = given.code == field(asked, "code")
                && given.redirect_uri == field(asked, "redirect_uri")
                && given.challenge == URL_SAFE_NO_PAD.encode(digest);
            if !is_good {
                return refused("invalid_grant");
            }
            Json(seen.tokens(&given.scope)).into_response()
        }
        "refresh_token" => {
            if seen.renewal_fails {
                return (StatusCode::INTERNAL_SERVER_ERROR, "out of order").into_response();
            }
            let with = field(asked, "refresh_token").to_owned();
            let known = seen.renewing.iter().position(|known| *known == with);
            let Some(known) = known.filter(|_| !seen.refuses_renewal) else {
                return refused("invalid_grant");
            };
            seen.renewing.remove(known);
            // The client it registered as has a secret: renewing has to show it.
            let basic =
                base64::engine::general_purpose::STANDARD.encode(format!("made-here:{CANARY}-client"));
            assert_eq!(headers["authorization"], format!("Basic {basic}"));
            Json(seen.tokens("notes")).into_response()
        }
        "client_credentials" => {
            let (id, secret) = (field(asked, "client_id"), field(asked, "client_secret"));
            if (id, secret) != ("service", &*format!("{CANARY}-service")) {
                return refused("invalid_client");
            }
            let mut answer = seen.tokens(field(asked, "scope"));
            answer.as_object_mut().unwrap().remove("refresh_token");
            Json(answer).into_response()
        }
        other => panic!("{other}"),
    }
}

async fn no_stream() -> StatusCode {
    StatusCode::METHOD_NOT_ALLOWED
}

async fn message(State(state): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let mut seen = state.lock().unwrap();
    let bearer = headers.get("authorization").map(|value| value.to_str().unwrap().to_owned());
    seen.bearers.push(bearer.clone());
    if let Some(status) = seen.status {
        return (status, "no").into_response();
    }
    let token = bearer.as_deref().and_then(|bearer| bearer.strip_prefix("Bearer ")).unwrap_or_default();
    let challenge = |status: StatusCode, challenge: String| {
        let mut answer = (status, "no").into_response();
        answer.headers_mut().insert("www-authenticate", HeaderValue::from_str(&challenge).unwrap());
        answer
    };
    if !seen.is_open && !seen.valid.iter().any(|valid| valid == token) {
        let base = &seen.base;
        let path = if seen.is_elsewhere { "elsewhere" } else { ".well-known/oauth-protected-resource/mcp" };
        let metadata = format!("Bearer resource_metadata=\"{base}/{path}\", scope=\"asked-for\"");
        return challenge(StatusCode::UNAUTHORIZED, metadata);
    }
    let asked: Value = serde_json::from_slice(&body).unwrap();
    let Some(id) = asked.get("id") else { return StatusCode::ACCEPTED.into_response() };
    let result = match asked["method"].as_str().unwrap() {
        "initialize" => json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
            "serverInfo": { "name": "far", "version": "1" } }),
        "tools/list" => json!({ "tools": [{ "name": "echo", "description": "Says who asks.",
            "inputSchema": { "type": "object", "properties": { "fail": { "type": "boolean" } } },
            "annotations": { "readOnlyHint": true } }] }),
        "tools/call" => {
            if !seen.scope_needed.is_empty() {
                let scope = &seen.scope_needed;
                let words = format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
                return challenge(StatusCode::FORBIDDEN, words);
            }
            let left = seen.revoke_after_calls.map(|left| left.saturating_sub(1));
            seen.revoke_after_calls = left;
            if left == Some(0) {
                seen.valid.clear();
            }
            let fails = asked["params"]["arguments"]["fail"] == true;
            json!({ "content": [{ "type": "text", "text": format!("you are {}", bearer.unwrap_or_default()) }],
                "isError": fails })
        }
        other => {
            let error = json!({ "code": -32601, "message": format!("no {other}") });
            return Json(json!({ "jsonrpc": "2.0", "id": id, "error": error })).into_response();
        }
    };
    Json(json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_response()
}
