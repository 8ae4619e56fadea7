//! `luaplan reset RUN`.

use luaplan_app::Caller;
use luaplan_base::Result;

use super::Session;
use super::run::{attend, finish};
use crate::cli::args::ResetArgs;
use crate::cli::progress::EventPrinter;
use crate::cli::signals::cancelled_by_signals;

pub(super) async fn run(session: &Session<'_>, args: &ResetArgs) -> Result<u8> {
    let (app, run_id) = session.open_for_recorded(&args.run).await?;
    let caller = Caller::at_terminal();
    let mut spec = app.runs().start_over(&run_id, args.repeat_effects).await?;
    spec.circumstances.started_by = Some(caller.actor().clone());
    app.runs().cancel_unless_over(&run_id, Some(caller.actor())).await?;
    session.output.progress(format_args!("run {run_id} is started over as run {}", spec.run_id));
    let listeners = vec![EventPrinter::new(session.output, args.events).listener()];
    let cancel = cancelled_by_signals();
    let outcome = app.runs().run_to_rest(spec.with_listeners(listeners.clone(), cancel.clone())).await;
    let outcome = attend(session, &app, outcome, args.events, &listeners, &cancel).await?;
    Ok(finish(session, &outcome, args.events, None))
}
