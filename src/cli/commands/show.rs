//! `luaplan show RUN`.

use serde_json::json;

use luaplan_app::{call_report, has_lost_its_process, no_such_run};
use luaplan_base::{Error, ErrorCode, Result, RunId};
use luaplan_journal::{
    EventBody, Journal, JournalRead as _, Record, RecordFilter, RunFilter, RunState, RunStatus, RunSummary,
};

use super::show_page::Page;
use super::{Session, show_call};
use crate::cli::args::ShowArgs;
use crate::cli::exit;
use crate::cli::shortened::Detail;

pub(super) async fn run(session: &Session<'_>, args: &ShowArgs) -> Result<u8> {
    let journal = session.journal().await?.ok_or_else(no_runs)?;
    let run_id = find(&journal, &args.run).await?;
    if let Some(call) = &args.call {
        let report = call_report(&journal, &run_id, call).await?;
        show_call::print(session.output, &report, Detail::of_flag(args.full))?;
        return Ok(exit::DONE);
    }
    let filter = RecordFilter { run_id: Some(run_id.clone()), ..RecordFilter::default() };
    let records = journal.records(filter).await?;
    if records.is_empty() {
        return Err(no_such_run(&run_id));
    }
    let plan = last_plan(&records);
    if args.plan {
        let plan = plan.ok_or_else(|| {
            Error::new(ErrorCode::NotFound, format!("run {run_id} has no plan"))
                .with_help(format!("`luaplan show {run_id}` tells what became of it"))
        })?;
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
    let config = session.load()?.check(session.environment)?;
    let is_left_behind = RunState::fold(&records).is_some_and(|state| has_lost_its_process(&config, &state));
    Page { output: session.output, run_id: &run_id, detail: Detail::of_flag(args.full), is_left_behind }
        .print(plan, &records);
    Ok(exit::DONE)
}

pub(super) fn no_runs() -> Error {
    Error::new(ErrorCode::NotFound, "there are no runs yet").with_help("`luaplan demo` makes one")
}

fn run_id(text: &str) -> Result<RunId> {
    text.parse().map_err(|error: Error| {
        error.with_help("`luaplan runs` lists the runs with their ids; `last` is the newest")
    })
}

/// Runs read at once to find the last one.
const LOOKED_AT: u32 = 20;

pub(super) async fn find(journal: &Journal, text: &str) -> Result<RunId> {
    if text != "last" {
        return run_id(text);
    }
    newest(journal, None).await?.map(|run| run.run_id).ok_or_else(no_runs)
}

/// As [`find`], where `last` is the newest run that can be resumed, if there is one.
pub(super) async fn find_resumable(journal: &Journal, text: &str) -> Result<RunId> {
    /// The number of failed runs searched for an interrupted one.
    const FAILED_LOOKED_AT: u32 = 50;
    if text != "last" {
        return run_id(text);
    }
    let failed = Some(RunStatus::Failed);
    let filter = RunFilter { status: failed, limit: Some(FAILED_LOOKED_AT), ..RunFilter::default() };
    let interrupted = |run: &RunSummary| run.parent.is_none() && run.was_interrupted();
    let interrupted = journal.runs(filter).await?.into_iter().find(interrupted);
    match newest_open(journal).await?.into_iter().chain(interrupted).max_by_key(|run| run.started_at) {
        Some(newest) => Ok(newest.run_id),
        None => find(journal, text).await,
    }
}

/// The newest run without an end.
async fn newest_open(journal: &Journal) -> Result<Option<RunSummary>> {
    let mut found = Vec::new();
    for status in [RunStatus::Paused, RunStatus::Sleeping, RunStatus::Running] {
        found.extend(newest(journal, Some(status)).await?);
    }
    Ok(found.into_iter().max_by_key(|run| run.started_at))
}

/// The newest run that is not of an agent: `last` means a run that a caller started.
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
