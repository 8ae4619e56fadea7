//! Runs that somebody wants to end, or to stand still, whichever process is at them.

use std::time::Duration;

use super::App;
use super::ownership::Hold;
use super::under_way::Ask;
use crate::base::{Error, ErrorCode, Result, RunId};
use crate::journal::{RunState, RunStatus};

impl App {
    /// Ends a run, whoever is at it: one that sleeps, waits for a person or has lost its process has ended
    /// when this comes back, one that is under way in another process of this machine was told to.
    ///
    /// # Errors
    /// `not_found`; `run_not_active` where it has ended.
    pub async fn cancel(&self, run_id: &RunId) -> Result<()> {
        let hold = self.hold(run_id).await?;
        let ended = self.cancel_under(&hold, run_id).await;
        if ended.is_err() {
            hold.release().await;
        }
        ended
    }

    /// While the right to go on with the run is held.
    async fn cancel_under(&self, hold: &Hold, run_id: &RunId) -> Result<()> {
        let state = self.known_run(run_id).await?;
        if state.ended_at.is_some() {
            return Err(has_ended(&state));
        }
        if let Some(parent) = &state.parent {
            let message = format!("run {run_id} is that of an agent, called by run {}", parent.run_id);
            return Err(
                Error::new(ErrorCode::RunNotActive, message).with_help("cancel the run that called it")
            );
        }
        if state.status == RunStatus::Running && self.running.ask(run_id, Ask::Cancel) {
            return Ok(());
        }
        if state.status == RunStatus::Running && self.is_under_way(&state) {
            return self.running.ask_elsewhere(run_id, Ask::Cancel);
        }
        // Whoever meant to wake it finds its end.
        self.cancel_family(hold, &state).await
    }

    /// Asks a run to stand still, once the calls it is at have come to their end. It has then paused and holds
    /// nothing; `resume` goes on with it.
    ///
    /// # Errors
    /// `not_found`; `run_not_active` where it is not under way, belongs to another run, or is at another node.
    pub async fn pause(&self, run_id: &RunId) -> Result<()> {
        if self.running.ask(run_id, Ask::Pause) {
            return Ok(());
        }
        let state = self.known_run(run_id).await?;
        if state.status != RunStatus::Running {
            let message = format!("run {run_id} is {} and not under way", state.status);
            return Err(Error::new(ErrorCode::RunNotActive, message));
        }
        if self.shares_runs() {
            let message = format!("run {run_id} is not under way at this node");
            return Err(
                Error::new(ErrorCode::RunNotActive, message).with_help("ask at the node that runs it")
            );
        }
        if !self.is_under_way(&state) {
            let message = format!("the process that ran {run_id} is gone, so it stands still already");
            return Err(Error::new(ErrorCode::RunNotActive, message)
                .with_help("go on with it (`luaplan resume RUN`) or end it (`luaplan cancel RUN`)"));
        }
        self.running.ask_elsewhere(run_id, Ask::Pause)
    }

    /// Waits until a run that was asked to end or to stand still has done so, at most `wait`; its state.
    ///
    /// # Errors
    /// `run_active` where it has not; what was asked of another process is then taken back. As reading the journal.
    pub async fn until_at_rest(&self, run_id: &RunId, wait: Duration) -> Result<RunState> {
        const LOOK: Duration = Duration::from_millis(50);
        let deadline = tokio::time::Instant::now() + wait;
        loop {
            let state = self.known_run(run_id).await?;
            if state.status != RunStatus::Running {
                // It may have come to rest by itself, without having heard of it.
                self.running.take_back(run_id);
                return Ok(state);
            }
            if tokio::time::Instant::now() >= deadline {
                self.running.take_back(run_id);
                let message =
                    format!("run {run_id} is still under way {} s after it was asked", wait.as_secs());
                return Err(Error::new(ErrorCode::RunActive, message).with_help(
                    "a call that is under way may take as long as its tool's timeout; ask again",
                ));
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

fn has_ended(state: &RunState) -> Error {
    let message = format!("run {} has ended: it is {}", state.run_id, state.status);
    Error::new(ErrorCode::RunNotActive, message)
}
