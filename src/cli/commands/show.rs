//! `luaplan show RUN`.

use serde_json::json;

use super::{Session, check};
use crate::app::{cannot_go_on, no_such_run};
use crate::base::{Error, ErrorCode, Result, RunId};
use crate::cli::args::ShowArgs;
use crate::cli::exit;
use crate::cli::output::Output;
use crate::cli::progress::describe;
use crate::engine::pause_requested;
use crate::journal::{
    EventBody, Journal, JournalRead as _, Record, RecordFilter, RunFilter, RunState, RunStatus, RunSummary,
    neutralize,
};
use crate::plan::Finding;

pub(super) async fn run(session: &Session<'_>, args: &ShowArgs) -> Result<u8> {
    let journal = session.journal().await?.ok_or_else(no_runs)?;
    let run_id = find(&journal, &args.run).await?;
    let filter = RecordFilter { run_id: Some(run_id.clone()), ..RecordFilter::default() };
    let records = journal.records(filter).await?;
    if records.is_empty() {
        return Err(no_such_run(&run_id));
    }
    let plan = last_plan(&records);
    if args.plan {
        let plan =
            plan.ok_or_else(|| Error::new(ErrorCode::NotFound, format!("run {run_id} has no plan")))?;
        if session.output.is_json() {
            session.output.data(&json!({ "run_id": run_id, "plan": plan }));
        } else {
            session.output.source(plan);
        }
        return Ok(exit::DONE);
    }
    if session.output.is_json() {
        let summary = journal.run_summary(&run_id).await?;
        session.output.data(&json!({ "run": summary, "plan": plan, "records": records }));
        return Ok(exit::DONE);
    }
    print(session.output, &run_id, plan, &records);
    Ok(exit::DONE)
}

pub(super) fn no_runs() -> Error {
    Error::new(ErrorCode::NotFound, "there are no runs yet").with_help("`luaplan demo` makes one")
}

/// Runs read at once to find the last one.
const LOOKED_AT: u32 = 20;

pub(super) async fn find(journal: &Journal, text: &str) -> Result<RunId> {
    if text != "last" {
        return text.parse();
    }
    newest(journal, None).await?.map(|run| run.run_id).ok_or_else(no_runs)
}

/// As [`find`], where `last` is the newest run that can still go on, if there is one.
pub(super) async fn find_resumable(journal: &Journal, text: &str) -> Result<RunId> {
    /// How many failed runs are looked at for an interrupted one.
    const FAILED_LOOKED_AT: u32 = 50;
    if text != "last" {
        return text.parse();
    }
    let failed = Some(RunStatus::Failed);
    let filter = RunFilter { status: failed, limit: Some(FAILED_LOOKED_AT), ..RunFilter::default() };
    let interrupted = |run: &RunSummary| {
        run.parent.is_none() && run.code.as_deref() == Some(ErrorCode::Interrupted.as_str())
    };
    let interrupted = journal.runs(filter).await?.into_iter().find(interrupted);
    match newest_open(journal).await?.into_iter().chain(interrupted).max_by_key(|run| run.started_at) {
        Some(newest) => Ok(newest.run_id),
        None => find(journal, text).await,
    }
}

/// As [`find`], where `last` is the newest run that is not over.
pub(super) async fn find_open(journal: &Journal, text: &str) -> Result<RunId> {
    if text != "last" {
        return text.parse();
    }
    let none = || {
        Error::new(ErrorCode::NotFound, "no run is under way, asleep or paused")
            .with_help("`luaplan runs` lists all; name one by its id")
    };
    newest_open(journal).await?.map(|run| run.run_id).ok_or_else(none)
}

/// The newest run that is not over.
async fn newest_open(journal: &Journal) -> Result<Option<RunSummary>> {
    let mut found = Vec::new();
    for status in [RunStatus::Paused, RunStatus::Sleeping, RunStatus::Running] {
        found.extend(newest(journal, Some(status)).await?);
    }
    Ok(found.into_iter().max_by_key(|run| run.started_at))
}

/// The newest run that nobody called: a run is meant, not one of its agents'.
async fn newest(journal: &Journal, status: Option<RunStatus>) -> Result<Option<RunSummary>> {
    let mut filter = RunFilter { status, limit: Some(LOOKED_AT), ..RunFilter::default() };
    loop {
        let page = journal.runs(filter.clone()).await?;
        let Some(last) = page.last() else { return Ok(None) };
        filter.before = Some(last.run_id.clone());
        if let Some(run) = page.into_iter().find(|run| run.parent.is_none()) {
            return Ok(Some(run));
        }
    }
}

