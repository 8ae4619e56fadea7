//! `POST /v1/tasks` and `POST /v1/runs`: start a run.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Extension, State};
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use luaplan_app::{ActiveRun, Caller, RunSpec, goes_on_elsewhere};
use luaplan_base::{Error, ErrorCode, Result, RunId, parse_duration};
use luaplan_journal::RunStatus;

use super::dto::{RunBody, TaskBody, WaitQuery};
use super::events::Watch;
use super::extract::{JsonBody, QueryOf, log_run_id};
use super::idempotency::KeyedRun;
use super::problem::Problem;
use super::shares::accepts_events;
use super::shortened;
use super::state::ApiState;

/// Turn a task in plain words into a plan, check it and run it.
#[utoipa::path(post, path = "/v1/tasks", operation_id = "start_task", tag = "runs", params(WaitQuery, ("Idempotency-Key" = Option<String>, Header, description = "Repeated with the same request, it has its effect once")), request_body = TaskBody,
    responses((status = 200, description = "The run ended within `wait`: its outcome; or its events, where `Accept` asks for them"),
        (status = 202, description = "The run began: `run_id`, and its address in `Location`"),
        (status = 422, description = "The `Idempotency-Key` stands for another request"),
        (status = 409, description = "A request under the same `Idempotency-Key` is being answered"),
        (status = 400, description = "A part of the request cannot be understood"),
        (status = 404, description = "There is no run `follow`, or it has no plan"),
        (status = 413, description = "The body is larger than `server.body_limit`"), (status = 429, description = "`server.max_concurrent_runs` runs are under way"),
        (status = 503, description = "Stopping, or no model is configured")))]
pub(super) async fn post_task(
    State(state): State<Arc<ApiState>>,
    QueryOf(query): QueryOf<WaitQuery>,
    Extension(caller): Extension<Caller>,
    keyed: Option<Extension<KeyedRun>>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<TaskBody>,
) -> Result<Response, Problem> {
    let keyed = keyed.map(|Extension(keyed)| keyed);
    if let Some(begun) = begun_before(keyed.as_ref()) {
        return watched(&state, &query, &headers, begun).await;
    }
    let follow = body.follow.as_deref().map(str::parse).transpose()?;
    let mut spec = body.into_spec(&state.app.config().limits)?;
    if let Some(run_id) = follow {
        spec = state.runs.access(&caller).following(&run_id, spec).await?;
    }
    start(&state, &caller, &query, &headers, spec, keyed).await
}

/// Check a plan and run it.
#[utoipa::path(post, path = "/v1/runs", operation_id = "start_run", tag = "runs", params(WaitQuery, ("Idempotency-Key" = Option<String>, Header, description = "Repeated with the same request, it has its effect once")), request_body = RunBody,
    responses((status = 200, description = "The run ended within `wait`: its outcome; or its events, where `Accept` asks for them"),
        (status = 202, description = "The run began: `run_id`, and its address in `Location`"),
        (status = 409, description = "A request under the same `Idempotency-Key` is being answered"),
        (status = 400, description = "A part of the request cannot be understood"),
        (status = 413, description = "The body is larger than `server.body_limit`"),
        (status = 422, description = "The `Idempotency-Key` stands for another request, or: The check refused the plan; `findings` says why"),
        (status = 429, description = "`server.max_concurrent_runs` runs are under way"),
        (status = 503, description = "Stopping, or too many plans wait to be checked")))]
pub(super) async fn post_run(
    State(state): State<Arc<ApiState>>,
    QueryOf(query): QueryOf<WaitQuery>,
    Extension(caller): Extension<Caller>,
    keyed: Option<Extension<KeyedRun>>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<RunBody>,
) -> Result<Response, Problem> {
    let keyed = keyed.map(|Extension(keyed)| keyed);
    if let Some(begun) = begun_before(keyed.as_ref()) {
        return watched(&state, &query, &headers, begun).await;
    }
    let spec = body.into_spec(&state.app.config().limits)?;
    start(&state, &caller, &query, &headers, spec, keyed).await
}

