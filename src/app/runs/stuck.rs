//! The outcome of a sleeping run that could not be woken.

use luaplan_base::{Error, ErrorCode, Result};
use luaplan_engine::RunOutcome;
use luaplan_journal::{Durability, JournalRead as _, RunLog, RunStatus};

use super::finish::{START_AGAIN, failed};
use super::restore::cannot_go_on;
use super::service::Runs;
use crate::ownership::hold::Hold;

impl Runs {
    /// Gives a run back that could not be claimed for `why`. One that sleeps and can never be resumed is ended instead.
    pub(crate) async fn release_or_fail(&self, hold: &Hold, log: &RunLog, why: &Error) {
        let ended = match why.code() {
            ErrorCode::RunNotResumable => self.end_where_stuck(log).await,
            _ => Ok(false),
        };
        match ended {
            Ok(true) => {}
            Ok(false) => hold.give_back(why).await,
            Err(error) => {
                let run_id = log.run_id();
                tracing::warn!(%run_id, %error, "a sleeping run that cannot go on could not be ended");
                hold.give_back(why).await;
            }
        }
    }

    async fn end_where_stuck(&self, log: &RunLog) -> Result<bool> {
        let Some(state) = self.history.journal.run_state(log.run_id()).await? else { return Ok(false) };
        if state.status != RunStatus::Sleeping {
            return Ok(false);
        }
        let Some(why) = cannot_go_on(&state) else { return Ok(false) };
        log.emit(failed(&ended_asleep(&why), self.used_so_far(&state).await?), Durability::Forced).await?;
        tracing::warn!(run_id = %state.run_id, reason = why.message(), "a sleeping run cannot go on and has ended");
        for child in state.calls.iter().filter_map(|call| call.child_run_id.as_ref()) {
            self.cancel_unless_over(child, None).await?;
        }
        Ok(true)
    }

    /// How a run stands that slept and could not be woken: ended, where that was for `why`.
    pub(crate) async fn not_woken(&self, mut asleep: RunOutcome, why: Error) -> RunOutcome {
        let summary = self.history.journal.run_summary(&asleep.run_id).await;
        let code = summary.ok().flatten().and_then(|run| run.code);
        if code.is_some_and(|code| code == ErrorCode::RunNotResumable) {
            asleep.result = Err(ended_asleep(&why).into());
        }
        asleep
    }
}

fn ended_asleep(why: &Error) -> Error {
    Error::new(why.code(), format!("it slept and cannot be woken: {}", why.message())).with_help(START_AGAIN)
}
