//! The few fields of a Lua state that its interface does not show.
//!
//! They give and set the number of instructions before a coroutine's next hook call, so that its
//! instructions are charged exactly whenever it stops; and they show what it runs now and the keys of a
//! table. The fields are those of the Lua that the binding brings along; [`fits`] verifies that before
//! any of them is used.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use mlua::ffi;

mod float_hash;
mod tables;

use tables::{ClosureFields, UpvalueFields};
pub(super) use tables::{NODE_BYTES, Slot, TableFields};

/// Bytes of one slot of a Lua stack.
pub(super) const SLOT_BYTES: usize = 16;

/// The initial and the largest number of slots of a stack.
const SLOTS: std::ops::RangeInclusive<usize> = 20..=1_000_200;

/// The first fields of a coroutine, as Lua 5.4 lays it out.
#[repr(C)]
struct StateFields {
    next: *mut c_void,
    kind: u8,
    marked: u8,
    status: u8,
    allow_hook: u8,
    frames: u16,
    top: *mut c_void,
    global: *mut c_void,
    frame: *const FrameFields,
    stack_end: *mut c_void,
    stack: *mut c_void,
    lists: [*mut c_void; 4],
    recover: *mut c_void,
    base_frame: FrameFields,
    hook: *mut c_void,
    error_handler: isize,
    c_calls: u32,
    old_position: c_int,
    hook_interval: c_int,
    hook_left: c_int,
    hook_mask: c_int,
}

/// A call under way.
#[repr(C)]
struct FrameFields {
    function: *const Slot,
    top: *const Slot,
    neighbours: [*mut c_void; 2],
    /// What comes after the instruction that runs, in a frame of a Lua function.
    next_instruction: *const u32,
    others: [u64; 2],
    other: c_int,
    results: i16,
    status: u16,
}

/// The bit of a frame's status that says it is not of a Lua function.
const IS_NATIVE: u16 = 1 << 1;

/// The bits of an instruction that say what it does, and its first operand.
const OPERATION_MASK: u32 = 0x7f;
const OPERATION_BITS: u32 = 7;
const OPERAND_MASK: u32 = 0xff;

/// The operations that assign to a member, by number: of a table in an upvalue, or in a register.
const SET_OF_UPVALUE: u32 = 15;
const SETS_OF_REGISTER: std::ops::RangeInclusive<u32> = 16..=18;

/// What a coroutine runs now.
pub(super) enum Frame<'a> {
    /// An instruction, and the table it assigns to a member of, if it does.
    Lua { assigned: Option<TableFields> },
    /// A native, with what is on its stack.
    Native { args: &'a [Slot] },
}

/// A live coroutine, read through its fields.
#[derive(Clone, Copy)]
pub(super) struct Coroutine(*mut ffi::lua_State);

#[expect(unsafe_code, reason = "reads and writes plain numbers of a live coroutine; see each block")]
impl Coroutine {
    /// # Safety
    /// `state` is alive as long as the result is used, and [`fits`] said yes.
    pub(super) unsafe fn new(state: *mut ffi::lua_State) -> Self {
        Self(state)
    }

    fn fields(self) -> *mut StateFields {
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

    /// Starts a new interval: Lua calls the hook after so many instructions, at least 1.
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

    /// The current instruction, or inside the hook the next one; `None` in a native.
    pub(super) fn instruction(self) -> Option<u32> {
        // SAFETY: as in `ran`; a frame of a running Lua function has started an instruction.
        unsafe {
            let frame = &*(*self.fields()).frame;
            (frame.status & IS_NATIVE == 0).then(|| *frame.next_instruction.sub(1))
        }
    }

    /// What it runs now, while an instruction or a native is at work.
    pub(super) fn frame<'a>(self) -> Frame<'a> {
        // SAFETY: as in `ran`. The stack does not move while the result is used, as only the
        // allocator calls this. Operands of the current instruction are alive; other registers may
        // hold freed objects, so none is read.
        unsafe {
            let frame = &*(*self.fields()).frame;
            let first = frame.function.add(1);
            let Some(instruction) = self.instruction() else {
                let bytes = ((*self.fields()).top as usize).saturating_sub(first as usize);
                return Frame::Native { args: std::slice::from_raw_parts(first, bytes / SLOT_BYTES) };
            };
            let operand = (instruction >> OPERATION_BITS & OPERAND_MASK) as usize;
            let operation = instruction & OPERATION_MASK;
            let assigned = if SETS_OF_REGISTER.contains(&operation) {
                (*first.add(operand)).table()
            } else if operation == SET_OF_UPVALUE {
                let closure = (*frame.function).value as *const ClosureFields;
                let upvalues = closure.add(1).cast::<*const UpvalueFields>();
                (*(**upvalues.add(operand)).slot).table()
            } else {
                None
            };
            Frame::Lua { assigned }
        }
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
pub(super) fn fits(state: *mut ffi::lua_State) -> bool {
    /// Removed before Lua could call it.
    extern "C-unwind" fn never_called(_: *mut ffi::lua_State, _: *mut ffi::lua_Debug) {}

    static FITS: OnceLock<bool> = OnceLock::new();
    let hook: ffi::lua_Hook = never_called;
    *FITS.get_or_init(|| {
        let fields: *const StateFields = state.cast();
        [0x2a51, 0x0107_3bcd].into_iter().all(|number| {
            // SAFETY: the state is alive. A main state is the head of a larger block, so the
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
                let frame = &(*fields).base_frame;
                let is_a_frame = std::ptr::eq((*fields).frame, frame)
                    && std::ptr::eq(frame.function.cast(), (*fields).stack)
                    && frame.top as usize <= (*fields).stack_end as usize
                    && frame.status & IS_NATIVE != 0
                    && frame.results == 0;
                found && is_a_stack && is_a_frame && (*fields).frames < 100 && tables::fit(state)
            }
        })
    })
}
