//! Turns an OpenAPI document into manifests of the kind `http`, one for each operation.
//!
//! A manifest is a file that people read and change, so a command imports a document once; runs never
//! read it. An operation that a manifest cannot express is refused with the reason. Where an omission
//! makes no call wrong (an optional parameter, a check of the answer), a comment in the manifest names
//! it.
//!
//! **Never here:** a guess, a reference to another document, a secret.

mod answer;
mod body;
mod document;
mod fetch;
mod manifest;
mod options;
mod parameters;
mod schema;
mod security;
mod server;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde_json::Value as Json;

use luaplan_catalog::plan_name;

pub use self::document::Document;
pub use self::fetch::{DOCUMENT_BYTES_MAX, fetch};
pub use self::manifest::Manifest;
use self::manifest::ManifestDraft;
pub use self::options::ImportOptions;

/// Methods a manifest knows, as documents write them.
const METHODS: [&str; 6] = ["get", "head", "post", "put", "patch", "delete"];
/// Methods OpenAPI knows beyond these.
const OTHER_METHODS: [&str; 2] = ["options", "trace"];
/// Stands for the methods of a path that are not known.
const ANY_METHOD: &str = "*";

/// One operation of a document, and its tool.
#[derive(Debug, Clone)]
pub struct Operation {
    /// The document's name for it, else method and path: `GET /pets`.
    pub id: String,
    /// The method, in capitals; `*` where the document does not show which methods a path has.
    pub method: String,
    /// The path as the document has it.
    pub path: String,
    /// What it does, in the document's words.
    pub summary: String,
    /// The tool's name.
    pub tool: String,
    /// Its manifest, or why there can be none.
    pub manifest: Result<Manifest, String>,
}

impl Document {
    /// Every operation, in the document's order.
    #[must_use]
    pub fn operations(&self, options: &ImportOptions) -> Vec<Operation> {
        let mut operations: Vec<Operation> = Vec::new();
        let mut ids_by_tool: HashMap<String, String> = HashMap::new();
        for (path, item) in self.members("/paths").filter(|(path, _)| !path.starts_with("x-")) {
            // A path may stand elsewhere in the document.
            let item = match self.resolved(item) {
                Ok(item) => item,
                Err(reason) => {
                    operations.push(self.unreadable(path, reason, options));
                    item
                }
            };
            for method in METHODS.iter().chain(&OTHER_METHODS) {
                let Some(operation) = item.get(method) else { continue };
                let mut found = self.operation(method, path, item, operation, options);
                match ids_by_tool.entry(found.tool.clone()) {
                    Entry::Occupied(other) => {
                        let (tool, other) = (&found.tool, other.get());
                        found.manifest =
                            Err(format!("its tool would be named `{tool}`, as that of `{other}`"));
                    }
                    Entry::Vacant(free) => drop(free.insert(found.id.clone())),
                }
                operations.push(found);
            }
        }
        operations
    }

    /// Refuses a server that no operation can use.
    ///
    /// # Errors
    /// In words.
    pub fn check_server(&self, wanted: &str) -> Result<(), String> {
        server::absolute(self, wanted).map(drop)
    }

    /// Stands for the operations of a path that cannot be read.
    fn unreadable(&self, path: &str, reason: String, options: &ImportOptions) -> Operation {
        let mut found = self.operation(ANY_METHOD, path, &Json::Null, &Json::Null, options);
        found.manifest = Err(reason);
        found
    }

    fn operation(
        &self,
        method: &str,
        path: &str,
        item: &Json,
        operation: &Json,
        options: &ImportOptions,
    ) -> Operation {
        let capitals = method.to_ascii_uppercase();
        let text = |key: &str| {
            operation.get(key).and_then(Json::as_str).map(str::trim).filter(|text| !text.is_empty())
        };
        let id = text("operationId").map_or_else(|| format!("{capitals} {path}"), str::to_owned);
        let name = plan_name(&id);
        let tool = match &options.prefix {
            Some(prefix) => format!("{prefix}.{name}"),
            None => name,
        };
        let summary = text("summary").or_else(|| text("description")).unwrap_or_default().to_owned();
        let manifest = if !path.starts_with('/') {
            Err(format!("its path `{path}` does not begin with `/`"))
        } else if METHODS.contains(&method) {
            ManifestDraft::of(self, &capitals, path, item, operation, options)
                .and_then(|draft| draft.written(&tool))
        } else {
            Err(format!("manifests know no {capitals}"))
        };
        Operation { id, method: capitals, path: path.to_owned(), summary, tool, manifest }
    }
}

#[cfg(test)]
mod tests;
