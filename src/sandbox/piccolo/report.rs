//! Turns the end of a plan into an error.

use piccolo::{Context, Table, Value};
use serde_json::Value as Json;

use luaplan_base::{Error, ErrorCode};

use super::fault::{self, Raised, RaisedKind};
use super::host::Host;
use crate::vm::failed_call::{IgnoredFailure, about_failed_call, ignored_calls};
use crate::vm::lua_chunk::split_position;

impl Host {
    /// The error for what the plan raised and did not catch.
    pub(super) fn uncaught<'gc>(&self, ctx: Context<'gc>, raised: &Raised<'gc>) -> Error {
        if let Err(error) = self.meter.verdict() {
            return error;
        }
        match fault::kind(raised) {
            RaisedKind::Dead => Error::new(ErrorCode::Internal, "the run stopped without a reason"),
            RaisedKind::Text(text) => self.plan_error(None, None, &text),
            RaisedKind::CodedError(fault) => {
                self.plan_error(Some(fault.0.code()), fault.1, fault.0.message()).with_facts_of(&fault.0)
            }
            RaisedKind::Value(Value::String(text)) => self.plan_error(None, None, &text.to_str_lossy()),
            RaisedKind::Value(Value::Table(table)) => self.table_error(ctx, table),
            RaisedKind::Value(other) => {
                self.plan_error(None, None, &format!("the plan raised a {} value", other.type_name()))
            }
        }
    }

    fn plan_error(&self, code: Option<ErrorCode>, line: Option<u32>, text: &str) -> Error {
        let (line, message) = match split_position(self.plan_name(), text) {
            Some((line, rest)) => (Some(line), rest),
            None => (line, text),
        };
        let code = code.or_else(|| self.codes.borrow().of(message)).unwrap_or(ErrorCode::PlanError);
        match line {
            None => Error::new(code, message),
            Some(line) => Error::new(code, format!("line {line}: {message}")).with_detail("line", line),
        }
    }

    fn table_error<'gc>(&self, ctx: Context<'gc>, table: Table<'gc>) -> Error {
        if self.is_failure(ctx, table) {
            let named = |name| self.record_of(ctx, table).and_then(|record| text_in(ctx, record, name));
            let used =
                self.plan_error(Some(ErrorCode::ToolErrorUsed), None, &named("text").unwrap_or_default());
            return about_failed_call(used, named("call"));
        }
        let value = self.codec.read_result(self, ctx, Value::Table(table)).ok();
        if let Err(error) = self.meter.verdict() {
            return error;
        }
        let Some(value) = value else { return self.plan_error(None, None, "the plan raised a table") };
        let named = ["message", "error"]
            .iter()
            .find_map(|name| value.get(name).and_then(luaplan_base::Value::as_str));
        let json = value.to_json();
        let message = named.map_or_else(|| json.to_string(), str::to_owned);
        self.plan_error(None, None, &message).with_detail("raised", json)
    }
}

/// A text in a record of the prelude.
pub(super) fn text_in<'gc>(ctx: Context<'gc>, record: Table<'gc>, name: &'static str) -> Option<String> {
    match record.get(ctx, name) {
        Value::String(text) => Some(text.to_str_lossy().into_owned()),
        _ => None,
    }
}

/// The error for failures that the plan ignored, from the prelude's records; `None` where there are none.
pub(super) fn ignored<'gc>(ctx: Context<'gc>, records: Table<'gc>) -> Option<Error> {
    let mut texts = Vec::new();
    let mut calls: Vec<Json> = Vec::new();
    for place in 1..=records.length() {
        let Value::Table(record) = records.get(ctx, place) else { continue };
        let named = |name| text_in(ctx, record, name);
        let line = match record.get(ctx, "line") {
            Value::Integer(line) => Some(line),
            _ => None,
        };
        let (call, tool, step) = (named("call"), named("tool"), named("step"));
        let failure = IgnoredFailure { call, tool, step, line, code: named("code"), error: named("error") };
        texts.push(named("text").unwrap_or_default());
        calls.push(failure.to_json());
    }
    (!texts.is_empty()).then(|| ignored_calls(texts, calls))
}
