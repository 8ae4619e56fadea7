//! luaplan turns a task in plain words into a small Lua program and runs it safely.
//!
//! A model writes `function run(context) … end`; the program is checked, shown, and run in an
//! isolated VM whose only door to the world is a whitelist of rate-limited, journaled tools.
//! See ARCHITECTURE.md for how the rooms fit together.

pub use luaplan_app as app;
pub use luaplan_base as base;
pub use luaplan_bus as bus;
pub use luaplan_catalog as catalog;
pub mod cli;
pub use luaplan_demo as demo;
pub use luaplan_engine as engine;
pub use luaplan_http as http;
pub use luaplan_journal as journal;
pub use luaplan_llm as llm;
#[cfg(feature = "mcp")]
pub use luaplan_mcp as mcp;
pub use luaplan_plan as plan;
pub use luaplan_planner as planner;
pub use luaplan_syntax as syntax;
pub use luaplan_testkit as testkit;
pub use luaplan_tools as tools;
pub use luaplan_vm as sandbox;
pub use luaplan_workers as workers;
