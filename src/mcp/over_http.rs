//! The protocol over streamable HTTP, as a service for an HTTP server.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures::future::BoxFuture;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;
use tower_service::Service;

use luaplan_app as app;
use luaplan_app::ActiveRuns;
use luaplan_app::config::ServerConfig;
use luaplan_base::{Error, ErrorCode};

use super::McpServer;
use super::sessions::{REQUESTER, Requester, Sessions};

const SESSION_ID: &str = "mcp-session-id";

/// The protocol over streamable HTTP.
#[derive(Clone)]
pub struct HttpService {
    inner: StreamableHttpService<McpServer, Sessions>,
    sessions: Arc<Sessions>,
    body_bytes: usize,
}

/// The protocol as an HTTP service for a server that listens on `address`. Requests must name it by a
/// loopback name or one of `server.allowed_hosts`, and web pages that send them must be its own on loopback
/// or one of `server.allowed_origins`. Cancelling `closing` ends all sessions.
#[must_use]
pub fn http_service(runs: &Arc<ActiveRuns>, address: SocketAddr, closing: CancellationToken) -> HttpService {
    let config = &runs.app().config().server;
    let body_bytes = usize::try_from(config.body_limit_bytes).unwrap_or(usize::MAX);
    let settings = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts(config, address))
        .with_allowed_origins(origins(config, address))
        .enforce_origin_validation()
        .with_max_request_body_bytes(body_bytes)
        .with_cancellation_token(closing);
    let sessions = Arc::new(Sessions::new(&config.shares));
    let server = McpServer::new(runs.clone(), None);
    let inner = StreamableHttpService::new(move || Ok(server.clone()), sessions.clone(), settings);
    HttpService { inner, sessions, body_bytes }
}

impl Service<Request> for HttpService {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.answer(request).await) })
    }
}

impl HttpService {
    async fn answer(&self, request: Request) -> Response {
        let Some(key) = request.extensions().get::<app::Caller>().map(|caller| caller.name().to_owned())
        else {
            return refused(Error::new(ErrorCode::Internal, "the request came past the API keys"));
        };
        let session = request.headers().get(SESSION_ID).and_then(|id| id.to_str().ok());
        // The library ends a session without a check of its owner.
        if request.method() == Method::DELETE
            && session.is_some_and(|id| !self.sessions.is_of(&Arc::from(id), &key))
        {
            return refused(Error::new(ErrorCode::NotFound, "there is no such session"));
        }
        let (parts, body) = request.into_parts();
        let Ok(bytes) = to_bytes(body, self.body_bytes).await else {
            return refused(Error::new(ErrorCode::BadRequest, "the body could not be read to its end"));
        };
        let says_json = parts.headers.contains_key(CONTENT_TYPE);
        let caller = Requester::of(key);
        let request = Request::from_parts(parts, Body::from(bytes.clone()));
        let response = REQUESTER.scope(caller.clone(), self.inner.handle(request)).await;
        if let Some(error) = caller.refusal.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return refused(error);
        }
        if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && says_json {
            return no_message(&bytes).unwrap_or_else(|| response.map(Body::new));
        }
        response.map(Body::new)
    }
}

/// The answer to a body that is not a message, as on standard input. `None` for a message whose content type was
/// refused.
fn no_message(body: &Bytes) -> Option<Response> {
    let (code, message) = match serde_json::from_slice::<Json>(body) {
        Err(_) => (-32700, "Parse error: the body is no JSON"),
        Ok(_) if serde_json::from_slice::<rmcp::model::ClientJsonRpcMessage>(body).is_ok() => return None,
        Ok(_) => (-32600, "Invalid Request: the body is no message of the protocol"),
    };
    let answer = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } });
    Some((StatusCode::BAD_REQUEST, axum::Json(answer)).into_response())
}

/// An error that the HTTP server puts into its own form.
fn refused(error: Error) -> Response {
    let mut response = StatusCode::INTERNAL_SERVER_ERROR.into_response();
    response.extensions_mut().insert(Arc::new(error));
    response
}

fn hosts(config: &ServerConfig, address: SocketAddr) -> Vec<String> {
    let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
    if !address.ip().is_unspecified() {
        hosts.push(address.ip().to_string());
    }
    hosts.extend(config.allowed_hosts.iter().cloned());
    hosts
}

fn origins(config: &ServerConfig, address: SocketAddr) -> Vec<String> {
    let own = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{}", address.port()));
    own.into_iter().chain(config.allowed_origins.iter().cloned()).collect()
}
