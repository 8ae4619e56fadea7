//! The Rust functions that the prelude may call, in one table.

use std::sync::Arc;

use mlua::{Lua, MultiValue, Table, Value as LuaValue};

use luaplan_base::{Error, ErrorCode, Value};

use super::fault::{self, RaisedKind};
use super::host::{Host, lock};
use crate::lua54::ffi::{creation_order, native, tables};
use crate::vm::calls::Ticket;
use crate::vm::failed_call::about_failed_call;
use crate::vm::lua_chunk::split_position;
use crate::vm::meter::Charge as _;
use crate::vm::steps::{Said, read};

/// How many frames are searched for the plan's own.
const FRAMES_SEARCHED: usize = 200;

/// How many of the plan's frames a report keeps.
const FRAMES_KEPT: usize = 16;

impl Host {
    /// The functions, each under the name the prelude uses.
    pub(super) fn functions(self: &Arc<Self>, lua: &Lua) -> mlua::Result<Table> {
        let table = lua.create_table_with_capacity(0, 12)?;
        table.raw_set("mark", lua.create_table()?)?;
        table.raw_set("null", LuaValue::NULL)?;
        let natives = native::table(lua)?;
        tables::add(lua, &natives)?;
        table.raw_set("native", natives)?;
        table.raw_set("by_age", creation_order::function(lua)?)?;
        let host = self.clone();
        table.raw_set("request", lua.create_function(move |lua, wanted| host.request(lua, wanted))?)?;
        let host = self.clone();
        table.raw_set("take", lua.create_function(move |lua, ticket| host.take(lua, ticket))?)?;
        let host = self.clone();
        table.raw_set("caught", lua.create_function(move |lua, reason| host.caught(lua, reason))?)?;
        let host = self.clone();
        table.raw_set("unwound", lua.create_function(move |lua, reason| Ok(host.unwound(lua, reason)))?)?;
        let host = self.clone();
        table.raw_set("emit", lua.create_function(move |_, text| host.emit(&text))?)?;
        let host = self.clone();
        table.raw_set("report", lua.create_function(move |_, said: MultiValue| host.report(&said))?)?;
        let meter = self.meter.clone();
        table.raw_set(
            "charge",
            lua.create_function(move |_, amount: f64| Ok(meter.charge(amount as u64)?))?,
        )?;
        let meter = self.meter.clone();
        table.raw_set(
            "reserve",
            lua.create_function(move |_, bytes: f64| Ok(meter.reserve(bytes as u64)?))?,
        )?;
        let raise = lua.create_function(|_, (code, message, call): (String, String, Option<String>)| {
            let error = Error::new(code.parse().unwrap_or(ErrorCode::PlanError), message);
            Err::<(), _>(fault::raise(about_failed_call(error, call)))
        })?;
        table.raw_set("raise", raise)?;
        let line_of = lua.create_function(|_, f: mlua::Function| Ok(f.info().line_defined.unwrap_or(0)))?;
        table.raw_set("line_of", line_of)?;
        Ok(table)
    }

    fn request(&self, lua: &Lua, mut wanted: MultiValue) -> mlua::Result<Ticket> {
        self.meter.count_call()?;
        self.meter.sample_memory(lua.used_memory() as u64);
        // A call in tail position has lost its frame; a branch then uses the first line of its function.
        let fallback_line = match wanted.pop_front() {
            Some(LuaValue::Integer(line)) => u32::try_from(line).ok(),
            _ => None,
        };
        let tool = match wanted.pop_front() {
            Some(LuaValue::String(name)) => name.to_string_lossy(),
            _ => String::new(),
        };
        let Some(codec) = self.codec.get() else {
            return Err(fault::raise_coded(ErrorCode::Internal, "no codec"));
        };
        let mut arguments = Vec::with_capacity(wanted.len());
        let single = wanted.len() == 1;
        for (place, argument) in wanted.iter().enumerate() {
            let name = if single { tool.clone() } else { format!("{tool} argument {}", place + 1) };
            arguments.push(codec.read_argument(&name, argument)?);
        }
        // Left out at the end is the same as nil at the end.
        while arguments.last() == Some(&Value::Null) {
            arguments.pop();
        }
        let line = self.plan_lines(lua, 1).first().copied().or(fallback_line);
        Ok(lock(&self.calls).want(tool, arguments, line))
    }

