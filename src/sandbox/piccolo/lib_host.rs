//! The services that the plan library needs from this engine.

use std::cell::RefCell;
use std::rc::Rc;

use piccolo::{Context, Execution, Value as LuaValue};

use luaplan_base as base;

use super::fault::{self, CodedError, Raised, RaisedKind};
use super::host::Host;
use super::store::store;
use super::values::{is_null, lossy, metamethod, text};
use crate::lua_std::number;
use crate::lua_std::number::Number;
use crate::plan_lib::{LibError, LibFunction, LibHost, LibTable, Result, Table, Value};
use crate::vm::failed_call::about_failed_call;
use crate::vm::meter::{Dead, Meter};

/// One call of the library, with the tables it uses.
struct LibCall<'gc, 'h> {
    host: &'h Host,
    ctx: Context<'gc>,
    tables: RefCell<Vec<piccolo::Table<'gc>>>,
}

/// A table, by its place in [`LibCall::tables`].
struct Handle<'v, 'gc, 'h> {
    call: &'v LibCall<'gc, 'h>,
    place: usize,
    table: piccolo::Table<'gc>,
}

/// How many `__index` tables are followed.
const INDEXES_FOLLOWED: usize = 100;

/// Calls `native` with the arguments of a Lua function.
pub(super) fn call<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    (library, native): (&'static str, &'static LibFunction),
    arguments: &[LuaValue<'gc>],
) -> std::result::Result<LuaValue<'gc>, Raised<'gc>> {
    let call = LibCall { host, ctx, tables: RefCell::default() };
    let given = arguments.iter().map(|argument| call.take(*argument)).collect();
    let result = native.call(library, &call, given).map(|value| call.give(&value));
    result.map_err(|error| match error {
        LibError::Dead => fault::dead(Dead),
        LibError::Raise(error) => fault::raise_at(error, host.line_of_caller(exec)),
        LibError::Engine(error) => match error.downcast::<CodedError>() {
            Ok(fault) => fault::again(fault.at(host.line_of_caller(exec))),
            Err(_) => fault::raise_coded(base::ErrorCode::Internal, "an unknown error of the library"),
        },
    })
}

/// An error of the engine on its way through the library.
fn engine(error: &Raised<'_>) -> LibError {
    match fault::kind(error) {
        RaisedKind::Dead => LibError::Dead,
        RaisedKind::CodedError(fault) => LibError::Engine(Box::new(fault)),
        RaisedKind::Text(message) => LibError::Raise(base::Error::new(base::ErrorCode::PlanError, message)),
        RaisedKind::Value(_) => {
            LibError::Raise(base::Error::new(base::ErrorCode::PlanError, "a value was raised"))
        }
    }
}

impl<'gc, 'h> LibCall<'gc, 'h> {
    fn hold<'v>(&'v self, table: piccolo::Table<'gc>) -> Table<'v>
    where
        'gc: 'v,
        'h: 'v,
    {
        let mut tables = self.tables.borrow_mut();
        tables.push(table);
        Rc::new(Handle { call: self, place: tables.len() - 1, table })
    }

    fn take<'v>(&'v self, value: LuaValue<'gc>) -> Value<'v>
    where
        'gc: 'v,
        'h: 'v,
    {
        match value {
            LuaValue::Nil => Value::Nil,
            LuaValue::Boolean(value) => Value::Boolean(value),
            LuaValue::Integer(value) => Value::Integer(value),
            LuaValue::Number(value) => Value::Number(value),
            LuaValue::String(text) => Value::text(text.as_bytes()),
            LuaValue::Table(table) => Value::Table(self.hold(table)),
            null if is_null(null) => Value::Null,
            other => Value::Other(other.type_name()),
        }
    }

    fn give(&self, value: &Value<'_>) -> LuaValue<'gc> {
        match value {
            Value::Nil | Value::Other(_) => LuaValue::Nil,
            Value::Null => self.host.null(self.ctx),
            Value::Boolean(value) => LuaValue::Boolean(*value),
            Value::Integer(value) => LuaValue::Integer(*value),
            Value::Number(value) => LuaValue::Number(*value),
            Value::String(given) => text(self.ctx, given.as_bytes()),
            Value::Table(table) => match self.tables.borrow().get(table.place()) {
                Some(table) => LuaValue::Table(*table),
                None => LuaValue::Nil,
            },
        }
    }
}

impl<'v, 'gc: 'v, 'h: 'v> LibHost<'v> for LibCall<'gc, 'h> {
    fn meter(&self) -> &Meter {
        &self.host.meter
    }

