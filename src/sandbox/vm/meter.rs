//! Counts what a VM uses and stops it for good.
//!
//! It counts VM instructions, and work done outside the VM in the same unit. The count depends on the
//! plan and the answers to its calls alone, never on time, addresses or slices: engines charge what ran,
//! to the instruction, however often they check.
//!
//! Once a limit is hit the meter is *dead*: every further step fails, the plan's own `pcall` and
//! coroutine functions rethrow, and no result is accepted.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use luaplan_base::{Error, ErrorCode, LimitName, Result};

use crate::{Interrupt, InterruptReason, VmLimits};

/// The most VM instructions between two checks of the meter.
///
/// Lua traps on every instruction whenever a count hook is set, so a coarser step saves little.
pub const STEP_INSTRUCTIONS: u32 = 1_000;

/// The price of a tool call besides the instructions it runs.
const CALL_INSTRUCTIONS: u64 = 200;

/// Unwinds the guest after a limit, without telling it anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dead;

impl std::fmt::Display for Dead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the run has been stopped")
    }
}

impl std::error::Error for Dead {}

/// Where the cost of work goes.
pub(crate) trait Charge {
    /// Counts `instructions` against the run's budget, and checks whether the run has been stopped.
    ///
    /// # Errors
    /// The run is over.
    fn charge(&self, instructions: u64) -> Result<(), Dead>;

    /// Refuses a result of `bytes` that the VM could not hold, and charges for making it.
    ///
    /// # Errors
    /// The run is over.
    fn reserve(&self, bytes: u64) -> Result<(), Dead>;
}

/// The counters of one VM.
#[derive(Debug)]
pub(crate) struct Meter {
    limits: VmLimits,
    interrupt: Interrupt,
    slice_instructions: u64,
    instructions: AtomicU64,
    slice_end: AtomicU64,
    sliced: AtomicBool,
    memory_peak_bytes: AtomicU64,
    printed_bytes: AtomicU64,
    calls: AtomicU64,
    dead: AtomicBool,
    fatal: Mutex<Option<Error>>,
}

impl Meter {
    pub(crate) fn new(limits: VmLimits, interrupt: Interrupt, slice_instructions: u64) -> Self {
        Self {
            limits,
            interrupt,
            slice_instructions: slice_instructions.max(u64::from(STEP_INSTRUCTIONS)),
            instructions: AtomicU64::new(0),
            slice_end: AtomicU64::new(u64::MAX),
            sliced: AtomicBool::new(false),
            memory_peak_bytes: AtomicU64::new(0),
            printed_bytes: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            dead: AtomicBool::new(false),
            fatal: Mutex::new(None),
        }
    }

    pub(crate) fn limits(&self) -> &VmLimits {
        &self.limits
    }

    pub(crate) fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Starts a new slice.
    pub(crate) fn begin_slice(&self) {
        let end = self.instructions().saturating_add(self.slice_instructions);
        self.slice_end.store(end, Ordering::Relaxed);
        self.sliced.store(false, Ordering::Relaxed);
    }

    /// Whether the last pause was the end of a slice; asking clears it.
    pub(crate) fn take_sliced(&self) -> bool {
        self.sliced.swap(false, Ordering::Relaxed)
    }

    /// Whether the slice is used up.
    pub(crate) fn is_slice_over(&self) -> bool {
        self.instructions() >= self.slice_end.load(Ordering::Relaxed)
    }

    /// Notes that the VM pauses because its slice is used up.
    pub(crate) fn note_sliced(&self) {
        self.sliced.store(true, Ordering::Relaxed);
    }

    /// Counts `instructions` of work done outside the VM's own count.
    ///
    /// # Errors
    /// [`Dead`], where this passes the limit, an interrupt came, or the run was dead before.
    pub(crate) fn charge(&self, instructions: u64) -> std::result::Result<(), Dead> {
        // Only the thread that runs the VM counts, so the two steps need not be atomic.
        let used = self.instructions().saturating_add(instructions);
        self.instructions.store(used, Ordering::Relaxed);
        self.check_alive()?;
        if used > self.limits.instructions {
            return Err(self.kill(LimitName::Instructions.exceeded(self.limits.instructions, used)));
        }
        Ok(())
    }

