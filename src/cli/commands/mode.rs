//! `luaplan mode RUN MODE`.

use serde_json::json;

use luaplan_app::{Caller, ModeChange};
use luaplan_base::Result;

use super::Session;
use crate::cli::args::ModeArgs;
use crate::cli::exit;

pub(super) async fn run(session: &Session<'_>, args: &ModeArgs) -> Result<u8> {
    let (app, run_id) = session.open_for_recorded(&args.run).await?;
    let change = ModeChange { mode: args.mode.parse()?, max_iterations: args.max_iterations };
    let ModeChange { mode, max_iterations } =
        app.runs().set_mode(&run_id, change, Some(Caller::at_terminal().actor())).await?;
    if session.output.is_json() {
        let data = json!({ "run_id": run_id, "mode": mode, "max_iterations": max_iterations });
        session.output.data(&data);
    } else {
        session.output.line(format_args!("run {run_id} is {mode} from now on"));
    }
    Ok(exit::DONE)
}
