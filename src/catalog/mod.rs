//! Rank 1: what tools exist, as data.
//!
//! A [`ToolSpec`] is what a manifest says; a [`Catalog`] is the whitelist of one run. A
//! [`CallRequest`](luaplan_base::CallRequest) is what a plan asks for, and [`ToolSpec::bind`] decides whether it is valid.
//!
//! **Never here:** running a tool, I/O beyond reading a whole file that the user named, Lua values.

mod bind;
mod builtin;
mod compiled;
mod database;
mod effort;
mod fault;
mod lua_types;
mod manifest;
mod names;
mod overrides;
mod references;
pub mod regular_file;
mod relevance;
mod schema;
mod search;
mod seen;
mod spec;
mod stub;
pub mod toml_error;
pub mod toml_lines;

pub use builtin::{builtin_manifests, is_builtin};
pub use compiled::CompiledParams;
pub use database::{ColumnSchema, DatabaseSchema, Reference, TableSchema};
pub use lua_types::lua_type;
pub use manifest::{ManifestFile, is_tool_name, load_folder, load_manifests, read_manifest};
pub use names::plan_name;
pub use overrides::ToolOverride;
pub use relevance::{WeightedWords, relevance};
pub use schema::accepts;
pub use search::{FoundTool, named_in, search};
pub use seen::SeenShape;
pub use spec::{
    ArgumentRole, Catalog, ServerHints, TargetKind, ToolKind, ToolSpec, check_document, check_schema,
};
pub use stub::{is_lua_identifier, is_lua_keyword, prompt_stubs, stubs};

#[cfg(test)]
mod tests;
