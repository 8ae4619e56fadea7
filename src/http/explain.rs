//! `POST /v1/plans/explain` and `GET /v1/runs/{id}/graph`: what a plan would do.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value as Json;

use luaplan_app::{Caller, PlanOf, check_plan_name, lowered};
use luaplan_base::{Error, ErrorCode, Value};
use luaplan_plan::draw::GraphFormat;

use super::dto::{ExplainBody, GraphQuery};
use super::extract::{JsonBody, QueryOf, RunPath};
use super::problem::Problem;
use super::state::ApiState;

/// Check a plan and say what it would do. Nothing is run, and nothing recorded.
#[utoipa::path(post, path = "/v1/plans/explain", operation_id = "explain_plan", tag = "plans", request_body = ExplainBody,
    responses((status = 200, description = "`ok`, `findings`, and where the plan may run `preview` and `graph`"),
        (status = 400, description = "A part of the request cannot be understood"),
        (status = 403, description = "`live` is true, and the key lacks the scope `runs:start`"),
        (status = 413, description = "The body is larger than `server.body_limit`"),
        (status = 503, description = "Too many plans wait to be checked or explained")))]
pub(super) async fn explain(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    JsonBody(body): JsonBody<ExplainBody>,
) -> Result<axum::Json<Json>, Problem> {
    if body.live {
        caller.may_check_live()?;
    }
    let name = body.name.unwrap_or_else(|| "plan".to_owned());
    check_plan_name(&name)?;
    let limits = lowered(&state.app.config().limits, &body.limits)?;
    let context = body.context.map(Value::from_json).transpose()?;
    let (tenant, context) = (caller.tenant(), context.as_ref());
    let plan = PlanOf { tenant, name: &name, source: &body.plan, limits: &limits, context };
    let plans = state.app.plans();
    let explanation =
        if body.live { plans.explain_live_for(plan).await? } else { plans.explain_for(plan).await? };
    Ok(axum::Json(explanation.to_json()))
}

/// The computation graph of the run's plan, by the tools there are now.
#[utoipa::path(get, path = "/v1/runs/{id}/graph", operation_id = "show_graph", tag = "runs",
    params(("id" = String, Path, description = "Run id"), GraphQuery),
    responses((status = 200, description = "The graph", content((Json = "application/json"), (String = "text/vnd.mermaid"), (String = "text/vnd.graphviz"), (String = "image/svg+xml"))),
        (status = 400, description = "That is not a run id, or there is no such form"),
        (status = 404, description = "There is no such run, or it has no plan"),
        (status = 422, description = "The plan does not pass the check any more; `findings` says why"),
        (status = 503, description = "Too many plans wait to be checked or explained")))]
pub(super) async fn graph(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    RunPath(run_id): RunPath,
    QueryOf(query): QueryOf<GraphQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let format = match query.format.as_deref() {
        Some(format) => format.parse()?,
        None => accepted(&headers),
    };
    let source = state.runs.access(&caller).plan_source(&run_id).await?;
    let (tenant, limits) = (caller.tenant(), &state.app.config().limits);
    let plan = PlanOf { tenant, name: "plan", source: &source, limits, context: None };
    let Some(graph) = state.app.plans().explain_for(plan).await?.graph() else {
        state.app.plans().checked_for(plan).await?;
        return Err(Error::new(ErrorCode::CheckRefused, "the plan does not pass the check any more").into());
    };
    let steps = state.runs.access(&caller).steps(&run_id).await?;
    let graph = graph
        .with_states(|name| steps.iter().find(|step| step.name == name).and_then(|step| step.state.known()));
    let kind = match format {
        GraphFormat::Json => "application/json".to_owned(),
        format => format!("{}; charset=utf-8", format.media_type()),
    };
    Ok(([(CONTENT_TYPE, kind)], graph.draw(format)).into_response())
}

/// The form `Accept` asks for.
fn accepted(headers: &HeaderMap) -> GraphFormat {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    GraphFormat::ALL
        .into_iter()
        .find(|format| accept.contains(format.media_type()))
        .unwrap_or(GraphFormat::Json)
}
