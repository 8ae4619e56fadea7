//! Rank 3: the VM, a synchronous state machine.
//!
//! A pause is a value: [`Step`]. Each pause owns the VM and has only the way on that is legal
//! there, so a wrong resume does not compile.
//!
//! **Never here:** I/O, async, the bus, a clock, a tool. Only [`Interrupt`] reaches in from outside.

mod calls;
mod engine_kind;
mod engine_mlua;
#[cfg(feature = "piccolo")]
mod engine_piccolo;
mod failed_call;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod host_memory;
mod json_size;
mod lines;
mod lua_chunk;
mod machine;
mod meter;
mod native;
mod options;
mod pause;
mod stdlib;
mod step;

pub use engine_kind::EngineKind;
pub use engine_mlua::{Vm, VmPool, keep_freed_memory};
#[cfg(feature = "piccolo")]
pub use engine_piccolo::{PiccoloVm, compiles_on_piccolo};
pub use failed_call::FAILED_CALL;
pub use lines::LineTrace;
pub use machine::Machine;
pub use meter::STEP_INSTRUCTIONS;
pub use options::{SLICE_INSTRUCTIONS, VmLimits, VmOptions};
pub use pause::{PausedSlice, PausedWait, PendingCalls, Step};
pub use stdlib::{LIBRARY_STUB_FILES, LIBRARY_STUBS, library_signatures};
pub use step::{Interrupt, InterruptReason, Stopped, VmUsage};

/// The program in the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("README.md")]
pub struct ReadmeProgram;

#[cfg(test)]
mod tests;
