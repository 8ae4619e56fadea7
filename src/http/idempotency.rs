//! `Idempotency-Key`: a repeated request has its effect once. The header follows
//! draft-ietf-httpapi-idempotency-key-header; a key identifies its request for 24 hours, for
//! each API key.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde_json::Value as Json;

use luaplan_app::{Caller, KeyClaim};
use luaplan_base::{ContentHash, Error, ErrorCode, Result, RunId};
use luaplan_journal::KeyedRequest;

use super::extract::read;
use super::problem::Problem;
use super::state::ApiState;

const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Marks a response that repeats that of an earlier request.
const REPLAYED: &str = "idempotency-replayed";

/// The run that a request with a key starts; an extension of the request, for its route.
#[derive(Debug, Clone)]
pub(super) struct KeyedRun {
    pub(super) run_id: RunId,
    /// Whether an earlier request has started it.
    pub(super) is_repeated: bool,
}

/// Claims the key of a request before its route runs. Requests without the header pass unchanged.
pub(super) async fn once(State(state): State<Arc<ApiState>>, request: Request, next: Next) -> Response {
    match keyed(&state, request, next).await {
        Ok(response) => response,
        Err(error) => Problem(error).into_response(),
    }
}

async fn keyed(state: &Arc<ApiState>, mut request: Request, next: Next) -> Result<Response> {
    let Some(key) = key_of(request.headers())? else { return Ok(next.run(request).await) };
    if state.app.history().redactor().finds_in(&Json::String(key.clone())) {
        let message = "`Idempotency-Key` holds a secret, and keys are kept";
        return Err(Error::new(ErrorCode::BadRequest, message).with_help("choose another, such as a UUID"));
    }
    // Keys of one tenant may have different scopes, and a response is for the key that asked.
    let claimant = request.extensions().get::<Caller>().map(claimant).unwrap_or_default();
    let asked = format!("{} {}\n", request.method(), request.uri().path());
    let (parts, body) = request.into_parts();
    let whole = Request::from_parts(parts.clone(), body);
    let body = read(whole, state.app.config().server.body_limit_bytes).await?;
    let request_hash = ContentHash::of(&[asked.as_bytes(), &body].concat());
    let claim = state
        .app
        .history()
        .claim_request(&claimant, &key, request_hash, state.app.config().server.request_timeout)
        .await?;
    let (run_id, first) = match claim {
        KeyClaim::Repeated(_, Some(answer)) => return Ok(repeated(axum::Json(answer).into_response())),
        KeyClaim::Repeated(run_id, None) => (run_id, None),
        KeyClaim::First(request) => (request.run_id.clone(), Some(request)),
    };
    request = Request::from_parts(parts, Body::from(body));
    request.extensions_mut().insert(KeyedRun { run_id, is_repeated: first.is_none() });
    let response = next.run(request).await;
    let Some(first) = first else { return Ok(repeated(response)) };
    let (response, answer) = kept(response).await?;
    // The effect was made, so the response goes out even where the journal fails now.
    if let Err(error) = settle(state, &first, response.status().is_success(), answer).await {
        tracing::error!(%error, run_id = %first.run_id, "the answer under an idempotency key was not kept");
    }
    Ok(response)
}

/// Stores the response of a request, or releases its key where the request was refused.
async fn settle(
    state: &ApiState,
    request: &KeyedRequest,
    is_success: bool,
    answer: Option<Json>,
) -> Result<()> {
    // A started run is the answer even where this response could not say so; its inputs are on record.
    if state.app.history().is_on_record(&request.run_id).await? {
        return Ok(());
    }
    match (is_success, answer) {
        (true, Some(answer)) => state.app.history().keep_answer(request, &answer).await,
        (true, None) => Ok(()),
        (false, _) => state.app.history().release_request(request).await,
    }
}

/// The API key under which an idempotency key is claimed.
fn claimant(caller: &Caller) -> String {
    match caller.tenant() == caller.name() {
        true => caller.name().to_owned(),
        false => format!("{} {}", caller.tenant(), caller.name()),
    }
}

/// A response, and its JSON where it has some.
async fn kept(response: Response) -> Result<(Response, Option<Json>)> {
    let is_json = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if !is_json {
        return Ok((response, None));
    }
    let (parts, body) = response.into_parts();
    // Responses of our routes are bounded.
    let bytes = to_bytes(body, usize::MAX)
        .await
        .map_err(|error| Error::new(ErrorCode::Internal, "an answer could not be kept").with_source(error))?;
    let answer = serde_json::from_slice(&bytes).ok();
    Ok((Response::from_parts(parts, Body::from(bytes)), answer))
}

fn repeated(mut response: Response) -> Response {
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    response
}

fn key_of(headers: &HeaderMap) -> Result<Option<String>> {
    let mut keys = headers.get_all(IDEMPOTENCY_KEY).iter();
    let bad = |what: &str| Err(Error::new(ErrorCode::BadRequest, format!("`Idempotency-Key` {what}")));
    match (keys.next(), keys.next()) {
        (None, _) => Ok(None),
        (Some(_), Some(_)) => bad("stands twice in the request"),
        (Some(key), None) => match key.to_str() {
            // The draft writes it as a structured field's string; most clients do not.
            Ok(key) => Ok(Some(key.trim().trim_matches('"').to_owned())),
            Err(_) => bad("is not ASCII"),
        },
    }
}
