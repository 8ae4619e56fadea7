//! Rank 5: the one loop that awaits.
//!
//! [`drive`] runs a VM from pause to pause and passes its calls to their handler.
//!
//! **Never here:** how a call is made (the bus), how Lua runs (the sandbox), how a plan is made
//! (the planner), where results are shown (the edges).

mod cpu_scheduler;
mod drive;
mod in_place;
mod outcome;
mod recorded;
mod stop_signal;
mod vm_executor;

pub use drive::{DriveRequest, RecordedOutput, drive};
#[doc(no_inline)]
pub use luaplan_base::Isolation;
pub use outcome::RunOutcome;
pub use recorded::{FromJournal, NothingMore, RecordedCalls, RecordedForm, arguments_as_recorded};

#[cfg(test)]
mod tests;
