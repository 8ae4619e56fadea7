//! The state that watches a running VM; its hook, its allocator and its coroutine functions share it.
//!
//! The count is exact. A coroutine runs until its interval is used up and its hook charges it, or
//! until it stops for another reason and [`Watch::settle`] charges the part it ran. So the length of an
//! interval decides only when the meter is checked. It is as long as possible; a check comes at the
//! latest
//!
//! - right after the last instruction of the budget, and after every instruction of a dead run;
//! - a few frames above the depth limit;
//! - before instructions on the largest texts and tables made, or on a very large stack, add up to
//!   some ten milliseconds.

use std::cell::{Cell, OnceCell};
use std::ffi::{c_int, c_void};
use std::sync::Arc;

use mlua::{Lua, ffi};

use super::layout::{Coroutine, fits};
use super::state::{has_frames, restart_collector};
use crate::LineTrace;
use crate::lua54::host::Host;
use crate::vm::meter::{Meter, STEP_INSTRUCTIONS};

/// From a text this long on, the hook checks every instruction.
const TEXT_BYTES_CLOSE: usize = 2 << 20;

/// Bytes of texts that instructions may handle between two checks: each may compare or hash a text as
/// long as the largest, at seven nanoseconds a byte for NULs.
const TEXT_BYTES_BETWEEN_LOOKS: usize = 8 << 20;

/// Bytes of the stack that they may move.
const STACK_BYTES_BETWEEN_LOOKS: usize = 32 << 20;

/// The same for blocks of tables: an instruction may walk colliding keys, some forty bytes each.
const BLOCK_BYTES_BETWEEN_LOOKS: usize = 256 << 20;

/// The same for all the VM holds: an instruction may follow a chain of `__index` tables and walk the
/// colliding keys of each.
const HELD_BYTES_BETWEEN_LOOKS: u64 = 512 << 20;

/// The interval near the depth limit: a call takes two instructions or more.
const INTERVAL_WHEN_DEEP: c_int = 64;

/// What a plan may allocate before the collector starts.
const ASLEEP_BYTES: u64 = 256 << 10;

/// How far below the depth limit "near" starts.
const NEAR_FRAMES: u64 = STEP_INSTRUCTIONS as u64 / 2;

/// Watches one VM. Its address never changes.
pub(in crate::lua54) struct Watch {
    pub(super) meter: Arc<Meter>,
    pub(super) host: Arc<Host>,
    /// The allocator around which ours stands, and its data.
    pub(super) inner: Cell<Option<(ffi::lua_Alloc, *mut c_void)>>,
    /// The coroutine that runs now.
    pub(super) running: Cell<*mut ffi::lua_State>,
    /// The coroutine the plan's `run` is in; it may be paused at the end of a slice.
    pub(super) main: Cell<*mut ffi::lua_State>,
    /// Bytes of the largest text the VM ever made.
    pub(super) largest_text_bytes: Cell<usize>,
    /// Bytes of the largest block of any other kind.
    pub(super) largest_block_bytes: Cell<usize>,
    /// The trace that notes the lines that run, if any.
    pub(super) lines: OnceCell<LineTrace>,
    /// Bytes the VM held at the last check.
    held_bytes: Cell<u64>,
    /// The memory that starts the collector; 0 once it runs.
    collect_from_bytes: Cell<u64>,
}

#[expect(unsafe_code, reason = "the addresses belong to a VM that moves as a whole")]
// SAFETY: the owner of the VM owns its watch, and all it points to moves with the VM; one thread at
// a time runs a VM, as resuming takes it by value.
unsafe impl Send for Watch {}

impl Watch {
    /// A watch for `lua`, which has no hook yet. `None` where its Lua has another layout.
    pub(in crate::lua54) fn new(lua: &Lua, host: Arc<Host>) -> Option<Box<Self>> {
        let main_state = lua.exec_raw_lua(mlua::state::RawLua::state);
        fits(main_state).then(|| {
            Box::new(Self {
                meter: host.meter.clone(),
                host,
                inner: Cell::new(None),
                running: Cell::new(std::ptr::null_mut()),
                main: Cell::new(std::ptr::null_mut()),
                largest_text_bytes: Cell::new(0),
                largest_block_bytes: Cell::new(0),
                lines: OnceCell::new(),
                held_bytes: Cell::new(0),
                collect_from_bytes: Cell::new(0),
            })
        })
    }