    fn memory_bytes(&self) -> u64 {
        self.host.memory_bytes()
    }

    fn run_started_s(&self) -> Option<i64> {
        self.host.run_started_s.get()
    }

    fn table(&'v self, _: usize, _: usize) -> Result<Table<'v>> {
        Ok(self.hold(piccolo::Table::new(&self.ctx)))
    }

    fn to_value(&self, name: &str, value: &Value<'v>) -> Result<base::Value> {
        if let Value::Other(kind) = value {
            let message = format!("`{name}` is a {kind}, which has no JSON form");
            return Err(LibError::Raise(base::Error::new(base::ErrorCode::ValueNotCarried, message)));
        }
        let value = self.give(value);
        self.host.codec.read_here(self.host, self.ctx, name, value).map_err(|error| engine(&error))
    }

    fn from_value(&'v self, value: &base::Value) -> Result<Value<'v>> {
        let written =
            self.host.codec.write_plain(self.host, self.ctx, value).map_err(|error| engine(&error))?;
        Ok(self.take(written))
    }

    fn number_text(&self, number: &Value<'v>) -> Vec<u8> {
        let mut text = Vec::new();
        match number {
            Value::Integer(integer) => number::write_number(&mut text, Number::Integer(*integer)),
            Value::Number(float) => number::write_number(&mut text, Number::Float(*float)),
            _ => {}
        }
        text
    }

    fn text_number(&self, text: &[u8]) -> Option<Value<'v>> {
        number::parse(text).map(|number| match number {
            Number::Integer(integer) => Value::Integer(integer),
            Number::Float(float) => Value::Number(float),
        })
    }
}

impl<'v, 'gc: 'v, 'h: 'v> LibTable<'v> for Handle<'v, 'gc, 'h> {
    /// A function as `__index` cannot be called from here: the member is then absent.
    fn get(&self, name: &str) -> Result<Value<'v>> {
        self.refuse_failure()?;
        let ctx = self.call.ctx;
        let key = text(ctx, name);
        let mut at = self.table;
        for _ in 0..INDEXES_FOLLOWED {
            let value = at.get_value(key);
            if !value.is_nil() {
                return Ok(self.call.take(value));
            }
            match metamethod(ctx, LuaValue::Table(at), "__index") {
                LuaValue::Table(next) => at = next,
                _ => break,
            }
        }
        Ok(Value::Nil)
    }

    fn item(&self, index: i64) -> Result<Value<'v>> {
        Ok(self.call.take(self.table.get_value(LuaValue::Integer(index))))
    }

    fn len(&self) -> Result<i64> {
        Ok(self.table.length())
    }

    fn entries(&self) -> Result<Vec<(Value<'v>, Value<'v>)>> {
        Ok(self.table.iter().map(|(key, value)| (self.call.take(key), self.call.take(value))).collect())
    }

    fn set(&self, name: &[u8], value: Value<'v>) -> Result<()> {
        let (host, ctx) = (self.call.host, self.call.ctx);
        store(host, ctx, self.table, text(ctx, name), self.call.give(&value)).map_err(|error| engine(&error))
    }

    fn set_item(&self, index: i64, value: Value<'v>) -> Result<()> {
        let (host, ctx) = (self.call.host, self.call.ctx);
        let value = self.call.give(&value);
        store(host, ctx, self.table, LuaValue::Integer(index), value).map_err(|error| engine(&error))
    }

    fn mark_array(&self) -> Result<()> {
        let (host, ctx) = (self.call.host, self.call.ctx);
        host.codec.mark_array(host, ctx, self.table).map_err(|error| engine(&error))
    }

    fn mark_object(&self) -> Result<()> {
        let (host, ctx) = (self.call.host, self.call.ctx);
        host.codec.mark_object(host, ctx, self.table).map_err(|error| engine(&error))
    }

    fn refuse_failure(&self) -> Result<()> {
        let (host, ctx) = (self.call.host, self.call.ctx);
        if !host.is_failure(ctx, self.table) {
            return Ok(());
        }
        let record = host.record_of(ctx, self.table);
        let named = |name| record.map(|record| lossy(record.get(ctx, name)));
        // In the words of the prelude's `misuse`.
        let message = format!("{}; test `.error` before using the result", named("text").unwrap_or_default());
        let used = base::Error::new(base::ErrorCode::ToolErrorUsed, message);
        Err(LibError::Raise(about_failed_call(used, named("call"))))
    }

    fn place(&self) -> usize {
        self.place
    }
}
