//! Rank 6: everything put together, and what every edge can ask for.
//!
//! [`config`] turns files, environment and flags into a checked configuration; [`App`] wires
//! journal, tools, model and limits by it and offers the use cases: check, plan, run, look back.
//!
//! **Never here:** wire formats, terminals, exit codes.

pub mod config;

mod application;
mod doctor;
mod event_hub;
mod runs;
mod unconfigured;
mod wiring;

pub use application::{App, AppParts};
pub use doctor::{DoctorCheck, DoctorReport, DoctorState, examine};
pub use event_hub::{EventHub, StreamedEvent};
pub use runs::{RunRequest, Work};
pub use wiring::{check_tool_settings, tool_catalog};
