//! Help texts in terms of routes that a client can call.

use luaplan_app::EdgeHelp;
use luaplan_base::ErrorCode;

const LOOK: &str = "look at what it did with `GET /v1/runs/{id}` and `GET /v1/audit?run={id}`, and start it again where it is still wanted";

/// The help texts of this edge.
pub(super) const HELP: EdgeHelp = EdgeHelp {
    of_code,
    listing: "list what there is: `GET /v1/runs`, `GET /v1/approvals`, `GET /v1/questions`, `GET /v1/grants`, `GET /v1/tools`",
};

/// The help for a code whose default help names a command.
const fn of_code(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::CheckRefused => {
            "correct the findings listed with it; `POST /v1/plans/explain` shows those of a corrected plan"
        }
        ErrorCode::PlanError => {
            "read the message and line; `GET /v1/runs/{id}/events` lists the calls made before it"
        }
        ErrorCode::ToolUnknown | ErrorCode::PlanUnknownTool => "`GET /v1/tools` lists the tools there are",
        ErrorCode::LlmAsked => {
            "answer it in the words of the task, and send the task again: `POST /v1/tasks`"
        }
        ErrorCode::LlmCollapsed => {
            "word the task differently; `GET /v1/audit?event=llm_response_received` shows what the model answered"
        }
        ErrorCode::PlanBadArgument | ErrorCode::BadArguments => {
            "compare with the tool's `params` in `GET /v1/tools`"
        }
        ErrorCode::RunActive => "wait for its end, or end it with `POST /v1/runs/{id}/cancel`",
        ErrorCode::RunNotActive => "look at how it stands with `GET /v1/runs/{id}`",
        ErrorCode::RunSleeping => {
            "it wakes by itself while this server runs; `GET /v1/runs/{id}` says how it stands"
        }
        ErrorCode::ApprovalRequired => {
            "`GET /v1/approvals?run={id}` lists what waits, `POST /v1/approvals/{approval_id}` decides"
        }
        ErrorCode::AnswerRequired => {
            "`GET /v1/questions?run={id}` lists what is asked, `POST /v1/questions/{question_id}` answers"
        }
        ErrorCode::AnswerStale => "`GET /v1/questions` lists the open questions",
        ErrorCode::ApprovalStale => {
            "`GET /v1/approvals` lists what waits now, `GET /v1/grants?all=true` what was allowed for a time"
        }
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

#[cfg(test)]
#[test]
fn no_help_of_any_code_names_a_command_of_a_terminal() {
    assert_eq!(HELP.faults(), Vec::<String>::new());
}
