//! Pushes a whole value inside one protected call, where the binding makes a protected call for each
//! table and text.
//!
//! This is the fast path for ordinary values. Where it gives up, nothing has changed, and the codec's
//! own writer handles the value and reports what is wrong.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use mlua::{Lua, ffi};

use luaplan_base::Value;

use crate::lua54::codec::{ARRAY_PLACE, Codec, Shape, ShapePlace};
use crate::vm::meter::BYTES_PER_INSTRUCTION;
use crate::vm::reading::{VALUE_DEPTH_MAX, VALUE_NODES_MAX};

/// Stack slots for each level of nesting: a table, its keys, a key, a value.
const SLOTS_A_LEVEL: usize = 4;

/// The address that names the VM's metatables in its registry.
static METATABLES: u8 = 0;

/// Registers the metatables of `codec` where raw functions find them.
///
/// # Errors
/// Only if memory is used up.
#[expect(unsafe_code, reason = "keeps a table in the registry under an address of ours")]
pub(in crate::lua54) fn install(lua: &Lua, codec: &Codec) -> mlua::Result<()> {
    lua.exec_raw_lua(|raw| {
        // SAFETY: the stack of a live state has room for one value; no memory limit is set yet, so
        // a new entry of the registry does not fail.
        unsafe {
            raw.push(&codec.metatables)?;
            ffi::lua_rawsetp(raw.state(), ffi::LUA_REGISTRYINDEX, key());
        }
        Ok(())
    })
}

fn key() -> *const c_void {
    std::ptr::from_ref(&METATABLES).cast()
}

/// What a value will cost, and the shapes of its objects in order of occurrence.
struct Survey<'a> {
    codec: &'a Codec,
    lua: &'a Lua,
    nodes: u64,
    bytes: u64,
    places: Vec<ShapePlace>,
    /// The last shape at each depth: rows of a list follow each other.
    recent: Vec<Option<(Arc<Shape>, ShapePlace)>>,
}

impl Survey<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> Option<()> {
        self.nodes += 1;
        match value {
            Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) => Some(()),
            Value::String(text) => self.add_bytes(text.len()),
            Value::Bytes(bytes) => self.add_bytes(bytes.len()),
            Value::Array(items) => {
                self.check(depth, items.len())?;
                items.iter().try_for_each(|item| self.value(item, depth + 1))
            }
            Value::Object(members) => {
                self.check(depth, members.len())?;
                let place = self.place(members, depth)?;
                self.places.push(place);
                for (name, member) in members {
                    if *member != Value::Null {
                        self.add_bytes(name.len())?;
                    }
                    self.value(member, depth + 1)?;
                }
                Some(())
            }
            Value::Failure(_) => None,
        }
    }

    fn add_bytes(&mut self, bytes: usize) -> Option<()> {
        self.bytes = self.bytes.checked_add(bytes as u64)?;
        Some(())
    }

    fn check(&self, depth: usize, children: usize) -> Option<()> {
        let fits = depth < VALUE_DEPTH_MAX && self.nodes + children as u64 <= VALUE_NODES_MAX;
        (fits && c_int::try_from(children).is_ok()).then_some(())
    }

    fn place(&mut self, members: &indexmap::IndexMap<String, Value>, depth: usize) -> Option<ShapePlace> {
        if self.recent.len() <= depth {
            self.recent.resize(depth + 1, None);
        }
        if let Some(Some((shape, place))) = self.recent.get(depth)
            && shape.fits(members)
        {
            return Some(*place);
        }
        let place = self.codec.object_place(self.lua, members).ok()?;
        if let Some(recent) = self.recent.get_mut(depth) {
            *recent = self.codec.shape(place).map(|shape| (shape, place));
        }
        Some(place)
    }
}

/// The input of the protected call. It owns nothing.
struct Job<'a> {
    value: &'a Value,
    places: &'a [ShapePlace],
    next_place: usize,
}

