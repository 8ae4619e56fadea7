//! Rank 3: the tools. One folder a built-in tool, named as its manifest in `tools/`; one a kind of
//! tool made by manifest (`http`, `sql`, `command`), and `manifest`, what these have in common; `openapi` makes such manifests.
//!
//! **Never here:** Lua, policy, rate limits, the journal's order of events. A tool gets arguments
//! that fit its manifest, does one thing to the world, and says what came of it.

pub mod call_llm;
pub mod command;
pub mod fetch_url;
pub mod http;
pub mod manifest;
pub mod mcp;
pub mod openapi;
pub mod query_db;
pub mod send_email;
pub mod sleep;
pub mod sql;
pub mod transform_data;
pub mod wait_until;
