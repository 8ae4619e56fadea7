//! The answers of tools.
//!
//! The data of an answer is sent once: as `structuredContent` with a short text beside it, or as text where the client
//! knows nothing else. Data too long for one answer is cut to its head; `read_result` reads the rest.

use rmcp::model::{CallToolResult, ContentBlock, ErrorCode as McpErrorCode, ErrorData};
use serde_json::{Value as Json, json};

use luaplan_app::{shorten_calls, shortened};
use luaplan_base::{Error, ErrorCode, excerpt};
use luaplan_engine::RunOutcome;
use luaplan_journal::RunStatus;

use super::help::HELP;

/// The form of answers for a client.
pub(super) struct AnswerForm {
    /// The most bytes of the data.
    pub(super) bytes_max: usize,
    /// Whether the data is separate from the text.
    pub(super) is_structured: bool,
}

/// The result of a tool that succeeded.
pub(super) fn done(data: Json) -> CallToolResult {
    let mut result = CallToolResult::success(Vec::new());
    result.structured_content = Some(data);
    result
}

/// The result of a tool that failed.
fn not_done(data: Json) -> CallToolResult {
    let mut result = CallToolResult::error(Vec::new());
    result.structured_content = Some(data);
    result
}

/// `{"error": {"code", "message", "help", …}}`: the form every edge sends.
pub(super) fn failed(error: &Error) -> CallToolResult {
    if error.code() == ErrorCode::Internal {
        // Logged as Debug of a text, so that a line break inside it does not split the log line.
        let seen = format!("{error:?}");
        tracing::error!(error = ?seen, "a tool failed");
    }
    let mut data = json!({ "error": error.to_json() });
    if let Some(help) = HELP.of_error(error) {
        data["error"]["help"] = help.into();
    }
    not_done(data)
}

/// The end of a run. A failed run is an error of the tool, with the run's usage and output as well;
/// a run that sleeps or waits for a person has not failed.
pub(super) fn ended(outcome: &RunOutcome) -> CallToolResult {
    match outcome.status() {
        RunStatus::Failed | RunStatus::Cancelled => not_done(outcome.to_json()),
        _ => done(outcome.to_json()),
    }
}

/// The state of a run that slept and is suspended again or has ended; as [`ended`].
pub(super) fn rested(report: Json) -> CallToolResult {
    let has_failed = [RunStatus::Failed, RunStatus::Cancelled].map(RunStatus::as_str);
    match report["status"].as_str().is_some_and(|status| has_failed.contains(&status)) {
        true => not_done(report),
        false => done(report),
    }
}

/// The arguments that continue a shortened answer, for tools that compute it again from the same arguments.
pub(super) fn again(path: &str, offset: usize) -> Json {
    json!({ "path": path, "offset": offset })
}

/// Arguments of `read_result`.
pub(super) fn of_run(run_id: &str, path: &str, offset: usize) -> Json {
    json!({ "run": run_id, "path": path, "offset": offset })
}

/// The place of a whole call of a run.
pub(super) fn whole_call(run_id: &str, call_id: &str) -> Json {
    let call_id = call_id.replace('~', "~0").replace('/', "~1");
    of_run(run_id, &format!("/calls/{call_id}"), 0)
}

/// The answer in its sent form: bounded, with its data once.
pub(super) fn sent(tool: &str, mut result: CallToolResult, form: &AnswerForm) -> CallToolResult {
    let mut data = result.structured_content.take().unwrap_or_default();
    HELP.say_for_run(&mut data);
    let data = shorten_calls(data, &whole_call);
    let run_id = data.get("run_id").and_then(Json::as_str).map(str::to_owned);
    let data = shortened(data, form.bytes_max, &|path, offset| match (&run_id, tool) {
        (Some(run_id), _) => of_run(run_id, path, offset),
        (None, "check" | "explain") => again(path, offset),
        _ => Json::Null,
    });
    if form.is_structured {
        result.content = vec![ContentBlock::text(told(&data))];
        result.structured_content = Some(data);
    } else {
        result.content = vec![ContentBlock::text(data.to_string())];
    }
    result
}

/// A summary of the data, for a reader of the text alone.
fn told(data: &Json) -> String {
    let mut said = Vec::new();
    if let Some(error) = data.get("error") {
        let text = |name: &str| error[name].as_str().unwrap_or_default();
        let message = text("message");
        let message = excerpt(message).map_or(message, |part| part.head);
        said.push(format!("{}: {message} ({})", text("code"), text("help")));
    }
    for (name, value) in data.as_object().into_iter().flatten() {
        match value {
            Json::Array(items) => said.push(format!("{name}: {} items", items.len())),
            Json::Bool(_) | Json::Number(_) => said.push(format!("{name}: {value}")),
            Json::String(text) if excerpt(text).is_none() && !text.contains('\n') => {
                said.push(format!("{name}: {text}"));
            }
            _ => {}
        }
    }
    said.push("all data is in `structuredContent`".to_owned());
    said.join("; ")
}

/// There is no tool of that name: the one error that is the protocol's own.
pub(super) fn no_such_tool(name: &str) -> ErrorData {
    let code = ErrorCode::NotFound;
    ErrorData::invalid_params(
        format!("there is no tool `{name}`"),
        Some(json!({ "code": code, "help": "list the tools with `tools/list`" })),
    )
}

/// A method of the protocol, or of none, that this server does not have.
pub(super) fn no_such_method(method: &str) -> ErrorData {
    ErrorData::new(
        McpErrorCode::METHOD_NOT_FOUND,
        format!("there is no method `{method}` here"),
        Some(
            json!({ "code": ErrorCode::NotFound, "help": "this server has tools alone: `tools/list`, `tools/call`" }),
        ),
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
