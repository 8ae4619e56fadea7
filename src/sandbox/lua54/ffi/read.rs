//! Reads a value out of the VM, directly on its stack.
//!
//! This is the fast path for ordinary values. Where it gives up, nothing has changed, and the codec's
//! own reader handles the value and reports what is wrong.
//!
//! Nothing here can raise: raw access to tables neither allocates nor runs code, and the VM already
//! holds every key that is looked up. The order of members does not matter: the result is sorted, and
//! the codec's reader chooses the error to report.

use std::ffi::c_int;
use std::sync::Arc;

use indexmap::IndexMap;
use mlua::ffi;

use luaplan_base::Value;

use super::push::KEYS_PLACE;
use crate::lua54::codec::{Codec, Shape};
use crate::vm::host_memory::{LIST_BYTES, NODE_BYTES, OBJECT_BYTES, member_bytes, string_bytes};
use crate::vm::meter::BYTES_PER_INSTRUCTION;
use crate::vm::reading::{NODES_BETWEEN_LOOKS, VALUE_DEPTH_MAX, VALUE_NODES_MAX};

/// Stack slots for each level of nesting: a key, a value, a metatable, its keys.
const SLOTS_A_LEVEL: c_int = 6;

/// Known keys up to which each is compared with each key of a table.
const KNOWN_COMPARED: usize = 64;

/// How many recent shapes are kept.
const RECENT: usize = 8;

/// Reads values of one coroutine.
pub(in crate::lua54) struct Taker<'a> {
    state: *mut ffi::lua_State,
    codec: &'a Codec,
    failure: usize,
    /// The most bytes the values may take outside the VM.
    host_bytes_max: u64,
    nodes: u64,
    bytes: u64,
    host_bytes: u64,
    depth: usize,
    recent: Vec<(usize, Arc<Shape>)>,
}

impl<'a> Taker<'a> {
    /// Reads from `state`; the values may take `host_bytes_max` outside the VM.
    pub(in crate::lua54) fn new(state: *mut ffi::lua_State, codec: &'a Codec, host_bytes_max: u64) -> Self {
        let failure = codec.failures.metatable.to_pointer() as usize;
        let (nodes, bytes, host_bytes) = (0, 0, 0);
        Self { state, codec, failure, host_bytes_max, nodes, bytes, host_bytes, depth: 0, recent: Vec::new() }
    }

    /// The bytes of the values outside the VM.
    pub(in crate::lua54) fn host_bytes(&self) -> u64 {
        self.host_bytes
    }

    /// The cost of reading, in instructions.
    pub(in crate::lua54) fn cost(&self) -> u64 {
        self.nodes + self.bytes / BYTES_PER_INSTRUCTION
    }

    /// The value at `index`, counted from the bottom of the frame.
    pub(in crate::lua54) fn value(&mut self, index: c_int) -> Option<Value> {
        self.count_node()?;
        self.count_bytes(0, NODE_BYTES)?;
        let state = self.state;
        #[expect(unsafe_code, reason = "looks at a value on the stack of a live coroutine")]
        // SAFETY: the index is one of a value on the stack; none of these changes or raises.
        unsafe {
            match ffi::lua_type(state, index) {
                ffi::LUA_TNIL => Some(Value::Null),
                ffi::LUA_TLIGHTUSERDATA => ffi::lua_touserdata(state, index).is_null().then_some(Value::Null),
                ffi::LUA_TBOOLEAN => Some(Value::Bool(ffi::lua_toboolean(state, index) != 0)),
                ffi::LUA_TNUMBER if ffi::lua_isinteger(state, index) != 0 => {
                    Some(Value::Integer(ffi::lua_tointegerx(state, index, std::ptr::null_mut())))
                }
                ffi::LUA_TNUMBER => {
                    let number = ffi::lua_tonumberx(state, index, std::ptr::null_mut());
                    number.is_finite().then_some(Value::Float(number))
                }
                ffi::LUA_TSTRING => {
                    let bytes = self.text(index);
                    self.count_bytes(bytes.len(), string_bytes(bytes.len()))?;
                    Some(match std::str::from_utf8(bytes) {
                        Ok(text) => Value::String(text.to_owned()),
                        Err(_) => Value::Bytes(bytes.to_vec().into()),
                    })
                }
                ffi::LUA_TTABLE => self.table(index),
                _ => None,
            }
        }
    }

