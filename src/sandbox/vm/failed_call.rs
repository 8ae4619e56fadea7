//! The call that an error of a run is about: the one whose strict error value the plan used or raised.

use std::fmt::Display;

use luaplan_base::{Error, ErrorCode};

/// The detail of `tool_error_used` that holds the call's id. Absent where the plan caught the error as text and
/// raised that.
pub const FAILED_CALL: &str = "call";

/// `error` with the call it is about, where there is one.
pub(crate) fn about_failed_call(error: Error, call: Option<String>) -> Error {
    match call {
        Some(call) => error.with_detail(FAILED_CALL, call),
        None => error,
    }
}

/// The error for a strict error value at `path` of a value that a plan passes on without inspecting it.
pub(crate) fn failure_in(path: impl Display, text: &str, call: String) -> Error {
    let message = format!("`{path}` is the result of a failed call: {text}");
    Error::new(ErrorCode::ToolErrorUsed, message).with_detail(FAILED_CALL, call)
}
