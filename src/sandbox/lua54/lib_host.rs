//! The services that the plan library needs from this engine: to be loaded, and for each call.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use mlua::{Lua, MultiValue, Value as LuaValue};

use luaplan_base as base;

use super::codec::Codec;
use super::fault;
use crate::plan_lib::{LibError, LibFunction, LibHost, LibTable, Result, Table, Value};
use crate::vm::lua_chunk::LuaPart;
use crate::vm::meter::Meter;

/// The VM as the plan library sees it. Cheap to clone into each function.
///
/// A Rust function that calls back into the plan cannot pause, so a tool call inside such a callback
/// is refused with `call_not_possible_here`. Functions that take functions are therefore written in
/// Lua and loaded with [`LibSupport::run_part`].
#[derive(Clone)]
pub(crate) struct LibSupport {
    pub(crate) meter: Arc<Meter>,
    pub(super) codec: Arc<Codec>,
    pub(super) run_started_s: Arc<OnceLock<i64>>,
}

impl LibSupport {
    /// The plan's `null`: what a JSON null inside a list is.
    pub(crate) fn null(&self) -> mlua::Value {
        mlua::Value::NULL
    }

    /// Makes `table` a list even while it is empty: it leaves the plan as `[]`.
    ///
    /// # Errors
    /// Only if memory is used up.
    pub(crate) fn mark_array(&self, table: &mlua::Table) -> mlua::Result<()> {
        self.codec.mark_array(table)
    }

    /// Makes `table` an object even while it is empty: it leaves the plan as `{}`.
    ///
    /// # Errors
    /// Only if memory is used up.
    pub(crate) fn mark_object(&self, table: &mlua::Table) -> mlua::Result<()> {
        self.codec.mark_object(table)
    }

    /// An error the plan can catch; the plan's line is added where it is caught or reported.
    pub(crate) fn fail(&self, message: impl Into<String>) -> mlua::Error {
        fault::raise(base::Error::new(base::ErrorCode::PlanError, message))
    }

    /// Runs a part of the library written in Lua, with `arguments` as its `...`. Its text is
    /// compiled once per process.
    ///
    /// # Errors
    /// What the part raises.
    pub(crate) fn run_part<R: mlua::FromLuaMulti>(
        &self,
        lua: &Lua,
        part: &'static LuaPart,
        arguments: impl mlua::IntoLuaMulti,
    ) -> mlua::Result<R> {
        part.load(lua)?.call(arguments)
    }
}

/// One call of the library, with the tables it uses.
struct LibCall<'l> {
    lua: &'l Lua,
    support: &'l LibSupport,
    tables: RefCell<Vec<mlua::Table>>,
}

/// A table, by its place in [`LibCall::tables`].
struct Handle<'v> {
    host: &'v LibCall<'v>,
    place: usize,
    table: mlua::Table,
}

/// Calls `native` with the arguments of a Lua function.
pub(super) fn call(
    lua: &Lua,
    support: &LibSupport,
    (library, native): (&'static str, &'static LibFunction),
    args: MultiValue,
) -> mlua::Result<LuaValue> {
    let host = LibCall { lua, support, tables: RefCell::default() };
    let args = args.into_iter().map(|arg| host.take(arg)).collect();
    let result = native.call(library, &host, args).and_then(|value| host.give(value));
    result.map_err(|error| match error {
        LibError::Dead => crate::vm::meter::Dead.into(),
        LibError::Raise(error) => fault::raise(error),
        LibError::Engine(error) => match error.downcast::<mlua::Error>() {
            Ok(error) => *error,
            Err(_) => mlua::Error::runtime("an unknown error of the library"),
        },
    })
}

fn engine(error: mlua::Error) -> LibError {
    LibError::Engine(Box::new(error))
}

impl<'l> LibCall<'l> {
    fn hold<'v>(&'v self, table: mlua::Table) -> Table<'v>
    where
        'l: 'v,
    {
        let mut tables = self.tables.borrow_mut();
        tables.push(table.clone());
        Rc::new(Handle { host: self, place: tables.len() - 1, table })
    }

    fn take<'v>(&'v self, value: LuaValue) -> Value<'v>
    where
        'l: 'v,
    {
        match value {
            LuaValue::Nil => Value::Nil,
            LuaValue::Boolean(value) => Value::Boolean(value),
            LuaValue::Integer(value) => Value::Integer(value),
            LuaValue::Number(value) => Value::Number(value),
            LuaValue::String(text) => Value::text(text.as_bytes()),
            LuaValue::Table(table) => Value::Table(self.hold(table)),
            value if value == LuaValue::NULL => Value::Null,
            other => Value::Other(other.type_name()),
        }
    }

    fn give(&self, value: Value<'_>) -> Result<LuaValue> {
        Ok(match value {
            Value::Nil => LuaValue::Nil,
            Value::Null => LuaValue::NULL,
            Value::Boolean(value) => LuaValue::Boolean(value),
            Value::Integer(value) => LuaValue::Integer(value),
            Value::Number(value) => LuaValue::Number(value),
            Value::String(text) => LuaValue::String(self.lua.create_string(text.as_bytes()).map_err(engine)?),
            Value::Table(table) => match self.tables.borrow().get(table.place()) {
                Some(table) => LuaValue::Table(table.clone()),
                None => LuaValue::Nil,
            },
            Value::Other(_) => LuaValue::Nil,
        })
    }
}