    /// The bytes of the string at `index`, which stays where it is while it is used.
    #[expect(unsafe_code, reason = "looks at a string on the stack of a live coroutine")]
    fn text<'s>(&self, index: c_int) -> &'s [u8] {
        let mut length = 0;
        // SAFETY: the value is a string, so nothing is converted; it stays on the stack, or in the
        // table it is a key of, as long as callers use it, and no collection runs meanwhile.
        unsafe {
            let text = ffi::lua_tolstring(self.state, index, &raw mut length);
            std::slice::from_raw_parts(text.cast(), length)
        }
    }

    #[expect(unsafe_code, reason = "looks at the metatable of a table on the stack")]
    fn table(&mut self, index: c_int) -> Option<Value> {
        if self.depth >= VALUE_DEPTH_MAX {
            return None;
        }
        // SAFETY: room on the stack is asked for; only raw access follows, and the stack is brought
        // back to where it was.
        unsafe {
            if ffi::lua_checkstack(self.state, SLOTS_A_LEVEL) == 0 {
                return None;
            }
            let top = ffi::lua_gettop(self.state);
            let has_metatable = ffi::lua_getmetatable(self.state, index) != 0;
            let metatable = if has_metatable { ffi::lua_topointer(self.state, -1) as usize } else { 0 };
            if has_metatable && metatable == self.failure {
                ffi::lua_settop(self.state, top);
                return None;
            }
            let shape = if has_metatable { self.shape(metatable) } else { None };
            self.depth += 1;
            let value = self.content(index, shape.as_deref());
            self.depth -= 1;
            ffi::lua_settop(self.state, top);
            value
        }
    }

    fn shape(&mut self, metatable: usize) -> Option<Arc<Shape>> {
        if let Some((_, shape)) = self.recent.iter().find(|(known, _)| *known == metatable) {
            return Some(shape.clone());
        }
        let (shape, _) = self.codec.shape_at(metatable)?;
        if self.recent.len() >= RECENT {
            self.recent.clear();
        }
        self.recent.push((metatable, shape.clone()));
        Some(shape)
    }

    /// The table at `index`; where it has a metatable, that is on top of the stack.
    #[expect(unsafe_code, reason = "asks a table for its length")]
    fn content(&mut self, index: c_int, shape: Option<&Shape>) -> Option<Value> {
        // SAFETY: the value at the index is a table.
        let length = unsafe { ffi::lua_rawlen(self.state, index) };
        if length > 0 {
            return self.list(index, length);
        }
        match shape {
            Some(Shape::Object(known)) => self.known_object(index, known),
            _ => self.plain(index),
        }
    }

    /// A list, walked in storage order: the items of an array part come in order.
    #[expect(unsafe_code, reason = "walks a table by raw access")]
    fn list(&mut self, index: c_int, length: usize) -> Option<Value> {
        self.count_bytes(0, LIST_BYTES)?;
        let mut items = Vec::with_capacity(length.min(usize::try_from(VALUE_NODES_MAX).unwrap_or(0)));
        // SAFETY: the key is one the walk itself gave; nothing changes the table meanwhile.
        unsafe {
            ffi::lua_pushnil(self.state);
            while ffi::lua_next(self.state, index) != 0 {
                let is_next = ffi::lua_isinteger(self.state, -2) != 0
                    && usize::try_from(ffi::lua_tointegerx(self.state, -2, std::ptr::null_mut()))
                        .is_ok_and(|key| key == items.len() + 1);
                if !is_next {
                    return None;
                }
                items.push(self.value(ffi::lua_gettop(self.state))?);
                ffi::lua_pop(self.state, 1);
            }
        }
        (items.len() == length).then_some(Value::Array(items))
    }

