//! The services of a VM for the plan library.

use std::sync::Arc;

use mlua::{Lua, Table};

use luaplan_base::{Error, ErrorCode};

use super::codec::Codec;
use super::fault;
use crate::vm::lua_chunk::LuaPart;
use crate::vm::meter::Meter;

/// The VM as the plan library sees it. Cheap to clone into each function.
///
/// A Rust function that calls back into the plan cannot pause, so a tool call inside such a callback
/// is refused with `call_not_possible_here`. Functions that take functions are therefore written in
/// Lua and loaded with [`Support::run_part`].
#[derive(Clone)]
pub(crate) struct Support {
    pub(crate) meter: Arc<Meter>,
    pub(super) codec: Arc<Codec>,
}

impl Support {
    /// The plan's `null`: what a JSON null inside a list is.
    pub(crate) fn null(&self) -> mlua::Value {
        mlua::Value::NULL
    }

    /// Makes `table` a list even while it is empty: it leaves the plan as `[]`.
    ///
    /// # Errors
    /// Only if memory is used up.
    pub(crate) fn mark_array(&self, table: &Table) -> mlua::Result<()> {
        self.codec.mark_array(table)
    }

    /// Makes `table` an object even while it is empty: it leaves the plan as `{}`.
    ///
    /// # Errors
    /// Only if memory is used up.
    pub(crate) fn mark_object(&self, table: &Table) -> mlua::Result<()> {
        self.codec.mark_object(table)
    }

    /// An error the plan can catch; the plan's line is added where it is caught or reported.
    pub(crate) fn fail(&self, message: impl Into<String>) -> mlua::Error {
        fault::raise(Error::new(ErrorCode::PlanError, message))
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
