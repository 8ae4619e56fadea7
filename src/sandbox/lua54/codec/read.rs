//! From Lua to [`Value`].

use std::collections::HashSet;

use indexmap::IndexMap;
use mlua::{Table, Value as LuaValue};

use luaplan_base::{Error, ErrorCode, Result, Value};

use super::room::Room;
use super::shape::{Codec, Shape, pointer};
use crate::lua54::fault;
use crate::vm::failed_call::failure_in;
use crate::vm::host_memory::{LIST_BYTES, OBJECT_BYTES, member_bytes};
use crate::vm::meter::Dead;
use crate::vm::reading::{ReadStop, Reading, Unlooked, VALUE_NODES_MAX};

struct Reader<'a> {
    codec: &'a Codec,
    unlooked: Unlooked,
    reading: Reading<'a>,
}

/// Why raw reading failed: our error, or one of the binding.
enum Stop {
    Ours(Error),
    Lua(mlua::Error),
}

impl From<ReadStop> for Stop {
    fn from(stop: ReadStop) -> Self {
        match stop {
            ReadStop::Ours(error) => Self::Ours(error),
            ReadStop::Dead(dead) => Self::Lua(dead.into()),
        }
    }
}

impl From<mlua::Error> for Stop {
    fn from(error: mlua::Error) -> Self {
        Self::Lua(error)
    }
}

impl From<Dead> for Stop {
    fn from(dead: Dead) -> Self {
        Self::Lua(dead.into())
    }
}

impl Stop {
    /// The form that the plan sees.
    fn raised(self) -> mlua::Error {
        match self {
            Self::Ours(error) => fault::raise(error),
            Self::Lua(error) => error,
        }
    }
}

impl Codec {
    /// Reads an argument of a pending call. It counts as held until the call is answered.
    pub(crate) fn read_argument(&self, name: &str, value: &LuaValue) -> mlua::Result<Value> {
        match self.read(name, value, Unlooked::Refuse, self.held.bytes()) {
            Ok((value, host_bytes)) => {
                self.held.add(host_bytes);
                Ok(value)
            }
            Err(stop) => {
                self.held.forget();
                Err(stop.raised())
            }
        }
    }

    /// Reads a value for a function of the library, which drops it before the plan continues.
    pub(crate) fn read_here(&self, name: &str, value: &LuaValue) -> mlua::Result<Value> {
        self.read(name, value, Unlooked::Refuse, 0).map(|(value, _)| value).map_err(Stop::raised)
    }

    /// Reads the result of a run.
    ///
    /// # Errors
    /// `value_…`, or `limit_memory` if memory runs out meanwhile.
    pub(crate) fn read_result(&self, value: &LuaValue) -> Result<Value> {
        self.read("result", value, Unlooked::Carry, 0).map(|(value, _)| value).map_err(|stop| match stop {
            Stop::Ours(error) => error,
            Stop::Lua(error) => {
                if matches!(fault::kind(&error), fault::RaisedKind::Memory) {
                    self.meter.out_of_memory();
                }
                self.meter.verdict().err().unwrap_or_else(|| {
                    Error::new(ErrorCode::Internal, "the result could not be read").with_source(error)
                })
            }
        })
    }

    /// The value, and its size outside the VM.
    fn read(
        &self,
        name: &str,
        value: &LuaValue,
        unlooked: Unlooked,
        held_bytes: u64,
    ) -> Result<(Value, u64), Stop> {
        let mut reader =
            Reader { codec: self, unlooked, reading: Reading::new(&self.meter, name, held_bytes) };
        let lua = self.lua.try_upgrade();
        let room = lua.as_ref().and_then(Room::for_reading);
        let read = reader.value(value);
        drop(room);
        reader.reading.charge()?;
        Ok((read?, reader.reading.host_bytes))
    }
}

