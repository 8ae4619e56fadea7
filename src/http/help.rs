//! What to do next, in routes a client can call: the helps of the table of codes name commands of a terminal.

use serde_json::Value as Json;

use crate::base::{Error, ErrorCode};

const LOOK: &str = "look at what it did with `GET /v1/runs/{id}` and `GET /v1/audit?run={id}`, and start it again where it is still wanted";

/// The help for a code whose own names a command.
const fn of_code(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::CheckRefused => {
            "correct the findings listed with it; `POST /v1/plans/explain` shows those of a corrected plan"
        }
        ErrorCode::PlanError => {
            "read the message and line; `GET /v1/runs/{id}/events` lists the calls made before it"
        }
        ErrorCode::ToolUnknown | ErrorCode::PlanUnknownTool => "`GET /v1/tools` lists the tools there are",
        ErrorCode::BadArguments => "compare with the tool's `params` in `GET /v1/tools`",
        ErrorCode::ToolNotConfigured => "whoever runs this server sets the keys named in the message",
        ErrorCode::PermissionDenied => {
            "the message names the rule or setting; whoever runs this server may change it"
        }
        ErrorCode::RunActive => "wait for its end, or end it with `POST /v1/runs/{id}/cancel`",
        ErrorCode::RunNotActive => "look at how it stands with `GET /v1/runs/{id}`",
        ErrorCode::RunSleeping => {
            "it wakes by itself while this server runs; `GET /v1/runs/{id}` says how it stands"
        }
        ErrorCode::ApprovalRequired => {
            "`GET /v1/approvals?run={id}` lists what waits, `POST /v1/approvals/{approval_id}` decides"
        }
        ErrorCode::ApprovalStale => "`GET /v1/approvals` lists what waits now",
        ErrorCode::PauseRequested | ErrorCode::Interrupted => "go on with `POST /v1/runs/{id}/resume`",
        ErrorCode::CallInDoubt => {
            "look whether it happened; then `POST /v1/runs/{id}/resume` with `resolve` says what you have seen"
        }
        ErrorCode::RunNotResumable | ErrorCode::RunTakenOver => LOOK,
        ErrorCode::EffectsRepeat => {
            "look at the calls the message names; then `POST /v1/runs/{id}/reset` with `{\"repeat_effects\": true}`"
        }
        _ => return None,
    })
}

/// Says what to do next with an error in words of this service.
pub(super) fn of_error(error: &Error) -> Option<&'static str> {
    match error.code() {
        // What was said for the very error says more than its code can, and who is to do it.
        ErrorCode::NotFound | ErrorCode::ApprovalStale | ErrorCode::ApprovalRequired
            if error.has_own_help() =>
        {
            None
        }
        ErrorCode::NotFound => Some("list what there is, for example with `GET /v1/runs`"),
        code => of_code(code),
    }
}

/// The same for the error a run ended with.
pub(super) fn say_for_run(report: &mut Json) {
    // An answer that is an error has said what to do already.
    if report.get("status").is_none() {
        return;
    }
    let Some(error) = report.get_mut("error").and_then(Json::as_object_mut) else { return };
    let code = error.get("code").and_then(Json::as_str).and_then(|code| code.parse().ok());
    if let Some(help) = code.and_then(of_code) {
        error.insert("help".to_owned(), help.into());
    }
}
