//! Cancels or pauses a run, in whichever process or node executes it.

use luaplan_base::{Error, ErrorCode, Result, RunId};
use luaplan_journal::{Actor, RunState, RunStatus};

use super::control_files::ControlKind;
use super::service::Runs;
use crate::ownership::hold::Hold;

impl Runs {
    /// Ends a run in the name of `by`, whichever process executes it: one that sleeps, waits for a person or has lost its process has ended
    /// when this comes back, one that is under way in another process of this machine was told to.
    ///
    /// # Errors
    /// `not_found`; `run_not_active` where it has ended.
    pub async fn cancel(&self, run_id: &RunId, by: Option<&Actor>) -> Result<()> {
        let hold = self.ownership.hold(run_id).await?;
        let ended = self.cancel_under(&hold, run_id, by).await;
        if ended.is_err() {
            hold.release().await;
        }
        ended
    }

    /// As [`Runs::cancel`], and nothing where the run is over.
    ///
    /// # Errors
    /// As writing the journal.
    pub async fn cancel_unless_over(&self, run_id: &RunId, by: Option<&Actor>) -> Result<()> {
        match self.cancel(run_id, by).await {
            Err(error) if error.code() == ErrorCode::RunNotActive => Ok(()),
            ended => ended,
        }
    }

    /// While the right to resume the run is held.
    async fn cancel_under(&self, hold: &Hold, run_id: &RunId, by: Option<&Actor>) -> Result<()> {
        let state = self.history.known_run(run_id).await?;
        if state.ended_at.is_some() {
            return Err(has_ended(&state));
        }
        if let Some(parent) = &state.parent
            && self.history.known_run(&parent.run_id).await?.ended_at.is_none()
        {
            let message = format!("run {run_id} is that of an agent, called by run {}", parent.run_id);
            return Err(
                Error::new(ErrorCode::RunNotActive, message).with_help("cancel the run that called it")
            );
        }
        if state.status == RunStatus::Running && self.registry.request(run_id, ControlKind::Cancel, by) {
            return Ok(());
        }
        if state.status == RunStatus::Running && self.ownership.is_under_way(&state) {
            self.registry.files().write(run_id, ControlKind::Cancel, by)?;
            // It may have been suspended before it could hear of it; else it looks for requests after that.
            let state = self.history.known_run(run_id).await?;
            if !state.status.is_suspended() {
                return Ok(());
            }
            self.registry.files().take_back(run_id);
            return self.cancel_family(hold, &state, by).await;
        }
        // The process that wakes it finds its end.
        self.cancel_family(hold, &state, by).await
    }

    /// Asks a run in the name of `by` to pause, once its open calls have ended. It then holds
    /// nothing until `resume`. The run of an agent takes the one that called it along.
    ///
    /// # Errors
    /// `not_found`; `run_not_active` where it is not under way, or is at another node.
    pub async fn pause(&self, run_id: &RunId, by: Option<&Actor>) -> Result<()> {
        if self.registry.request(run_id, ControlKind::Pause, by) {
            return Ok(());
        }
        let state = self.history.known_run(run_id).await?;
        if state.status != RunStatus::Running {
            let message = format!("run {run_id} is {} and not under way", state.status);
            let help = match state.status {
                RunStatus::Sleeping => {
                    "a run that sleeps holds nothing; it can be ended: `luaplan cancel RUN`"
                }
                RunStatus::Paused => "it stands still already; resume it: `luaplan resume RUN`",
                _ => "it is over; start it over: `luaplan reset RUN`",
            };
            return Err(Error::new(ErrorCode::RunNotActive, message).with_help(help).about_run(run_id));
        }
        if self.history.shares_runs() {
            let message = format!("run {run_id} is not under way at this node");
            return Err(
                Error::new(ErrorCode::RunNotActive, message).with_help("ask at the node that runs it")
            );
        }
        if !self.ownership.is_under_way(&state) {
            let message = format!("the process that ran {run_id} is gone, so it stands still already");
            return Err(Error::new(ErrorCode::RunNotActive, message)
                .with_help("resume it (`luaplan resume RUN`) or end it (`luaplan cancel RUN`)")
                .about_run(run_id));
        }
        self.registry.files().write(run_id, ControlKind::Pause, by)
    }

    /// Takes back what was asked of a run of another process and it has not acted on.
    pub fn withdraw_requests(&self, run_id: &RunId) {
        self.registry.files().take_back(run_id);
    }
}

pub(super) fn has_ended(state: &RunState) -> Error {
    let message = format!("run {} has ended: it {}", state.run_id, state.status.verb());
    Error::new(ErrorCode::RunNotActive, message)
        .with_help("it can be started over: `luaplan reset RUN`")
        .about_run(&state.run_id)
}
