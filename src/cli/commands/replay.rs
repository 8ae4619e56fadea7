//! `luaplan replay RUN`.

use std::sync::Arc;

use luaplan_app::config::read_policy;
use luaplan_app::{ReplayReport, ReplayRequest};
use luaplan_base::{Error, ErrorCode, Result};
use luaplan_journal::{Word, neutralize};

use super::policy::because;
use super::{Session, inputs};
use crate::cli::args::ReplayArgs;
use crate::cli::output::Output;
use crate::cli::shortened::shorten;
use crate::cli::signals::cancelled_by_signals;
use crate::cli::{exit, findings};

const ARGUMENTS_SHOWN_CHARS: usize = 90;

pub(super) async fn run(session: &Session<'_>, args: &ReplayArgs) -> Result<u8> {
    let mut with = args.with.as_deref().map(|file| inputs::read_plan(session, file)).transpose()?;
    let rules = args.policy.as_deref().map(|file| read_policy(&session.environment.working_dir.join(file)));
    let rules = rules.transpose()?.map(Arc::new);
    let model = args.model.iter().map(|model| ("llm.model".to_owned(), toml::Value::from(model.as_str())));
    let (app, run_id) = session.open_for_recorded_with(&args.run, model.collect()).await?;
    let cancel = cancelled_by_signals();
    if let Some(model) = &args.model {
        let proposal = app.runs().plan_again(&run_id, cancel.clone()).await.map_err(without_record)?;
        with = Some((format!("plan of {model}"), proposal.plan.source().to_owned()));
    }
    let planned = args.model.is_some().then(|| with.as_ref().map(|(_, source)| source.clone())).flatten();
    let request = ReplayRequest { run_id, with: with.clone(), cancel };
    let replayed = match rules {
        Some(rules) => app.runs().replay_under(request, rules).await,
        None => app.runs().replay(request).await,
    };
    if let (Err(error), Some((name, source)), false) = (&replayed, &with, session.output.is_json())
        && error.code() == ErrorCode::CheckRefused
    {
        let findings = app.plans().check(source, name, &app.config().limits, None).findings;
        findings::print(session.output, name, source, &findings);
    }
    let report = replayed?;
    if session.output.is_json() {
        let mut data = serde_json::to_value(&report).unwrap_or_default();
        if let (Some(planned), Some(members)) = (planned, data.as_object_mut()) {
            members.insert("plan".to_owned(), planned.into());
        }
        session.output.data(&data);
    } else {
        if let Some(planned) = planned {
            session.output.heading("the new plan");
            session.output.source(&planned);
        }
        print(session.output, &report);
    }
    Ok(if report.same { exit::DONE } else { exit::FAILED })
}

/// A replay records nothing, so the model's answers cannot be looked up.
fn without_record(error: Error) -> Error {
    match error.code() {
        ErrorCode::LlmCollapsed => {
            error.with_help("name a stronger model; what it answered is not on record")
        }
        _ => error,
    }
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
    for call in &report.policy {
        let line = call.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        let then = call.recorded.as_ref().map_or("not on record", Word::as_str);
        let rule = call.rule.as_deref().map(|rule| format!(" by rule `{rule}`")).unwrap_or_default();
        let arguments = shorten(&call.arguments.to_string(), ARGUMENTS_SHOWN_CHARS);
        let (call_id, tool, now) = (&call.call_id, &call.tool, call.now.as_str());
        output.line(neutralize(&format!("  {line}{call_id} {tool} {arguments}")));
        output.line(neutralize(&format!("          {then} then, {now} now{rule}{}", because(&call.reason))));
    }
    output.heading("on record");
    output.data(&report.recorded);
    output.heading("now");
    output.data(&report.replayed);
}
