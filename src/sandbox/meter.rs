//! Counts what a VM uses and stops it for good.
//!
//! The count comes from a hook that fires every [`STEP_INSTRUCTIONS`] VM instructions, in every
//! coroutine by itself. A fresh coroutine starts a fresh interval, so each resume is charged one
//! whole step: otherwise many short coroutines would run for nothing. The count depends on the
//! plan and the answers to its calls alone, never on time, addresses or slices.
//!
//! Once a limit is hit the meter is *dead*: every further step fails, the plan's own `pcall` and
//! coroutine functions rethrow, and no result is accepted.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mlua::{Lua, Thread};

pub(super) use super::raw_hook::Entered;
use super::raw_hook::{self, Frames, HookVerdict};
use super::{Interrupt, InterruptReason, VmLimits};
use crate::base::{Error, ErrorCode, LimitName, Result};

/// VM instructions between two looks of the meter.
///
/// Lua traps on every instruction whenever a count hook is set, so a coarser step saves little,
/// while a finer one charges short coroutines more fairly.
pub const STEP_INSTRUCTIONS: u32 = 200;

/// What the guest sees of a limit: nothing. It only unwinds.
#[derive(Debug)]
pub(super) struct Dead;

impl std::fmt::Display for Dead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the run has been stopped")
    }
}

impl std::error::Error for Dead {}

/// The counters of one VM.
#[derive(Debug)]
pub(super) struct Meter {
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
    main_thread: AtomicUsize,
}