/// Charges for the Lua form of `value` and pushes it onto `state`. False where it gave up.
#[expect(unsafe_code, reason = "one protected call around all that may raise")]
pub(in crate::lua54) fn put_in(lua: &Lua, state: *mut ffi::lua_State, codec: &Codec, value: &Value) -> bool {
    if *value == Value::Null {
        // SAFETY: callers have room for one value.
        unsafe { ffi::lua_pushnil(state) };
        return true;
    }
    let mut survey = Survey { codec, lua, nodes: 0, bytes: 0, places: Vec::new(), recent: Vec::new() };
    if survey.value(value, 0).is_none() {
        return false;
    }
    let cost = survey.nodes + survey.bytes / BYTES_PER_INSTRUCTION;
    let mut job = Job { value, places: &survey.places, next_place: 0 };
    // SAFETY: the state is alive; a light C function and a light userdata take no memory. What may
    // raise does so inside the call, whose frames own nothing; the job outlives it.
    unsafe {
        if ffi::lua_checkstack(state, 3) == 0 {
            return false;
        }
        ffi::lua_pushcfunction(state, build);
        ffi::lua_pushlightuserdata(state, (&raw mut job).cast());
        let is_built = ffi::lua_pcall(state, 1, 1, 0) == ffi::LUA_OK && codec.meter.charge(cost).is_ok();
        if !is_built {
            ffi::lua_pop(state, 1);
        }
        is_built
    }
}

/// The protected part: `build(job)` gives the value.
#[expect(unsafe_code, reason = "called by Lua, which hands over a live state")]
unsafe extern "C-unwind" fn build(state: *mut ffi::lua_State) -> c_int {
    // SAFETY: the one argument is the job of `put_in`, which waits for this call. Nothing here or
    // below owns anything, so raising loses nothing.
    unsafe {
        let job = &mut *ffi::lua_touserdata(state, 1).cast::<Job<'_>>();
        let slots = (VALUE_DEPTH_MAX + 2) * SLOTS_A_LEVEL;
        ffi::luaL_checkstack(state, c_int::try_from(slots).unwrap_or(c_int::MAX), std::ptr::null());
        ffi::lua_rawgetp(state, ffi::LUA_REGISTRYINDEX, key());
        let value = job.value;
        push(state, job, value);
    }
    1
}

/// The place of the metatables on the stack of [`build`].
const METATABLES_INDEX: c_int = 2;

/// Pushes one value. The metatables are at [`METATABLES_INDEX`].
#[expect(unsafe_code, reason = "runs inside `build`")]
unsafe fn push(state: *mut ffi::lua_State, job: &mut Job<'_>, value: &Value) {
    // SAFETY: `build` made room on the stack for every level; all indexes are those of what was
    // just pushed; sizes were checked by the survey; nothing here owns anything.
    unsafe {
        match value {
            Value::Bool(value) => ffi::lua_pushboolean(state, c_int::from(*value)),
            Value::Integer(value) => ffi::lua_pushinteger(state, *value),
            Value::Float(value) => ffi::lua_pushnumber(state, *value),
            Value::String(text) => {
                ffi::lua_pushlstring(state, text.as_ptr().cast(), text.len());
            }
            Value::Bytes(bytes) => {
                ffi::lua_pushlstring(state, bytes.as_ptr().cast(), bytes.len());
            }
            Value::Array(items) => {
                ffi::lua_createtable(state, c_int::try_from(items.len()).unwrap_or(0), 0);
                for (place, item) in items.iter().enumerate() {
                    push(state, job, item);
                    ffi::lua_rawseti(state, -2, i64::try_from(place + 1).unwrap_or(i64::MAX));
                }
                ffi::lua_rawgeti(state, METATABLES_INDEX, i64::from(ARRAY_PLACE));
                ffi::lua_setmetatable(state, -2);
            }
            Value::Object(members) => {
                let place = job.places.get(job.next_place).copied().unwrap_or_default();
                job.next_place += 1;
                ffi::lua_createtable(state, 0, c_int::try_from(members.len()).unwrap_or(0));
                ffi::lua_rawgeti(state, METATABLES_INDEX, i64::from(place));
                if members.is_empty() {
                    ffi::lua_setmetatable(state, -2);
                    return;
                }
                ffi::lua_rawgeti(state, -1, KEYS_PLACE);
                for (place, member) in members.values().enumerate() {
                    if *member != Value::Null {
                        ffi::lua_rawgeti(state, -1, i64::try_from(place + 1).unwrap_or(i64::MAX));
                        push(state, job, member);
                        ffi::lua_rawset(state, -5);
                    }
                }
                ffi::lua_pop(state, 1);
                ffi::lua_setmetatable(state, -2);
            }
            Value::Null | Value::Failure(_) => ffi::lua_pushlightuserdata(state, std::ptr::null_mut()),
        }
    }
}

/// Where a shape's metatable keeps the list of its keys.
pub(super) const KEYS_PLACE: i64 = 2;
