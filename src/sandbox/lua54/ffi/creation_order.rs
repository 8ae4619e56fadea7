//! The order in which tables, functions and coroutines were made.
//!
//! Lua hashes them by address, so its order of iteration differs from process to process. Their age does
//! not: Lua keeps all objects in one list, the newest first, and this reads that list. Functions of the
//! library that are not in it come first, by their place in the program.
//!
//! **Never here:** changing anything Lua keeps.

use std::ffi::{c_int, c_void};

use mlua::{Function, Lua, ffi};

use super::duty::with_meter;
use crate::vm::meter::Dead;

/// The cost of one call, whatever the length of the list: the amount of uncollected garbage in it must not
/// show in the count. The memory limit bounds the list.
const CALL_INSTRUCTIONS: u64 = 2_000;

/// Objects read between two checks of the interrupt.
const OBJECTS_PER_LOOK: u64 = 8 * 1024;

/// A function that takes a list of objects and gives a new one, the oldest first.
///
/// # Errors
/// Only if memory is used up.
pub(in crate::lua54) fn function(lua: &Lua) -> mlua::Result<Function> {
    #[expect(unsafe_code, reason = "reads a list that the interface of Lua does not show")]
    // SAFETY: the function keeps to Lua's protocol, and owns nothing where it raises.
    unsafe {
        lua.create_c_function(by_age)
    }
}

#[expect(unsafe_code, reason = "called by Lua, which hands over a live state")]
unsafe extern "C-unwind" fn by_age(state: *mut ffi::lua_State) -> c_int {
    // SAFETY: the argument is a list of the prelude's own, without a metatable. Only making the
    // result may raise, and nothing is owned then; its items have their places from the start, so
    // filling them asks for no memory. The new table is the newest object, at the head of the list.
    unsafe {
        ffi::lua_settop(state, 1);
        let count = ffi::lua_rawlen(state, 1);
        ffi::lua_createtable(state, c_int::try_from(count).unwrap_or(c_int::MAX), 0);
        let newest = ffi::lua_topointer(state, 2);
        let ordered = {
            let objects = (1..=count).filter_map(|place| {
                let place = ffi::lua_Integer::try_from(place).ok()?;
                ffi::lua_rawgeti(state, 1, place);
                let address = ffi::lua_topointer(state, -1);
                ffi::lua_settop(state, -2);
                Some(Object { address, place, age: 0 })
            });
            order(state, objects.collect(), newest).map(|objects| {
                for (index, object) in (1..).zip(&objects) {
                    ffi::lua_rawgeti(state, 1, object.place);
                    ffi::lua_rawseti(state, 2, index);
                }
            })
        };
        if ordered.is_err() {
            ffi::lua_pushlightuserdata(state, std::ptr::null_mut());
            ffi::lua_error(state);
        }
        1
    }
}

struct Object {
    address: *const c_void,
    place: ffi::lua_Integer,
    /// How many objects of the list are newer; 0 for what is not in it.
    age: u64,
}

#[expect(unsafe_code, reason = "follows the list that Lua keeps")]
unsafe fn order(
    state: *mut ffi::lua_State,
    mut objects: Vec<Object>,
    newest: *const c_void,
) -> Result<Vec<Object>, Dead> {
    charge(state, CALL_INSTRUCTIONS + objects.len() as u64)?;
    objects.sort_unstable_by_key(|object| object.address);
    let (mut at, mut looked, mut found) = (newest, 0_u64, 0);
    while !at.is_null() && found < objects.len() {
        looked += 1;
        if looked.is_multiple_of(OBJECTS_PER_LOOK) {
            charge(state, 0)?;
        }
        if let Ok(index) = objects.binary_search_by_key(&at, |object| object.address)
            && let Some(object) = objects.get_mut(index)
        {
            object.age = looked;
            found += 1;
        }
        // SAFETY: `at` is an object of the list; nothing is collected while it is read.
        at = unsafe { at.cast::<*const c_void>().read() };
    }
    objects.sort_by_key(|object| (object.age != 0, std::cmp::Reverse(object.age), object.address));
    Ok(objects)
}

fn charge(state: *mut ffi::lua_State, instructions: u64) -> Result<(), Dead> {
    with_meter(state, |meter| meter.charge(instructions)).unwrap_or(Ok(()))
}
