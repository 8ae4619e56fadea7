//! `luaplan pause RUN` and `luaplan cancel RUN`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use luaplan_app::{ActiveRuns, App, Caller, no_such_run};
use luaplan_base::{Error, ErrorCode, Result, RunId};
use luaplan_journal::{JournalRead as _, RunStatus};

use super::Session;
use crate::cli::args::{CancelArgs, PauseArgs};
use crate::cli::exit;

/// The interval of repeated requests: a run may be suspended, or lose its process, before it reads one.
const AGAIN: Duration = Duration::from_millis(100);

pub(super) async fn pause(session: &Session<'_>, args: &PauseArgs) -> Result<u8> {
    let (app, run_id) = session.open_for_recorded(&args.run).await?;
    let asks = async || app.runs().pause(&run_id, Some(Caller::at_terminal().actor())).await;
    stands(session, &app, &run_id, RunStatus::Paused, args.wait, asks).await
}

pub(super) async fn cancel(session: &Session<'_>, args: &CancelArgs) -> Result<u8> {
    let (app, run_id) = session.open_for_recorded(&args.run).await?;
    let app = Arc::new(app);
    let runs = ActiveRuns::new(Arc::clone(&app));
    let asks = async || runs.cancel(&run_id, Some(Caller::at_terminal().actor())).await;
    stands(session, &app, &run_id, RunStatus::Cancelled, args.wait, asks).await
}

/// Repeats the request until the run has the requested status, and reports it.
async fn stands(
    session: &Session<'_>,
    app: &App,
    run_id: &RunId,
    wanted: RunStatus,
    wait: Duration,
    asks: impl AsyncFn() -> Result<()>,
) -> Result<u8> {
    let begun = Instant::now();
    asks().await?;
    while status(app, run_id).await? != wanted {
        if begun.elapsed() >= wait {
            let waited_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            let message = format!("run {run_id} is still under way {waited_ms} ms after it was asked");
            return Err(Error::new(ErrorCode::RunActive, message)
                .with_help("what was asked stands: it is heeded once the call under way is over"));
        }
        tokio::time::sleep(AGAIN).await;
        // Ended, or suspended for another reason: the refusal says which.
        if let Err(refused) = asks().await
            && status(app, run_id).await? != wanted
        {
            return Err(refused);
        }
    }
    app.runs().withdraw_requests(run_id);
    let is_paused = wanted == RunStatus::Paused;
    let state = app.journal().run_state(run_id).await?.filter(|_| is_paused);
    let reason = state.and_then(|state| state.paused);
    if session.output.is_json() {
        session.output.data(&json!({ "run_id": run_id, "status": wanted, "reason": reason }));
    } else {
        let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        session.output.line(format_args!("run {run_id} is {wanted}{reason}"));
    }
    Ok(exit::DONE)
}

async fn status(app: &App, run_id: &RunId) -> Result<RunStatus> {
    let run = app.journal().run_summary(run_id).await?;
    run.map(|run| run.status).ok_or_else(|| no_such_run(run_id))
}
