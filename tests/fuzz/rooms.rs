//! The rooms that read what others wrote, compiled without those that need a network.

#[path = "../../src/base/mod.rs"]
pub mod base;
#[path = "../../src/catalog/mod.rs"]
pub mod catalog;
#[path = "../../src/journal/mod.rs"]
pub mod journal;
#[path = "../../src/plan/mod.rs"]
pub mod plan;
#[path = "../../src/sandbox/mod.rs"]
pub mod sandbox;
#[path = "../../src/syntax/mod.rs"]
pub mod syntax;

/// What several targets need.
#[path = "support.rs"]
pub mod support;

/// What goes through the pipe of a worker process, without the processes.
#[path = "workers.rs"]
pub mod workers;
