//! `GET /v1/tools`.

use std::sync::Arc;

use axum::extract::State;
use serde_json::{Value as Json, json};

use super::state::ApiState;

/// The tools plans may call.
#[utoipa::path(get, path = "/v1/tools", tag = "tools", responses((status = 200, description = "`tools`: manifests")))]
pub(super) async fn list(State(state): State<Arc<ApiState>>) -> axum::Json<Json> {
    let tools: Vec<Json> = state.app.catalog().iter().map(|spec| spec.to_json()).collect();
    axum::Json(json!({ "tools": tools }))
}