async fn start(
    state: &Arc<ApiState>,
    caller: &Caller,
    query: &WaitQuery,
    headers: &HeaderMap,
    mut spec: RunSpec,
    keyed: Option<KeyedRun>,
) -> Result<Response, Problem> {
    let wait = wait_of(query)?;
    if let Some(keyed) = keyed {
        spec.run_id = keyed.run_id;
    }
    let run_id = spec.run_id.clone();
    log_run_id(&run_id);
    // Only a client that watches from the start sees transient events.
    let watcher = accepts_events(headers).then(|| state.app.history().hub().subscribe());
    let run = state.runs.access(caller).start(spec).await?;
    match watcher {
        Some(watcher) => {
            // The journal alone tells what another node does.
            let from_start = run.is_some();
            Ok(streamed(state, Watch { run_id, after: 0, run, watcher, from_start }))
        }
        None => Ok(respond(state, run_id, run, wait).await),
    }
}

/// The run that an earlier request with the same key has started.
pub(super) fn begun_before(keyed: Option<&KeyedRun>) -> Option<RunId> {
    keyed.filter(|keyed| keyed.is_repeated).map(|keyed| keyed.run_id.clone())
}

/// The response of [`start`], for a run that was already started.
pub(super) async fn watched(
    state: &Arc<ApiState>,
    query: &WaitQuery,
    headers: &HeaderMap,
    run_id: RunId,
) -> Result<Response, Problem> {
    let wait = wait_of(query)?;
    log_run_id(&run_id);
    let watcher = accepts_events(headers).then(|| state.app.history().hub().subscribe());
    let run = state.active(&run_id);
    match watcher {
        Some(watcher) => Ok(streamed(state, Watch { run_id, after: 0, run, watcher, from_start: false })),
        None if wait.is_none() => Ok(accepted(&run_id, state.runs.status(&run_id).await?)),
        None => Ok(respond(state, run_id, run, wait).await),
    }
}

fn streamed(state: &Arc<ApiState>, watch: Watch) -> Response {
    let location = [(LOCATION, format!("/v1/runs/{}", watch.run_id))];
    (location, watch.respond(state)).into_response()
}

/// The outcome of a run, where the client waits for it and it comes in time; else 202.
pub(super) async fn respond(
    state: &ApiState,
    run_id: RunId,
    run: Option<ActiveRun>,
    wait: Option<Duration>,
) -> Response {
    match wait {
        Some(wait) => wait_for(state, run_id, run, wait).await,
        None => accepted(&run_id, RunStatus::Running),
    }
}

pub(super) fn wait_of(query: &WaitQuery) -> Result<Option<Duration>> {
    query.wait.as_deref().map(parse_duration).transpose().map_err(|error| {
        Error::new(ErrorCode::BadRequest, format!("`wait`: {}", error.message()))
            .with_help("write a duration with its unit: `wait=30s`")
    })
}

/// Waits a little less than a request may take, so that 202 still gets out. Waits for a sleeping run
/// where it wakes in time.
async fn wait_for(state: &ApiState, run_id: RunId, run: Option<ActiveRun>, wait: Duration) -> Response {
    let wait = wait.min(state.app.config().server.request_timeout.mul_f32(0.9));
    let until = state.app.history().after(wait);
    let ended = async {
        if let Some(mut run) = run {
            let Ok(outcome) = run.outcome.wait_for(Option::is_some).await.map(|outcome| outcome.clone())
            else {
                // Its task failed here; another node may resume it.
                return match state.app.history().shares_runs() {
                    true => Some(state.runs.report_at_rest(&run_id, until).await),
                    false => None,
                };
            };
            let failure = outcome.as_ref().and_then(|outcome| outcome.failure());
            let is_elsewhere = state.app.history().shares_runs() && failure.is_some_and(goes_on_elsewhere);
            let wake_at = outcome.as_ref().and_then(|outcome| outcome.wake_at());
            let wakes_in_time = wake_at.is_some_and(|wake_at| wake_at < until);
            if !is_elsewhere && !wakes_in_time {
                return outcome.map(|outcome| outcome.to_json());
            }
        }
        Some(state.runs.report_at_rest(&run_id, until).await)
    };
    match tokio::time::timeout(wait, ended).await {
        Ok(Some(outcome)) => (StatusCode::OK, axum::Json(shortened::run(state, outcome))).into_response(),
        _ => accepted(&run_id, RunStatus::Running),
    }
}

fn accepted(run_id: &RunId, status: RunStatus) -> Response {
    let location = format!("/v1/runs/{run_id}");
    let body = json!({ "run_id": run_id, "status": status.as_str(), "location": location });
    (StatusCode::ACCEPTED, [(LOCATION, location)], axum::Json(body)).into_response()
}
