//! `coroutine.resume` and `coroutine.close`, which charge what the coroutine ran.
//!
//! Otherwise they equal Lua's own, so that a short coroutine costs only what it runs.

use std::ffi::c_int;

use mlua::{Function, Lua, ffi};

use super::duty::on_duty;
use super::state::has_frames;

/// `resume(co, ...)`: `true` and what it yielded or returned, or `false` and what it raised.
///
/// # Errors
/// Only if memory is used up.
pub(in crate::lua54) fn resume_function(lua: &Lua) -> mlua::Result<Function> {
    #[expect(unsafe_code, reason = "keeps to Lua's protocol for C functions, and owns nothing")]
    // SAFETY: see the reason.
    unsafe {
        lua.create_c_function(resume)
    }
}

/// `close(co)`: `true`, or `false` and what a `__close` raised.
///
/// # Errors
/// Only if memory is used up.
pub(in crate::lua54) fn close_function(lua: &Lua) -> mlua::Result<Function> {
    #[expect(unsafe_code, reason = "keeps to Lua's protocol for C functions, and owns nothing")]
    // SAFETY: see the reason.
    unsafe {
        lua.create_c_function(close)
    }
}

#[expect(unsafe_code, reason = "called by Lua, which hands over a live state")]
unsafe extern "C-unwind" fn resume(state: *mut ffi::lua_State) -> c_int {
    // SAFETY: nothing here owns anything, so raising loses nothing. The coroutine is the first
    // argument and stays on the stack, hence alive; room on both stacks is asked for.
    unsafe {
        let co = ffi::lua_tothread(state, 1);
        if co.is_null() {
            return fails(state, c"bad argument #1 to 'resume' (thread expected)");
        }
        let count = ffi::lua_gettop(state) - 1;
        if ffi::lua_checkstack(co, count) == 0 {
            return fails(state, c"too many arguments to resume");
        }
        if !is_resumable(co) {
            // One that ended in an error keeps its frames.
            let is_dead = ffi::lua_status(co) != ffi::LUA_OK
                || co != state && ffi::lua_gettop(co) == 0 && !has_frames(co, 0);
            let text = if is_dead {
                c"cannot resume dead coroutine"
            } else {
                c"cannot resume non-suspended coroutine"
            };
            return fails(state, text);
        }
        ffi::lua_xmove(state, co, count);
        let watch = on_duty(state);
        if let Some(watch) = watch {
            // The coroutine's interval depends on everything used so far.
            watch.settle(state);
            watch.refresh(co);
            watch.running.set(co);
        }
        let mut results = 0;
        let status = ffi::lua_resume(co, state, count, &raw mut results);
        if let Some(watch) = watch {
            watch.running.set(state);
            watch.settle(co);
            watch.refresh(state);
        }
        if status != ffi::LUA_OK && status != ffi::LUA_YIELD {
            ffi::lua_pushboolean(state, 0);
            ffi::lua_xmove(co, state, 1);
            return 2;
        }
        if ffi::lua_checkstack(state, results + 1) == 0 {
            ffi::lua_settop(co, -results - 1);
            return fails(state, c"too many results to resume");
        }
        ffi::lua_pushboolean(state, 1);
        ffi::lua_xmove(co, state, results);
        results + 1
    }
}

/// Whether a coroutine has yielded, or has not started.
#[expect(unsafe_code, reason = "looks at a live coroutine")]
unsafe fn is_resumable(co: *mut ffi::lua_State) -> bool {
    // SAFETY: only reads the coroutine.
    unsafe {
        match ffi::lua_status(co) {
            ffi::LUA_YIELD => true,
            ffi::LUA_OK => !has_frames(co, 0) && ffi::lua_gettop(co) > 0,
            _ => false,
        }
    }
}

#[expect(unsafe_code, reason = "pushes an error as a result")]
unsafe fn fails(state: *mut ffi::lua_State, text: &std::ffi::CStr) -> c_int {
    // SAFETY: a C function has room for twenty values; where memory is used up Lua raises, and
    // nothing is owned here.
    unsafe {
        ffi::lua_pushboolean(state, 0);
        ffi::lua_pushstring(state, text.as_ptr());
    }
    2
}

#[expect(unsafe_code, reason = "called by Lua, which hands over a live state")]
unsafe extern "C-unwind" fn close(state: *mut ffi::lua_State) -> c_int {
    // SAFETY: nothing here owns anything; the coroutine stays on the stack, hence alive. One that
    // runs or waits for another that runs is refused, as Lua requires.
    unsafe {
        let co = ffi::lua_tothread(state, 1);
        let is_idle =
            !co.is_null() && co != state && (ffi::lua_status(co) != ffi::LUA_OK || !has_frames(co, 0));
        if !is_idle {
            ffi::lua_pushboolean(state, 0);
            let kind = if co == state {
                c"cannot close a running coroutine"
            } else {
                c"cannot close a normal coroutine"
            };
            ffi::lua_pushstring(state, kind.as_ptr());
            ffi::lua_error(state);
        }
        let watch = on_duty(state);
        if let Some(watch) = watch {
            if watch.meter.check_alive().is_err() {
                // A coroutine that the hook ended cannot be metered any more: its handlers must not run.
                ffi::lua_pushlightuserdata(state, std::ptr::null_mut());
                ffi::lua_error(state);
            }
            watch.refresh(co);
            watch.running.set(co);
        }
        let status = ffi::lua_closethread(co, state);
        if let Some(watch) = watch {
            watch.running.set(state);
            watch.settle(co);
            watch.refresh(state);
        }
        ffi::lua_pushboolean(state, c_int::from(status == ffi::LUA_OK));
        if status == ffi::LUA_OK {
            return 1;
        }
        ffi::lua_xmove(co, state, 1);
        2
    }
}
