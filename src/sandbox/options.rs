//! What a VM is made with.

use luaplan_base::Limits;

use super::Interrupt;

/// The limits a VM enforces itself; the rest of [`Limits`] belongs to the bus and the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VmLimits {
    /// Instructions; looked at every [`super::STEP_INSTRUCTIONS`] or oftener.
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
    /// The wall limit in milliseconds, only to be named in the error of an interrupt.
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

/// After so many instructions a VM can pause, so that many runs share few threads: well under a
/// millisecond. The same in workers, where nobody needs the pauses, so that counts are the same.
pub const SLICE_INSTRUCTIONS: u64 = 50_000;

/// What a VM is made with.
#[derive(Debug, Clone)]
pub struct VmOptions {
    /// The limits.
    pub limits: VmLimits,
    /// The names of the tools the plan may call; `server.tool` becomes a member of a table.
    pub tools: Vec<String>,
    /// The handle to stop the VM from outside.
    pub interrupt: Interrupt,
    /// After about how many instructions the VM pauses with [`super::Step::Slice`].
    pub slice_instructions: u64,
}
