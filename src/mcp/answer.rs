//! What a tool answers with.

use rmcp::model::{CallToolResult, ErrorData};
use serde_json::{Value as Json, json};

use crate::base::{Error, ErrorCode};
use crate::engine::RunOutcome;

/// The result of a tool that worked: data, and the same as text for those who only read text.
pub(super) fn done(data: Json) -> CallToolResult {
    CallToolResult::structured(data)
}

/// `{"error": {"code", "message", "help", …}}`: the form every edge sends.
pub(super) fn failed(error: &Error) -> CallToolResult {
    if error.code() == ErrorCode::Internal {
        // As Debug of a text, so that a line break inside it stays inside its log line.
        let seen = format!("{error:?}");
        tracing::error!(error = ?seen, "a tool failed");
    }
    CallToolResult::structured_error(json!({ "error": error.to_json() }))
}

/// How a run ended. One that did not succeed is an error of the tool, and says all the same what the
/// run used and printed.
pub(super) fn ended(outcome: &RunOutcome) -> CallToolResult {
    match outcome.error() {
        None => CallToolResult::structured(outcome.to_json()),
        Some(_) => CallToolResult::structured_error(outcome.to_json()),
    }
}

/// There is no tool of that name: the one error that is the protocol's own.
pub(super) fn no_such_tool(name: &str) -> ErrorData {
    let code = ErrorCode::NotFound;
    ErrorData::invalid_params(
        format!("there is no tool `{name}`"),
        Some(json!({ "code": code, "help": "list the tools with `tools/list`" })),
    )
}