    /// Checks the interrupt and the dead flag.
    pub(crate) fn check_alive(&self) -> std::result::Result<(), Dead> {
        if self.is_dead() {
            return Err(Dead);
        }
        match self.interrupt.reason() {
            None => Ok(()),
            Some(InterruptReason::WallTime) => {
                let wall_ms = self.limits.wall_ms;
                Err(self.kill(LimitName::Wall.exceeded(wall_ms, wall_ms)))
            }
            Some(InterruptReason::Cancelled) => Err(self.kill(Error::cancelled())),
        }
    }

    /// Whether the limit allows another tool call.
    pub(crate) fn may_call(&self) -> bool {
        !self.is_dead() && self.calls.load(Ordering::Relaxed) < self.limits.tool_calls
    }

    /// Counts one tool call.
    pub(crate) fn count_call(&self) -> std::result::Result<(), Dead> {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        if calls > self.limits.tool_calls {
            return Err(self.kill(LimitName::ToolCalls.exceeded(self.limits.tool_calls, calls)));
        }
        self.charge(CALL_INSTRUCTIONS)
    }

    /// Counts printed bytes.
    pub(crate) fn count_printed(&self, bytes: usize) -> std::result::Result<(), Dead> {
        let bytes = bytes as u64;
        let printed = self.printed_bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if printed > self.limits.print_bytes {
            return Err(self.kill(LimitName::Print.exceeded(self.limits.print_bytes, printed)));
        }
        self.charge(bytes / BYTES_PER_INSTRUCTION)
    }

    /// Remembers how much memory is held now.
    pub(crate) fn sample_memory(&self, bytes: u64) {
        self.memory_peak_bytes.fetch_max(bytes, Ordering::Relaxed);
    }

    /// Ends the run because an allocation was refused.
    pub(crate) fn out_of_memory(&self) -> Dead {
        let limit = self.limits.memory_bytes;
        let observed = self.memory_peak_bytes.fetch_max(limit, Ordering::Relaxed).max(limit);
        self.kill(LimitName::Memory.exceeded(limit, observed))
    }

    /// Ends the run because `wanted_bytes` could never fit.
    pub(crate) fn refuse_allocation(&self, wanted_bytes: u64) -> Dead {
        self.kill(LimitName::Memory.exceeded(self.limits.memory_bytes, wanted_bytes))
    }

    /// Ends the run for good. The first reason stays.
    pub(crate) fn kill(&self, error: Error) -> Dead {
        let mut fatal = self.fatal.lock().unwrap_or_else(PoisonError::into_inner);
        fatal.get_or_insert(error);
        self.dead.store(true, Ordering::Relaxed);
        Dead
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    /// The reason the run is dead, if it is.
    ///
    /// # Errors
    /// That reason.
    pub(crate) fn verdict(&self) -> Result<()> {
        if !self.is_dead() {
            return Ok(());
        }
        let mut fatal = self.fatal.lock().unwrap_or_else(PoisonError::into_inner);
        Err(fatal
            .take()
            .unwrap_or_else(|| Error::new(ErrorCode::Internal, "the run stopped without a reason")))
    }

    /// The rest of the budget.
    pub(crate) fn instructions_left(&self) -> u64 {
        self.limits.instructions.saturating_sub(self.instructions())
    }

    pub(crate) fn instructions(&self) -> u64 {
        self.instructions.load(Ordering::Relaxed)
    }

    pub(crate) fn usage(&self) -> crate::VmUsage {
        crate::VmUsage {
            instructions: self.instructions(),
            memory_peak_bytes: self.memory_peak_bytes.load(Ordering::Relaxed),
            calls: self.calls.load(Ordering::Relaxed),
        }
    }
}

/// How many bytes handled by host code count as one instruction.
pub(crate) const BYTES_PER_INSTRUCTION: u64 = 16;

impl Charge for Meter {
    fn charge(&self, instructions: u64) -> std::result::Result<(), Dead> {
        Self::charge(self, instructions)
    }

    fn reserve(&self, bytes: u64) -> std::result::Result<(), Dead> {
        if bytes > self.limits.memory_bytes {
            return Err(self.refuse_allocation(bytes));
        }
        Self::charge(self, bytes / BYTES_PER_INSTRUCTION)
    }
}
