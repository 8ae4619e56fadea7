//! Extractors of request parts, each with refusals that say what was wrong.

use std::sync::Arc;

use axum::body::{BodyDataStream, Bytes, HttpBody as _};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header::EXPECT;
use axum::http::request::Parts;
use futures::StreamExt as _;
use serde::de::DeserializeOwned;

use luaplan_base::{Error, ErrorCode, Result, RunId};

use super::problem::Problem;
use super::state::ApiState;

/// A body over the limit is still read up to so many times the limit, because a
/// client that is cut off while it sends may never read the answer.
const DISCARD_FACTOR: u64 = 8;

/// So much is read however small the limit is: more than the buffers of both ends of a
/// connection hold, and cheap, as it is discarded.
const DISCARD_AT_LEAST_BYTES: u64 = 8 * 1024 * 1024;

/// A JSON body. Its content type is ignored: the routes take nothing else.
pub(super) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Arc<ApiState>> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &Arc<ApiState>) -> Result<Self, Problem> {
        let limit_bytes = state.app.config().server.body_limit_bytes;
        let bytes = read(request, limit_bytes).await?;
        let refuse = |reason: &dyn std::fmt::Display| {
            Error::new(ErrorCode::BadRequest, format!("the body is not what this route takes: {reason}"))
                .with_help("the bodies are described in /openapi.json")
        };
        // serde would read a list as an object with its items as the members in order.
        if bytes.trim_ascii_start().first().is_some_and(|first| *first != b'{') {
            return Err(refuse(&"expected a JSON object").into());
        }
        // No body means an empty object.
        let text = if bytes.trim_ascii().is_empty() { b"{}" } else { &bytes[..] };
        let value = serde_json::from_slice(text).map_err(|error| refuse(&error))?;
        Ok(Self(value))
    }
}

/// A body of at most `limit_bytes`.
pub(super) async fn read(request: Request, limit_bytes: u64) -> Result<Vec<u8>> {
    let asks_first = request.headers().contains_key(EXPECT);
    let body = request.into_body();
    let announced = body.size_hint().lower();
    if announced > limit_bytes {
        // A client that asked first (`Expect: 100-continue`) is refused before it sends the body.
        if !asks_first {
            discard(body.into_data_stream(), limit_bytes).await;
        }
        return Err(too_large(limit_bytes).with_limit(limit_bytes, announced));
    }
    let mut chunks = body.into_data_stream();
    let mut bytes = Vec::with_capacity(usize::try_from(announced).unwrap_or(0));
    while let Some(chunk) = chunks.next().await {
        let chunk: Bytes = chunk.map_err(|error| {
            Error::new(ErrorCode::BadRequest, "the body could not be read to its end").with_source(error)
        })?;
        if (bytes.len() + chunk.len()) as u64 > limit_bytes {
            discard(chunks, limit_bytes).await;
            return Err(too_large(limit_bytes));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

async fn discard(mut chunks: BodyDataStream, limit_bytes: u64) {
    let mut left = limit_bytes.saturating_mul(DISCARD_FACTOR).max(DISCARD_AT_LEAST_BYTES);
    while let Some(Ok(chunk)) = chunks.next().await {
        left = left.saturating_sub(chunk.len() as u64);
        if left == 0 {
            return;
        }
    }
}

fn too_large(limit_bytes: u64) -> Error {
    let message = format!("the body is larger than `server.body_limit`, {limit_bytes} bytes");
    Error::new(ErrorCode::PayloadTooLarge, message)
}

/// The one parameter of the path.
pub(super) struct PathText(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for PathText {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(text) = Path::<String>::from_request_parts(parts, state).await.map_err(|_| {
            Error::new(ErrorCode::BadRequest, "the path is not valid UTF-8 once percent-decoded")
        })?;
        Ok(Self(text))
    }
}

/// The run id in the path.
pub(super) struct RunPath(pub(super) RunId);

impl<S: Send + Sync> FromRequestParts<S> for RunPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let PathText(text) = PathText::from_request_parts(parts, state).await?;
        let run_id: RunId = text.parse()?;
        log_run_id(&run_id);
        Ok(Self(run_id))
    }
}

/// The run id and the call's id in the path.
pub(super) struct CallPath {
    pub(super) run_id: RunId,
    pub(super) call_id: String,
}

impl<S: Send + Sync> FromRequestParts<S> for CallPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path((run, call_id)) = Path::<(String, String)>::from_request_parts(parts, state)
            .await
            .map_err(|_| Error::new(ErrorCode::BadRequest, "the path is not valid"))?;
        let run_id: RunId = run.parse()?;
        log_run_id(&run_id);
        Ok(Self { run_id, call_id })
    }
}

/// Adds the run's id to the log lines of this request.
pub(super) fn log_run_id(run_id: &RunId) {
    tracing::Span::current().record("run_id", run_id.as_str());
}

/// The query string.
pub(super) struct QueryOf<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryOf<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Query(query) = Query::<T>::from_request_parts(parts, state).await.map_err(|rejection| {
            let reason = rejection.body_text();
            let reason = reason.strip_prefix("Failed to deserialize query string: ").unwrap_or(&reason);
            Error::new(ErrorCode::BadRequest, format!("the query string: {reason}"))
                .with_help("the parameters are described in /openapi.json")
        })?;
        Ok(Self(query))
    }
}
