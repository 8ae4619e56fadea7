//! Why a run is put to rest, as errors that end its drive and are no failures.

use jiff::Timestamp;
use serde_json::{Value as Json, json};

use luaplan_base::{Error, ErrorCode};

/// The detail of an error that names the calls in doubt.
pub const CALLS_IN_DOUBT: &str = "calls_in_doubt";

/// The detail of an error that names the requests for approval.
pub const APPROVALS: &str = "approvals";

/// The detail that says when a sleeping run wakes.
pub const WAKE_AT: &str = "wake_at";

/// The run sleeps until then.
#[must_use]
pub fn asleep(wake_at: Timestamp) -> Error {
    Error::new(ErrorCode::RunSleeping, format!("the run sleeps until {wake_at:.0}"))
        .with_detail(WAKE_AT, wake_at.to_string())
}

/// When a run that was put to sleep so wakes.
#[must_use]
pub fn wake_at_of(error: &Error) -> Option<Timestamp> {
    (error.code() == ErrorCode::RunSleeping).then(|| error.details().get(WAKE_AT)?.as_str()?.parse().ok())?
}

/// What the calls of one batch wait for, in one: what needs a person counts before what stands still because
/// somebody asked, that before what needs time, and of several sleeps the longest, as the plan goes on when all
/// are over.
pub(super) fn merge(asked: &[String], rests: Vec<Error>) -> Error {
    let mut approvals = asked.to_vec();
    let mut latest: Option<Error> = None;
    let mut doubt = None;
    let mut paused = None;
    for rest in rests {
        match rest.code() {
            ErrorCode::ApprovalRequired => {
                let named = rest.details().get(APPROVALS).and_then(Json::as_array);
                approvals.extend(named.into_iter().flatten().filter_map(Json::as_str).map(str::to_owned));
            }
            ErrorCode::RunSleeping => {
                if latest.as_ref().and_then(wake_at_of) < wake_at_of(&rest) {
                    latest = Some(rest);
                }
            }
            ErrorCode::PauseRequested => paused = paused.or(Some(rest)),
            _ => doubt = doubt.or(Some(rest)),
        }
    }
    match doubt {
        Some(doubt) => doubt,
        None if approvals.is_empty() => paused.or(latest).unwrap_or_else(|| waits_for_leave(&approvals)),
        None => waits_for_leave(&approvals),
    }
}

/// Why a run pauses for people; the detail `approvals` names the requests.
fn waits_for_leave(approval_ids: &[String]) -> Error {
    let calls = match approval_ids.len() {
        1 => "a call waits".to_owned(),
        count => format!("{count} calls wait"),
    };
    Error::new(ErrorCode::ApprovalRequired, format!("{calls} for a person's approval"))
        .with_detail(APPROVALS, json!(approval_ids))
}
