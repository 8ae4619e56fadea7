//! Rank 3: the VM, a synchronous state machine.
//!
//! A pause is a value: [`Step`]. Each pause owns the VM and has only the way on that is legal
//! there, so a wrong resume does not compile.
//!
//! **Never here:** I/O, async, the bus, a clock, a tool. Only [`Interrupt`] reaches in from outside.

mod calls;
mod codec;
mod fault;
mod host;
mod json_size;
mod meter;
mod options;
mod part;
mod pause;
mod raw_hook;
mod report;
mod stdlib;
mod step;
mod support;
mod vm;

pub use meter::STEP_INSTRUCTIONS;
pub use options::{VmLimits, VmOptions};
pub use pause::{PausedSlice, PausedWait, PendingCalls, Step};
pub use stdlib::{LIBRARY_STUB_FILES, LIBRARY_STUBS, library_signatures};
pub use step::{Interrupt, InterruptReason, Stopped, VmUsage};
pub use vm::Vm;

#[cfg(test)]
mod tests;
