//! The tools of an application, or those of it that one run may call.

use std::sync::Arc;

use luaplan_base::{Error, ErrorCode, Result};
use luaplan_bus::{Limiter, Registry, Tool};
use luaplan_catalog::{Catalog, DatabaseSchema};

use super::mcp::McpServers;

/// The tools, and the rates they share. Cheap to clone.
#[derive(Clone)]
pub struct Toolbox {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) usable: Arc<Catalog>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) servers: McpServers,
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
        for tool in self.registry.iter() {
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

    /// Nothing of that name is registered.
    pub(crate) fn no_such_tool(&self, name: &str) -> Error {
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
