//! The rooms that read what others wrote, under the names embedders know them by.

pub use luaplan_base as base;
pub use luaplan_catalog as catalog;
pub use luaplan_journal as journal;
pub use luaplan_plan as plan;
pub use luaplan_vm as sandbox;

/// What several targets need.
#[path = "support.rs"]
pub mod support;

/// What goes through the pipe of a worker process, without the processes.
#[path = "workers.rs"]
pub mod workers;