impl<'v> LibHost<'v> for LibCall<'v> {
    fn meter(&self) -> &Meter {
        &self.support.meter
    }

    fn memory_bytes(&self) -> u64 {
        self.lua.used_memory() as u64
    }

    fn run_started_s(&self) -> Option<i64> {
        self.support.run_started_s.get().copied()
    }

    fn table(&'v self, items: usize, members: usize) -> Result<Table<'v>> {
        Ok(self.hold(self.lua.create_table_with_capacity(items, members).map_err(engine)?))
    }

    fn to_value(&self, name: &str, value: &Value<'v>) -> Result<base::Value> {
        if let Value::Other(kind) = value {
            let message = format!("`{name}` is a {kind}, which has no JSON form");
            return Err(LibError::Raise(base::Error::new(base::ErrorCode::ValueNotCarried, message)));
        }
        let value = self.give(value.clone())?;
        self.support.codec.read_here(name, &value).map_err(engine)
    }

    fn from_value(&'v self, value: &base::Value) -> Result<Value<'v>> {
        Ok(self.take(self.support.codec.write(self.lua, value, None).map_err(engine)?))
    }

    fn number_text(&self, number: &Value<'v>) -> Vec<u8> {
        let text = self.give(number.clone()).ok().and_then(|value| self.lua.coerce_string(value).ok());
        text.flatten().map(|text| text.as_bytes().to_vec()).unwrap_or_default()
    }

    fn text_number(&self, text: &[u8]) -> Option<Value<'v>> {
        let text = LuaValue::String(self.lua.create_string(text).ok()?);
        match self.lua.coerce_integer(text.clone()) {
            Ok(Some(number)) => Some(Value::Integer(number)),
            _ => self.lua.coerce_number(text).ok().flatten().map(Value::Number),
        }
    }
}

impl<'v> LibTable<'v> for Handle<'v> {
    fn get(&self, name: &str) -> Result<Value<'v>> {
        Ok(self.host.take(self.table.get::<LuaValue>(name).map_err(engine)?))
    }

    fn item(&self, index: i64) -> Result<Value<'v>> {
        Ok(self.host.take(self.table.raw_get::<LuaValue>(index).map_err(engine)?))
    }

    fn len(&self) -> Result<i64> {
        Ok(i64::try_from(self.table.raw_len()).unwrap_or(i64::MAX))
    }

    fn entries(&self) -> Result<Vec<(Value<'v>, Value<'v>)>> {
        let pairs = self.table.pairs::<LuaValue, LuaValue>();
        pairs
            .map(|pair| pair.map(|(key, value)| (self.host.take(key), self.host.take(value))).map_err(engine))
            .collect()
    }

    fn set(&self, name: &[u8], value: Value<'v>) -> Result<()> {
        let name = self.host.lua.create_string(name).map_err(engine)?;
        self.table.raw_set(name, self.host.give(value)?).map_err(engine)
    }

    fn set_item(&self, index: i64, value: Value<'v>) -> Result<()> {
        self.table.raw_set(index, self.host.give(value)?).map_err(engine)
    }

    fn mark_array(&self) -> Result<()> {
        self.host.support.codec.mark_array(&self.table).map_err(engine)
    }

    fn mark_object(&self) -> Result<()> {
        self.host.support.codec.mark_object(&self.table).map_err(engine)
    }

    fn refuse_failure(&self) -> Result<()> {
        let Some(metatable) = self.table.metatable() else { return Ok(()) };
        if matches!(metatable.raw_get("__index").map_err(engine)?, LuaValue::Function(_)) {
            // Reading a member no table has lets a strict error value raise its own error.
            self.table.get::<LuaValue>("\0").map_err(engine)?;
        }
        Ok(())
    }

    fn place(&self) -> usize {
        self.place
    }
}
