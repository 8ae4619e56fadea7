//! Questions to a live Lua state, and the switch of its collector.

use std::ffi::c_int;

use mlua::ffi;

/// Whether `state` has more than `count` frames.
#[expect(unsafe_code, reason = "looks at the frames of a live state")]
pub(super) fn has_frames(state: *mut ffi::lua_State, count: u64) -> bool {
    let Ok(level) = c_int::try_from(count) else { return false };
    let mut frame = std::mem::MaybeUninit::<ffi::lua_Debug>::zeroed();
    // SAFETY: `lua_getstack` only fills the record it is given.
    unsafe { ffi::lua_getstack(state, level, frame.as_mut_ptr()) != 0 }
}

/// Lets the collector run by itself again.
#[expect(unsafe_code, reason = "sets a switch of a live state")]
pub(super) fn restart_collector(state: *mut ffi::lua_State) {
    // SAFETY: neither allocates nor collects.
    unsafe {
        ffi::lua_gc(state, ffi::LUA_GCRESTART);
    }
}

/// Bytes the VM holds.
#[expect(unsafe_code, reason = "looks at a live state")]
pub(super) fn memory_bytes(state: *mut ffi::lua_State) -> u64 {
    // SAFETY: asking for the count neither allocates nor collects.
    let (kib, rest) =
        unsafe { (ffi::lua_gc(state, ffi::LUA_GCCOUNT, 0), ffi::lua_gc(state, ffi::LUA_GCCOUNTB, 0)) };
    u64::try_from(kib).unwrap_or(0) * 1024 + u64::try_from(rest).unwrap_or(0)
}
