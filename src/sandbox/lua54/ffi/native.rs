//! Natives as functions of the Lua state.
//!
//! Each is a light C function: it takes no memory of its own and no protected call. It finds its
//! meter as the hook does.
//!
//! Lua raises by jumping over frames, so nothing here may own anything at that time: natives write
//! results and messages to a buffer of the thread, which Lua copies from.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_int};
use std::sync::LazyLock;

use mlua::{Lua, Table, ffi};

use super::duty::with_meter;
use crate::lua_std::{Arg, Item, NATIVES, Native, NativeCall, NativeError, Out};
use crate::vm::meter::Meter;

/// How many natives there can be.
const PLACES: usize = 96;

/// How many arguments are read without asking for memory.
const ARGS_INLINE: usize = 8;

/// How far up the stack the plan's own frame is looked for.
const FRAMES_SEARCHED: c_int = 8;

/// All natives, each at the place of its trampoline.
static FLAT: LazyLock<Vec<&'static Native>> =
    LazyLock::new(|| NATIVES.iter().flat_map(|natives| natives.iter()).take(PLACES).collect());

thread_local! {
    /// The results of the current native. Borrowed only while it runs and while its results are pushed;
    /// natives do not nest, as none calls into the VM.
    static OUT: UnsafeCell<Out> = UnsafeCell::new(Out::default());
}

/// How a native ended.
enum End {
    Given,
    /// The argument counted from 1, or 0 where the whole message is in [`OUT`].
    Wrong(usize),
    Dead,
}

/// A table with every native under its name.
///
/// # Errors
/// Only if memory is used up.
pub(in crate::lua54) fn table(lua: &Lua) -> mlua::Result<Table> {
    let table = lua.create_table_with_capacity(0, FLAT.len())?;
    for (native, trampoline) in FLAT.iter().zip(TRAMPOLINES) {
        #[expect(unsafe_code, reason = "a light C function is what makes natives cheap")]
        // SAFETY: the trampoline keeps to Lua's protocol for C functions, and owns nothing where
        // it raises.
        let function = unsafe { lua.create_c_function(trampoline)? };
        table.raw_set(native.name, function)?;
    }
    Ok(table)
}

#[expect(unsafe_code, reason = "called by Lua, which hands over a live state")]
unsafe extern "C-unwind" fn trampoline<const PLACE: usize>(state: *mut ffi::lua_State) -> c_int {
    let Some(native) = FLAT.get(PLACE).copied() else { return 0 };
    // SAFETY: the state is alive and its arguments stay on its stack while the native runs. All that
    // is owned is dropped in `run`.
    unsafe {
        let ended = run(native, state);
        finish(state, native.name, ended)
    }
}

/// Calls `f` with the meter of the running VM and an empty buffer for its results; nothing where no VM
/// runs.
pub(super) fn with_out(
    state: *mut ffi::lua_State,
    f: impl FnOnce(&Meter, &mut Out) -> Result<(), NativeError>,
) -> Option<Result<(), NativeError>> {
    let out = OUT.with(UnsafeCell::get);
    #[expect(unsafe_code, reason = "the buffer outlives the frames that raise")]
    // SAFETY: the buffer is this thread's, and no other native holds it: natives do not nest.
    let out = unsafe { &mut *out };
    out.clear();
    with_meter(state, |meter| f(meter, out))
}

/// Pushes the results in a native's buffer, or raises its error.
#[expect(unsafe_code, reason = "called with a live state")]
pub(super) unsafe fn finish(
    state: *mut ffi::lua_State,
    name: &'static str,
    ended: Option<Result<(), NativeError>>,
) -> c_int {
    let out = OUT.with(UnsafeCell::get);
    // SAFETY: the buffer is this thread's, and no other native holds it. `settle` drops what an error
    // owns; from there on nothing is owned, and the buffer is read through shared references.
    unsafe {
        match settle(ended, &mut *out) {
            End::Given => give(state, &*out),
            End::Wrong(index) => raise(state, name, index, (*out).bytes()),
            End::Dead => {
                ffi::lua_pushlightuserdata(state, std::ptr::null_mut());
                ffi::lua_error(state)
            }
        }
    }
}

