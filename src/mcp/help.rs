//! Help texts in terms of tools that an assistant can call.

use luaplan_app::EdgeHelp;
use luaplan_base::ErrorCode;

const LOOK: &str =
    "look at what it did with `run_status` and `audit`, and start it again where it is still wanted";

/// The help texts of this edge.
pub(super) const HELP: EdgeHelp =
    EdgeHelp { of_code, listing: "list what there is: `list_runs`, `list_approvals`, `search_tools`" };

/// The help for a code whose default help names a command.
const fn of_code(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::CheckRefused => {
            "correct the findings listed with it; `check` shows those of a corrected program"
        }
        ErrorCode::PlanError => {
            "read the message and line; `run_status` and `audit` list the calls made before it"
        }
        ErrorCode::ToolUnknown | ErrorCode::PlanUnknownTool => "`search_tools` lists the tools there are",
        ErrorCode::LlmAsked => "answer it in the words of the task, and give the task again",
        ErrorCode::LlmCollapsed => {
            "word the task differently; `audit` with `event` `llm_response_received` shows what the model answered"
        }
        ErrorCode::PlanBadArgument | ErrorCode::BadArguments => {
            "compare with the tool's declaration, which `search_tools` gives"
        }
        ErrorCode::RunActive => "wait for its end with `run_status` and `wait`, or end it with `cancel_run`",
        ErrorCode::RunNotActive => "look at how it stands with `run_status`",
        ErrorCode::RunSleeping => {
            "ask `run_status` with `wait`; the run wakes by itself while this server runs"
        }
        ErrorCode::ApprovalRequired => {
            "an approver decides, at the terminal or over HTTP; ask `run_status` with `wait`, or `resume_run` to be asked again"
        }
        ErrorCode::AnswerRequired => {
            "ask the person, and give their answer with `answer_question`; ask `run_status` with `wait` where others answer"
        }
        ErrorCode::AnswerStale => "`run_status` says what the run waits for now",
        ErrorCode::ApprovalStale => "`list_approvals` lists what waits now",
        ErrorCode::PauseRequested | ErrorCode::Interrupted => "`resume_run` goes on with it",
        ErrorCode::CallInDoubt => {
            "look whether it happened; then `resume_run` with `resolve` says what you have seen"
        }
        ErrorCode::RunNotResumable | ErrorCode::RunTakenOver | ErrorCode::EffectsRepeat => LOOK,
        _ => return None,
    })
}

#[cfg(test)]
#[test]
fn no_help_of_any_code_names_a_command_of_a_terminal() {
    assert_eq!(HELP.faults(), Vec::<String>::new());
}
