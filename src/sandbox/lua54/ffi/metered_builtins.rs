//! Lua functions whose cost depends on their arguments: `select`, and arithmetic on texts.
//!
//! Each charges first and then runs the original in the same frame.

use std::ffi::c_int;
use std::sync::OnceLock;

use mlua::{Function, Lua, Table, Value as LuaValue, ffi};

use super::duty::with_meter;
use crate::vm::meter::Dead;

/// How many arguments of `select` count as one instruction.
const ARGS_PER_INSTRUCTION: u64 = 8;

/// How many bytes of a numeral do: its digits are read one by one.
const DIGITS_PER_INSTRUCTION: u64 = 4;

/// The events of a text's metatable that read it as a number.
const EVENTS: [&str; 8] = ["__add", "__sub", "__mul", "__mod", "__pow", "__div", "__idiv", "__unm"];

/// The originals: those of the events, and `select`.
static ORIGINALS: [OnceLock<ffi::lua_CFunction>; 9] = [const { OnceLock::new() }; 9];

const SELECT: usize = EVENTS.len();

/// Replaces the originals, before any part of ours keeps a reference to them.
///
/// # Errors
/// Where an original is not there, and if memory is used up.
pub(in crate::lua54) fn install(lua: &Lua) -> mlua::Result<()> {
    let globals = lua.globals();
    let of_texts: Table = globals.raw_get::<Function>("getmetatable")?.call("")?;
    replace(lua, &globals, "select", SELECT, charged::<SELECT>)?;
    let ours: [ffi::lua_CFunction; SELECT] = [
        charged::<0>,
        charged::<1>,
        charged::<2>,
        charged::<3>,
        charged::<4>,
        charged::<5>,
        charged::<6>,
        charged::<7>,
    ];
    for (place, (event, function)) in EVENTS.into_iter().zip(ours).enumerate() {
        replace(lua, &of_texts, event, place, function)?;
    }
    Ok(())
}

#[expect(unsafe_code, reason = "asks which function of C a value is")]
fn replace(lua: &Lua, table: &Table, name: &str, place: usize, ours: ffi::lua_CFunction) -> mlua::Result<()> {
    let original: LuaValue = table.raw_get(name)?;
    let original = lua.exec_raw_lua(|raw| {
        let state = raw.state();
        // SAFETY: the state is alive and has room for the one value, which is taken away again.
        unsafe {
            raw.push(&original)?;
            let function = ffi::lua_tocfunction(state, -1);
            ffi::lua_settop(state, -2);
            Ok::<_, mlua::Error>(function)
        }
    })?;
    let original = original.ok_or_else(|| mlua::Error::runtime("a function of Lua's is missing"))?;
    let _ = ORIGINALS.get(place).map(|cell| cell.set(original));
    // SAFETY: it keeps to Lua's protocol for C functions, and owns nothing where it raises.
    let ours = unsafe { lua.create_c_function(ours)? };
    table.raw_set(name, ours)
}

#[expect(unsafe_code, reason = "called by Lua, which hands over a live state")]
unsafe extern "C-unwind" fn charged<const PLACE: usize>(state: *mut ffi::lua_State) -> c_int {
    // SAFETY: the state is alive. Nothing is owned where this raises. The original has the same
    // arguments, in the frame made for it.
    unsafe {
        let cost = if PLACE == SELECT { cost_of_args(state) } else { cost_of_numerals(state) };
        if cost > 0 && with_meter(state, |meter| meter.charge(cost)) == Some(Err(Dead)) {
            ffi::lua_pushlightuserdata(state, std::ptr::null_mut());
            ffi::lua_error(state);
        }
        match ORIGINALS.get(PLACE).and_then(OnceLock::get) {
            Some(original) => original(state),
            None => 0,
        }
    }
}

#[expect(unsafe_code, reason = "looks at the arguments")]
unsafe fn cost_of_args(state: *mut ffi::lua_State) -> u64 {
    // SAFETY: only reads the state.
    let count = unsafe { ffi::lua_gettop(state) };
    u64::try_from(count).unwrap_or(0) / ARGS_PER_INSTRUCTION
}

/// A unary operation has its operand twice, which is read once more for it.
#[expect(unsafe_code, reason = "looks at the arguments")]
unsafe fn cost_of_numerals(state: *mut ffi::lua_State) -> u64 {
    let digits = [1, 2].into_iter().map(|index| {
        // SAFETY: only reads the state.
        unsafe {
            let is_text = ffi::lua_type(state, index) == ffi::LUA_TSTRING;
            if is_text { ffi::lua_rawlen(state, index) as u64 } else { 0 }
        }
    });
    digits.sum::<u64>() / DIGITS_PER_INSTRUCTION
}
