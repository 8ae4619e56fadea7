//! The fast path of a tool call: its arguments out, its answer in.
//!
//! In any unusual case each function returns nothing and changes nothing; the prelude then calls the
//! host's function of the same name, which handles every case and raises the errors.

use std::ffi::{CStr, c_int};

use mlua::{Lua, Table, ffi};

use luaplan_base::Value;

use super::duty::on_duty;
use super::push::put_in;
use super::read::Taker;
use super::watch::Watch;
use crate::lua54::host::lock;
use crate::vm::calls::Ticket;

/// How far up the stack the plan's own frame is looked for.
const FRAMES_SEARCHED: c_int = 50;

/// Adds `request_short(line, tool, ...)` and `take_short(ticket)` to the host functions of the prelude.
///
/// # Errors
/// Only if memory is used up.
#[expect(unsafe_code, reason = "keeps to Lua's protocol for C functions")]
pub(in crate::lua54) fn install(lua: &Lua, functions: &Table) -> mlua::Result<()> {
    // SAFETY: both own nothing where they raise, and read only what is on their stack.
    unsafe {
        functions.raw_set("request_short", lua.create_c_function(request)?)?;
        functions.raw_set("take_short", lua.create_c_function(take)?)
    }
}

#[expect(unsafe_code, reason = "called by Lua, which hands over a live state")]
unsafe extern "C-unwind" fn request(state: *mut ffi::lua_State) -> c_int {
    // All that is owned is dropped in `want`; it does not raise.
    let ticket = on_duty(state).and_then(|watch| want(watch, state));
    // SAFETY: a C function has room for twenty values; neither push takes memory.
    unsafe {
        match ticket {
            Some(ticket) => ffi::lua_pushinteger(state, ticket),
            None => ffi::lua_pushnil(state),
        }
    }
    1
}

/// Asks for the call on the stack: a line or nil, the tool's name, the arguments.
fn want(watch: &Watch, state: *mut ffi::lua_State) -> Option<Ticket> {
    let host = &watch.host;
    let codec = host.codec.get()?;
    if !watch.meter.may_call() {
        return None;
    }
    #[expect(unsafe_code, reason = "reads the arguments where Lua keeps them")]
    // SAFETY: the first two arguments are the prelude's: a number or nil, and a string, which stays
    // on the stack while it is copied.
    let (count, fallback_line, tool) = unsafe {
        let mut length = 0;
        let name = ffi::lua_tolstring(state, 2, &raw mut length);
        if name.is_null() {
            return None;
        }
        let tool = std::str::from_utf8(std::slice::from_raw_parts(name.cast(), length)).ok()?;
        let line = ffi::lua_tointegerx(state, 1, std::ptr::null_mut());
        (ffi::lua_gettop(state), u32::try_from(line).ok().filter(|line| *line > 0), tool.to_owned())
    };
    let held = codec.held_bytes();
    let mut taker = Taker::new(state, codec, watch.meter.limits().memory_bytes.saturating_sub(held));
    let mut arguments = Vec::with_capacity(usize::try_from(count - 2).unwrap_or(0));
    for index in 3..=count {
        let value = taker.value(index);
        #[expect(unsafe_code, reason = "takes away what reading left")]
        // SAFETY: the stack goes back to the arguments.
        unsafe {
            ffi::lua_settop(state, count);
        }
        arguments.push(value?);
    }
    while arguments.last() == Some(&Value::Null) {
        arguments.pop();
    }
    watch.meter.count_call().and_then(|()| watch.meter.charge(taker.cost())).ok()?;
    codec.hold(taker.host_bytes());
    let line = plan_line(state, host.plan_name()).or(fallback_line);
    Some(lock(&host.calls).want(tool, arguments, line))
}

/// The line of the innermost frame that is the plan's.
fn plan_line(state: *mut ffi::lua_State, plan: &str) -> Option<u32> {
    let mut record = std::mem::MaybeUninit::<ffi::lua_Debug>::zeroed();
    for level in 1..FRAMES_SEARCHED {
        #[expect(unsafe_code, reason = "looks at the frames of a running coroutine")]
        // SAFETY: the record is filled before it is read; its text ends within it.
        unsafe {
            if ffi::lua_getstack(state, level, record.as_mut_ptr()) == 0 {
                return None;
            }
            ffi::lua_getinfo(state, c"Sl".as_ptr(), record.as_mut_ptr());
            let frame = record.assume_init_ref();
            if CStr::from_ptr(frame.short_src.as_ptr()).to_bytes() == plan.as_bytes() {
                return u32::try_from(frame.currentline).ok();
            }
        }
    }
    None
}

#[expect(unsafe_code, reason = "called by Lua, which hands over a live state")]
unsafe extern "C-unwind" fn take(state: *mut ffi::lua_State) -> c_int {
    // SAFETY: reads a number.
    let ticket = unsafe { ffi::lua_tointegerx(state, 1, std::ptr::null_mut()) };
    // All that is owned is dropped in `hand_over`; what may raise there is protected.
    let is_there = on_duty(state).is_some_and(|watch| hand_over(watch, state, ticket));
    // SAFETY: a C function has room for twenty values; neither push takes memory.
    unsafe {
        ffi::lua_pushboolean(state, c_int::from(is_there));
        if is_there {
            ffi::lua_rotate(state, -2, 1);
            return 2;
        }
    }
    1
}

/// Pushes the answer for a ticket, where the fast path takes its value.
fn hand_over(watch: &Watch, state: *mut ffi::lua_State, ticket: Ticket) -> bool {
    let host = &watch.host;
    let Some(codec) = host.codec.get() else { return false };
    let Some(lua) = codec.lua() else { return false };
    let mut calls = lock(&host.calls);
    let is_there = matches!(calls.peek(ticket), Some(Ok(value)) if put_in(&lua, state, codec, value));
    if is_there {
        let answer = calls.take(ticket);
        drop(calls);
        drop(answer);
    }
    is_there
}
