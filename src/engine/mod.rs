//! Rank 5: what a run does next, and the one loop that awaits.
//!
//! [`RunPhase`] is a pure state machine. [`drive`] takes a VM from pause to pause and gives its
//! calls to whoever answers them.
//!
//! **Never here:** how a call is made (the bus), how Lua runs (the sandbox), how a plan is found
//! (the planner), where results are shown (the edges).

mod cpu_scheduler;
mod drive;
mod in_place;
mod isolation;
mod outcome;
mod phase;
mod recorded;
mod stop_signal;
mod vm_executor;

pub use drive::{DriveRequest, RecordedOutput, drive, pause_requested};
pub use isolation::Isolation;
pub use outcome::RunOutcome;
pub use phase::{PhaseEvent, RunPhase};
pub use recorded::{FromJournal, NothingMore, RecordedCalls, RecordedForm, arguments_as_recorded};

#[cfg(test)]
mod tests;
