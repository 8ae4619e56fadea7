//! Requests to authorization servers: every address judged, every answer bounded, no token in a log.
//!
//! Documents of the MCP server name their hosts, so the rules for hosts that plans name apply: private
//! addresses only where granted, and only https beyond loopback.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, LOCATION, WWW_AUTHENTICATE};
use http::{Method, Request, Response, StatusCode};
use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRedirectPolicy, OAuthHttpRequest,
};
use secrecy::SecretString;
use serde_json::{Value as Json, json};
use url::{Host, Url};

use luaplan_base::{ErrorCode, Result, ToolFailure};

use crate::manifest::Scrubber;
use crate::mcp::settings::OAuthSettings;
use crate::net::allow_list::AllowList;
use crate::net::client::{ClientSettings, Clients};
use crate::net::failure::{from_client, timed_out};
use crate::net::guard::{SystemLookup, admit, blocked, check_form};

/// The longest wait for one answer. More than the client waits for the next byte, so that a server that says nothing is
/// told apart from one that does not come to an end.
const ANSWER_MAX: Duration = Duration::from_secs(15);
/// No document or token of an authorization server is longer.
const BODY_BYTES_MAX: usize = 256 * 1024;
const REDIRECTS_MAX: u32 = 3;

/// The members kept of an answer with tokens. Others are not needed, may be secret, and would be logged.
const TOKEN_MEMBERS: [&str; 8] = [
    "access_token",
    "token_type",
    "expires_in",
    "refresh_token",
    "scope",
    "error",
    "error_description",
    "error_uri",
];

/// The secret fields of a token request.
const SECRET_FIELDS: [&str; 4] = ["code", "code_verifier", "refresh_token", "client_secret"];

/// How an MCP server answers a request without a token.
pub(super) enum Greeting {
    /// It answers.
    Welcome,
    /// It requires a token, and may say in its challenge where to get one.
    Refusal(Option<String>),
    /// It fails, or does not answer.
    Fault,
}

/// The client for the authorization server of one MCP server.
pub(super) struct OAuthExchange {
    clients: Clients,
    allow: AllowList,
    /// The configuration key that allows more hosts, for messages.
    key: String,
    failure: Mutex<Option<ToolFailure>>,
}

