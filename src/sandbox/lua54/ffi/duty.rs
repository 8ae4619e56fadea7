//! When a watch is on duty: while its VM runs for a plan. Its allocator then tells of it.

use mlua::{Lua, ffi};

use super::alloc;
use super::watch::Watch;
use crate::vm::meter::Meter;

impl Watch {
    /// Until the result is dropped, the watch counts and bounds what `main` and its coroutines do.
    pub(super) fn enter<'a>(&'a self, lua: &'a Lua, main: *mut ffi::lua_State) -> Entered<'a> {
        self.main.set(main);
        self.running.set(main);
        alloc::wrap(self, lua);
        self.refresh(main);
        Entered { watch: self, lua }
    }
}

/// While this lives, the VM's watch is on duty. Not `Send`.
pub(super) struct Entered<'a> {
    watch: &'a Watch,
    lua: &'a Lua,
}

impl Entered<'_> {
    /// Charges what the main coroutine ran to its pause or end.
    ///
    /// Not at the end of a slice: the hook that paused has charged it.
    pub(super) fn settle(&self) {
        self.watch.settle(self.watch.main.get());
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        alloc::unwrap(self.watch, self.lua);
        self.watch.running.set(std::ptr::null_mut());
    }
}

/// The watch on duty for the VM of `state`.
#[expect(unsafe_code, reason = "asks a live state for its allocator")]
pub(super) fn on_duty<'a>(state: *mut ffi::lua_State) -> Option<&'a Watch> {
    let mut data = std::ptr::null_mut();
    // SAFETY: the state is alive; reading the allocator changes nothing. Where it is ours, its
    // data is the watch, which outlives its duty.
    unsafe {
        let function = ffi::lua_getallocf(state, &raw mut data);
        std::ptr::fn_addr_eq(function, alloc::FUNCTION).then(|| &*data.cast_const().cast::<Watch>())
    }
}

/// Calls `f` with the meter of the VM of `state`; `None` where it does not run for a plan.
pub(super) fn with_meter<R>(state: *mut ffi::lua_State, f: impl FnOnce(&Meter) -> R) -> Option<R> {
    on_duty(state).map(|watch| f(&watch.meter))
}
