//! Rank 1: what tools exist, as data.
//!
//! A [`ToolSpec`] is what a manifest says; a [`Catalog`] is the whitelist of one run. A
//! [`CallRequest`] is what a plan asks for, and [`ToolSpec::bind`] decides if it may be asked.
//!
//! **Never here:** running a tool, I/O beyond reading manifest files, Lua values.

mod bind;
mod builtin;
mod call;
mod compiled;
mod fault;
mod manifest;
mod overrides;
mod schema;
mod spec;
mod stub;

pub use builtin::builtin_manifests;
pub use call::{CallArguments, CallRequest};
pub use compiled::CompiledParams;
pub use manifest::{load_folder, read_manifest};
pub use overrides::ToolOverride;
pub use spec::{ArgumentRole, Catalog, ToolKind, ToolSpec};
pub use stub::{lua_type, stubs};

#[cfg(test)]
mod tests;
