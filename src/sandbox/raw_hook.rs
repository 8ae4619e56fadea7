//! The count hook, set on the Lua state itself.
//!
//! The binding's own hook raises errors by clearing the stack of the frame it interrupted. That
//! closes the frame's `<close>` variables inside the hook, where no hook runs: a handler without
//! end would then never be stopped. This hook raises without touching the frame, so handlers run
//! after unwinding, metered like everything else.
//!
//! The hook finds its meter through the thread it runs on: a VM runs on one thread at a time, and
//! only inside [`Entered`].
//!
//! **Never here:** counting and limits; see `meter`.

use std::cell::RefCell;
use std::ffi::c_int;
use std::sync::Arc;

use mlua::{Lua, ffi};

use super::meter::{Meter, STEP_INSTRUCTIONS};

/// What the hook does after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookVerdict {
    /// Goes on.
    Continue,
    /// Yields the running coroutine; it can.
    Pause,
    /// Raises; the run is dead.
    Stop,
}

thread_local! {
    /// The meters of the VMs that run on this thread, innermost last.
    static RUNNING: RefCell<Vec<Arc<Meter>>> = const { RefCell::new(Vec::new()) };
}

/// While this lives, the hook counts for the meter it was made with. Not to be sent away.
#[derive(Debug)]
pub(super) struct Entered(std::marker::PhantomData<*const ()>);

impl Drop for Entered {
    fn drop(&mut self) {
        RUNNING.with_borrow_mut(Vec::pop);
    }
}

pub(super) fn enter(meter: Arc<Meter>) -> Entered {
    RUNNING.with_borrow_mut(|running| running.push(meter));
    Entered(std::marker::PhantomData)
}

/// The frames of the coroutine a hook interrupted.
pub(super) struct Frames(*mut ffi::lua_State);

pub(super) fn set(lua: &Lua) {
    let steps = c_int::try_from(STEP_INSTRUCTIONS).unwrap_or(c_int::MAX);
    #[expect(unsafe_code, reason = "the binding's own hook cannot raise safely; see the module")]
    lua.exec_raw_lua(|raw| {
        // SAFETY: the state is alive, as `lua` is; setting a hook neither allocates nor raises.
        unsafe { ffi::lua_sethook(raw.state(), Some(on_count), ffi::LUA_MASKCOUNT, steps) }
    });
}

#[expect(unsafe_code, reason = "called by Lua, which hands over a live state")]
unsafe extern "C-unwind" fn on_count(state: *mut ffi::lua_State, _: *mut ffi::lua_Debug) {
    // Everything that must be dropped is gone when this block ends: raising jumps over this frame.
    let verdict = {
        let meter = RUNNING.with_borrow(|running| running.last().cloned());
        meter.map_or(HookVerdict::Continue, |meter| meter.step(&Frames(state)))
    };
    match verdict {
        HookVerdict::Continue => {}
        // SAFETY: inside a count hook a coroutine that can yield may do so without values.
        HookVerdict::Pause => unsafe {
            ffi::lua_yield(state, 0);
        },
        // SAFETY: a hook has room for values on the stack, a light userdata allocates nothing, and
        // no Rust frame between here and the nearest protected call holds anything to drop.
        HookVerdict::Stop => unsafe {
            ffi::lua_pushlightuserdata(state, std::ptr::null_mut());
            ffi::lua_error(state)
        },
    }
}

#[expect(unsafe_code, reason = "looks at the state of a running hook, which is alive")]
impl Frames {
    /// Whether there are more than `depth` frames.
    pub(super) fn exists(&self, depth: u64) -> bool {
        let Ok(level) = c_int::try_from(depth) else { return false };
        let mut frame = std::mem::MaybeUninit::<ffi::lua_Debug>::zeroed();
        // SAFETY: `lua_getstack` only fills the record it is given.
        unsafe { ffi::lua_getstack(self.0, level, frame.as_mut_ptr()) != 0 }
    }

    /// The number of frames, which is known to be above `at_least`.
    pub(super) fn depth(&self, at_least: u64) -> u64 {
        let mut low = at_least;
        let mut high = at_least.saturating_mul(2).max(2);
        while self.exists(high) {
            low = high;
            high = high.saturating_mul(2);
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.exists(middle) { low = middle } else { high = middle }
        }
        low + 1
    }

    /// Which coroutine this is.
    pub(super) fn coroutine(&self) -> usize {
        self.0 as usize
    }

    /// Whether the coroutine may be paused here.
    pub(super) fn can_yield(&self) -> bool {
        // SAFETY: only reads the state.
        unsafe { ffi::lua_isyieldable(self.0) != 0 }
    }

    /// Bytes the VM holds.
    pub(super) fn memory_bytes(&self) -> u64 {
        // SAFETY: asking for the count neither allocates nor collects.
        let (kib, rest) =
            unsafe { (ffi::lua_gc(self.0, ffi::LUA_GCCOUNT, 0), ffi::lua_gc(self.0, ffi::LUA_GCCOUNTB, 0)) };
        u64::try_from(kib).unwrap_or(0) * 1024 + u64::try_from(rest).unwrap_or(0)
    }
}
