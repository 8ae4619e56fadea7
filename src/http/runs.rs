//! `GET /v1/runs…`: runs and their parts, and how to pause or cancel one, or change its mode.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value as Json, json};

use luaplan_app::{CallReport, Caller, ModeChange, PartRequest, bounded};
use luaplan_base::Result;
use luaplan_journal::RunFilter;

use super::dto::{ModeBody, PartQuery, RunsQuery};
use super::extract::{CallPath, JsonBody, QueryOf, RunPath};
use super::problem::Problem;
use super::shortened;
use super::state::ApiState;

const LIST_DEFAULT: u32 = 50;
const LIST_MAX: u32 = 500;

/// List runs, newest first.
#[utoipa::path(get, path = "/v1/runs", operation_id = "list_runs", tag = "runs", params(RunsQuery),
    responses((status = 200, description = "`runs`: summaries, and `next` where there may be more"),
        (status = 400, description = "A part of the request cannot be understood")))]
pub(super) async fn list(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    QueryOf(query): QueryOf<RunsQuery>,
) -> Result<axum::Json<Json>, Problem> {
    let limit = bounded(query.limit, LIST_DEFAULT, LIST_MAX)?;
    let status = query.status.as_deref().map(str::parse).transpose()?;
    let before = query.before.as_deref().map(str::parse).transpose()?;
    let filter = RunFilter { limit: Some(limit), status, before, tenant: None };
    Ok(axum::Json(state.runs.access(&caller).list(filter).await?))
}

/// One run: how it stands, its result or error, what it used.
#[utoipa::path(get, path = "/v1/runs/{id}", operation_id = "show_run", tag = "runs", params(("id" = String, Path, description = "Run id")),
    responses((status = 200, description = "The run"),
        (status = 400, description = "That is not a run id"), (status = 404, description = "There is no such run")))]
pub(super) async fn show(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    RunPath(run_id): RunPath,
) -> Result<axum::Json<Json>, Problem> {
    let report = state.runs.access(&caller).report(&run_id).await?;
    Ok(axum::Json(shortened::run(&state, report)))
}

/// A part of a run that an answer was too short for: of its result, where `path` names nothing else.
#[utoipa::path(get, path = "/v1/runs/{id}/result", operation_id = "read_result", tag = "runs",
    params(("id" = String, Path, description = "Run id"), PartQuery),
    responses((status = 200, description = "`part`, and `next`, the offset of the next one, or null after the last"),
        (status = 400, description = "That is not a run id, a path or an offset"),
        (status = 404, description = "There is no such run, or it has nothing at `path`")))]
pub(super) async fn part(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    RunPath(run_id): RunPath,
    QueryOf(query): QueryOf<PartQuery>,
) -> Result<axum::Json<Json>, Problem> {
    let part = PartRequest {
        path: query.path.unwrap_or_else(|| PartRequest::DEFAULT_PATH.to_owned()),
        offset: query.offset.unwrap_or(0),
        bytes_max: state.app.config().server.answers.result_bytes_max,
    };
    let read_on = |path: &str, offset| shortened::part_address(run_id.as_str(), path, offset).into();
    Ok(axum::Json(state.runs.access(&caller).part(&run_id, &part, &read_on).await?))
}

/// One call of a run, whole: its arguments, who allowed it and what came of it.
#[utoipa::path(get, path = "/v1/runs/{id}/calls/{call}", operation_id = "show_call", tag = "runs",
    params(("id" = String, Path, description = "Run id"), ("call" = String, Path, description = "Call id")),
    responses((status = 200, description = "`call` (null while it only waits for approval) and `approvals`"),
        (status = 400, description = "That is not a run id"),
        (status = 404, description = "There is no such run or call")))]
pub(super) async fn call(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    CallPath { run_id, call_id }: CallPath,
) -> Result<axum::Json<CallReport>, Problem> {
    Ok(axum::Json(state.runs.access(&caller).call(&run_id, &call_id).await?))
}

/// The run's plan as Lua source.
#[utoipa::path(get, path = "/v1/runs/{id}/plan", operation_id = "show_plan", tag = "runs", params(("id" = String, Path, description = "Run id")),
    responses((status = 200, description = "Lua source", body = String, content_type = "text/x-lua"),
        (status = 400, description = "That is not a run id"),
        (status = 404, description = "There is no such run, or it has no plan")))]
pub(super) async fn plan(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    RunPath(run_id): RunPath,
) -> Result<Response, Problem> {
    let source = state.runs.access(&caller).plan_source(&run_id).await?;
    Ok(([(CONTENT_TYPE, "text/x-lua; charset=utf-8")], source).into_response())
}

/// End a run. Calls under way are journaled as cut.
#[utoipa::path(post, path = "/v1/runs/{id}/cancel", operation_id = "cancel_run", tag = "runs", params(("id" = String, Path, description = "Run id")),
    responses((status = 202, description = "The run was told to end"),
        (status = 400, description = "That is not a run id"), (status = 404, description = "There is no such run"),
        (status = 409, description = "The run has ended, or is that of an agent")))]
pub(super) async fn cancel(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    RunPath(run_id): RunPath,
) -> Result<Response, Problem> {
    state.runs.access(&caller).cancel(&run_id).await?;
    Ok((StatusCode::ACCEPTED, axum::Json(json!({ "run_id": run_id, "status": "cancelling" })))
        .into_response())
}

/// Pause a run. It pauses once the calls it is at are over, and holds nothing then.
#[utoipa::path(post, path = "/v1/runs/{id}/pause", operation_id = "pause_run", tag = "runs", params(("id" = String, Path, description = "Run id")),
    responses((status = 202, description = "The run was asked to pause"),
        (status = 400, description = "That is not a run id"), (status = 404, description = "There is no such run"),
        (status = 409, description = "The run is not under way, or is at another node")))]
pub(super) async fn pause(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    RunPath(run_id): RunPath,
) -> Result<Response, Problem> {
    state.runs.access(&caller).pause(&run_id).await?;
    Ok((StatusCode::ACCEPTED, axum::Json(json!({ "run_id": run_id, "status": "pausing" }))).into_response())
}

/// Change the mode of a run. It holds for its next call and its next plan; its iterations are counted from 0 again.
#[utoipa::path(post, path = "/v1/runs/{id}/mode", operation_id = "set_mode", tag = "runs", params(("id" = String, Path, description = "Run id")),
    request_body = ModeBody,
    responses((status = 200, description = "`run_id`, `mode` and `max_iterations` (null for the configured number)"),
        (status = 400, description = "That is not a run id, or a part of the body cannot be understood"),
        (status = 403, description = "The key lacks the scope `mode:autonomous`"),
        (status = 404, description = "There is no such run"),
        (status = 409, description = "The run has ended, or is that of an agent")))]
pub(super) async fn mode(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    RunPath(run_id): RunPath,
    JsonBody(body): JsonBody<ModeBody>,
) -> Result<axum::Json<Json>, Problem> {
    let change = ModeChange { mode: body.mode.parse()?, max_iterations: body.max_iterations };
    let ModeChange { mode, max_iterations } = state.runs.access(&caller).set_mode(&run_id, change).await?;
    Ok(axum::Json(json!({ "run_id": run_id, "mode": mode, "max_iterations": max_iterations })))
}
