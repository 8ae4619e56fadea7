//! One call of a run, whole: what lists show shortened.

use serde::Serialize;

use luaplan_base::{Error, ErrorCode, Result, RunId};
use luaplan_journal::{ApprovalState, CallState, JournalRead};

use crate::history::no_such_run;

/// A call with all that is on record of it.
#[derive(Debug, Clone, Serialize)]
pub struct CallReport {
    /// Its run.
    pub run_id: RunId,
    /// The call and what came of it; absent where it only waits for approval.
    pub call: Option<CallState>,
    /// What people were asked about it, oldest first.
    pub approvals: Vec<ApprovalState>,
}

/// The call `call_id` of a run.
///
/// # Errors
/// `not_found` for a run or a call that is not there, naming calls that are; as reading the journal.
pub async fn call_report(journal: &dyn JournalRead, run_id: &RunId, call_id: &str) -> Result<CallReport> {
    const NAMED_MAX: usize = 20;
    let state = journal.run_state(run_id).await?.ok_or_else(|| no_such_run(run_id))?;
    let mut known: Vec<String> = Vec::new();
    for id in
        state.calls.iter().map(|call| &call.call_id).chain(state.approvals.iter().map(|one| &one.call_id))
    {
        if !known.iter().any(|other| other == id.as_str()) {
            known.push(id.to_string());
        }
    }
    if !known.iter().any(|id| id == call_id) {
        let help = match known.len() {
            0 => format!("the run made no call: `luaplan show {run_id}`"),
            count => {
                let more = if count > NAMED_MAX {
                    format!(" and {} more", count - NAMED_MAX)
                } else {
                    String::new()
                };
                known.truncate(NAMED_MAX);
                format!("its calls are {}{more}", known.join(", "))
            }
        };
        return Err(
            Error::new(ErrorCode::NotFound, format!("run {run_id} has no call `{call_id}`")).with_help(help)
        );
    }
    Ok(CallReport {
        run_id: state.run_id,
        call: state.calls.into_iter().find(|call| call.call_id.as_str() == call_id),
        approvals: state.approvals.into_iter().filter(|one| one.call_id.as_str() == call_id).collect(),
    })
}
