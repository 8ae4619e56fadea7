//! The one place where an error becomes an HTTP response: problem+json (RFC 9457).

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::Value as Json;

use luaplan_app::App;
use luaplan_base::{Error, ErrorCode};

use super::help::HELP;

const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// An error as a response.
pub(super) struct Problem(pub(super) Error);

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self(error) = self;
        let status = status_of(error.code());
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            // Logged as Debug of a text, so that a line break inside it does not split the log line.
            let seen = format!("{error:?}");
            tracing::error!(error = ?seen, "the request failed");
        } else {
            tracing::info!(code = error.code().as_str(), "refused");
        }
        // `code`, `message` and the rest are extension members; title, status and detail are RFC 9457's.
        let mut body = error.to_json();
        if let Json::Object(members) = &mut body {
            if let Some(help) = HELP.of_error(&error) {
                members.insert("help".into(), help.into());
            }
            members.insert("type".into(), format!("urn:luaplan:error:{}", error.code()).into());
            members.insert("title".into(), error.code().meaning().into());
            members.insert("status".into(), status.as_u16().into());
            members.insert("detail".into(), error.message().into());
        }
        let mut response = (status, body.to_string()).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, PROBLEM_JSON);
        match error.code() {
            ErrorCode::TooManyRequests
            | ErrorCode::KeyLimit
            | ErrorCode::ServerBusy
            | ErrorCode::IdempotencyInProgress
            | ErrorCode::AnalysisBusy
            | ErrorCode::ShuttingDown => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            ErrorCode::Unauthorized => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"luaplan\""));
            }
            _ => {}
        }
        response
    }
}

fn status_of(code: ErrorCode) -> StatusCode {
    use ErrorCode as C;
    match code {
        C::BadRequest
        | C::BadArguments
        | C::Usage
        | C::ConfigInvalid
        | C::ValueTooDeep
        | C::ValueTooLarge
        | C::ValueIntegerOutOfRange => StatusCode::BAD_REQUEST,
        C::Unauthorized => StatusCode::UNAUTHORIZED,
        C::Forbidden | C::ApproverIsStarter | C::PermissionDenied | C::FlowRefused | C::OriginRefused => {
            StatusCode::FORBIDDEN
        }
        C::NotFound => StatusCode::NOT_FOUND,
        C::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        C::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
        C::EffectsRepeat
        | C::RunNotActive
        | C::RunActive
        | C::RunNotResumable
        | C::RunTakenOver
        | C::IdempotencyInProgress
        | C::ApprovalStale
        | C::AnswerStale => StatusCode::CONFLICT,
        C::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        C::CheckRefused | C::LimitSourceBytes | C::IdempotencyKeyReused => StatusCode::UNPROCESSABLE_ENTITY,
        C::TooManyRequests | C::KeyLimit => StatusCode::TOO_MANY_REQUESTS,
        C::ShuttingDown
        | C::ServerBusy
        | C::AnalysisBusy
        | C::LlmNotConfigured
        | C::LlmKeyMissing
        | C::JournalUnavailable
        | C::JournalDiskFull => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

pub(super) async fn no_such_route(uri: Uri) -> Problem {
    let help = "the routes are listed in /openapi.json";
    Problem(Error::new(ErrorCode::NotFound, format!("there is no {}", uri.path())).with_help(help))
}

pub(super) async fn no_such_method(request: Request) -> Problem {
    let message = format!("{} is not possible on {}", request.method(), request.uri().path());
    Problem(Error::new(ErrorCode::MethodNotAllowed, message))
}

/// Gives plain-text errors of libraries the form of all errors.
pub(super) async fn shape_plain_errors(response: Response) -> Response {
    let status = response.status();
    let is_problem = response.headers().get(CONTENT_TYPE) == Some(&PROBLEM_JSON);
    if is_problem || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let (code, message) = match status {
        StatusCode::REQUEST_TIMEOUT => {
            (ErrorCode::RequestTimeout, "the request took longer than `server.request_timeout`")
        }
        status if status.is_client_error() => {
            (ErrorCode::BadRequest, "a part of the request could not be read")
        }
        _ => (ErrorCode::Internal, "the request failed"),
    };
    let mut shaped = Problem(Error::new(code, message)).into_response();
    *shaped.status_mut() = status;
    shaped
}

/// Redacts responses: they may repeat a secret of a client, another server or an old record. Streams redact each
/// of their events themselves.
pub(super) async fn without_secrets(State(app): State<Arc<App>>, response: Response) -> Response {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_problem = kind.starts_with("application/problem+json");
    let is_json = is_problem || kind.starts_with("application/json");
    let is_stream = kind.starts_with("text/event-stream");
    let is_text = (kind.starts_with("text/") || kind.starts_with("image/svg+xml")) && !is_stream;
    if !is_json && !is_text {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // Such a response is made in memory, so its body is complete at once.
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return Problem(Error::new(ErrorCode::Internal, "the answer broke off")).into_response();
    };
    let redactor = app.history().redactor();
    let safe = match std::str::from_utf8(&bytes) {
        Ok(text) if is_problem => serde_json::from_str(text).ok().map(|mut problem: Json| {
            redactor.message(&mut problem);
            problem.to_string()
        }),
        Ok(text) => match if is_text { redactor.exact_text(text) } else { redactor.exact_json(text) } {
            Cow::Borrowed(_) => None,
            Cow::Owned(safe) => Some(safe),
        },
        Err(_) => None,
    };
    let Some(safe) = safe else { return Response::from_parts(parts, Body::from(bytes)) };
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(safe))
}

pub(super) fn panicked(_cause: Box<dyn Any + Send>) -> Response<Body> {
    Problem(Error::new(ErrorCode::Internal, "the request failed")).into_response()
}
