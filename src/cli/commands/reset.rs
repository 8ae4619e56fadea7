//! `luaplan reset RUN`.

use super::Session;
use super::run::exit_code;
use crate::app::RunRequest;
use crate::base::Result;
use crate::cli::approvals::{ask_and_go_on, can_ask};
use crate::cli::args::ResetArgs;
use crate::cli::progress::{EventPrinter, report};
use crate::cli::signals::cancelled_by_signals;
use crate::cli::sleeping::sleep_and_go_on;

pub(super) async fn run(session: &Session<'_>, args: &ResetArgs) -> Result<u8> {
    let (app, run_id) = session.open_for_recorded(&args.run).await?;
    let begins = app.start_over(&run_id, args.repeat_effects).await?;
    app.cancel_unless_over(&run_id).await?;
    session.output.progress(format_args!("run {run_id} is started over as run {}", begins.run_id));
    let listeners = vec![EventPrinter::new(session.output, args.events).listener()];
    let cancel = cancelled_by_signals();
    let request = RunRequest { listeners: listeners.clone(), cancel: cancel.clone(), ..begins };
    let outcome = app.run_to_rest(request).await;
    let mut outcome = sleep_and_go_on(session.output, &app, outcome, &listeners, &cancel).await?;
    if can_ask(session.output, args.events) {
        outcome = ask_and_go_on(session.output, &app, outcome, &listeners, &cancel).await?;
    }
    if args.events {
        session.output.data_line(&outcome.to_json());
    } else {
        report(session.output, &outcome, None);
    }
    Ok(exit_code(&outcome))
}
