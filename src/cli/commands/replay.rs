//! `luaplan replay RUN`.

use super::{Session, inputs};
use crate::app::{ReplayReport, ReplayRequest};
use crate::base::Result;
use crate::cli::args::ReplayArgs;
use crate::cli::exit;
use crate::cli::output::Output;
use crate::cli::progress::shorten;
use crate::cli::signals::cancelled_by_signals;
use crate::journal::neutralize;

const ARGUMENTS_SHOWN_CHARS: usize = 90;

pub(super) async fn run(session: &Session<'_>, args: &ReplayArgs) -> Result<u8> {
    let with = args.with.as_deref().map(|file| inputs::read_plan(session, file)).transpose()?;
    let (app, run_id) = session.open_for_recorded(&args.run).await?;
    let report = app.replay(ReplayRequest { run_id, with, cancel: cancelled_by_signals() }).await?;
    if session.output.is_json() {
        session.output.data(&report);
    } else {
        print(session.output, &report);
    }
    Ok(if report.same { exit::DONE } else { exit::FAILED })
}

fn print(output: &Output, report: &ReplayReport) {
    let answered = report.calls_answered;
    if report.same && report.recorded.is_null() {
        output.line(format_args!(
            "the same as far as it went: {answered} call(s), answered from the journal; its end did not come from the plan"
        ));
        return;
    }
    if report.same {
        output.line(format_args!("the same: end, output and {answered} call(s), answered from the journal"));
        return;
    }
    for difference in &report.differences {
        output.line(format_args!("✗ {difference}"));
    }
    for call in &report.calls {
        let line = call.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        let arguments = shorten(&call.arguments.to_string(), ARGUMENTS_SHOWN_CHARS);
        let text = format!("  {:<8}{line}{} {arguments}", call.difference, call.tool);
        output.line(neutralize(&text));
    }
    output.heading("on record");
    output.data(&report.recorded);
    output.heading("now");
    output.data(&report.replayed);
}
