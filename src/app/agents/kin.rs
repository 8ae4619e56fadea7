//! How runs of agents and the runs that called them are found from each other.

use luaplan_base::{CallId, Error, ErrorCode, Result, RunId};
use luaplan_journal::{JournalRead, ParentCall, RunState};

use super::CALL_AGENT;

/// The run that a call of an agent begins: the same one, however often the call is begun.
pub(crate) fn child_of(parent: &RunId, call_id: &CallId) -> RunId {
    parent.of_call(call_id)
}

/// The runs of agents that a run waits for.
pub(crate) fn open_children(state: &RunState) -> impl Iterator<Item = RunId> {
    let calls = state.calls.iter().filter(|call| call.tool == CALL_AGENT && call.is_open());
    calls.map(|call| child_of(&state.run_id, &call.call_id))
}

/// A run and the runs of agents it waits for, itself first.
///
/// # Errors
/// As reading the journal.
pub(crate) async fn family_of(journal: &dyn JournalRead, run: RunState) -> Result<Vec<RunState>> {
    let mut family = vec![run];
    let mut next = 0;
    while let Some(state) = family.get(next) {
        let children: Vec<RunId> = open_children(state).collect();
        next += 1;
        for child in children {
            family.extend(journal.run_state(&child).await?);
        }
    }
    Ok(family)
}

/// The refusal of a request to resume the run of an agent by itself.
pub(crate) fn belongs_to(run_id: &RunId, parent: &ParentCall) -> Error {
    let message =
        format!("run {run_id} is that of agent `{}`, called by run {}", parent.agent, parent.run_id);
    Error::new(ErrorCode::RunNotResumable, message)
        .with_help(format!("go on with the run that called it: `luaplan resume {}`", parent.run_id))
}
