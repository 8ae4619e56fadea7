//! Resumes the main coroutine and reads its stack.

use std::ffi::c_int;

use mlua::{Function, Lua, Thread, Value as LuaValue, ffi};

use luaplan_base::Value;

use super::push::put_in;
use super::read::Taker;
use super::state::memory_bytes;
use super::watch::Watch;
use crate::lua54::codec::Codec;

/// How a resume ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lua54) enum Ended {
    /// The slice is used up.
    Slice,
    /// It yielded so many values, which lie on top of its stack.
    Yielded(c_int),
    /// It returned so many values, which lie on top of its stack.
    Returned(c_int),
    /// It raised what lies on top of its stack.
    Raised,
}

/// The main coroutine, which its owner keeps alive.
#[derive(Clone, Copy)]
pub(in crate::lua54) struct Main<'a> {
    lua: &'a Lua,
    state: *mut ffi::lua_State,
}

#[expect(unsafe_code, reason = "works on the stack of a coroutine that rests or is resumed here")]
impl<'a> Main<'a> {
    pub(in crate::lua54) fn new(lua: &'a Lua, thread: &'a Thread) -> Self {
        Self { lua, state: thread.state() }
    }

    /// Puts the arguments of the first resume on the stack: the plan's chunk and the context. False
    /// where the fast path does not take the context; only the chunk is on the stack then.
    pub(in crate::lua54) fn give(
        self,
        codec: &Codec,
        chunk: &Function,
        context: &Value,
    ) -> mlua::Result<bool> {
        self.give_value(&LuaValue::Function(chunk.clone()))?;
        Ok(put_in(self.lua, self.state, codec, context))
    }

    /// Puts one more value on the stack.
    pub(in crate::lua54) fn give_value(self, value: &LuaValue) -> mlua::Result<()> {
        self.lua.exec_raw_lua(|raw| {
            // SAFETY: both stacks have room for one value; the coroutine is suspended.
            unsafe {
                if ffi::lua_checkstack(self.state, 2) == 0 {
                    return Err(mlua::Error::MemoryError("stack".to_owned()));
                }
                raw.push(value)?;
                ffi::lua_xmove(raw.state(), self.state, 1);
            }
            Ok(())
        })
    }

    /// Resumes with the `count` values on top of the stack, on duty.
    pub(in crate::lua54) fn resume(self, watch: &Watch, count: c_int) -> Ended {
        let entered = watch.enter(self.lua, self.state);
        watch.meter.begin_slice();
        let mut results = 0;
        // SAFETY: the coroutine has just started or is suspended in a yield; errors raised inside end
        // there, as a resume is protected.
        let status = self
            .lua
            .exec_raw_lua(|raw| unsafe { ffi::lua_resume(self.state, raw.state(), count, &raw mut results) });
        if status == ffi::LUA_YIELD && watch.meter.take_sliced() {
            return Ended::Slice;
        }
        entered.settle();
        watch.sample_memory(self.state, memory_bytes(self.state));
        match status {
            ffi::LUA_OK => Ended::Returned(results),
            ffi::LUA_YIELD => Ended::Yielded(results),
            _ => Ended::Raised,
        }
    }

    /// The integer at `place`, counted from 0, of the `count` values on top.
    pub(in crate::lua54) fn integer(self, count: c_int, place: c_int) -> Option<i64> {
        let mut is_integer = 0;
        // SAFETY: the index is one of a value on the stack.
        let number = unsafe { ffi::lua_tointegerx(self.state, place - count, &raw mut is_integer) };
        (place < count && is_integer != 0).then_some(number)
    }

    /// Whether the first of the `count` values on top is `true` and the second the text `text`.
    pub(in crate::lua54) fn is_well(self, count: c_int, text: &str) -> bool {
        // SAFETY: the indexes are those of values on the stack; a string is not converted.
        unsafe {
            if count < 2 || ffi::lua_type(self.state, 1 - count) != ffi::LUA_TSTRING {
                return false;
            }
            let mut length = 0;
            let found = ffi::lua_tolstring(self.state, 1 - count, &raw mut length);
            ffi::lua_toboolean(self.state, -count) != 0
                && std::slice::from_raw_parts(found.cast::<u8>(), length) == text.as_bytes()
        }
    }

    /// The value on top by the fast path, with the cost of reading it.
    pub(in crate::lua54) fn take(self, codec: &Codec) -> Option<(Value, u64)> {
        // SAFETY: only asks for the height of the stack, and brings it back to it.
        let top = unsafe { ffi::lua_gettop(self.state) };
        let mut taker = Taker::new(self.state, codec, codec.memory_bytes());
        let value = taker.value(top);
        // SAFETY: as above.
        unsafe { ffi::lua_settop(self.state, top) };
        Some((value?, taker.cost()))
    }

    /// Takes the `count` values on top off the stack.
    ///
    /// # Errors
    /// Only if memory is used up.
    pub(in crate::lua54) fn take_values(self, count: c_int) -> mlua::Result<Vec<LuaValue>> {
        let mut values = Vec::new();
        self.lua.exec_raw_lua(|raw| {
            for _ in 0..count {
                // SAFETY: the value is on the stack of a suspended coroutine; the other stack has
                // room for one.
                let value = unsafe {
                    if ffi::lua_checkstack(raw.state(), 2) == 0 {
                        return Err(mlua::Error::MemoryError("stack".to_owned()));
                    }
                    ffi::lua_xmove(self.state, raw.state(), 1);
                    raw.pop::<LuaValue>()?
                };
                values.push(value);
            }
            Ok(())
        })?;
        values.reverse();
        Ok(values)
    }

    /// Drops `count` values.
    pub(in crate::lua54) fn forget(self, count: c_int) {
        // SAFETY: there are so many values on the stack.
        unsafe { ffi::lua_settop(self.state, -count - 1) }
    }
}