impl OAuthExchange {
    /// The MCP server's own host is configured and may have any address. A configured secret goes only to named
    /// hosts, as the MCP server could otherwise direct it anywhere.
    pub(super) fn new(server: &str, url: &Url, settings: &OAuthSettings) -> Result<Self> {
        let key = format!("mcp.{server}.oauth.allow_hosts");
        let mut allow = if settings.client_secret.is_some() && settings.allow_hosts.is_empty() {
            AllowList::none()
        } else {
            AllowList::parse_under(&key, &settings.allow_hosts)?
        };
        if let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) {
            allow = allow.and_named(&host, port);
        }
        let clients = Clients::build(server, &ClientSettings::default(), Arc::new(SystemLookup))?;
        Ok(Self { clients, allow, key, failure: Mutex::default() })
    }

    /// Why the last exchange failed, where one did: the library's error has less detail.
    pub(super) fn take_failure(&self) -> Option<ToolFailure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// How the MCP server at `url` answers a request without a token. Many challenge only messages, while the
    /// library tries a plain GET.
    pub(super) async fn greeting(&self, url: &Url) -> Greeting {
        let asked = tokio::time::timeout(ANSWER_MAX, self.greeted(url)).await;
        let Some(response) = asked.ok().flatten() else { return Greeting::Fault };
        if response.status().is_success() {
            return Greeting::Welcome;
        }
        if response.status() != StatusCode::UNAUTHORIZED {
            return Greeting::Fault;
        }
        let said = response.headers().get_all(WWW_AUTHENTICATE).iter();
        let said: Vec<&str> = said.filter_map(|value| value.to_str().ok()).collect();
        let pointing = said.iter().find(|value| value.contains("resource_metadata"));
        Greeting::Refusal(pointing.or(said.first()).map(|value| (*value).to_owned()))
    }

    async fn greeted(&self, url: &Url) -> Option<reqwest::Response> {
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "luaplan", "version": env!("CARGO_PKG_VERSION") } } });
        let request = Request::post(url.as_str())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .body(hello.to_string().into_bytes())
            .ok()?;
        self.ask(&request, url).await.ok()
    }

    async fn answer(&self, asked: OAuthHttpRequest) -> Result<Response<Vec<u8>>, ToolFailure> {
        let OAuthHttpRequest { request, redirect_policy, .. } = asked;
        let holds_token = request
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"application/x-www-form-urlencoded"));
        let may_follow =
            redirect_policy == OAuthHttpRedirectPolicy::Follow && request.method() == Method::GET;
        let mut redirects = 0;
        let mut url = Url::parse(&request.uri().to_string())
            .map_err(|error| ToolFailure::new(ErrorCode::UrlInvalid, format!("no address: {error}")))?;
        let response = loop {
            let response = self.ask(&request, &url).await?;
            let target = response.headers().get(LOCATION).and_then(|target| target.to_str().ok());
            let target = target.and_then(|target| url.join(target).ok());
            match target {
                Some(target) if may_follow && response.status().is_redirection() => {
                    redirects += 1;
                    if redirects > REDIRECTS_MAX {
                        let message = format!("more than {REDIRECTS_MAX} redirects");
                        return Err(ToolFailure::new(ErrorCode::TooManyRedirects, message));
                    }
                    url = target;
                }
                _ => break response,
            }
        };
        let mut answer = Response::builder().status(response.status());
        for (name, value) in response.headers() {
            answer = answer.header(name, value);
        }
        let is_token = holds_token && response.status().is_success();
        let mut body = read(response).await?;
        if is_token {
            body = tokens_alone(body)?;
        } else if holds_token {
            body = without_what_was_sent(&request, &body);
        }
        let unusable = |error| ToolFailure::new(ErrorCode::FetchFailed, format!("no answer: {error}"));
        answer.body(body).map_err(unusable)
    }

    async fn ask(&self, request: &Request<Vec<u8>>, url: &Url) -> Result<reqwest::Response, ToolFailure> {
        check_form(url)?;
        if !is_safe(url) {
            return Err(blocked(
                format!("`{url}` is not https, and tokens are sent over nothing else"),
                "https",
            ));
        }
        let permission = admit(&self.allow, url).map_err(|failure| self.with_help(failure))?;
        let mut asked = self
            .clients
            .for_permission(permission)
            .request(request.method().clone(), url.clone())
            .headers(request.headers().clone());
        if !request.body().is_empty() {
            asked = asked.body(request.body().clone());
        }
        asked.send().await.map_err(|error| self.with_help(from_client(&error)))
    }

    fn with_help(&self, mut failure: ToolFailure) -> ToolFailure {
        if failure.code == ErrorCode::UrlBlocked.as_str() {
            failure.message = format!("{}; name its host in `{}` if it is meant", failure.message, self.key);
        }
        failure
    }
}

impl OAuthHttpClient for OAuthExchange {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let answered = tokio::time::timeout(ANSWER_MAX, self.answer(request)).await;
            answered.unwrap_or_else(|_| Err(timed_out(ANSWER_MAX))).map_err(|failure| {
                let message = failure.message.clone();
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
                message.into()
            })
        })
    }
}

/// Whether the connection is confidential: https, or this machine.
pub(super) fn is_safe(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && url.host().is_some_and(|host| is_loopback(&host)))
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

async fn read(mut response: reqwest::Response) -> Result<Vec<u8>, ToolFailure> {
    // A server without login may answer with an endless stream.
    let kind = response.headers().get(CONTENT_TYPE).map(|kind| kind.as_bytes().to_vec());
    if kind.is_some_and(|kind| kind.starts_with(b"text/event-stream")) {
        return Ok(Vec::new());
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| from_client(&error))? {
        body.extend_from_slice(&chunk);
        if body.len() > BODY_BYTES_MAX {
            let number = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
            let message = format!("the authorization server answered with more than {BODY_BYTES_MAX} bytes");
            return Err(ToolFailure::new(ErrorCode::ResultTooLarge, message)
                .with_detail("limit", number(BODY_BYTES_MAX))
                .with_detail("observed", number(body.len())));
        }
    }
    Ok(body)
}

/// A server may repeat the refused request in its refusal, which is shown.
fn without_what_was_sent(request: &Request<Vec<u8>>, body: &[u8]) -> Vec<u8> {
    let mut sent: Vec<SecretString> = url::form_urlencoded::parse(request.body())
        .filter(|(name, _)| SECRET_FIELDS.contains(&name.as_ref()))
        .map(|(_, value)| SecretString::from(value.into_owned()))
        .collect();
    let basic = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    if let Some(basic) = basic.and_then(|value| value.split_once(' ')).map(|(_, basic)| basic) {
        let pair = STANDARD.decode(basic).ok().and_then(|pair| String::from_utf8(pair).ok());
        let secret = pair.as_deref().and_then(|pair| pair.split_once(':')).map(|(_, secret)| secret);
        sent.extend(secret.into_iter().chain([basic]).map(SecretString::from));
    }
    Scrubber::new(&sent).text(String::from_utf8_lossy(body).into_owned()).into_bytes()
}

