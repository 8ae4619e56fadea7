//! What to do next, in routes a client can call.

use crate::app::EdgeHelp;
use crate::base::ErrorCode;

const LOOK: &str = "look at what it did with `GET /v1/runs/{id}` and `GET /v1/audit?run={id}`, and start it again where it is still wanted";

/// The words of this edge.
pub(super) const HELP: EdgeHelp =
    EdgeHelp { of_code, listing: "list what there is, for example with `GET /v1/runs`" };

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
