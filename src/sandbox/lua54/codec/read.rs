//! From Lua to [`Value`].

use std::collections::HashSet;

use indexmap::IndexMap;
use mlua::{Table, Value as LuaValue};

use luaplan_base::{Error, ErrorCode, Result, Value};

use super::room::Room;
use super::shape::{Codec, Shape, pointer};
use super::{VALUE_DEPTH_MAX, VALUE_NODES_MAX};
use crate::lua54::fault;
use crate::vm::failed_call::failure_in;
use crate::vm::host_memory::{LIST_BYTES, NODE_BYTES, OBJECT_BYTES, member_bytes, string_bytes};
use crate::vm::meter::{BYTES_PER_INSTRUCTION, Dead};

/// How many nodes are read between two checks of the interrupt.
const NODES_BETWEEN_LOOKS: u64 = 4096;

/// What to do with a failure that the plan has not inspected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unlooked {
    /// The plan uses it: refuse.
    Refuse,
    /// The end of the run reports it.
    Carry,
}

struct Reader<'a> {
    codec: &'a Codec,
    unlooked: Unlooked,
    path: Vec<Step>,
    open: Vec<usize>,
    nodes: u64,
    bytes: u64,
    /// The size of the copy outside the VM; see [`crate::vm::host_memory`].
    host_bytes: u64,
    /// Bytes already held, which count against the same limit.
    held_bytes: u64,
}

enum Step {
    Root(String),
    Name(String),
    Index(usize),
}

/// Why raw reading failed: our error, or one of the binding.
enum Stop {
    Ours(Error),
    Lua(mlua::Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Ours(error)
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
        let mut reader = Reader {
            codec: self,
            unlooked,
            path: vec![Step::Root(name.to_owned())],
            open: Vec::new(),
            nodes: 0,
            bytes: 0,
            host_bytes: 0,
            held_bytes,
        };
        let lua = self.lua.try_upgrade();
        let room = lua.as_ref().and_then(Room::for_reading);
        let read = reader.value(value);
        drop(room);
        self.meter.charge(reader.nodes + reader.bytes / BYTES_PER_INSTRUCTION)?;
        Ok((read?, reader.host_bytes))
    }
}

