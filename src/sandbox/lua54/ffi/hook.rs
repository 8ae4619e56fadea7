//! The count hook, and for line traces the line hook, set on the Lua state itself.
//!
//! The binding's own hook raises errors by clearing the stack of the frame it interrupted. That
//! closes the frame's `<close>` variables inside the hook, where no hook runs: nothing would stop an
//! endless handler. This hook raises without touching the frame, so handlers run after unwinding,
//! metered like everything else.
//!
//! **Never here:** counting and limits; see `meter`.

use std::ffi::{CStr, c_int};

use mlua::{Lua, ffi};

use luaplan_base::LimitName;

use super::compare;
use super::duty::on_duty;
use super::state::{has_frames, memory_bytes};
use super::watch::Watch;
use crate::vm::meter::{Meter, STEP_INSTRUCTIONS};

/// What the hook does after a check.
enum HookAction {
    Continue,
    /// Yields the running coroutine; it can.
    Pause,
    /// Raises; the run is dead.
    Stop,
}

impl Watch {
    /// Sets the hook on the VM's main state, from which coroutines made later have it. For a line trace
    /// Lua calls it for each new line as well, which does not change its counts.
    #[expect(unsafe_code, reason = "the binding's own hook cannot raise safely; see the module")]
    pub(in crate::lua54) fn set_hook(&self, lua: &Lua) {
        let state = lua.exec_raw_lua(mlua::state::RawLua::state);
        let has_lines = self.lines.get().is_some();
        let mask = if has_lines { ffi::LUA_MASKCOUNT | ffi::LUA_MASKLINE } else { ffi::LUA_MASKCOUNT };
        let interval = c_int::try_from(STEP_INSTRUCTIONS).unwrap_or(c_int::MAX);
        // SAFETY: the state is alive; setting a hook neither allocates nor raises.
        unsafe { ffi::lua_sethook(state, Some(on_count), mask, interval) }
    }
}

#[expect(unsafe_code, reason = "called by Lua, which hands over a live state")]
unsafe extern "C-unwind" fn on_count(state: *mut ffi::lua_State, record: *mut ffi::lua_Debug) {
    // SAFETY: Lua hands over a record with its event set.
    if unsafe { (*record).event } == ffi::LUA_HOOKLINE {
        note_line(state, record);
        return;
    }
    // Outside a run only our own parts run on the main state, and they end.
    let verdict = on_duty(state).map_or(HookAction::Continue, |watch| look(watch, state));
    match verdict {
        HookAction::Continue => {}
        // SAFETY: inside a count hook a coroutine that can yield may do so without values.
        HookAction::Pause => unsafe {
            ffi::lua_yield(state, 0);
        },
        // SAFETY: a hook has room for values on the stack, a light userdata allocates nothing, and
        // no Rust frame between here and the nearest protected call holds anything to drop.
        HookAction::Stop => unsafe {
            ffi::lua_pushlightuserdata(state, std::ptr::null_mut());
            ffi::lua_error(state)
        },
    }
}

/// Notes the line that is about to run, where it is the plan's.
#[expect(unsafe_code, reason = "asks about the frame that runs")]
fn note_line(state: *mut ffi::lua_State, record: *mut ffi::lua_Debug) {
    let Some(watch) = on_duty(state) else { return };
    let Some(lines) = watch.lines.get() else { return };
    // SAFETY: inside a hook the record stands for the running frame; its text ends within it.
    let (is_plan, line) = unsafe {
        ffi::lua_getinfo(state, c"S".as_ptr(), record);
        let name = CStr::from_ptr((*record).short_src.as_ptr());
        (name.to_bytes() == watch.host.plan_name().as_bytes(), (*record).currentline)
    };
    if let (true, Ok(line)) = (is_plan, u32::try_from(line)) {
        lines.note(line);
    }
}

/// One check of the meter: charges the interval that ended and starts a new one.
fn look(watch: &Watch, state: *mut ffi::lua_State) -> HookAction {
    let meter = &watch.meter;
    let coroutine = Watch::coroutine(state);
    let ran = u64::try_from(coroutine.interval()).unwrap_or(0);
    if watch.looks_closely() {
        compare::charge(meter, state);
    }
    let alive = meter.charge(ran).is_ok() && is_shallow(meter, state, coroutine.frames_at_most());
    watch.sample_memory(state, memory_bytes(state));
    coroutine.begin(watch.interval(state));
    if !alive {
        return HookAction::Stop;
    }
    if state == watch.main.get() && meter.is_slice_over() && can_yield(state) {
        meter.note_sliced();
        return HookAction::Pause;
    }
    HookAction::Continue
}

/// Whether the depth limit is kept; kills the run where it is not.
fn is_shallow(meter: &Meter, state: *mut ffi::lua_State, frames_at_most: u64) -> bool {
    let limit = meter.limits().call_depth;
    if frames_at_most <= limit || !has_frames(state, limit) {
        return true;
    }
    let _ = meter.kill(LimitName::Depth.exceeded(limit, depth(state, limit)));
    false
}

/// The number of frames, which is known to be above `at_least`.
fn depth(state: *mut ffi::lua_State, at_least: u64) -> u64 {
    let mut depth = at_least;
    while has_frames(state, depth) {
        depth += 1;
    }
    depth
}

#[expect(unsafe_code, reason = "looks at the state of a running hook, which is alive")]
fn can_yield(state: *mut ffi::lua_State) -> bool {
    // SAFETY: only reads the state.
    unsafe { ffi::lua_isyieldable(state) != 0 }
}
