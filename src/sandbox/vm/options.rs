//! The options of a VM.

use luaplan_base::Limits;

use crate::Interrupt;

/// The limits a VM enforces itself; the rest of [`Limits`] belongs to the bus and the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VmLimits {
    /// Instructions; checked every [`crate::STEP_INSTRUCTIONS`] or more often.
    pub instructions: u64,
    /// Bytes the VM may hold at once.
    pub memory_bytes: u64,
    /// Nested function calls in one coroutine.
    pub call_depth: u64,
    /// Bytes of plan source.
    pub source_bytes: u64,
    /// Bytes of the result in its plain JSON form.
    pub output_bytes: u64,
    /// Bytes the plan may print.
    pub print_bytes: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// The wall limit in milliseconds, only for the error of an interrupt.
    pub wall_ms: u64,
}

impl From<&Limits> for VmLimits {
    fn from(limits: &Limits) -> Self {
        Self {
            instructions: limits.instructions,
            memory_bytes: limits.memory_bytes,
            call_depth: limits.call_depth,
            source_bytes: limits.source_bytes,
            output_bytes: limits.output_bytes,
            print_bytes: limits.print_bytes,
            tool_calls: limits.tool_calls,
            wall_ms: u64::try_from(limits.wall.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// A VM pauses after so many instructions, well under a millisecond, so that many runs can share few
/// threads. Workers, which need no such pauses, use the same number for equal counts.
pub const SLICE_INSTRUCTIONS: u64 = 50_000;

/// The options of a VM.
#[derive(Debug, Clone)]
pub struct VmOptions {
    /// The limits.
    pub limits: VmLimits,
    /// The names of the tools the plan may call; `server.tool` becomes a member of a table.
    pub tools: Vec<String>,
    /// The handle to stop the VM from outside.
    pub interrupt: Interrupt,
    /// After about how many instructions the VM pauses with [`crate::Step::Slice`].
    pub slice_instructions: u64,
}
