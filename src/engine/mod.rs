//! Rank 5: the one loop that awaits.
//!
//! [`drive`] takes a VM from pause to pause and gives its
//! calls to whoever answers them.
//!
//! **Never here:** how a call is made (the bus), how Lua runs (the sandbox), how a plan is found
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