impl Reader<'_> {
    fn value(&mut self, value: &LuaValue) -> Result<Value, Stop> {
        self.count()?;
        match value {
            LuaValue::Nil => Ok(Value::Null),
            LuaValue::LightUserData(pointer) if pointer.0.is_null() => Ok(Value::Null),
            LuaValue::Boolean(value) => Ok(Value::Bool(*value)),
            LuaValue::Integer(value) => Ok(Value::Integer(*value)),
            LuaValue::Number(value) if value.is_finite() => Ok(Value::Float(*value)),
            LuaValue::Number(value) => {
                let number = if value.is_nan() { "NaN" } else { "an infinity" };
                let message = format!("`{}` is {number}, which has no JSON form", self.path());
                Err(Error::new(ErrorCode::ValueNotFinite, message).into())
            }
            LuaValue::String(text) => {
                let bytes = text.as_bytes();
                self.count_bytes(bytes.len(), string_bytes(bytes.len()))?;
                Ok(match std::str::from_utf8(&bytes) {
                    Ok(text) => Value::String(text.to_owned()),
                    Err(_) => Value::Bytes(bytes.to_vec().into()),
                })
            }
            LuaValue::Table(table) => self.table(table),
            other => {
                let message = format!("`{}` is a {}, which has no JSON form", self.path(), other.type_name());
                Err(Error::new(ErrorCode::ValueNotCarried, message).into())
            }
        }
    }

    fn table(&mut self, table: &Table) -> Result<Value, Stop> {
        let metatable = table.metatable();
        if metatable.as_ref().is_some_and(|metatable| *metatable == self.codec.failures.metatable) {
            return self.failure(table);
        }
        let own = pointer(table);
        if self.open.contains(&own) {
            let message = format!("`{}` contains itself", self.path());
            return Err(Error::new(ErrorCode::ValueCyclic, message).into());
        }
        if self.open.len() >= VALUE_DEPTH_MAX {
            let message = format!("`{}` is nested deeper than {VALUE_DEPTH_MAX}", self.path());
            let error = Error::new(ErrorCode::ValueTooDeep, message);
            return Err(error.with_limit(VALUE_DEPTH_MAX, self.open.len() + 1).into());
        }
        self.open.push(own);
        let shape = metatable.and_then(|metatable| self.codec.shape_of(&metatable));
        let value = self.content(table, shape.as_deref());
        self.open.pop();
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
                self.count_bytes(0, OBJECT_BYTES)?;
                Ok(Value::Object(self.members(table, &[])?))
            }
        }
    }

    fn list(&mut self, table: &Table, length: usize, keys: usize) -> Result<Value, Stop> {
        self.count_bytes(0, LIST_BYTES)?;
        let mut items = Vec::with_capacity(length.min(keys));
        for index in 1..=length {
            let item: LuaValue = table.raw_get(index)?;
            if item.is_nil() {
                return Err(self.unsupported("holes in a list"));
            }
            self.path.push(Step::Index(index));
            items.push(self.value(&item)?);
            self.path.pop();
        }
        if keys == length {
            return Ok(Value::Array(items));
        }
        for pair in table.pairs::<LuaValue, LuaValue>() {
            if let (LuaValue::String(name), _) = pair? {
                return Err(self.unsupported(&format!("both a list and the key `{}`", name.display())));
            }
        }
        Err(self.unsupported("a list with holes, or keys that are neither text nor 1..n"))
    }

    /// An object from the host: known keys first, in their order, then what the plan added.
    fn known_object(&mut self, table: &Table, known: &[(String, bool)], keys: usize) -> Result<Value, Stop> {
        self.count_bytes(0, OBJECT_BYTES)?;
        let mut members = IndexMap::new();
        let mut met = 0;
        for (name, null) in known {
            let value: LuaValue = table.raw_get(name.as_str())?;
            if value.is_nil() && !null {
                // A lookup costs too: a plan can share a table whose many members it has removed.
                self.count_node()?;
                continue;
            }
            met += usize::from(!value.is_nil());
            self.count_bytes(name.len(), member_bytes(name))?;
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
                            self.count_bytes(name.len(), member_bytes(&name))?;
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
            return Err(self.unsupported(&has));
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
        self.path.push(Step::Name(name.to_owned()));
        let value = self.value(value)?;
        self.path.pop();
        Ok(value)
    }

    fn failure(&mut self, table: &Table) -> Result<Value, Stop> {
        let record: Table = self.codec.failures.records.raw_get(table)?;
        if self.unlooked == Unlooked::Refuse && !record.raw_get::<bool>("looked")? {
            let text: String = record.raw_get("text")?;
            return Err(failure_in(self.path(), &text, record.raw_get("call")?).into());
        }
        self.count_bytes(0, OBJECT_BYTES)?;
        let mut members = IndexMap::new();
        for name in ["error", "code", "retryable"] {
            self.count_bytes(0, member_bytes(name))?;
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

    fn unsupported(&self, has: &str) -> Stop {
        let message = format!("`{}` has {has}", self.path());
        Error::new(ErrorCode::ValueKeyUnsupported, message).into()
    }

    fn count(&mut self) -> Result<(), Stop> {
        self.count_node()?;
        self.count_bytes(0, NODE_BYTES)
    }

    fn count_node(&mut self) -> Result<(), Stop> {
        self.nodes += 1;
        if self.nodes.is_multiple_of(NODES_BETWEEN_LOOKS) {
            self.codec.meter.check_alive()?;
        }
        if self.nodes > VALUE_NODES_MAX {
            let message = format!("`{}` has more than {VALUE_NODES_MAX} nodes", self.root());
            let error = Error::new(ErrorCode::ValueTooLarge, message);
            return Err(error.with_limit(VALUE_NODES_MAX, self.nodes).into());
        }
        Ok(())
    }

    /// A string shared a thousand times costs the host a thousand copies: all are counted.
    /// `bytes` are those of text, which cost instructions; `host_bytes` are all, held or not.
    fn count_bytes(&mut self, bytes: usize, host_bytes: u64) -> Result<(), Stop> {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        self.host_bytes = self.host_bytes.saturating_add(host_bytes);
        let limit = self.codec.meter.limits().memory_bytes;
        let total = self.held_bytes.saturating_add(self.host_bytes);
        if total > limit {
            return Err(self.codec.meter.refuse_allocation(total).into());
        }
        Ok(())
    }

    fn root(&self) -> &str {
        match self.path.first() {
            Some(Step::Root(name)) => name,
            _ => "value",
        }
    }

    fn path(&self) -> String {
        let mut text = String::new();
        for step in &self.path {
            match step {
                Step::Root(name) => text.push_str(name),
                Step::Name(name) => {
                    text.push('.');
                    text.push_str(name);
                }
                Step::Index(index) => text.push_str(&format!("[{index}]")),
            }
        }
        text
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