    fn take(&self, lua: &Lua, ticket: Ticket) -> mlua::Result<LuaValue> {
        self.meter.check_alive()?;
        let answer = lock(&self.calls).take(ticket);
        let (Some((origin, outcome)), Some(codec)) = (answer, self.codec.get()) else {
            return Err(fault::raise_coded(ErrorCode::Internal, "a call came back without its answer"));
        };
        match outcome {
            Ok(value) => codec.write(lua, &value, Some(&origin)),
            Err(failure) => codec.write_failure(lua, &failure, Some(&origin)),
        }
    }

    /// The value that the plan sees for a raised error: never the end of the run.
    fn caught(&self, lua: &Lua, reason: LuaValue) -> mlua::Result<LuaValue> {
        self.meter.check_alive()?;
        match reason {
            LuaValue::Error(error) => {
                let text = match fault::kind(&error) {
                    RaisedKind::Dead => return Err(*error),
                    RaisedKind::Memory => return Err(self.meter.out_of_memory().into()),
                    RaisedKind::CodedError(fault) => {
                        let text = fault.to_string();
                        lock(&self.codes).remember(&text, fault.0.code());
                        text
                    }
                    RaisedKind::Text(text) => fault::in_plan_words(&text).into_owned(),
                };
                let plan = self.plan_name();
                let text = match fault::first_line_of(plan, fault::traceback(&error)) {
                    Some(line) if split_position(plan, &text).is_none() => {
                        format!("{plan}:{line}: {text}")
                    }
                    _ => text,
                };
                Ok(LuaValue::String(lua.create_string(text)?))
            }
            LuaValue::String(text) => {
                let bytes = text.as_bytes();
                if &*bytes == fault::OUT_OF_MEMORY.as_bytes() {
                    return Err(self.meter.out_of_memory().into());
                }
                let rewritten = match (std::str::from_utf8(&bytes), fault::without_own_position(&bytes)) {
                    (_, None) => {
                        drop(bytes);
                        return Ok(LuaValue::String(text));
                    }
                    (Ok(text), Some(_)) => fault::in_plan_words(text).into_owned().into_bytes(),
                    (Err(_), Some(rest)) => rest.to_vec(),
                };
                Ok(LuaValue::String(lua.create_string(rewritten)?))
            }
            other => Ok(other),
        }
    }

    /// Notes where an error was raised, before the stack unwinds.
    fn unwound(&self, lua: &Lua, reason: LuaValue) -> LuaValue {
        *lock(&self.frames) = self.plan_lines(lua, FRAMES_KEPT);
        reason
    }

    fn emit(&self, text: &mlua::LuaString) -> mlua::Result<()> {
        let text = text.to_string_lossy();
        self.meter.count_printed(text.len())?;
        lock(&self.printed).push_str(&text);
        Ok(())
    }

    /// A step came to another state. Gives the code of what kept it from being complete.
    fn report(&self, said: &MultiValue) -> mlua::Result<Option<String>> {
        let said = said.iter().map(|value| match value {
            LuaValue::String(text) => Said::Text(text.to_string_lossy()),
            LuaValue::Integer(number) => Said::Number(*number),
            _ => Said::Nothing,
        });
        let printed_bytes = lock(&self.printed).len();
        let report = read(said, printed_bytes, |message| lock(&self.codes).of(message));
        // Its failure is made by the prelude, which the codec does not see.
        if let Some(codec) = self.codec.get().filter(|_| report.code.is_some()) {
            codec.note_failure();
        }
        let code = report.code.clone();
        lock(&self.steps).add(report, &self.meter)?;
        Ok(code)
    }

    /// The current lines of the plan's own frames in the running coroutine, innermost first.
    fn plan_lines(&self, lua: &Lua, most: usize) -> Vec<u32> {
        let plan = self.plan_name();
        let mut lines = Vec::new();
        for level in 1..FRAMES_SEARCHED {
            let found = lua.inspect_stack(level, |frame| {
                let is_plan = frame.source().short_src.as_deref() == Some(plan);
                is_plan.then(|| frame.current_line()).flatten()
            });
            match found {
                None => break,
                Some(None) => {}
                Some(Some(line)) => lines.push(u32::try_from(line).unwrap_or(u32::MAX)),
            }
            if lines.len() >= most {
                break;
            }
        }
        lines
    }
}
