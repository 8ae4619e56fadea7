//! The tools of an application, or those of it that one run may call.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value as Json, json};

use luaplan_base::{Error, ErrorCode, Result};
use luaplan_bus::{Limiter, Registry, Tool};
use luaplan_catalog::{Catalog, DatabaseSchema, ToolKind, ToolSpec};
use luaplan_planner::ToolRules;

use super::mcp::McpServers;
use super::seen::SeenResults;

/// The tools, and the rates they share. Cheap to clone.
#[derive(Clone)]
pub struct Toolbox {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) usable: Arc<Catalog>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) servers: McpServers,
    pub(crate) seen: SeenResults,
    pub(crate) limiter: Arc<Limiter>,
}

impl Toolbox {
    /// The tools plans may call.
    #[must_use]
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// The tools that are set up, which a model is told about.
    #[must_use]
    pub fn usable(&self) -> &Catalog {
        &self.usable
    }

    /// As [`Toolbox::catalog`], with what runs of `tenant` saw of results.
    #[must_use]
    pub fn catalog_for(&self, tenant: &str) -> Arc<Catalog> {
        self.seen.shown(&self.catalog, tenant)
    }

    /// As [`Toolbox::usable`], with what runs of `tenant` saw of results.
    #[must_use]
    pub fn usable_for(&self, tenant: &str) -> Arc<Catalog> {
        self.seen.shown(&self.usable, tenant)
    }

    /// The tool of that name.
    ///
    /// # Errors
    /// `not_found`.
    pub fn tool(&self, name: &str) -> Result<Arc<dyn Tool>> {
        self.registry.get(name).cloned().ok_or_else(|| self.no_such_tool(name))
    }

    /// What the databases of these tools hold, as far as that can be told; the log names those that could not be asked.
    pub(crate) async fn databases(&self) -> Vec<DatabaseSchema> {
        let mut known = Vec::new();
        // A tool with a statement of its own reads a database that no statement of a plan can reach.
        for tool in self.registry.iter().filter(|tool| tool.spec().kind == ToolKind::Builtin) {
            for (database, schema) in tool.schemas().await.iter() {
                match schema {
                    Ok(schema) => known.push(schema.clone()),
                    Err(error) => {
                        tracing::warn!(database, %error, "the planner is not told what this database holds");
                    }
                }
            }
        }
        known
    }

    /// The operator's words about these databases.
    pub(crate) fn database_notes(&self) -> Option<String> {
        let notes: Vec<&str> = self.registry.iter().filter_map(|tool| tool.schema_notes()).collect();
        (!notes.is_empty()).then(|| notes.join("\n"))
    }

    /// What the databases of a tool hold, and what the operator says about them, for lists of every edge.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn described(&self, name: &str) -> Result<Json> {
        let tool = self.tool(name)?;
        let told = |(name, schema): &(String, Result<DatabaseSchema>)| match schema {
            Ok(schema) => json!(schema),
            Err(error) => {
                json!({ "name": name, "error": { "code": error.code(), "message": error.message() } })
            }
        };
        let databases: Vec<Json> = tool.schemas().await.iter().map(told).collect();
        Ok(match tool.schema_notes() {
            Some(notes) => json!({ "databases": databases, "notes": notes }),
            None => json!({ "databases": databases }),
        })
    }

    /// What plans have to know of how the usable tools are set up, in their order: bounds, reach, and slow rates.
    pub(crate) fn planning_rules(&self) -> Vec<ToolRules> {
        let rules = |spec: &Arc<ToolSpec>| {
            let mut rules = self.registry.get(&spec.name).map_or_else(Vec::new, |tool| tool.planning_rules());
            if spec.rate.period > Duration::from_secs(1) {
                rules.push(format!("at most {}, then calls wait", spec.rate));
            }
            (!rules.is_empty()).then(|| ToolRules { tool: spec.name.clone(), rules })
        };
        self.usable.iter().filter_map(rules).collect()
    }

    /// What to answer where nothing of that name is registered.
    #[must_use]
    pub fn no_such_tool(&self, name: &str) -> Error {
        let known = self.catalog.names().collect::<Vec<_>>().join(", ");
        Error::new(ErrorCode::NotFound, format!("there is no tool `{name}`"))
            .with_help(format!("the tools are {known}"))
    }

    /// For a run that may call `tools` and no others.
    pub(crate) fn narrowed(&self, tools: &[String]) -> Self {
        let is_kept = |name: &str| tools.iter().any(|tool| tool == name);
        let keep = |catalog: &Catalog| Arc::new(catalog.only(|spec| is_kept(&spec.name)));
        let mut registry = Registry::default();
        self.registry
            .iter()
            .filter(|tool| is_kept(&tool.spec().name))
            .for_each(|tool| registry.insert(tool.clone()));
        Self {
            catalog: keep(&self.catalog),
            usable: keep(&self.usable),
            registry: Arc::new(registry),
            ..self.clone()
        }
    }
}
