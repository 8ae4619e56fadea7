//! Rank 3: the VM, a synchronous state machine.
//!
//! A pause is a value: [`Step`]. Each pause owns the VM and has only the resume methods that are legal
//! there, so a wrong resume does not compile.
//!
//! **Never here:** I/O, async, the bus, a clock, a tool. Only [`Interrupt`] acts on a VM from outside.

#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod lua54;
mod lua_std;
#[cfg(feature = "piccolo")]
mod piccolo;
mod plan_lib;
mod vm;

#[cfg(feature = "piccolo")]
pub use self::piccolo::{PiccoloVm, compiles_on_piccolo};
pub use lua54::{Vm, VmPool, keep_freed_memory};
pub use plan_lib::{LIBRARY_STUB_FILES, LIBRARY_STUBS, library_signatures};
pub use vm::built::{is_built, not_built};
pub use vm::failed_call::FAILED_CALL;
pub use vm::interrupt::{Interrupt, InterruptReason};
pub use vm::lines::LineTrace;
pub use vm::machine::Machine;
pub use vm::meter::STEP_INSTRUCTIONS;
pub use vm::options::{SLICE_INSTRUCTIONS, VmLimits, VmOptions};
pub use vm::pause::{PausedSlice, PausedWait, PendingCalls, Step, Stopped, VmUsage};

#[doc(no_inline)]
pub use luaplan_base::EngineKind;

/// The program in the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("README.md")]
pub struct ReadmeProgram;

#[cfg(test)]
mod tests;
