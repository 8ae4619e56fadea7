//! `luaplan pause RUN` and `luaplan cancel RUN`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::Session;
use crate::app::{ActiveRuns, App};
use crate::base::{Error, ErrorCode, Result, RunId};
use crate::cli::args::{CancelArgs, PauseArgs};
use crate::cli::exit;
use crate::journal::{JournalRead as _, RunState, RunStatus};

/// How often a run is asked again: it may come to rest, or lose its process, without having heard.
const AGAIN: Duration = Duration::from_millis(100);

pub(super) async fn pause(session: &Session<'_>, args: &PauseArgs) -> Result<u8> {
    let (app, run_id) = session.open_to_stop(&args.run).await?;
    let asks = async || app.pause(&run_id).await;
    stands(session, &app, &run_id, RunStatus::Paused, args.wait, asks).await
}

pub(super) async fn cancel(session: &Session<'_>, args: &CancelArgs) -> Result<u8> {
    let (app, run_id) = session.open_to_stop(&args.run).await?;
    let app = Arc::new(app);
    let runs = ActiveRuns::new(Arc::clone(&app));
    let asks = async || runs.cancel(&run_id).await;
    stands(session, &app, &run_id, RunStatus::Cancelled, args.wait, asks).await
}

/// Asks until the run stands as is wanted, and says so.
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
    let state = loop {
        let state = state(app, run_id).await?;
        if state.status == wanted {
            break state;
        }
        if begun.elapsed() >= wait {
            let waited_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            let message = format!("run {run_id} is still under way {waited_ms} ms after it was asked");
            return Err(Error::new(ErrorCode::RunActive, message)
                .with_help("what was asked stands: it is heeded once the call under way is over"));
        }
        tokio::time::sleep(AGAIN).await;
        // Over, or at rest in another way than was wanted: the refusal says how.
        if let Err(refused) = asks().await
            && state_is_not(app, run_id, wanted).await
        {
            return Err(refused);
        }
    };
    app.take_back_asks(run_id);
    if session.output.is_json() {
        session.output.data(&json!({ "run_id": run_id, "status": state.status, "reason": state.paused }));
    } else {
        let reason = state.paused.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        session.output.line(format_args!("run {run_id} is {}{reason}", state.status));
    }
    Ok(exit::DONE)
}

async fn state_is_not(app: &App, run_id: &RunId, wanted: RunStatus) -> bool {
    state(app, run_id).await.is_ok_and(|state| state.status != wanted)
}

async fn state(app: &App, run_id: &RunId) -> Result<RunState> {
    let state = app.journal().run_state(run_id).await?;
    state.ok_or_else(|| Error::new(ErrorCode::NotFound, format!("there is no run {run_id}")))
}
