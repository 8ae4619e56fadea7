//! `GET /v1/tools`.

use std::sync::Arc;

use axum::extract::State;
use serde_json::{Value as Json, json};

use luaplan_catalog::{Catalog, FoundTool, search};

use super::dto::ToolsQuery;
use super::extract::QueryOf;
use super::state::ApiState;

/// The tools plans may call, or those that fit some words.
#[utoipa::path(get, path = "/v1/tools", operation_id = "list_tools", tag = "tools", params(ToolsQuery),
    responses((status = 200, description = "`tools`: manifests, `not_set_up` where one cannot work yet; with `query` the best first, each with its `score`"),
        (status = 400, description = "A parameter is not known")))]
pub(super) async fn list(
    State(state): State<Arc<ApiState>>,
    QueryOf(query): QueryOf<ToolsQuery>,
) -> axum::Json<Json> {
    let catalog = state.app.tools().catalog();
    let tools: Vec<Json> = match &query.query {
        None => catalog.iter().map(|spec| catalog.listed(spec)).collect(),
        Some(words) => search(catalog, words).iter().map(|found| scored(catalog, found)).collect(),
    };
    axum::Json(json!({ "tools": tools }))
}

fn scored(catalog: &Catalog, found: &FoundTool) -> Json {
    let mut tool = catalog.listed(&found.spec);
    if let Some(members) = tool.as_object_mut() {
        members.insert("score".to_owned(), found.score.into());
    }
    tool
}
