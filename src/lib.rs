//! luaplan turns a task in plain words into a small Lua program and runs it safely.
//!
//! A model writes `function run(context) … end`; the program is checked, shown, and run in an
//! isolated VM whose only door to the world is a whitelist of rate-limited, journaled tools.
//! See ARCHITECTURE.md for how the rooms fit together.

pub mod app;
pub mod base;
pub mod bus;
pub mod catalog;
pub mod cli;
pub mod demo;
pub mod engine;
pub mod http;
pub mod journal;
pub mod llm;
pub mod mcp;
pub mod plan;
pub mod planner;
pub mod sandbox;
pub mod syntax;
pub mod testkit;
pub mod tools;
pub mod workers;
