//! What a server at a `url` answered, or why no answer came, and what to do about it.

use std::error::Error as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::StatusCode;
use rmcp::service::ClientInitializeError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use luaplan_base::{ErrorCode, ToolFailure, Value};

use super::address::Address;

/// The detail of a failure that says what to do about it.
pub const HELP: &str = "help";

/// Why a request failed.
#[derive(Debug, Clone)]
enum HttpError {
    /// The server answered with this status.
    Status(StatusCode),
    /// No answer came.
    NoAnswer(String),
}

/// The error of the last message, kept as the library's errors have no room for it.
#[derive(Clone, Default)]
pub(super) struct LastHttpError(Arc<Mutex<Option<HttpError>>>);

impl LastHttpError {
    /// Notes what happened to a message.
    pub(super) fn note<T>(&self, answer: &Result<T, StreamableHttpError<reqwest::Error>>) {
        let http_error = match answer {
            Ok(_) => None,
            Err(error) => match (status_of(error), error) {
                (Some(status), _) => Some(HttpError::Status(status)),
                (None, StreamableHttpError::Client(error)) => Some(HttpError::NoAnswer(root(error))),
                _ => None,
            },
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = http_error;
    }

    /// The failure of the server `name`; a second call gives nothing.
    pub(super) fn take(&self, name: &str, address: &Address) -> Option<ToolFailure> {
        let http_error = self.0.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let shown = address.shown();
        let help = http_error.help(name);
        let failure = match http_error {
            HttpError::NoAnswer(why) => {
                let message = format!("the MCP server `{name}` at {shown} could not be reached: {why}");
                ToolFailure::new(ErrorCode::McpUnavailable, message)
            }
            HttpError::Status(status) => {
                let message = match status {
                    StatusCode::UNAUTHORIZED => {
                        format!("the MCP server `{name}` refused (401) what `[mcp.{name}] headers` sends")
                    }
                    _ => format!("the MCP server `{name}` at {shown} answered with HTTP {status}"),
                };
                let failure = ToolFailure::new(ErrorCode::McpUnavailable, message);
                failure.with_detail("status", i64::from(status.as_u16()))
            }
        };
        Some(failure.with_detail(HELP, help))
    }
}

impl HttpError {
    fn help(&self, name: &str) -> String {
        let Self::Status(status) = self else { return unreachable(name) };
        match status.as_u16() {
            401 => "mend the `Authorization` in its `headers`, or the variable that is taken from".to_owned(),
            403 => format!(
                "it does not let in who asks: look at `[mcp.{name}] headers`, log in as somebody who may (`luaplan mcp \
                 login {name}`), or ask who runs it"
            ),
            404 | 405 => format!("look whether `mcp.{name}.url` has the path its makers name"),
            429 | 500.. => "the fault is there: try again later, or ask who runs it".to_owned(),
            _ => format!("look at `mcp.{name}.url`, and ask who runs it"),
        }
    }
}

/// A refusal at the start, before any call: retryable where its cause may pass.
pub(super) fn at_start(failure: ToolFailure) -> ToolFailure {
    match failure.details.get("status") {
        Some(Value::Integer(400..=428 | 430..=499)) => failure,
        _ if failure.code == ErrorCode::McpUnavailable.as_str() => failure.retryable(),
        _ => failure,
    }
}

/// Whether the server refused the client's permission: the next call may have another login.
pub(super) fn is_about_permission(failure: &ToolFailure) -> bool {
    failure.code == ErrorCode::McpLoginRequired.as_str() || failure.details.get("status") == Some(&401.into())
}

/// Why a server is not called for a while.
pub(super) fn not_yet(address: Option<&Address>) -> String {
    match address {
        None => "broke down and is not started again yet".to_owned(),
        Some(address) => format!("at {} failed and is not asked again yet", address.shown()),
    }
}

/// The failure for a server that did not answer at its start.
pub(super) fn too_late(name: &str, address: Option<&Address>, limit: Duration) -> ToolFailure {
    let at = address.map_or_else(String::new, |address| format!(" at {}", address.shown()));
    let message = format!("the MCP server `{name}`{at} did not answer within {} ms", limit.as_millis());
    let failure = ToolFailure::new(ErrorCode::McpUnavailable, message).retryable();
    if address.is_some() { failure.with_detail(HELP, unreachable(name)) } else { failure }
}

/// The failure for a server at a `url` that answers, but not as an MCP server.
pub(super) fn unusable(name: &str, address: Option<&Address>, what: &str) -> ToolFailure {
    let at = address.map_or("its `url`", Address::shown);
    let what = address.map_or_else(|| what.to_owned(), |address| address.hide(what.to_owned()));
    let message = format!("the MCP server `{name}` at {at} could not be used: {what}");
    ToolFailure::new(ErrorCode::McpUnavailable, message)
        .retryable()
        .with_detail(HELP, format!("look whether `mcp.{name}.url` has the path its makers name"))
}

/// What went wrong at the start, without the types that carried it.
pub(super) fn cause(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => error.error.to_string(),
        ClientInitializeError::ConnectionClosed(_) => "it broke off before it answered".to_owned(),
        other => other.to_string(),
    }
}

/// What to check where a server at a `url` does not answer.
fn unreachable(name: &str) -> String {
    format!("look whether `mcp.{name}.url` is right, the server runs, and this machine reaches it")
}

/// The status a server refused with.
pub(super) fn status_of(error: &StreamableHttpError<reqwest::Error>) -> Option<StatusCode> {
    match error {
        StreamableHttpError::AuthRequired(_) => Some(StatusCode::UNAUTHORIZED),
        StreamableHttpError::InsufficientScope(_) => Some(StatusCode::FORBIDDEN),
        StreamableHttpError::Client(error) => error.status(),
        StreamableHttpError::HttpStatus(error) => StatusCode::from_u16(error.status).ok(),
        // The library reports these only in words.
        StreamableHttpError::UnexpectedServerResponse(what) => {
            what.strip_prefix("HTTP ")?.get(..3)?.parse().ok()
        }
        _ => None,
    }
}

/// The innermost reason: the outer ones only say that a request failed.
fn root(error: &reqwest::Error) -> String {
    let mut inner = error.source();
    let mut words = error.to_string();
    while let Some(error) = inner {
        words = error.to_string();
        inner = error.source();
    }
    words
}
