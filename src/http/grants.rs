//! `GET /v1/grants` and `POST /v1/grants/{id}/revoke`: grants, and their revocation.

use std::sync::Arc;

use axum::extract::{Extension, State};
use serde_json::{Value as Json, json};

use luaplan_app::Caller;

use super::dto::GrantsQuery;
use super::extract::{PathText, QueryOf};
use super::problem::Problem;
use super::state::ApiState;

/// What is allowed for a time, newest first: which calls, in whose runs, until when, and who allowed it.
#[utoipa::path(get, path = "/v1/grants", operation_id = "list_grants", tag = "approvals", params(GrantsQuery),
    responses((status = 200, description = "`grants`: those that hold now; with `all` those too that expired or were revoked"),
        (status = 400, description = "A part of the request cannot be understood")))]
pub(super) async fn list(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    QueryOf(query): QueryOf<GrantsQuery>,
) -> Result<axum::Json<Json>, Problem> {
    let grants = state.runs.access(&caller).grants(query.all.unwrap_or(false)).await?;
    Ok(axum::Json(json!({ "grants": grants })))
}

/// Take back what was allowed for a time. Calls made meanwhile stand.
#[utoipa::path(post, path = "/v1/grants/{id}/revoke", operation_id = "revoke_grant", tag = "approvals",
    params(("id" = String, Path, description = "`grant_id` of a grant")),
    responses((status = 200, description = "`grant`: what was taken back"),
        (status = 403, description = "The policy does not let this key decide"),
        (status = 404, description = "There is no such grant"),
        (status = 409, description = "It holds no more: it was revoked or has expired")))]
pub(super) async fn revoke(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    PathText(id): PathText,
) -> Result<axum::Json<Json>, Problem> {
    Ok(axum::Json(json!({ "grant": state.runs.access(&caller).revoke(&id).await? })))
}
