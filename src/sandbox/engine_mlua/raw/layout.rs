//! The few fields of a Lua state that its interface does not show.
//!
//! How many instructions a coroutine may still run before its hook is called can be read and set
//! here, so that what it ran is charged to the instruction whenever it stops. The fields are those
//! of the Lua the binding brings along; [`fits`] makes sure of it before any of them is used.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use mlua::ffi;

/// Bytes of one slot of a Lua stack.
pub(super) const SLOT_BYTES: usize = 16;

/// The slots a stack begins with, and the most it may have.
const SLOTS: std::ops::RangeInclusive<usize> = 20..=1_000_200;

/// The beginning of a coroutine, as Lua 5.4 lays it out.
#[repr(C)]
struct Fields {
    next: *mut c_void,
    kind: u8,
    marked: u8,
    status: u8,
    allow_hook: u8,
    frames: u16,
    top: *mut c_void,
    global: *mut c_void,
    frame: *mut c_void,
    stack_end: *mut c_void,
    stack: *mut c_void,
    lists: [*mut c_void; 4],
    recover: *mut c_void,
    base_frame: [u64; 8],
    hook: *mut c_void,
    error_handler: isize,
    c_calls: u32,
    old_position: c_int,
    hook_interval: c_int,
    hook_left: c_int,
    hook_mask: c_int,
}

/// A live coroutine, looked at through its fields.
#[derive(Clone, Copy)]
pub(super) struct Coroutine(*mut ffi::lua_State);

#[expect(unsafe_code, reason = "reads and writes plain numbers of a live coroutine; see each block")]
impl Coroutine {
    /// # Safety
    /// `state` is alive as long as the result is used, and [`fits`] said yes.
    pub(super) unsafe fn new(state: *mut ffi::lua_State) -> Self {
        Self(state)
    }

    fn fields(self) -> *mut Fields {
        self.0.cast()
    }

    /// Instructions run since the hook was called or [`Coroutine::begin`] was.
    pub(super) fn ran(self) -> u64 {
        // SAFETY: the coroutine is alive, and its layout was verified.
        let ran = unsafe { (*self.fields()).hook_interval - (*self.fields()).hook_left };
        u64::try_from(ran).unwrap_or(0)
    }

    /// The instructions between two calls of the hook.
    pub(super) fn interval(self) -> c_int {
        // SAFETY: as in `ran`.
        unsafe { (*self.fields()).hook_interval }
    }

    /// The instructions left before the hook is called.
    pub(super) fn left(self) -> c_int {
        // SAFETY: as in `ran`.
        unsafe { (*self.fields()).hook_left }
    }

    /// Begins a new interval: the hook is called after so many instructions, at least 1.
    pub(super) fn begin(self, interval: c_int) {
        // SAFETY: as in `ran`; the two fields are what `lua_sethook` sets to the same number. The
        // hook itself is set already, so no frame needs to be told.
        unsafe {
            (*self.fields()).hook_interval = interval.max(1);
            (*self.fields()).hook_left = interval.max(1);
        }
    }

    /// No fewer frames than the coroutine has; it may be more, and stops counting at 65,535.
    pub(super) fn frames_at_most(self) -> u64 {
        // SAFETY: as in `ran`.
        u64::from(unsafe { (*self.fields()).frames })
    }

    /// Whether `block` is the stack.
    pub(super) fn has_stack(self, block: *const c_void) -> bool {
        // SAFETY: as in `ran`; only the addresses are compared.
        unsafe { std::ptr::eq((*self.fields()).stack.cast_const(), block) }
    }

    /// Bytes of the stack.
    pub(super) fn stack_bytes(self) -> usize {
        // SAFETY: as in `ran`; only the addresses are used.
        unsafe { (*self.fields()).stack_end as usize - (*self.fields()).stack as usize }
    }
}

/// Whether the Lua at hand is laid out as these fields say. `state` is a main state without a hook.
#[expect(unsafe_code, reason = "sets a hook on a live state and reads it back")]
pub(super) fn fits(state: *mut ffi::lua_State, hook: ffi::lua_Hook) -> bool {
    static FITS: OnceLock<bool> = OnceLock::new();
    *FITS.get_or_init(|| {
        let fields: *const Fields = state.cast();
        [0x2a51, 0x0107_3bcd].into_iter().all(|number| {
            // SAFETY: the state is alive. A main state is the beginning of a larger block, so the
            // fields lie inside it whatever their meaning.
            unsafe {
                ffi::lua_sethook(state, Some(hook), ffi::LUA_MASKCOUNT, number);
                let found = (*fields).hook_interval == number
                    && (*fields).hook_left == number
                    && (*fields).hook_mask == ffi::LUA_MASKCOUNT
                    && (*fields).hook as usize == hook as usize;
                let bytes = ((*fields).stack_end as usize).wrapping_sub((*fields).stack as usize);
                ffi::lua_sethook(state, None, 0, 0);
                let is_a_stack = bytes.is_multiple_of(SLOT_BYTES) && SLOTS.contains(&(bytes / SLOT_BYTES));
                found && is_a_stack && (*fields).frames < 100
            }
        })
    })
}