    /// An object from the host, its metatable on top of the stack: known keys first, in their
    /// order, then what the plan added.
    #[expect(unsafe_code, reason = "looks up the keys of a shape by raw access")]
    fn known_object(&mut self, index: c_int, known: &[(String, bool)]) -> Option<Value> {
        self.count_bytes(0, OBJECT_BYTES)?;
        let keys = self.count_keys(index)?;
        let mut members = IndexMap::with_capacity(known.len());
        let mut met = 0;
        // SAFETY: the metatable of a shape with keys has their list; the keys are strings the VM
        // holds, so looking them up makes nothing.
        unsafe {
            if !known.is_empty() {
                ffi::lua_rawgeti(self.state, -1, KEYS_PLACE);
            }
            for (place, (name, null)) in known.iter().enumerate() {
                ffi::lua_rawgeti(self.state, -1, i64::try_from(place + 1).ok()?);
                let is_nil = ffi::lua_rawget(self.state, index) == ffi::LUA_TNIL;
                if is_nil && !null {
                    self.count_node()?;
                } else {
                    met += usize::from(!is_nil);
                    self.count_bytes(name.len(), member_bytes(name))?;
                    let value = self.value(ffi::lua_gettop(self.state))?;
                    members.insert(name.clone(), value);
                }
                ffi::lua_pop(self.state, 1);
            }
        }
        if met < keys {
            members.extend(self.members(index, known)?);
        }
        Some(Value::Object(members))
    }

    /// A table of the plan's without items.
    fn plain(&mut self, index: c_int) -> Option<Value> {
        if self.count_keys(index)? == 0 {
            return Some(Value::Array(Vec::new()));
        }
        self.count_bytes(0, OBJECT_BYTES)?;
        Some(Value::Object(self.members(index, &[])?.into_iter().collect()))
    }

    /// The members of a table except those in `known`, sorted by name.
    #[expect(unsafe_code, reason = "walks a table by raw access")]
    fn members(&mut self, index: c_int, known: &[(String, bool)]) -> Option<Vec<(String, Value)>> {
        if known.len() > KNOWN_COMPARED {
            return None;
        }
        let mut found = Vec::new();
        // SAFETY: the key is one the walk itself gave, and a string is not converted; nothing
        // changes the table meanwhile.
        unsafe {
            ffi::lua_pushnil(self.state);
            while ffi::lua_next(self.state, index) != 0 {
                if ffi::lua_type(self.state, -2) != ffi::LUA_TSTRING {
                    return None;
                }
                let name = std::str::from_utf8(self.text(-2)).ok()?;
                if !known.iter().any(|(known, _)| known == name) {
                    self.count_bytes(name.len(), member_bytes(name))?;
                    let value = self.value(ffi::lua_gettop(self.state))?;
                    found.push((name.to_owned(), value));
                }
                ffi::lua_pop(self.state, 1);
            }
        }
        found.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        Some(found)
    }

    #[expect(unsafe_code, reason = "walks a table by raw access")]
    fn count_keys(&self, index: c_int) -> Option<usize> {
        let mut count = 0;
        // SAFETY: the key is one the walk itself gave; nothing changes the table meanwhile.
        unsafe {
            ffi::lua_pushnil(self.state);
            while ffi::lua_next(self.state, index) != 0 {
                count += 1;
                ffi::lua_pop(self.state, 1);
            }
        }
        (count as u64 <= VALUE_NODES_MAX).then_some(count)
    }

    fn count_node(&mut self) -> Option<()> {
        self.nodes += 1;
        if self.nodes.is_multiple_of(NODES_BETWEEN_LOOKS) && self.codec.meter.check_alive().is_err() {
            return None;
        }
        (self.nodes <= VALUE_NODES_MAX).then_some(())
    }

    fn count_bytes(&mut self, bytes: usize, host_bytes: u64) -> Option<()> {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        self.host_bytes = self.host_bytes.saturating_add(host_bytes);
        (self.host_bytes <= self.host_bytes_max).then_some(())
    }
}
