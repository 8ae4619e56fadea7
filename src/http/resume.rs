//! `POST /v1/runs/{id}/resume` and `/replay`: resume a run, or run it again without effects.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use axum::response::Response;
use tokio_util::sync::CancellationToken;

use luaplan_app::{CallResolution, Caller, ReplayReport, ReplayRequest, ResumeRequest};
use luaplan_base::Result;

use super::dto::{ReplayBody, ResetBody, Resolution, ResumeBody, WaitQuery};
use super::extract::{JsonBody, QueryOf, RunPath, log_run_id};
use super::idempotency::KeyedRun;
use super::problem::Problem;
use super::state::ApiState;
use super::submit::{begun_before, respond, wait_of, watched};

/// Go on with a run whose process ended, or that waits for a person.
#[utoipa::path(post, path = "/v1/runs/{id}/resume", operation_id = "resume_run", tag = "runs", params(("id" = String, Path, description = "Run id"), WaitQuery),
    request_body = ResumeBody,
    responses((status = 200, description = "The run ended within `wait`, or paused again: its outcome"),
        (status = 202, description = "The run goes on"),
        (status = 400, description = "A part of the request cannot be understood, or a resolution names a call that is not in doubt"),
        (status = 404, description = "There is no such run"),
        (status = 413, description = "The body is larger than `server.body_limit`"),
        (status = 409, description = "The run is under way, or cannot go on from its journal"),
        (status = 429, description = "`server.max_concurrent_runs` runs are under way"), (status = 503, description = "Stopping")))]
pub(super) async fn resume(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    RunPath(run_id): RunPath,
    QueryOf(query): QueryOf<WaitQuery>,
    JsonBody(body): JsonBody<ResumeBody>,
) -> Result<Response, Problem> {
    let wait = wait_of(&query)?;
    let resolutions = body.resolve.into_iter().map(resolution).collect::<Result<_>>()?;
    let request =
        ResumeRequest { resolutions, ..ResumeRequest::new(run_id.clone(), CancellationToken::new()) };
    let run = state.runs.access(&caller).resume(request).await?;
    Ok(respond(&state, run_id, Some(run), wait).await)
}

fn resolution((call_id, said): (String, Resolution)) -> Result<CallResolution> {
    CallResolution::said(call_id, said.retry, said.done, said.failed)
}

/// Start a run over: its plan and context again, as another run. One that is not over is ended first.
#[utoipa::path(post, path = "/v1/runs/{id}/reset", operation_id = "reset_run", tag = "runs", params(("id" = String, Path, description = "Run id"), WaitQuery, ("Idempotency-Key" = Option<String>, Header, description = "Repeated with the same request, it has its effect once")),
    request_body = ResetBody,
    responses((status = 200, description = "The new run ended within `wait`, or paused: its outcome"),
        (status = 202, description = "The new run began: its `run_id`, and its address in `Location`"),
        (status = 422, description = "The `Idempotency-Key` stands for another request"),
        (status = 400, description = "A part of the request cannot be understood"),
        (status = 404, description = "There is no such run"),
        (status = 413, description = "The body is larger than `server.body_limit`"),
        (status = 409, description = "A request under the same `Idempotency-Key` is being answered, or: The run is under way, its records do not suffice, or it did more than read (`calls`) and `repeat_effects` is not given"),
        (status = 429, description = "`server.max_concurrent_runs` runs are under way"), (status = 503, description = "Stopping")))]
pub(super) async fn reset(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    RunPath(run_id): RunPath,
    QueryOf(query): QueryOf<WaitQuery>,
    keyed: Option<Extension<KeyedRun>>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<ResetBody>,
) -> Result<Response, Problem> {
    let keyed = keyed.map(|Extension(keyed)| keyed);
    let access = state.runs.access(&caller);
    if let Some(begun) = begun_before(keyed.as_ref()) {
        // The process that started it may have ended before this step.
        access.end_started_over(&run_id).await?;
        return watched(&state, &query, &headers, begun).await;
    }
    let wait = wait_of(&query)?;
    let mut request = access.start_over(&run_id, body.repeat_effects).await?;
    if let Some(keyed) = keyed {
        request.run_id = keyed.run_id;
    }
    let begun = request.run_id.clone();
    log_run_id(&begun);
    let run = access.replace(&run_id, request).await?;
    Ok(respond(&state, begun, run, wait).await)
}

/// Run a recorded run again without any effect, or another plan against what is on record.
#[utoipa::path(post, path = "/v1/runs/{id}/replay", operation_id = "replay_run", tag = "runs", params(("id" = String, Path, description = "Run id")),
    request_body = ReplayBody,
    responses((status = 200, description = "Whether it came to the same, and what differs"),
        (status = 400, description = "A part of the request cannot be understood"),
        (status = 413, description = "The body is larger than `server.body_limit`"),
        (status = 404, description = "There is no such run"),
        (status = 409, description = "The journal lacks what is needed"),
        (status = 422, description = "The check refused the plan")))]
pub(super) async fn replay(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    RunPath(run_id): RunPath,
    JsonBody(body): JsonBody<ReplayBody>,
) -> Result<axum::Json<ReplayReport>, Problem> {
    let cancel = CancellationToken::new();
    // The replay ends where its client disconnects.
    let _stop = cancel.clone().drop_guard();
    let with = body.plan.map(|source| ("plan".to_owned(), source));
    Ok(axum::Json(state.runs.access(&caller).replay(ReplayRequest { run_id, with, cancel }).await?))
}