impl Reader<'_> {
    fn value(&mut self, value: &LuaValue) -> Result<Value, Stop> {
        self.reading.count()?;
        match value {
            LuaValue::Nil => Ok(Value::Null),
            LuaValue::LightUserData(pointer) if pointer.0.is_null() => Ok(Value::Null),
            LuaValue::Boolean(value) => Ok(Value::Bool(*value)),
            LuaValue::Integer(value) => Ok(Value::Integer(*value)),
            LuaValue::Number(value) => Ok(self.reading.float(*value)?),
            LuaValue::String(text) => Ok(self.reading.text(&text.as_bytes())?),
            LuaValue::Table(table) => self.table(table),
            other => Err(self.reading.not_carried(other.type_name()).into()),
        }
    }

    fn table(&mut self, table: &Table) -> Result<Value, Stop> {
        let metatable = table.metatable();
        if metatable.as_ref().is_some_and(|metatable| *metatable == self.codec.failures.metatable) {
            return self.failure(table);
        }
        self.reading.enter_table(pointer(table))?;
        let shape = metatable.and_then(|metatable| self.codec.shape_of(&metatable));
        let value = self.content(table, shape.as_deref());
        self.reading.leave_table();
        value
    }

    fn content(&mut self, table: &Table, shape: Option<&Shape>) -> Result<Value, Stop> {
        let keys = count_keys(table)?;
        let length = table.raw_len();
        if length > 0 {
            return self.list(table, length, keys);
        }
        match shape {
            Some(Shape::Object(known)) => self.known_object(table, known, keys),
            _ if keys == 0 => Ok(Value::Array(Vec::new())),
            _ => {
                self.reading.count_bytes(0, OBJECT_BYTES)?;
                Ok(Value::Object(self.members(table, &[])?))
            }
        }
    }

    fn list(&mut self, table: &Table, length: usize, keys: usize) -> Result<Value, Stop> {
        self.reading.count_bytes(0, LIST_BYTES)?;
        let mut items = Vec::with_capacity(length.min(keys));
        for index in 1..=length {
            let item: LuaValue = table.raw_get(index)?;
            if item.is_nil() {
                return Err(self.reading.unsupported("holes in a list").into());
            }
            self.reading.path.enter_item(index);
            items.push(self.value(&item)?);
            self.reading.path.leave();
        }
        if keys == length {
            return Ok(Value::Array(items));
        }
        for pair in table.pairs::<LuaValue, LuaValue>() {
            if let (LuaValue::String(name), _) = pair? {
                return Err(self
                    .reading
                    .unsupported(&format!("both a list and the key `{}`", name.display()))
                    .into());
            }
        }
        Err(self.reading.unsupported("a list with holes, or keys that are neither text nor 1..n").into())
    }

    /// An object from the host: known keys first, in their order, then what the plan added.
    fn known_object(&mut self, table: &Table, known: &[(String, bool)], keys: usize) -> Result<Value, Stop> {
        self.reading.count_bytes(0, OBJECT_BYTES)?;
        let mut members = IndexMap::new();
        let mut met = 0;
        for (name, null) in known {
            let value: LuaValue = table.raw_get(name.as_str())?;
            if value.is_nil() && !null {
                // A lookup costs too: a plan can share a table whose many members it has removed.
                self.reading.count_node()?;
                continue;
            }
            met += usize::from(!value.is_nil());
            self.reading.count_bytes(name.len(), member_bytes(name))?;
            members.insert(name.clone(), self.member(name, &value)?);
        }
        if met < keys {
            members.extend(self.members(table, known)?);
        }
        Ok(Value::Object(members))
    }

    /// The members of a table except those in `known`, sorted by name, so that neither the result
    /// nor which of several faults is reported depends on hash order.
    fn members(&mut self, table: &Table, known: &[(String, bool)]) -> Result<IndexMap<String, Value>, Stop> {
        let known: HashSet<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
        let mut found = Vec::new();
        let mut wrong: Option<String> = None;
        for pair in table.pairs::<LuaValue, LuaValue>() {
            let (key, value) = pair?;
            let has = match key {
                LuaValue::String(name) => match name.to_str() {
                    Ok(name) => {
                        if !known.contains(&*name) {
                            self.reading.count_bytes(name.len(), member_bytes(&name))?;
                            found.push((name.to_owned(), value));
                        }
                        continue;
                    }
                    Err(_) => "a key that is not UTF-8 text".to_owned(),
                },
                LuaValue::Integer(index) => format!("the key {index}, but no list 1..n"),
                other => format!("a key that is a {}", other.type_name()),
            };
            if wrong.as_ref().is_none_or(|known| has < *known) {
                wrong = Some(has);
            }
            if found.len() as u64 > VALUE_NODES_MAX {
                break;
            }
        }
        if let Some(has) = wrong {
            return Err(self.reading.unsupported(&has).into());
        }
        found.sort_by(|(left, _), (right, _)| left.cmp(right));
        let mut members = IndexMap::with_capacity(found.len());
        for (name, value) in found {
            let value = self.member(&name, &value)?;
            members.insert(name, value);
        }
        Ok(members)
    }

    fn member(&mut self, name: &str, value: &LuaValue) -> Result<Value, Stop> {
        self.reading.path.enter_member(name);
        let value = self.value(value)?;
        self.reading.path.leave();
        Ok(value)
    }

    fn failure(&mut self, table: &Table) -> Result<Value, Stop> {
        let record: Table = self.codec.failures.records.raw_get(table)?;
        if self.unlooked == Unlooked::Refuse && !record.raw_get::<bool>("looked")? {
            let text: String = record.raw_get("text")?;
            return Err(Stop::Ours(failure_in(&self.reading.path, &text, record.raw_get("call")?)));
        }
        self.reading.count_bytes(0, OBJECT_BYTES)?;
        let mut members = IndexMap::new();
        for name in ["error", "code", "retryable"] {
            self.reading.count_bytes(0, member_bytes(name))?;
            members.insert(name.to_owned(), self.value(&record.raw_get(name)?)?);
        }
        let details: Table = record.raw_get("details")?;
        if let Value::Object(details) = self.content(&details, None)? {
            for (name, value) in details {
                members.entry(name).or_insert(value);
            }
        }
        Ok(Value::Object(members))
    }
}

/// How many keys a table has; neither keys nor values leave the VM for it.
fn count_keys(table: &Table) -> Result<usize, Stop> {
    let mut count = 0;
    table.for_each::<bool, bool>(|_, _| {
        count += 1;
        Ok(())
    })?;
    Ok(count)
}
