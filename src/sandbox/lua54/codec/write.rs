//! From [`Value`] to Lua.

use mlua::{Lua, Table, Value as LuaValue};

use luaplan_base::{Error, ErrorCode, ToolFailure, Value};

use super::room::Room;
use super::shape::Codec;
use crate::lua54::fault;
use crate::vm::calls::CallOrigin;
use crate::vm::meter::BYTES_PER_INSTRUCTION;
use crate::vm::reading::{VALUE_DEPTH_MAX, VALUE_NODES_MAX};

struct Writer<'a> {
    codec: &'a Codec,
    lua: &'a Lua,
    origin: Option<&'a CallOrigin>,
    nodes: u64,
    bytes: u64,
}

impl Codec {
    /// Makes the Lua form of `value`; failures inside name `origin`.
    pub(crate) fn write(
        &self,
        lua: &Lua,
        value: &Value,
        origin: Option<&CallOrigin>,
    ) -> mlua::Result<LuaValue> {
        let mut writer = Writer { codec: self, lua, origin, nodes: 0, bytes: 0 };
        let room = Room::for_writing(lua, value);
        let written = match value {
            Value::Null => LuaValue::Nil,
            other => writer.value(other, 0)?,
        };
        drop(room);
        self.meter.charge(writer.nodes + writer.bytes / BYTES_PER_INSTRUCTION)?;
        Ok(written)
    }

    /// Makes the strict error value of a failed call.
    pub(crate) fn write_failure(
        &self,
        lua: &Lua,
        failure: &ToolFailure,
        origin: Option<&CallOrigin>,
    ) -> mlua::Result<LuaValue> {
        let mut writer = Writer { codec: self, lua, origin, nodes: 0, bytes: 0 };
        writer.failure(failure, 0)
    }
}

impl Writer<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> mlua::Result<LuaValue> {
        self.count()?;
        match value {
            Value::Null => Ok(LuaValue::NULL),
            Value::Bool(value) => Ok(LuaValue::Boolean(*value)),
            Value::Integer(value) => Ok(LuaValue::Integer(*value)),
            Value::Float(value) => Ok(LuaValue::Number(*value)),
            Value::String(text) => self.string(text.as_bytes()),
            Value::Bytes(bytes) => self.string(bytes),
            Value::Array(items) => {
                self.check_depth(depth)?;
                let table = self.lua.create_table_with_capacity(items.len(), 0)?;
                for (place, item) in items.iter().enumerate() {
                    match self.text(item)? {
                        Some(text) => table.raw_seti(place + 1, text)?,
                        None => table.raw_seti(place + 1, self.value(item, depth + 1)?)?,
                    }
                }
                self.codec.mark_array(&table)?;
                Ok(LuaValue::Table(table))
            }
            Value::Object(members) => {
                self.check_depth(depth)?;
                let table = self.object(members, depth)?;
                table.set_metatable(Some(self.codec.object_metatable(self.lua, members)?))?;
                Ok(LuaValue::Table(table))
            }
            Value::Failure(failure) => self.failure(failure, depth),
        }
    }

    fn object(&mut self, members: &indexmap::IndexMap<String, Value>, depth: usize) -> mlua::Result<Table> {
        let table = self.lua.create_table_with_capacity(0, members.len())?;
        for (name, member) in members {
            if *member == Value::Null {
                self.nodes += 1;
                continue;
            }
            self.bytes += name.len() as u64;
            match self.text(member)? {
                Some(text) => table.raw_set(name.as_str(), text)?,
                None => table.raw_set(name.as_str(), self.value(member, depth + 1)?)?,
            }
        }
        Ok(table)
    }

    fn failure(&mut self, failure: &ToolFailure, depth: usize) -> mlua::Result<LuaValue> {
        self.check_depth(depth)?;
        let details = self.object(&failure.details, depth)?;
        self.codec.note_failure();
        let origin = self.origin;
        self.codec.failures.create.call((
            failure.message.as_str(),
            failure.code.as_str(),
            failure.retryable,
            details,
            origin.map(|origin| origin.id.as_str()),
            origin.map(|origin| origin.tool.as_str()),
            origin.and_then(|origin| origin.line),
        ))
    }

    /// The text of a member that is text. It goes straight into its table: a value of the binding
    /// would need a reference of its own, which costs as much again.
    fn text<'v>(&mut self, member: &'v Value) -> mlua::Result<Option<&'v str>> {
        let Value::String(text) = member else { return Ok(None) };
        self.count()?;
        self.bytes += text.len() as u64;
        Ok(Some(text))
    }

    fn count(&mut self) -> mlua::Result<()> {
        self.nodes += 1;
        if self.nodes <= VALUE_NODES_MAX {
            return Ok(());
        }
        let message = format!("a value with more than {VALUE_NODES_MAX} nodes cannot enter the plan");
        let error = Error::new(ErrorCode::ValueTooLarge, message);
        Err(fault::raise(error.with_limit(VALUE_NODES_MAX, self.nodes)))
    }

    fn string(&mut self, bytes: &[u8]) -> mlua::Result<LuaValue> {
        self.bytes += bytes.len() as u64;
        Ok(LuaValue::String(self.lua.create_string(bytes)?))
    }

    fn check_depth(&self, depth: usize) -> mlua::Result<()> {
        if depth < VALUE_DEPTH_MAX {
            return Ok(());
        }
        let message = format!("a value nested deeper than {VALUE_DEPTH_MAX} cannot enter the plan");
        Err(fault::raise(Error::new(ErrorCode::ValueTooDeep, message).with_limit(VALUE_DEPTH_MAX, depth + 1)))
    }
}
