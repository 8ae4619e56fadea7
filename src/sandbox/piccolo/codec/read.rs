//! From the VM to [`Value`](luaplan_base::Value).

use std::collections::HashSet;

use indexmap::IndexMap;
use piccolo::table::NextValue;
use piccolo::{Context, Table, Value};

use luaplan_base::{Error, ErrorCode, Result, Value as Carried};

use super::Codec;
use super::shape::Shape;
use crate::piccolo::fault::{self, Raised};
use crate::piccolo::host::Host;
use crate::piccolo::report::text_in;
use crate::piccolo::values::{address, is_null, lossy, text};
use crate::vm::failed_call::failure_in;
use crate::vm::host_memory::{LIST_BYTES, OBJECT_BYTES, member_bytes};
use crate::vm::reading::{ReadStop, Reading, Unlooked, VALUE_NODES_MAX};

struct Reader<'gc, 'a> {
    codec: &'a Codec,
    host: &'a Host,
    ctx: Context<'gc>,
    unlooked: Unlooked,
    reading: Reading<'a>,
}

impl ReadStop {
    fn raised<'gc>(self) -> Raised<'gc> {
        match self {
            Self::Ours(error) => fault::raise(error),
            Self::Dead(dead) => fault::dead(dead),
        }
    }
}

impl Codec {
    /// Reads an argument of a pending call. It counts as held until the call is answered.
    pub(in crate::piccolo) fn read_argument<'gc>(
        &self,
        host: &Host,
        ctx: Context<'gc>,
        name: &str,
        value: Value<'gc>,
    ) -> Result<Carried, Raised<'gc>> {
        match self.read(host, ctx, name, value, Unlooked::Refuse, self.held.bytes()) {
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
    pub(in crate::piccolo) fn read_here<'gc>(
        &self,
        host: &Host,
        ctx: Context<'gc>,
        name: &str,
        value: Value<'gc>,
    ) -> Result<Carried, Raised<'gc>> {
        self.read(host, ctx, name, value, Unlooked::Refuse, 0)
            .map(|(value, _)| value)
            .map_err(ReadStop::raised)
    }

    /// Reads the result of a run.
    ///
    /// # Errors
    /// `value_…`, or why the run is dead.
    pub(in crate::piccolo) fn read_result<'gc>(
        &self,
        host: &Host,
        ctx: Context<'gc>,
        value: Value<'gc>,
    ) -> Result<Carried> {
        self.read(host, ctx, "result", value, Unlooked::Carry, 0).map(|(value, _)| value).map_err(|stop| {
            match stop {
                ReadStop::Ours(error) => error,
                ReadStop::Dead(_) => self
                    .meter
                    .verdict()
                    .err()
                    .unwrap_or_else(|| Error::new(ErrorCode::Internal, "the result could not be read")),
            }
        })
    }

    fn read<'gc>(
        &self,
        host: &Host,
        ctx: Context<'gc>,
        name: &str,
        value: Value<'gc>,
        unlooked: Unlooked,
        held_bytes: u64,
    ) -> Result<(Carried, u64), ReadStop> {
        let mut reader =
            Reader { codec: self, host, ctx, unlooked, reading: Reading::new(&self.meter, name, held_bytes) };
        let read = reader.value(value);
        reader.reading.charge()?;
        Ok((read?, reader.reading.host_bytes))
    }
}

