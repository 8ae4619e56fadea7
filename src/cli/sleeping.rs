//! Runs that sleep while somebody waits at the command line.

use tokio_util::sync::CancellationToken;

use luaplan_app::{App, ResumeRequest};
use luaplan_base::{Error, Result};
use luaplan_engine::RunOutcome;
use luaplan_journal::EventListener;

use super::output::Output;

/// Waits while a run sleeps and goes on with it. Whoever ends this here leaves the run asleep: it goes on
/// later from the same time.
pub(super) async fn sleep_and_go_on(
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
            wakes = app.sleep_until(&run_id, wake_at) => if !wakes {
                outcome.result = Err(Error::cancelled().into());
                return Ok(outcome);
            }
        }
        let request =
            ResumeRequest { listeners: listeners.to_vec(), ..ResumeRequest::new(run_id, cancel.clone()) };
        outcome = app.resume_to_rest(request).await?;
    }
    Ok(outcome)
}