fn last_plan(records: &[Record]) -> Option<&str> {
    records.iter().rev().find_map(|record| match &record.event.body {
        EventBody::PlanProposed { source, .. } => Some(source.as_str()),
        _ => None,
    })
}

/// What the check that refused the last plan found.
fn print_findings(output: &Output, plan: Option<&str>, records: &[Record]) {
    let last = records.iter().rev().find_map(|record| match &record.event.body {
        EventBody::PlanChecked { ok: false, findings, .. } => Some(findings),
        _ => None,
    });
    let findings: Option<Vec<Finding>> =
        last.and_then(|findings| serde_json::from_value(findings.clone()).ok());
    check::print(output, "the plan", plan.unwrap_or_default(), &findings.unwrap_or_default());
}

fn print(output: &Output, run_id: &RunId, plan: Option<&str>, records: &[Record]) {
    output.line(format_args!("run {run_id}"));
    for record in records {
        if let EventBody::RunStarted { task, plan_name, mocked, parent_run_id, agent, starts_over, .. } =
            &record.event.body
        {
            if let (Some(parent), Some(agent)) = (parent_run_id, agent) {
                output.line(format_args!("agent {agent}, called by run {parent}"));
            }
            if let Some(first) = starts_over {
                output.line(format_args!("starts over run {first}"));
            }
            let (kind, name) = if task.is_some() { ("task", task) } else { ("plan", plan_name) };
            let mark =
                if *mocked { " (mocked: nothing reached the world, calls are not recorded)" } else { "" };
            output.line(format_args!("{kind}: {}{mark}", neutralize(name.as_deref().unwrap_or_default())));
        }
    }
    if let Some(plan) = plan {
        output.heading("plan");
        for (index, line) in plan.lines().enumerate() {
            output.line(format_args!("{:>4}  {}", index + 1, neutralize(line)));
        }
    }
    output.heading("what happened");
    for record in records {
        let at = record.event.at;
        if let Some(line) = describe(&record.event) {
            output.line(format_args!("{at:.3}  {}", neutralize(&line)));
        }
    }
    // A run that went on has earlier ends, which count no more.
    if let Some(record) = records.iter().rev().find(|record| record.event.body.ends_run()) {
        match &record.event.body {
            EventBody::RunFinished { result, .. } => {
                output.heading("result");
                output.data(result);
            }
            EventBody::RunFailed { code, message, .. } => {
                output.heading("failed");
                output.line(format_args!("{code}: {}", neutralize(message)));
                if code == ErrorCode::CheckRefused.as_str() {
                    print_findings(output, plan, records);
                }
            }
            EventBody::RunCancelled { reason, .. } => {
                output.heading("cancelled");
                output.line(neutralize(reason));
            }
            _ => {}
        }
    }
    let state = RunState::fold(records);
    if let Some(wake_at) = state.as_ref().and_then(|state| state.wake_at) {
        output.heading("asleep");
        output
            .line(format_args!("until {wake_at:.0}; `luaplan resume {run_id}` waits until then and goes on"));
    }
    if let Some(state) = state.filter(|state| state.status == RunStatus::Paused) {
        output.heading("paused");
        output.line(neutralize(state.paused.as_deref().unwrap_or_default()));
        if let Some(error) = cannot_go_on(&state) {
            output.line(format_args!("{}; {}", neutralize(error.message()), error.help()));
            return;
        }
        for call in state.calls_in_doubt() {
            let (id, arguments) = (&call.call_id, call.arguments.to_string());
            output.line(format_args!("  {id} {} {}", call.tool, neutralize(&arguments)));
        }
        let mut waits = false;
        for call in state.calls.iter().filter(|call| call.rests()) {
            if let Some(child) = &call.child_run_id {
                waits = true;
                output.line(format_args!("  {} {} waits: `luaplan show {child}`", call.call_id, call.tool));
            }
        }
        for request in state.pending_approvals() {
            waits = true;
            let (id, arguments) = (&request.call_id, request.arguments.to_string());
            output.line(format_args!("  {id} {} {}", request.tool, neutralize(&arguments)));
        }
        // What was asked for by somebody, a call of an agent with it, waits for no decision.
        if waits && state.paused.as_deref() != Some(pause_requested().message()) {
            output.line(format_args!(
                "`luaplan approve {run_id}` lists what waits for a person; decide with `luaplan approve {run_id} CALL`"
            ));
            return;
        }
        if state.calls_in_doubt().next().is_none() {
            output.line(format_args!("go on with `luaplan resume {run_id}`"));
            return;
        }
        output.line(format_args!(
            "go on with `luaplan resume {run_id}` and `--retry CALL`, `--done CALL=JSON` or `--failed CALL=REASON`"
        ));
    }
}
