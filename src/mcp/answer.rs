//! What a tool answers with.

use rmcp::model::{CallToolResult, ErrorData};
use serde_json::{Value as Json, json};

use crate::base::{Error, ErrorCode};
use crate::engine::RunOutcome;
use crate::journal::RunStatus;

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

/// How a run stands that came to rest after it slept; as [`ended`].
pub(super) fn rested(report: Json) -> CallToolResult {
    match report["status"] == RunStatus::Succeeded.as_str() {
        true => CallToolResult::structured(report),
        false => CallToolResult::structured_error(report),
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

/// A `tools/call` whose parameters cannot be read.
pub(super) fn bad_call(params: Option<Json>) -> ErrorData {
    let params = params.unwrap_or_default();
    let what = match (params.get("name"), params.get("arguments")) {
        _ if !params.is_object() => "its `params` are no object",
        (name, _) if !name.is_some_and(Json::is_string) => "`name` is missing, or no text",
        (_, Some(arguments)) if !arguments.is_object() => "`arguments` is no object",
        _ => "its `params` are not as the protocol says",
    };
    ErrorData::invalid_params(
        format!("`tools/call` cannot be read: {what}"),
        Some(json!({ "code": ErrorCode::BadRequest, "help": "send the form the protocol's schema gives" })),
    )
}