fn settle(ended: Option<Result<(), NativeError>>, out: &mut Out) -> End {
    let (index, message) = match ended {
        Some(Ok(())) => return End::Given,
        Some(Err(NativeError::Dead)) | None => return End::Dead,
        Some(Err(NativeError::Argument { index, message })) => (index.max(1), message),
        Some(Err(NativeError::Message(message))) => (0, message),
    };
    out.clear();
    out.push_text(message.as_bytes());
    End::Wrong(index)
}

#[expect(unsafe_code, reason = "reads the arguments where Lua keeps them")]
unsafe fn run(native: &Native, state: *mut ffi::lua_State) -> Option<Result<(), NativeError>> {
    // SAFETY: reading the stack of a live state.
    let count = usize::try_from(unsafe { ffi::lua_gettop(state) }).unwrap_or(0);
    let mut inline = [Arg::None; ARGS_INLINE];
    let mut many;
    let args: &mut [Arg<'_>] = if count <= ARGS_INLINE {
        inline.get_mut(..count).unwrap_or_default()
    } else {
        many = vec![Arg::None; count];
        &mut many
    };
    for (place, arg) in args.iter_mut().enumerate() {
        // SAFETY: the place is within the arguments.
        *arg = unsafe { read(state, place) };
    }
    with_out(state, |meter, out| (native.run)(&mut NativeCall { args, meter, out }))
}

#[expect(unsafe_code, reason = "reads one argument where Lua keeps it")]
unsafe fn read<'a>(state: *mut ffi::lua_State, place: usize) -> Arg<'a> {
    // SAFETY: as for `read_at`.
    unsafe { read_at(state, c_int::try_from(place + 1).unwrap_or(c_int::MAX)) }
}

/// Reads the value at an index of the stack.
#[expect(unsafe_code, reason = "reads one value where Lua keeps it")]
pub(super) unsafe fn read_at<'a>(state: *mut ffi::lua_State, index: c_int) -> Arg<'a> {
    // SAFETY: the index is one of an argument; a string stays where it is while it is on the stack,
    // and `lua_tolstring` on a string changes nothing.
    unsafe {
        match ffi::lua_type(state, index) {
            ffi::LUA_TNIL => Arg::Nil,
            ffi::LUA_TBOOLEAN => Arg::Boolean(ffi::lua_toboolean(state, index) != 0),
            ffi::LUA_TNUMBER if ffi::lua_isinteger(state, index) != 0 => {
                Arg::Integer(ffi::lua_tointegerx(state, index, std::ptr::null_mut()))
            }
            ffi::LUA_TNUMBER => Arg::Number(ffi::lua_tonumberx(state, index, std::ptr::null_mut())),
            ffi::LUA_TSTRING => {
                let mut length = 0;
                let text = ffi::lua_tolstring(state, index, &raw mut length);
                Arg::Text(std::slice::from_raw_parts(text.cast(), length))
            }
            kind => {
                let name = CStr::from_ptr(ffi::lua_typename(state, kind));
                Arg::Other(match name.to_bytes() {
                    b"table" => "table",
                    b"function" => "function",
                    b"thread" => "thread",
                    _ => "userdata",
                })
            }
        }
    }
}

#[expect(unsafe_code, reason = "hands the results over to Lua")]
unsafe fn give(state: *mut ffi::lua_State, out: &Out) -> c_int {
    // SAFETY: nothing here owns anything; the stack has room for what is pushed; each text is
    // within the buffer, or within an argument that is still on the stack.
    unsafe {
        let items = out.items();
        let count = c_int::try_from(items.len()).unwrap_or(c_int::MAX);
        if ffi::lua_checkstack(state, count) == 0 {
            ffi::lua_pushstring(state, c"too many results".as_ptr());
            ffi::lua_error(state);
        }
        for item in items {
            match *item {
                Item::Nil => ffi::lua_pushnil(state),
                Item::Boolean(value) => ffi::lua_pushboolean(state, c_int::from(value)),
                Item::Integer(value) => ffi::lua_pushinteger(state, value),
                Item::Number(value) => ffi::lua_pushnumber(state, value),
                Item::Text { from, to } => push(state, out.bytes().get(from..to).unwrap_or_default()),
                Item::Arg(place) => {
                    ffi::lua_pushvalue(state, c_int::try_from(place + 1).unwrap_or(c_int::MAX));
                }
                Item::Slice { arg, from, to } => match read(state, arg) {
                    Arg::Text(text) => push(state, text.get(from..to).unwrap_or_default()),
                    _ => ffi::lua_pushnil(state),
                },
            }
        }
        count
    }
}