    /// Notes the lines of the plan in `trace`; to be called before the hook is set.
    pub(in crate::lua54) fn trace_lines(&self, trace: LineTrace) {
        let _ = self.lines.set(trace);
    }

    /// Keeps the stopped collector asleep while the plan allocates little: a restart would first traverse
    /// all of the prelude.
    pub(in crate::lua54) fn let_collector_sleep(&self, used_bytes: u64) {
        self.collect_from_bytes.set(used_bytes + ASLEEP_BYTES);
    }

    /// Notes how much memory is held, and starts the collector where needed.
    pub(super) fn sample_memory(&self, state: *mut ffi::lua_State, used_bytes: u64) {
        self.meter.sample_memory(used_bytes);
        self.held_bytes.set(used_bytes);
        let from = self.collect_from_bytes.get();
        if from > 0 && used_bytes >= from {
            self.collect_from_bytes.set(0);
            restart_collector(state);
        }
    }

    /// The fields of a coroutine of this VM.
    #[expect(unsafe_code, reason = "the one way to a coroutine's fields")]
    pub(super) fn coroutine(state: *mut ffi::lua_State) -> Coroutine {
        // SAFETY: callers pass a coroutine that Lua handed them or that they hold on to, and a
        // watch exists only where the layout fits.
        unsafe { Coroutine::new(state) }
    }

    /// Charges what `state` ran since its interval started, and starts a new one.
    pub(super) fn settle(&self, state: *mut ffi::lua_State) {
        let coroutine = Self::coroutine(state);
        let _ = self.meter.charge(coroutine.ran());
        coroutine.begin(self.interval(state));
    }

    /// Shortens the interval of `state` where what is known now requires an earlier check.
    pub(super) fn refresh(&self, state: *mut ffi::lua_State) {
        if !state.is_null() && Self::coroutine(state).left() > self.interval(state) {
            self.settle(state);
        }
    }

    /// Whether every instruction is checked, as one may compare texts of megabytes.
    pub(super) fn looks_closely(&self) -> bool {
        self.largest_text_bytes.get() >= TEXT_BYTES_CLOSE
    }

    /// How many instructions `state` may run before the next check.
    pub(super) fn interval(&self, state: *mut ffi::lua_State) -> c_int {
        if self.meter.is_dead() {
            return 1;
        }
        let coroutine = Self::coroutine(state);
        if self.looks_closely() {
            return 1;
        }
        let most = (TEXT_BYTES_BETWEEN_LOOKS / self.largest_text_bytes.get().max(1))
            .min(STACK_BYTES_BETWEEN_LOOKS / coroutine.stack_bytes().max(1))
            .min(BLOCK_BYTES_BETWEEN_LOOKS / self.largest_block_bytes.get().max(1))
            .min(
                usize::try_from(HELD_BYTES_BETWEEN_LOOKS / self.held_bytes.get().max(1))
                    .unwrap_or(usize::MAX),
            )
            .min(STEP_INSTRUCTIONS as usize);
        let most = c_int::try_from(most).unwrap_or(c_int::MAX).min(self.interval_by_depth(state, coroutine));
        let left = c_int::try_from(self.meter.instructions_left()).unwrap_or(c_int::MAX);
        most.min(left.saturating_add(1)).max(1)
    }

    fn interval_by_depth(&self, state: *mut ffi::lua_State, coroutine: Coroutine) -> c_int {
        let limit = self.meter.limits().call_depth;
        let near = NEAR_FRAMES.min(limit / 2);
        if coroutine.frames_at_most() > limit - near && has_frames(state, limit - near) {
            return INTERVAL_WHEN_DEEP;
        }
        c_int::try_from(2 * near).unwrap_or(c_int::MAX).max(INTERVAL_WHEN_DEEP)
    }
}
