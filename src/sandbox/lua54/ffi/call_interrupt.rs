//! Ends chains of `__call` from outside.
//!
//! A call of a value that is not a function looks up `__call` in its metatable and calls that; where that
//! is no function either, Lua looks up its `__call` in turn, all within one instruction, and moves the
//! arguments each time. Only the size of the stack bounds such a chain, which takes minutes if the plan
//! made the stack large before. Neither the hook nor the allocator sees it.
//!
//! But each link looks up the name `__call` where the VM keeps the names of its events. An interrupt
//! replaces that name by one that no table can have as a key: the chain ends with an error at its next
//! link. By then the interrupt is set, so no result of the VM is accepted.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mlua::{Lua, ffi};

use crate::Interrupt;

/// Where among the fields that all coroutines of a VM share the names of events are searched, in words.
/// Before it is a value whose unused bytes are uninitialised and may hold an address; right behind it is
/// a cache of texts, which may have the name too.
const WORDS_SEARCHED: std::ops::Range<usize> = 14..60;

/// Bytes of a text before its first.
const TEXT_HEADER_BYTES: usize = 24;

/// The end of the shared fields' address in a coroutine, in words.
const SHARED_WORD: usize = 3;

/// A name that no plan can have: keys are compared by address, and no VM made this one. Its tag is that
/// of a short text, its hash 0.
static NO_NAME: [u64; 4] = [0, 0x0000_0004, 0, 0];

/// Where a VM keeps the name `__call`, until the VM goes.
struct CallName(Option<*const AtomicPtr<c_void>>);

#[expect(unsafe_code, reason = "the address is of a cell made for several threads")]
// SAFETY: it is used under a lock, and only until `Hung` is dropped, before its VM is.
unsafe impl Send for CallName {}

/// Connects an interrupt with a VM while this lives. Drop it before the VM.
pub(in crate::lua54) struct InterruptLink(Arc<Mutex<CallName>>);

impl Drop for InterruptLink {
    fn drop(&mut self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0 = None;
    }
}

/// Lets `interrupt` end what runs in `lua`. `None` where this Lua keeps its names elsewhere.
pub(in crate::lua54) fn link(lua: &Lua, interrupt: &Interrupt) -> Option<InterruptLink> {
    let place = Arc::new(Mutex::new(CallName(Some(call_name(lua)?))));
    let rung = place.clone();
    interrupt.on_trigger(Box::new(move || ring(&rung)));
    Some(InterruptLink(place))
}

#[expect(unsafe_code, reason = "writes to a VM that may be running")]
fn ring(place: &Mutex<CallName>) {
    if let Some(name) = place.lock().unwrap_or_else(PoisonError::into_inner).0 {
        // SAFETY: the VM lives as long as its place is set. It reads the word whole, and once for
        // each link; the new name is only read and never freed.
        unsafe { (*name).store(std::ptr::from_ref(&NO_NAME).cast_mut().cast(), Ordering::Release) }
    }
}

/// Where the VM keeps the name `__call`: the one word of the shared fields that is the address of
/// that text.
#[expect(unsafe_code, reason = "reads the fields all coroutines share")]
fn call_name(lua: &Lua) -> Option<*const AtomicPtr<c_void>> {
    let state = lua.exec_raw_lua(mlua::state::RawLua::state);
    // SAFETY: the state is alive and has room for a value; the text is one the VM holds anyway, so
    // none is made. The shared fields are larger than what is read of them, and are written on the
    // thread of the VM, which is this one.
    unsafe {
        let text = ffi::lua_pushstring(state, c"__call".as_ptr()) as usize - TEXT_HEADER_BYTES;
        ffi::lua_settop(state, -2);
        let shared = *state.cast::<*const usize>().add(SHARED_WORD);
        let mut found = WORDS_SEARCHED.filter(|at| *shared.add(*at) == text);
        let at = found.next().filter(|_| found.next().is_none())?;
        Some(shared.add(at).cast())
    }
}
