//! The registered tools.

use std::sync::Arc;

use indexmap::IndexMap;

use luaplan_catalog::Catalog;

use super::Tool;

/// Tools by name, in the order they were added. Other tools do not exist for any run.
#[derive(Clone, Default)]
pub struct Registry(IndexMap<String, Arc<dyn Tool>>);

impl Registry {
    /// Adds a tool under its specification's name, replacing one of the same name.
    pub fn insert(&mut self, tool: Arc<dyn Tool>) {
        self.0.insert(tool.spec().name.clone(), tool);
    }

    /// The tool of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.0.get(name)
    }

    /// Every tool, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.0.values()
    }

    /// The tools' specifications: the whitelist for checks, prompts and lists.
    #[must_use]
    pub fn catalog(&self) -> Catalog {
        self.0.values().map(|tool| tool.spec().clone()).collect()
    }
}