impl<'gc> Reader<'gc, '_> {
    fn value(&mut self, value: Value<'gc>) -> Result<Carried, ReadStop> {
        self.reading.count()?;
        match value {
            Value::Nil => Ok(Carried::Null),
            null if is_null(null) => Ok(Carried::Null),
            Value::Boolean(value) => Ok(Carried::Bool(value)),
            Value::Integer(value) => Ok(Carried::Integer(value)),
            Value::Number(value) => self.reading.float(value),
            Value::String(text) => self.reading.text(text.as_bytes()),
            Value::Table(table) => self.table(table),
            other => Err(self.reading.not_carried(other.type_name())),
        }
    }

    fn table(&mut self, table: Table<'gc>) -> Result<Carried, ReadStop> {
        if self.host.is_failure(self.ctx, table) {
            return self.failure(table);
        }
        self.reading.enter_table(address(table))?;
        let shape = self.codec.shape_of(self.host, self.ctx, table);
        let value = self.content(table, shape);
        self.reading.leave_table();
        value
    }

    fn content(&mut self, table: Table<'gc>, shape: Option<Shape<'gc>>) -> Result<Carried, ReadStop> {
        let keys = table.iter().count();
        let length = self.length(table, keys);
        if length > 0 {
            return self.list(table, length, keys);
        }
        match shape {
            Some(Shape::Object(metatable)) => self.known_object(table, metatable, keys),
            _ if keys == 0 => Ok(Carried::Array(Vec::new())),
            _ => {
                self.reading.count_bytes(0, OBJECT_BYTES)?;
                Ok(Carried::Object(self.members(table, &HashSet::new())?))
            }
        }
    }

    /// The length of a list; with holes, any border will do, but it must be the same every time.
    fn length(&self, table: Table<'gc>, keys: usize) -> i64 {
        let length = table.length();
        if usize::try_from(length) == Ok(keys) || length == 0 {
            return length;
        }
        (1..=length).take_while(|place| !table.get_value(Value::Integer(*place)).is_nil()).count().max(1)
            as i64
    }

    fn list(&mut self, table: Table<'gc>, length: i64, keys: usize) -> Result<Carried, ReadStop> {
        self.reading.count_bytes(0, LIST_BYTES)?;
        let mut items = Vec::with_capacity(usize::try_from(length).unwrap_or(0).min(keys));
        for index in 1..=length {
            let item = table.get_value(Value::Integer(index));
            if item.is_nil() {
                return Err(self.reading.unsupported("holes in a list"));
            }
            self.reading.path.enter_item(usize::try_from(index).unwrap_or(usize::MAX));
            items.push(self.value(item)?);
            self.reading.path.leave();
        }
        if keys == items.len() {
            return Ok(Carried::Array(items));
        }
        let names = table.iter().filter_map(|(key, _)| match key {
            Value::String(name) => Some(name.to_str_lossy().into_owned()),
            _ => None,
        });
        match names.min() {
            Some(name) => Err(self.reading.unsupported(&format!("both a list and the key `{name}`"))),
            None => {
                Err(self.reading.unsupported("a list with holes, or keys that are neither text nor 1..n"))
            }
        }
    }

    /// An object from outside: known keys first, in their order, then what the plan added.
    fn known_object(
        &mut self,
        table: Table<'gc>,
        metatable: Table<'gc>,
        keys: usize,
    ) -> Result<Carried, ReadStop> {
        self.reading.count_bytes(0, OBJECT_BYTES)?;
        let (Value::Table(names), Value::Table(nulls)) =
            (metatable.get(self.ctx, 2), metatable.get(self.ctx, 4))
        else {
            return Ok(Carried::Object(self.members(table, &HashSet::new())?));
        };
        let (mut members, mut known, mut met) = (IndexMap::new(), HashSet::new(), 0);
        for place in 1..=names.length() {
            let key = names.get(self.ctx, place);
            let name = lossy(key);
            let value = table.get_value(key);
            known.insert(name.clone());
            if value.is_nil() && nulls.get_value(key).is_nil() {
                // A lookup costs too: a plan can share a table whose many members it has removed.
                self.reading.count_node()?;
                continue;
            }
            met += usize::from(!value.is_nil());
            self.reading.count_bytes(name.len(), member_bytes(&name))?;
            let value = self.member(&name, value)?;
            members.insert(name, value);
        }
        if met < keys {
            members.extend(self.members(table, &known)?);
        }
        Ok(Carried::Object(members))
    }

    /// The members of a table except those in `known`, sorted by name, so that neither the result
    /// nor which of several faults is reported depends on hash order.
    fn members(
        &mut self,
        table: Table<'gc>,
        known: &HashSet<String>,
    ) -> Result<IndexMap<String, Carried>, ReadStop> {
        let mut found = Vec::new();
        let mut wrong: Option<String> = None;
        let mut key = Value::Nil;
        while let NextValue::Found { key: next, value } = table.next(key) {
            key = next;
            let has = match key {
                Value::String(name) => match name.to_str() {
                    Ok(name) => {
                        if !known.contains(name) {
                            self.reading.count_bytes(name.len(), member_bytes(name))?;
                            found.push((name.to_owned(), value));
                        }
                        continue;
                    }
                    Err(_) => "a key that is not UTF-8 text".to_owned(),
                },
                Value::Integer(index) => format!("the key {index}, but no list 1..n"),
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
            return Err(self.reading.unsupported(&has));
        }
        found.sort_by(|(left, _), (right, _)| left.cmp(right));
        let mut members = IndexMap::with_capacity(found.len());
        for (name, value) in found {
            let value = self.member(&name, value)?;
            members.insert(name, value);
        }
        Ok(members)
    }

    fn member(&mut self, name: &str, value: Value<'gc>) -> Result<Carried, ReadStop> {
        self.reading.path.enter_member(name);
        let value = self.value(value)?;
        self.reading.path.leave();
        Ok(value)
    }

    fn failure(&mut self, table: Table<'gc>) -> Result<Carried, ReadStop> {
        let Some(record) = self.host.record_of(self.ctx, table) else { return Ok(Carried::Null) };
        if self.unlooked == Unlooked::Refuse && !record.get(self.ctx, "looked").to_bool() {
            let named = |name| text_in(self.ctx, record, name);
            let said = named("text").unwrap_or_default();
            return Err(failure_in(&self.reading.path, &said, named("call")).into());
        }
        self.reading.count_bytes(0, OBJECT_BYTES)?;
        let mut members = IndexMap::new();
        for name in ["error", "code", "retryable"] {
            self.reading.count_bytes(0, member_bytes(name))?;
            let value = record.get_value(text(self.ctx, name));
            members.insert(name.to_owned(), self.value(value)?);
        }
        if let Value::Table(details) = record.get(self.ctx, "details")
            && let Carried::Object(details) = self.content(details, None)?
        {
            for (name, value) in details {
                members.entry(name).or_insert(value);
            }
        }
        Ok(Carried::Object(members))
    }
}