#[expect(unsafe_code, reason = "makes a Lua string")]
unsafe fn push(state: *mut ffi::lua_State, text: &[u8]) {
    // SAFETY: Lua copies the bytes; where memory is used up it raises, and nothing is owned here.
    unsafe {
        ffi::lua_pushlstring(state, text.as_ptr().cast(), text.len());
    }
}

/// Raises `message` with the position of the calling frame of the plan, as Lua's own functions do.
#[expect(unsafe_code, reason = "builds the message on Lua's stack, where raising loses nothing")]
unsafe fn raise(state: *mut ffi::lua_State, name: &str, index: usize, message: &[u8]) -> ! {
    // SAFETY: nothing here owns anything; the debug record is filled before it is read; a C
    // function has room for twenty values.
    unsafe {
        let level = plan_level(state);
        ffi::luaL_where(state, level);
        if index == 0 {
            push(state, message);
            ffi::lua_concat(state, 2);
            ffi::lua_error(state);
        }
        let mut record = std::mem::MaybeUninit::<ffi::lua_Debug>::zeroed();
        let is_direct = level == 1
            && ffi::lua_getstack(state, 0, record.as_mut_ptr()) != 0
            && ffi::lua_getinfo(state, c"n".as_ptr(), record.as_mut_ptr()) != 0;
        let record = record.assume_init();
        let is_method = is_direct
            && !record.namewhat.is_null()
            && CStr::from_ptr(record.namewhat).to_bytes() == b"method";
        let number = if is_method { index - 1 } else { index };
        let start: &[u8] = if is_method && number == 0 { b"calling '" } else { b"bad argument #" };
        push(state, start);
        let mut parts = 2;
        if !(is_method && number == 0) {
            ffi::lua_pushinteger(state, i64::try_from(number).unwrap_or(i64::MAX));
            push(state, b" to '");
            parts += 2;
        }
        if is_direct && !record.name.is_null() {
            ffi::lua_pushstring(state, record.name);
        } else {
            push(state, name.as_bytes());
        }
        push(state, if is_method && number == 0 { b"' on bad self (" } else { b"' (" });
        push(state, message);
        push(state, b")");
        ffi::lua_concat(state, parts + 4);
        ffi::lua_error(state)
    }
}

/// The level whose line a message names: the innermost frame that is not the prelude's.
#[expect(unsafe_code, reason = "looks at the frames of a running state")]
unsafe fn plan_level(state: *mut ffi::lua_State) -> c_int {
    let mut record = std::mem::MaybeUninit::<ffi::lua_Debug>::zeroed();
    for level in 1..FRAMES_SEARCHED {
        // SAFETY: the record is filled before it is read; its strings live as long as the frame.
        unsafe {
            if ffi::lua_getstack(state, level, record.as_mut_ptr()) == 0 {
                break;
            }
            ffi::lua_getinfo(state, c"Sl".as_ptr(), record.as_mut_ptr());
            let frame = record.assume_init_ref();
            let source = CStr::from_ptr(frame.short_src.as_ptr()).to_bytes();
            // Below a C function, such as `pcall` given a native itself, Lua names no line either.
            if frame.currentline <= 0 || !source.starts_with(b"luaplan:") {
                return level;
            }
        }
    }
    1
}

macro_rules! trampolines {
    ($($tens:literal)*) => {
        [$(
            trampoline::<{ $tens }>, trampoline::<{ $tens + 1 }>, trampoline::<{ $tens + 2 }>,
            trampoline::<{ $tens + 3 }>, trampoline::<{ $tens + 4 }>, trampoline::<{ $tens + 5 }>,
            trampoline::<{ $tens + 6 }>, trampoline::<{ $tens + 7 }>,
        )*]
    };
}

const TRAMPOLINES: [unsafe extern "C-unwind" fn(*mut ffi::lua_State) -> c_int; PLACES] =
    trampolines!(0 8 16 24 32 40 48 56 64 72 80 88);

const _: () = {
    let mut count = 0;
    let mut list = 0;
    while list < NATIVES.len() {
        count += NATIVES[list].len();
        list += 1;
    }
    assert!(count <= PLACES, "there are more natives than trampolines");
};
