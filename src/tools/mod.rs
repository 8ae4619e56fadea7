//! Rank 3: the built-in tools, one folder a tool, named as its manifest in `tools/`.
//!
//! **Never here:** Lua, policy, rate limits, the journal's order of events. A tool gets arguments
//! that fit its manifest, does one thing to the world, and says what came of it.

pub mod call_llm;
pub mod fetch_url;
pub mod query_db;
pub mod send_email;
pub mod transform_data;
