//! Rank 3: the tools. `builtin` has one folder a built-in tool, named as its manifest in `tools/`; `manifest` has the
//! kinds of tools made by a manifest, and the import of such manifests; `mcp` has the tools of MCP servers; `net` guards
//! all outgoing requests.
//!
//! **Never here:** Lua, policy, rate limits, the journal's order of events. A tool gets arguments
//! that fit its manifest, does one thing to the world, and returns the outcome.

#![cfg_attr(
    not(all(feature = "mcp", feature = "mysql", feature = "openapi", feature = "postgres")),
    allow(dead_code, unused_imports, reason = "what the parts that are left out use alone")
)]

mod builtin;
pub mod manifest;
mod net;

#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(not(feature = "mcp"))]
#[path = "mcp_absent.rs"]
pub mod mcp;

pub use builtin::{ask_person, call_llm, fetch_url, query_db, send_email, sleep, transform_data, wait_until};
#[cfg(feature = "openapi")]
pub use manifest::openapi;
pub use manifest::{command, http, sql};
