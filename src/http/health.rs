//! `/healthz` and `/readyz`.

use std::sync::Arc;

use axum::extract::State;
use serde_json::{Value as Json, json};

use luaplan_base::{Error, ErrorCode, Result};
use luaplan_journal::{JournalRead as _, RunFilter};

use super::problem::Problem;
use super::state::ApiState;

/// The process lives.
#[utoipa::path(get, path = "/healthz", operation_id = "healthz", tag = "health", responses((status = 200, description = "Alive")))]
pub(super) async fn healthz() -> axum::Json<Json> {
    axum::Json(json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }))
}

/// New work is taken: the journal answers and the server is not stopping.
#[utoipa::path(get, path = "/readyz", operation_id = "readyz", tag = "health",
    responses((status = 200, description = "Ready"), (status = 503, description = "Stopping, or the journal does not answer")))]
pub(super) async fn readyz(State(state): State<Arc<ApiState>>) -> Result<axum::Json<Json>, Problem> {
    if state.runs.registry().is_stopping() {
        return Err(Error::new(ErrorCode::ShuttingDown, "the server is stopping").into());
    }
    state.app.journal().runs(RunFilter { limit: Some(1), ..RunFilter::default() }).await?;
    Ok(axum::Json(json!({ "status": "ready" })))
}
