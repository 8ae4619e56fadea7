//! Turns the end of a plan into an error.

use mlua::{Table, Value as LuaValue};
use serde_json::{Value as Json, json};

use luaplan_base::{Error, ErrorCode};

use super::fault::{self, RaisedKind};
use super::host::{Host, lock};
use crate::vm::failed_call::{IgnoredFailure, about_failed_call, ignored_calls};
use crate::vm::lua_chunk::split_position;

impl Host {
    /// The error for what the plan raised and did not catch.
    pub(super) fn uncaught(&self, reason: &LuaValue) -> Error {
        if let Err(error) = self.meter.verdict() {
            return error;
        }
        match reason {
            LuaValue::Error(error) => self.binding_error(error),
            LuaValue::String(text) => {
                let text = text.to_string_lossy();
                if text == fault::OUT_OF_MEMORY {
                    self.out_of_memory()
                } else {
                    self.plan_error(None, &fault::in_plan_words(&text))
                }
            }
            LuaValue::Table(table) => self.table_error(table),
            other => self.plan_error(None, &format!("the plan raised a {} value", other.type_name())),
        }
    }

    /// The error for one of the binding.
    pub(super) fn binding_error(&self, error: &mlua::Error) -> Error {
        if let Err(error) = self.meter.verdict() {
            return error;
        }
        match fault::kind(error) {
            RaisedKind::Memory => self.out_of_memory(),
            RaisedKind::Dead => Error::new(ErrorCode::Internal, "the run stopped without a reason"),
            RaisedKind::CodedError(fault) => {
                self.plan_error(Some(fault.0.code()), fault.0.message()).with_facts_of(&fault.0)
            }
            RaisedKind::Text(text) => self.plan_error(None, &fault::in_plan_words(&text)),
        }
    }

    /// The error for a text that does not compile.
    pub(super) fn syntax(&self, error: &mlua::Error) -> Error {
        match fault::kind(error) {
            RaisedKind::Memory => self.out_of_memory(),
            RaisedKind::Text(text) => match split_position(self.plan_name(), &text) {
                Some((line, rest)) => Error::new(ErrorCode::PlanSyntax, format!("line {line}: {rest}"))
                    .with_detail("line", line),
                None => Error::new(ErrorCode::PlanSyntax, text),
            },
            RaisedKind::Dead | RaisedKind::CodedError(_) => self.binding_error(error),
        }
    }

    fn out_of_memory(&self) -> Error {
        self.meter.out_of_memory();
        self.meter
            .verdict()
            .err()
            .unwrap_or_else(|| Error::new(ErrorCode::LimitMemory, "the plan used up its memory"))
    }

    /// `text` may start with a position; without one, the innermost plan frame gives the line.
    fn plan_error(&self, code: Option<ErrorCode>, text: &str) -> Error {
        let frames = lock(&self.frames);
        let (line, message) = match split_position(self.plan_name(), text) {
            Some((line, rest)) => (Some(line), rest),
            None => (frames.first().copied(), text),
        };
        let code = code.or_else(|| lock(&self.codes).of(message)).unwrap_or(ErrorCode::PlanError);
        let Some(line) = line else { return Error::new(code, message) };
        let traceback: Vec<Json> = frames.iter().map(|line| json!({ "line": line })).collect();
        Error::new(code, format!("line {line}: {message}"))
            .with_detail("line", line)
            .with_detail("traceback", traceback)
    }

    fn table_error(&self, table: &Table) -> Error {
        let codec = self.codec.get();
        if let Some((text, call)) = codec.and_then(|codec| codec.failure_text(table)) {
            return about_failed_call(self.plan_error(Some(ErrorCode::ToolErrorUsed), &text), call);
        }
        let value = codec.and_then(|codec| codec.read_result(&LuaValue::Table(table.clone())).ok());
        let Some(value) = value else { return self.plan_error(None, "the plan raised a table") };
        let named = ["message", "error"]
            .iter()
            .find_map(|name| value.get(name).and_then(luaplan_base::Value::as_str));
        let json = value.to_json();
        let message = named.map_or_else(|| json.to_string(), str::to_owned);
        self.plan_error(None, &message).with_detail("raised", json)
    }
}

/// The error for failures that the plan ignored, from the prelude's records.
pub(super) fn ignored(records: &[Table]) -> mlua::Result<Error> {
    let mut texts = Vec::new();
    let mut calls = Vec::new();
    for record in records {
        texts.push(record.raw_get::<String>("text")?);
        let failure = IgnoredFailure {
            call: record.raw_get("call")?,
            tool: record.raw_get("tool")?,
            step: record.raw_get("step")?,
            line: record.raw_get("line")?,
            code: record.raw_get("code")?,
            error: record.raw_get("error")?,
        };
        calls.push(failure.to_json());
    }
    Ok(ignored_calls(texts, calls))
}
