//! What the plan library needs from its VM.

use std::sync::Arc;

use mlua::{Lua, Table};

use super::codec::Codec;
use super::fault;
use super::meter::Meter;
use super::part::LuaPart;
use crate::base::{Error, ErrorCode, Value};

/// The VM as the plan library sees it. Cheap to clone into each function.
///
/// A Rust function that calls back into the plan cannot be paused, so a tool call inside such a
/// callback is refused with `call_not_possible_here`. Functions that take functions are therefore
/// written in Lua and loaded with [`Support::run_part`].
#[derive(Clone)]
pub(in crate::sandbox) struct Support {
    pub(super) meter: Arc<Meter>,
    pub(super) codec: Arc<Codec>,
}

impl Support {
    /// Counts `instructions` of work done in Rust. Charge about one for 16 bytes or one item
    /// handled, and charge before the work where its size is known.
    ///
    /// # Errors
    /// The run is over; pass it on with `?`.
    pub(in crate::sandbox) fn charge(&self, instructions: u64) -> mlua::Result<()> {
        self.meter.charge(instructions)
    }

    /// The plan's `null`: what a JSON null inside a list is.
    pub(in crate::sandbox) fn null(&self) -> mlua::Value {
        mlua::Value::NULL
    }

    /// Makes `table` a list even while it is empty: it leaves the plan as `[]`.
    ///
    /// # Errors
    /// Only if memory is used up.
    pub(in crate::sandbox) fn mark_array(&self, table: &Table) -> mlua::Result<()> {
        self.codec.mark_array(table)
    }

    /// Makes `table` an object even while it is empty: it leaves the plan as `{}`.
    ///
    /// # Errors
    /// Only if memory is used up.
    pub(in crate::sandbox) fn mark_object(&self, table: &Table) -> mlua::Result<()> {
        self.codec.mark_object(table)
    }

    /// Reads a Lua value, as for a tool's argument: by raw access, with the caps of conversion,
    /// charged. `name` begins the path in messages.
    ///
    /// # Errors
    /// `value_…` and `tool_error_used` as an error the plan can catch.
    pub(in crate::sandbox) fn to_value(&self, name: &str, value: &mlua::Value) -> mlua::Result<Value> {
        self.codec.read_here(name, value)
    }

    /// Makes a Lua value: null members are absent but remembered, `[]` and `{}` stay apart.
    ///
    /// # Errors
    /// `value_…` where it is too deep, and when memory is used up.
    #[expect(clippy::wrong_self_convention, reason = "the counterpart of `to_value`")]
    pub(in crate::sandbox) fn from_value(&self, lua: &Lua, value: &Value) -> mlua::Result<mlua::Value> {
        self.codec.write(lua, value, None)
    }

    /// An error the plan can catch; the plan's line is added where it is caught or reported.
    pub(in crate::sandbox) fn fail(&self, message: impl Into<String>) -> mlua::Error {
        fault::raise(Error::new(ErrorCode::PlanError, message))
    }

    /// Runs a part of the library written in Lua, with `arguments` as its `...`. Its text is
    /// compiled once per process.
    ///
    /// # Errors
    /// What the part raises.
    pub(in crate::sandbox) fn run_part<R: mlua::FromLuaMulti>(
        &self,
        lua: &Lua,
        part: &'static LuaPart,
        arguments: impl mlua::IntoLuaMulti,
    ) -> mlua::Result<R> {
        part.load(lua)?.call(arguments)
    }
}