impl Meter {
    pub(super) fn new(limits: VmLimits, interrupt: Interrupt, slice_instructions: u64) -> Self {
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
            main_thread: AtomicUsize::new(0),
        }
    }

    pub(super) fn limits(&self) -> &VmLimits {
        &self.limits
    }

    /// Sets the hook; threads made from now on inherit it. It counts inside an [`Entered`] alone.
    pub(super) fn attach(&self, lua: &Lua) {
        raw_hook::set(lua);
    }

    /// The VM runs on this thread until the guard goes.
    pub(super) fn enter(self: &Arc<Self>) -> Entered {
        raw_hook::enter(self.clone())
    }

    /// Names the coroutine that may be paused at the end of a slice.
    pub(super) fn set_main_thread(&self, thread: &Thread) {
        self.main_thread.store(thread.state() as usize, Ordering::Relaxed);
    }

    /// Starts a new slice.
    pub(super) fn begin_slice(&self) {
        let end = self.instructions().saturating_add(self.slice_instructions);
        self.slice_end.store(end, Ordering::Relaxed);
        self.sliced.store(false, Ordering::Relaxed);
    }

    /// Whether the last pause was the end of a slice; asking clears it.
    pub(super) fn take_sliced(&self) -> bool {
        self.sliced.swap(false, Ordering::Relaxed)
    }

    /// One step of the hook, in the coroutine `frames` looks at.
    pub(super) fn step(&self, frames: &Frames) -> HookVerdict {
        if self.charge(u64::from(STEP_INSTRUCTIONS)).is_err() {
            return HookVerdict::Stop;
        }
        self.memory_peak_bytes.fetch_max(frames.memory_bytes(), Ordering::Relaxed);
        let depth = self.limits.call_depth;
        if frames.exists(depth) {
            let _ = self.kill(LimitName::Depth.exceeded(depth, frames.depth(depth)));
            return HookVerdict::Stop;
        }
        let is_main = frames.coroutine() == self.main_thread.load(Ordering::Relaxed);
        if is_main && self.instructions() >= self.slice_end.load(Ordering::Relaxed) && frames.can_yield() {
            self.sliced.store(true, Ordering::Relaxed);
            return HookVerdict::Pause;
        }
        HookVerdict::Continue
    }

    /// Counts `instructions` of work done outside the VM's own count.
    ///
    /// # Errors
    /// [`Dead`], where this passes the limit, an interrupt came, or the run was dead before.
    pub(super) fn charge(&self, instructions: u64) -> mlua::Result<()> {
        let used = self.instructions.fetch_add(instructions, Ordering::Relaxed).saturating_add(instructions);
        self.check_alive()?;
        if used > self.limits.instructions {
            return Err(self.kill(LimitName::Instructions.exceeded(self.limits.instructions, used)));
        }
        Ok(())
    }

    /// Looks at the interrupt and at the dead flag.
    pub(super) fn check_alive(&self) -> mlua::Result<()> {
        if self.is_dead() {
            return Err(dead());
        }
        match self.interrupt.reason() {
            None => Ok(()),
            Some(InterruptReason::WallTime) => {
                let wall_ms = self.limits.wall_ms;
                Err(self.kill(LimitName::Wall.exceeded(wall_ms, wall_ms)))
            }
            Some(InterruptReason::Cancelled) => {
                Err(self.kill(Error::new(ErrorCode::Cancelled, "the run was cancelled")))
            }
        }
    }

    /// Counts one tool call.
    pub(super) fn count_call(&self) -> mlua::Result<()> {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        if calls > self.limits.tool_calls {
            return Err(self.kill(LimitName::ToolCalls.exceeded(self.limits.tool_calls, calls)));
        }
        self.charge(u64::from(STEP_INSTRUCTIONS))
    }

    /// Counts printed bytes.
    pub(super) fn count_printed(&self, bytes: usize) -> mlua::Result<()> {
        let bytes = bytes as u64;
        let printed = self.printed_bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if printed > self.limits.print_bytes {
            return Err(self.kill(LimitName::Print.exceeded(self.limits.print_bytes, printed)));
        }
        self.charge(bytes / BYTES_PER_INSTRUCTION)
    }

    /// Remembers how much memory is held now.
    pub(super) fn sample_memory(&self, lua: &Lua) {
        self.memory_peak_bytes.fetch_max(lua.used_memory() as u64, Ordering::Relaxed);
    }

    /// Ends the run because an allocation was refused.
    pub(super) fn out_of_memory(&self) -> mlua::Error {
        let limit = self.limits.memory_bytes;
        let observed = self.memory_peak_bytes.fetch_max(limit, Ordering::Relaxed).max(limit);
        self.kill(LimitName::Memory.exceeded(limit, observed))
    }

    /// Ends the run because `wanted_bytes` could never fit.
    pub(super) fn refuse_allocation(&self, wanted_bytes: u64) -> mlua::Error {
        self.kill(LimitName::Memory.exceeded(self.limits.memory_bytes, wanted_bytes))
    }

    /// Ends the run for good. The first reason stays.
    pub(super) fn kill(&self, error: Error) -> mlua::Error {
        let mut fatal = self.fatal.lock().unwrap_or_else(PoisonError::into_inner);
        fatal.get_or_insert(error);
        self.dead.store(true, Ordering::Relaxed);
        dead()
    }

    pub(super) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    /// The reason the run is dead, if it is.
    ///
    /// # Errors
    /// That reason.
    pub(super) fn verdict(&self) -> Result<()> {
        if !self.is_dead() {
            return Ok(());
        }
        let mut fatal = self.fatal.lock().unwrap_or_else(PoisonError::into_inner);
        Err(fatal
            .take()
            .unwrap_or_else(|| Error::new(ErrorCode::Internal, "the run stopped without a reason")))
    }

    pub(super) fn instructions(&self) -> u64 {
        self.instructions.load(Ordering::Relaxed)
    }

    pub(super) fn usage(&self) -> super::VmUsage {
        super::VmUsage {
            instructions: self.instructions(),
            memory_peak_bytes: self.memory_peak_bytes.load(Ordering::Relaxed),
            calls: self.calls.load(Ordering::Relaxed),
        }
    }
}

/// How many bytes handled by host code count as one instruction.
pub(super) const BYTES_PER_INSTRUCTION: u64 = 16;

fn dead() -> mlua::Error {
    mlua::Error::external(Dead)
}
