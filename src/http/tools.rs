//! `GET /v1/tools`, and what the databases of one hold.

use std::sync::Arc;

use axum::extract::{Extension, State};
use serde_json::{Value as Json, json};

use luaplan_app::Caller;
use luaplan_catalog::{Catalog, FoundTool, search};

use super::dto::ToolsQuery;
use super::extract::{PathText, QueryOf};
use super::problem::Problem;
use super::state::ApiState;

/// The tools plans may call, or those that fit some words.
#[utoipa::path(get, path = "/v1/tools", operation_id = "list_tools", tag = "tools", params(ToolsQuery),
    responses((status = 200, description = "`tools`: manifests, `seen` where the caller's runs saw what one does not declare, `not_set_up` where one cannot work yet; with `query` the best first, each with its `score`"),
        (status = 400, description = "A parameter is not known")))]
pub(super) async fn list(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    QueryOf(query): QueryOf<ToolsQuery>,
) -> axum::Json<Json> {
    let catalog = state.app.tools().catalog_for(caller.tenant());
    let tools: Vec<Json> = match &query.query {
        None => catalog.iter().map(|spec| catalog.listed(spec)).collect(),
        Some(words) => search(&catalog, words).iter().map(|found| scored(&catalog, found)).collect(),
    };
    axum::Json(json!({ "tools": tools }))
}

/// One tool: its manifest, and what the caller's runs saw of its results where it does not declare them.
#[utoipa::path(get, path = "/v1/tools/{name}", operation_id = "show_tool", tag = "tools",
    params(("name" = String, Path, description = "The tool's name, such as `query_db`")),
    responses((status = 200, description = "The manifest; `seen`: a JSON Schema of what results held, names and kinds alone; `not_set_up` where it cannot work yet"),
        (status = 404, description = "There is no such tool")))]
pub(super) async fn show(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    PathText(name): PathText,
) -> Result<axum::Json<Json>, Problem> {
    let catalog = state.app.tools().catalog_for(caller.tenant());
    match catalog.get(&name) {
        Some(spec) => Ok(axum::Json(catalog.listed(spec))),
        None => Err(state.app.tools().no_such_tool(&name).into()),
    }
}

/// What the databases hold that a tool reads: tables, columns, keys, never rows. Asked anew.
#[utoipa::path(get, path = "/v1/tools/{name}/schema", operation_id = "describe_tool_databases", tag = "tools",
    params(("name" = String, Path, description = "The tool's name, such as `query_db`")),
    responses((status = 200, description = "`databases`: in the order of the configuration, each with its tables as far as its user may read them, or `error` where it cannot be asked; `notes`: what the operator says about them"),
        (status = 404, description = "There is no such tool")))]
pub(super) async fn schema(
    State(state): State<Arc<ApiState>>,
    PathText(name): PathText,
) -> Result<axum::Json<Json>, Problem> {
    Ok(axum::Json(state.app.tools().described(&name).await?))
}

fn scored(catalog: &Catalog, found: &FoundTool) -> Json {
    let mut tool = catalog.listed(&found.spec);
    if let Some(members) = tool.as_object_mut() {
        members.insert("score".to_owned(), found.score.into());
    }
    tool
}
