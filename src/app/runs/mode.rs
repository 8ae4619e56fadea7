//! Changes the mode of a run that is not over, whichever process or node executes it.
//!
//! The change is an event. The run's bus and its loop over plans read it where it makes a difference, so no process has to be notified.

use serde::Serialize;

use luaplan_base::{CallId, Error, ErrorCode, Result, RunId};
use luaplan_bus::Mode;
use luaplan_journal::{Actor, ConflictGuard, EventBody, Settled};

use super::service::Runs;
use super::spec::check_iterations;
use super::stopping::has_ended;

/// A mode for a run, and by how many plans it works in it at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ModeChange {
    /// The mode.
    pub mode: Mode,
    /// The most iterations from now on; `None` takes `autonomous.max_iterations`.
    pub max_iterations: Option<u32>,
}

impl ModeChange {
    /// Whether it can be asked for.
    ///
    /// # Errors
    /// `bad_request` for no iterations, more than 1,000, or any in the mode `structured`.
    pub fn validate(&self) -> Result<()> {
        let Some(wanted) = self.max_iterations else { return Ok(()) };
        if self.mode == Mode::Structured {
            return Err(Error::new(ErrorCode::BadRequest, "a structured run has no iterations")
                .with_help("leave `max_iterations` out, or ask for the mode `autonomous`"));
        }
        check_iterations(wanted)
    }
}

impl Runs {
    /// Puts a run into a mode, in the name of `by`; its iterations are counted from 0 again. It holds for the next call and
    /// the next plan. A run that waits goes on waiting.
    ///
    /// # Errors
    /// `bad_request` as [`ModeChange::validate`]; `not_found`; `run_not_active` where it has ended or is that of an agent.
    pub async fn set_mode(
        &self,
        run_id: &RunId,
        change: ModeChange,
        by: Option<&Actor>,
    ) -> Result<ModeChange> {
        change.validate()?;
        let mut unless = ConflictGuard {
            run_id: run_id.clone(),
            // No call's: only what is about no call counts.
            call_id: CallId::single(0),
            after_sequence: 0,
            by_events: &["run_finished", "run_failed", "run_cancelled"],
        };
        let log = self.history.run_log(run_id, &[]);
        loop {
            let state = self.history.known_run(run_id).await?;
            if state.ended_at.is_some() {
                return Err(has_ended(&state));
            }
            if let Some(parent) = &state.parent {
                let message = format!("run {run_id} is that of an agent, called by run {}", parent.run_id);
                return Err(Error::new(ErrorCode::RunNotActive, message)
                    .with_help("change the mode of the run that called it"));
            }
            let (by, os_user) = Actor::fields(by);
            let ModeChange { mode, max_iterations } = change;
            let changed = EventBody::ModeChanged { mode: mode.into(), max_iterations, by, os_user };
            match log.settle(vec![changed], unless.clone()).await? {
                Settled::Written(_) => return Ok(change),
                // It ended meanwhile, or was resumed after an end.
                Settled::Conflict(other) => unless.after_sequence = other.sequence,
            }
        }
    }
}
