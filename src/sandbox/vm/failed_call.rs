//! The call that an error of a run is about: the one whose strict error value the plan used or raised.

use std::fmt::Display;

use serde_json::{Value as Json, json};

use luaplan_base::{Error, ErrorCode};

/// The detail of `tool_error_used` that holds the call's id. Absent where the plan caught the error as text and
/// raised that.
pub const FAILED_CALL: &str = "call";

/// How many ignored failures a message names; all are in the details.
const IGNORED_NAMED: usize = 3;

/// `error` with the call it is about, where there is one.
pub(crate) fn about_failed_call(error: Error, call: Option<String>) -> Error {
    match call {
        Some(call) => error.with_detail(FAILED_CALL, call),
        None => error,
    }
}

/// The error for a strict error value at `path` of a value that a plan passes on without inspecting it.
pub(crate) fn failure_in(path: impl Display, text: &str, call: Option<String>) -> Error {
    let message = format!("`{path}` is the result of a failed call: {text}");
    about_failed_call(Error::new(ErrorCode::ToolErrorUsed, message), call)
}

/// What the prelude's record says of a failure that the plan ignored: of a call, or of a step.
pub(crate) struct IgnoredFailure {
    pub(crate) call: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) step: Option<String>,
    pub(crate) line: Option<i64>,
    pub(crate) code: Option<String>,
    pub(crate) error: Option<String>,
}

impl IgnoredFailure {
    pub(crate) fn to_json(&self) -> Json {
        let Self { call, tool, step, line, code, error } = self;
        match step {
            None => json!({ "call": call, "tool": tool, "line": line, "code": code, "error": error }),
            Some(step) => json!({ "call": call, "step": step, "line": line, "code": code, "error": error }),
        }
    }
}

/// The error for failed calls whose results the plan ignored: what is said of each, and its details.
pub(crate) fn ignored_calls(mut texts: Vec<String>, calls: Vec<Json>) -> Error {
    let more = match texts.len().saturating_sub(IGNORED_NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    texts.truncate(IGNORED_NAMED);
    let message = format!("the plan never looked at: {}{more}", texts.join("; "));
    Error::new(ErrorCode::ToolErrorIgnored, message).with_detail("calls", calls)
}