/// An answer with tokens, reduced to the needed members. A text that no header takes is not a token (RFC 6750
/// section 2.1 allows even fewer characters).
///
/// # Errors
/// `fetch_failed`.
fn tokens_alone(body: Vec<u8>) -> Result<Vec<u8>, ToolFailure> {
    let Ok(Json::Object(mut members)) = serde_json::from_slice::<Json>(&body) else { return Ok(body) };
    members.retain(|name, _| TOKEN_MEMBERS.contains(&name.as_str()));
    let tokens = ["access_token", "refresh_token"].map(|name| members.get(name).and_then(Json::as_str));
    if tokens.into_iter().flatten().all(|token| token.bytes().all(|byte| byte.is_ascii_graphic())) {
        return Ok(Json::Object(members).to_string().into_bytes());
    }
    let message = "the authorization server gave a token with characters that no header takes";
    Err(ToolFailure::new(ErrorCode::FetchFailed, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::allow_list::Permission;

    #[test]
    fn tokens_go_over_https_or_stay_on_this_machine() {
        for (url, safe) in [
            ("https://auth.example.com/token", true),
            ("http://127.0.0.1:9000/token", true),
            ("http://localhost/token", true),
            ("http://[::1]/token", true),
            ("http://auth.example.com/token", false),
            ("http://localhost.example.com/token", false),
            ("http://10.0.0.1/token", false),
            ("ftp://127.0.0.1/token", false),
        ] {
            assert_eq!(is_safe(&Url::parse(url).unwrap()), safe, "{url}");
        }
    }

    #[test]
    fn a_configured_secret_goes_to_hosts_that_are_named_alone() {
        let url = Url::parse("https://crm.example.com/mcp").unwrap();
        let far = Url::parse("https://sso.example.com/token").unwrap();
        let named = vec!["sso.example.com".to_owned()];
        for (secret, allow_hosts, permission) in [
            (None, vec![], Permission::Public),
            (Some("s"), vec![], Permission::Refused),
            (Some("s"), named, Permission::Named),
        ] {
            let client_secret = secret.map(SecretString::from);
            let settings = OAuthSettings { client_secret, allow_hosts, ..OAuthSettings::default() };
            let allow = OAuthExchange::new("crm", &url, &settings).unwrap().allow;
            assert_eq!(allow.permission(&far.host().unwrap(), 443), permission);
            assert_eq!(allow.permission(&url.host().unwrap(), 443), Permission::Named);
        }
    }

    #[test]
    fn a_refusal_does_not_repeat_what_was_sent() {
        let basic = STANDARD.encode("client:the-registered-secret");
        let request = Request::post("https://auth.example.com/token")
            .header(AUTHORIZATION, format!("Basic {basic}"))
            .body(b"grant_type=authorization_code&code=the-code&code_verifier=the-verifier".to_vec())
            .unwrap();
        let body = format!(
            r#"{{"error":"no","error_description":"the-code {basic} the-verifier the-registered-secret"}}"#
        );
        let shown = String::from_utf8(without_what_was_sent(&request, body.as_bytes())).unwrap();
        assert_eq!(shown.matches("[redacted]").count(), 4, "{shown}");
        assert!(!shown.contains("the-"), "{shown}");
    }

    #[test]
    fn tokens_that_no_header_takes_are_refused() {
        for (body, usable) in [
            (r#"{"access_token":"a.b-c_~+/=","refresh_token":"r"}"#, true),
            (r#"{"access_token":"a\r\nX: 1"}"#, false),
            (r#"{"access_token":"a b"}"#, false),
            (r#"{"access_token":"a","refresh_token":"\u00e9"}"#, false),
        ] {
            assert_eq!(tokens_alone(body.as_bytes().to_vec()).is_ok(), usable, "{body}");
        }
    }

    #[test]
    fn only_what_is_needed_of_a_token_is_kept() {
        let answer = br#"{"access_token":"a","id_token":"b","expires_in":3600,"patient":{"x":1}}"#;
        let kept = String::from_utf8(tokens_alone(answer.to_vec()).unwrap()).unwrap();
        assert_eq!(kept, r#"{"access_token":"a","expires_in":3600}"#);
        assert_eq!(tokens_alone(b"<html>".to_vec()).unwrap(), b"<html>");
    }
}
