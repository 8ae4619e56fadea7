//! `GET /v1/runs…`: look at runs, and end one.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value as Json, json};

use super::dto::RunsQuery;
use super::extract::{QueryOf, RunPath};
use super::problem::Problem;
use super::state::ApiState;
use crate::base::{Error, ErrorCode, Result, RunId};
use crate::journal::{EventBody, JournalRead as _, RecordFilter, RunFilter, RunSummary};

const LIST_DEFAULT: u32 = 50;
const LIST_MAX: u32 = 500;

/// List runs, newest first.
#[utoipa::path(get, path = "/v1/runs", tag = "runs", params(RunsQuery),
    responses((status = 200, description = "`runs`: summaries, and `next` where there may be more"),
        (status = 400, description = "A part of the request cannot be understood")))]
pub(super) async fn list(
    State(state): State<Arc<ApiState>>,
    QueryOf(query): QueryOf<RunsQuery>,
) -> Result<axum::Json<Json>, Problem> {
    let limit = bounded(query.limit, LIST_DEFAULT, LIST_MAX)?;
    let status = query.status.as_deref().map(str::parse).transpose()?;
    let before = query.before.as_deref().map(str::parse).transpose()?;
    let filter = RunFilter { limit: Some(limit), status, before };
    let runs = state.app.journal().runs(filter).await?;
    let full = u32::try_from(runs.len()).is_ok_and(|count| count == limit);
    let next = runs.last().filter(|_| full).map(|run| run.run_id.clone());
    let runs: Vec<Json> = runs.iter().map(|run| summary_json(&state, run)).collect();
    Ok(axum::Json(json!({ "runs": runs, "next": next })))
}

/// One run: how it stands, its result or error, what it used.
#[utoipa::path(get, path = "/v1/runs/{id}", tag = "runs", params(("id" = String, Path, description = "Run id")),
    responses((status = 200, description = "The run"),
        (status = 400, description = "That is not a run id"), (status = 404, description = "There is no such run")))]
pub(super) async fn show(
    State(state): State<Arc<ApiState>>,
    RunPath(run_id): RunPath,
) -> Result<axum::Json<Json>, Problem> {
    let Some(summary) = state.app.journal().run_summary(&run_id).await? else {
        // Begun, and not yet on record.
        if state.active(&run_id).is_some() {
            return Ok(axum::Json(json!({ "run_id": run_id, "status": "running", "under_way_here": true })));
        }
        return Err(no_such_run(&run_id).into());
    };
    let mut body = summary_json(&state, &summary);
    if let Json::Object(members) = &mut body {
        let mut printed = String::new();
        for event in events(&state, &run_id, SHOWN_EVENTS).await? {
            match event {
                EventBody::RunFinished { result, .. } => drop(members.insert("result".into(), result)),
                EventBody::RunFailed { error, .. } => drop(members.insert("error".into(), error)),
                EventBody::RunCancelled { reason, .. } => {
                    members.insert("error".into(), Error::new(ErrorCode::Cancelled, reason).to_json());
                }
                EventBody::Printed { text } => printed.push_str(&text),
                _ => {}
            }
        }
        if !printed.is_empty() {
            members.insert("printed".into(), printed.into());
        }
    }
    Ok(axum::Json(body))
}

/// The run's plan as Lua source.
#[utoipa::path(get, path = "/v1/runs/{id}/plan", tag = "runs", params(("id" = String, Path, description = "Run id")),
    responses((status = 200, description = "Lua source", content_type = "text/x-lua"),
        (status = 400, description = "That is not a run id"),
        (status = 404, description = "There is no such run, or it has no plan")))]
pub(super) async fn plan(
    State(state): State<Arc<ApiState>>,
    RunPath(run_id): RunPath,
) -> Result<Response, Problem> {
    match events(&state, &run_id, &["plan_proposed"]).await?.pop() {
        Some(EventBody::PlanProposed { source, .. }) => {
            Ok(([(CONTENT_TYPE, "text/x-lua; charset=utf-8")], source).into_response())
        }
        _ if is_known(&state, &run_id).await? => {
            Err(Error::new(ErrorCode::NotFound, format!("run {run_id} has no plan yet, or never got one"))
                .with_help("look at the run itself: GET /v1/runs/{id}")
                .into())
        }
        _ => Err(no_such_run(&run_id).into()),
    }
}

/// End a run. Calls under way are journaled as cut.
#[utoipa::path(post, path = "/v1/runs/{id}/cancel", tag = "runs", params(("id" = String, Path, description = "Run id")),
    responses((status = 202, description = "The run was told to end"),
        (status = 400, description = "That is not a run id"), (status = 404, description = "There is no such run"),
        (status = 409, description = "The run has ended, or another process runs it")))]
pub(super) async fn cancel(
    State(state): State<Arc<ApiState>>,
    RunPath(run_id): RunPath,
) -> Result<Response, Problem> {
    let Some(run) = state.active(&run_id) else {
        if state.app.journal().run_summary(&run_id).await?.is_none() {
            return Err(no_such_run(&run_id).into());
        }
        let message = format!("run {run_id} is not under way in this process");
        return Err(Error::new(ErrorCode::RunNotActive, message).into());
    };
    run.cancel.cancel();
    Ok((StatusCode::ACCEPTED, axum::Json(json!({ "run_id": run_id, "status": "cancelling" })))
        .into_response())
}

/// What a run's own page is made of besides its summary.
const SHOWN_EVENTS: &[&str] = &["printed", "run_finished", "run_failed", "run_cancelled"];

async fn events(state: &ApiState, run_id: &RunId, names: &[&str]) -> Result<Vec<EventBody>> {
    let filter = RecordFilter {
        run_id: Some(run_id.clone()),
        events: names.iter().map(|name| (*name).to_owned()).collect(),
        ..RecordFilter::default()
    };
    let records = state.app.journal().records(filter).await?;
    Ok(records.into_iter().map(|record| record.event.body).collect())
}

/// Whether a run of this id has begun, on record or not.
pub(super) async fn is_known(state: &ApiState, run_id: &RunId) -> Result<bool> {
    Ok(state.active(run_id).is_some() || state.app.journal().run_summary(run_id).await?.is_some())
}

pub(super) fn no_such_run(run_id: &RunId) -> Error {
    Error::new(ErrorCode::NotFound, format!("there is no run {run_id}"))
}

/// The summary, and whether it is this process that runs it: a run whose process died has no end
/// on record either, and stays `running`.
fn summary_json(state: &ApiState, summary: &RunSummary) -> Json {
    let mut json = serde_json::to_value(summary).unwrap_or_default();
    if let Json::Object(members) = &mut json {
        members.insert("under_way_here".into(), state.active(&summary.run_id).is_some().into());
    }
    json
}

/// A `limit` of a list.
pub(super) fn bounded(limit: Option<u32>, default: u32, max: u32) -> Result<u32> {
    match limit {
        None => Ok(default),
        Some(limit) if (1..=max).contains(&limit) => Ok(limit),
        Some(limit) => {
            Err(Error::new(ErrorCode::BadRequest, format!("`limit` must be 1 to {max}"))
                .with_limit(max, limit))
        }
    }
}
