//! Ends chains of `__call` from outside.
//!
//! Calling what is no function asks its metatable for `__call`, and calls that; where that is no
//! function either, it is asked in turn, all within one instruction, moving the arguments each time.
//! A chain may have no end and is stopped by the size of the stack alone, minutes later if a plan
//! made the stack large before. Neither the hook nor the allocator sees it.
//!
//! But each link looks up the name `__call` where the VM keeps the names of its events. The bell puts
//! another name there, which no table can have as a key: the chain ends with an error at its next
//! link. It is rung once the interrupt is set, so nothing that comes of it is accepted.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mlua::{Lua, ffi};

use crate::Interrupt;

/// Where in what all coroutines of a VM share the names of events are looked for, in words. Before
/// it is a value whose unused bytes hold what the memory held before, an address perhaps; right
/// behind it is a cache of texts, which may have the name too.
const WORDS_SEARCHED: std::ops::Range<usize> = 14..60;

/// Bytes of a text before its first.
const TEXT_HEADER_BYTES: usize = 24;

/// The end of the shared fields' address in a coroutine, in words.
const SHARED_WORD: usize = 3;

/// A name no plan can have: keys are compared by address, and this one is of no VM. Its tag is that
/// of a short text, its hash 0.
static NO_NAME: [u64; 4] = [0, 0x0000_0004, 0, 0];

/// Where a VM keeps the name `__call`, until the VM goes.
struct Place(Option<*const AtomicPtr<c_void>>);

#[expect(unsafe_code, reason = "the address is of a cell made for several threads")]
// SAFETY: it is used under a lock, and only until `Hung` is dropped, before its VM is.
unsafe impl Send for Place {}

/// Connects an interrupt with a VM while this lives. To be dropped before the VM.
pub(in crate::engine_mlua) struct Hung(Arc<Mutex<Place>>);

impl Drop for Hung {
    fn drop(&mut self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0 = None;
    }
}

/// Lets `interrupt` end what runs in `lua`. `None` where this Lua keeps its names elsewhere.
pub(in crate::engine_mlua) fn hang(lua: &Lua, interrupt: &Interrupt) -> Option<Hung> {
    let place = Arc::new(Mutex::new(Place(Some(call_name(lua)?))));
    let rung = place.clone();
    interrupt.on_trigger(Box::new(move || ring(&rung)));
    Some(Hung(place))
}

#[expect(unsafe_code, reason = "writes to a VM that may be running")]
fn ring(place: &Mutex<Place>) {
    if let Some(name) = place.lock().unwrap_or_else(PoisonError::into_inner).0 {
        // SAFETY: the VM is there as long as its place is. It reads the word whole, and once for
        // each link; the new name is read alone and never freed.
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
