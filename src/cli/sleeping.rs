//! Sleeping runs that a command waits for.

use tokio_util::sync::CancellationToken;

use luaplan_app::{App, ResumeRequest};
use luaplan_base::{Error, Result};
use luaplan_engine::RunOutcome;
use luaplan_journal::EventListener;

use super::output::Output;

/// Waits while a run sleeps and resumes it. Where the user ends the command, the run stays asleep and can be
/// resumed later, with the same wake time.
pub(super) async fn sleep_and_resume(
    output: &Output,
    app: &App,
    mut outcome: RunOutcome,
    listeners: &[EventListener],
    cancel: &CancellationToken,
) -> Result<RunOutcome> {
    while let Some(wake_at) = outcome.wake_at() {
        let run_id = outcome.run_id.clone();
        output.progress(format_args!(
            "asleep until {wake_at:.0}; ended here, it goes on with `luaplan resume {run_id}`"
        ));
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(outcome),
            wakes = app.history().sleep_until(&run_id, wake_at) => if !wakes {
                outcome.result = Err(Error::cancelled().into());
                return Ok(outcome);
            }
        }
        let request =
            ResumeRequest { listeners: listeners.to_vec(), ..ResumeRequest::new(run_id, cancel.clone()) };
        outcome = app.runs().resume_to_rest(request).await?;
    }
    Ok(outcome)
}
