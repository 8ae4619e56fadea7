//! `luaplan pause RUN` and `luaplan cancel RUN`.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::Session;
use crate::app::{ActiveRuns, App};
use crate::base::{Result, RunId};
use crate::cli::args::{CancelArgs, PauseArgs};
use crate::cli::exit;

pub(super) async fn pause(session: &Session<'_>, args: &PauseArgs) -> Result<u8> {
    let (app, run_id) = session.open_to_go_on(&args.run).await?;
    app.pause(&run_id).await?;
    stands(session, &app, &run_id, args.wait).await
}

pub(super) async fn cancel(session: &Session<'_>, args: &CancelArgs) -> Result<u8> {
    let (app, run_id) = session.open_to_go_on(&args.run).await?;
    let app = Arc::new(app);
    ActiveRuns::new(Arc::clone(&app)).cancel(&run_id).await?;
    stands(session, &app, &run_id, args.wait).await
}

/// Says how the run stands once it does.
async fn stands(session: &Session<'_>, app: &App, run_id: &RunId, wait: Duration) -> Result<u8> {
    let state = app.until_at_rest(run_id, wait).await?;
    if session.output.is_json() {
        session.output.data(&json!({ "run_id": run_id, "status": state.status, "reason": state.paused }));
    } else {
        session.output.line(format_args!("run {run_id} is {}", state.status));
    }
    Ok(exit::DONE)
}
