//! What to do next, in tools an assistant can call: the helps of the table of codes name commands of a terminal.

use serde_json::Value as Json;

use crate::base::{Error, ErrorCode};

const LOOK: &str =
    "look at what it did with `run_status` and `audit`, and start it again where it is still wanted";

/// The help for a code whose own names a command.
const fn of_code(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::CheckRefused => {
            "correct the findings listed with it; `check` shows those of a corrected program"
        }
        ErrorCode::PlanError => {
            "read the message and line; `run_status` and `audit` list the calls made before it"
        }
        ErrorCode::ToolUnknown | ErrorCode::PlanUnknownTool => "`search_tools` lists the tools there are",
        ErrorCode::BadArguments => "compare with the tool's declaration, which `search_tools` gives",
        ErrorCode::ToolNotConfigured => "whoever runs this server sets the keys named in the message",
        ErrorCode::PermissionDenied => {
            "the message names the rule or setting; whoever runs this server may change it"
        }
        ErrorCode::RunActive => "wait for its end with `run_status` and `wait`, or end it with `cancel_run`",
        ErrorCode::RunNotActive => "look at how it stands with `run_status`",
        ErrorCode::RunSleeping => {
            "ask `run_status` with `wait`; the run wakes by itself while this server runs"
        }
        ErrorCode::ApprovalRequired => {
            "a person decides, at the terminal or over HTTP; ask `run_status` with `wait`, or `resume_run` to be asked again"
        }
        ErrorCode::ApprovalStale => "`list_approvals` lists what waits now",
        ErrorCode::PauseRequested | ErrorCode::Interrupted => "`resume_run` goes on with it",
        ErrorCode::CallInDoubt => {
            "look whether it happened; then `resume_run` with `resolve` says what you have seen"
        }
        ErrorCode::RunNotResumable | ErrorCode::RunTakenOver | ErrorCode::EffectsRepeat => LOOK,
        _ => return None,
    })
}

/// Says what to do next with an error in words of this server.
pub(super) fn of_error(error: &Error) -> Option<&'static str> {
    match error.code() {
        // What was said for the very error says more than its code can, and who is to do it.
        ErrorCode::NotFound | ErrorCode::ApprovalStale | ErrorCode::ApprovalRequired
            if error.has_own_help() =>
        {
            None
        }
        ErrorCode::NotFound => Some("list what there is: `list_runs`, `list_approvals`, `search_tools`"),
        code => of_code(code),
    }
}

/// The same for the error a run ended with.
pub(super) fn say_for_run(data: &mut Json) {
    // An answer that is an error has said what to do already.
    if data.get("status").is_none() {
        return;
    }
    let Some(error) = data.get_mut("error").and_then(Json::as_object_mut) else { return };
    let code = error.get("code").and_then(Json::as_str).and_then(|code| code.parse().ok());
    if let Some(help) = code.and_then(of_code) {
        error.insert("help".to_owned(), help.into());
    }
}
