//! `GET /v1/audit`.

use std::sync::Arc;

use axum::extract::{Extension, State};
use serde_json::Value as Json;

use luaplan_app::{AuditQuery, Caller};
use luaplan_base::Result;

use super::dto::AuditParams;
use super::extract::QueryOf;
use super::problem::Problem;
use super::state::ApiState;

/// Records of the audit log, oldest first; `next` goes into `after` for the following page.
#[utoipa::path(get, path = "/v1/audit", operation_id = "list_audit", tag = "audit", params(AuditParams),
    responses((status = 200, description = "`records`, and `next` where there may be more"), 
        (status = 400, description = "A part of the request cannot be understood"),
        (status = 404, description = "There is no such run")))]
pub(super) async fn list(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    QueryOf(query): QueryOf<AuditParams>,
) -> Result<axum::Json<Json>, Problem> {
    let AuditParams { run, tool, event, outcome, since, until, after, limit } = query;
    let page_bytes_max = state.app.config().server.answers.result_bytes_max;
    let query = AuditQuery { run, tool, event, outcome, since, until, after, limit, page_bytes_max };
    Ok(axum::Json(state.runs.access(&caller).audit(query).await?))
}
