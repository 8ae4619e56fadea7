//! `luaplan runs`.

use std::collections::HashSet;

use luaplan_app::has_lost_its_process;
use luaplan_base::Result;
use luaplan_bus::LOCAL_TENANT;
use luaplan_journal::{JournalRead as _, RunFilter, RunStatus, neutralize};

use super::Session;
use crate::cli::args::RunsArgs;
use crate::cli::exit;
use crate::cli::table::{LastColumn, table};

pub(super) async fn run(session: &Session<'_>, args: &RunsArgs) -> Result<u8> {
    let journal = session.journal().await?;
    let filter = RunFilter {
        // One more than shown tells whether there are more.
        limit: Some(args.limit.saturating_add(1)),
        status: args.status.as_deref().map(str::parse).transpose()?,
        ..RunFilter::default()
    };
    let mut runs = match &journal {
        Some(journal) => journal.runs(filter).await?,
        None => Vec::new(),
    };
    let has_more = runs.len() > args.limit as usize;
    runs.truncate(args.limit as usize);
    if session.output.is_json() {
        session.output.data(&runs);
        return Ok(exit::DONE);
    }
    if runs.is_empty() {
        session.output.line(match &args.status {
            Some(status) => format!("no runs that are {status}"),
            None => "no runs yet; `luaplan demo` makes one".to_owned(),
        });
        return Ok(exit::DONE);
    }
    let mut gone = HashSet::new();
    if let Some(journal) = &journal {
        let config = session.load()?.check(session.environment)?;
        for run in runs.iter().filter(|run| run.status == RunStatus::Running) {
            let state = journal.run_state(&run.run_id).await?;
            if state.is_some_and(|state| has_lost_its_process(&config, &state)) {
                gone.insert(run.run_id.clone());
            }
        }
    }
    let has_tenants = runs.iter().any(|run| run.tenant != LOCAL_TENANT);
    let rows = runs.into_iter().map(|run| {
        let mut what = run.task.or(run.plan_name).unwrap_or_default();
        if let Some(parent) = &run.parent {
            what = format!("agent {} of {}: {what}", parent.agent, parent.run_id);
        }
        if run.mocked {
            what.insert_str(0, "(mocked) ");
        }
        if run.plan_only {
            what.insert_str(0, "(plan only) ");
        }
        let status = match &run.code {
            Some(code) => format!("{} ({code})", run.status.as_str()),
            None if let Some(wake_at) = run.wake_at => format!("sleeping (until {wake_at:.0})"),
            None if let Some(answer_by) = run.answer_by => format!("paused (answer by {answer_by:.0})"),
            None if gone.contains(&run.run_id) => "running (process gone)".to_owned(),
            None => run.status.as_str().to_owned(),
        };
        let mut row = vec![
            run.run_id.to_string(),
            format!("{:.0}", run.started_at),
            status,
            run.tool_calls.to_string(),
            neutralize(&what).replace(['\n', '\t'], " "),
        ];
        if has_tenants {
            row.insert(1, neutralize(&run.tenant));
        }
        row
    });
    let mut headers = vec!["RUN", "STARTED", "STATUS", "CALLS", "WHAT"];
    if has_tenants {
        headers.insert(1, "TENANT");
    }
    session.output.line(table(&headers, rows.collect(), LastColumn::Cut));
    if has_more {
        session.output.note(format_args!("only the newest {}; `--limit NUMBER` lists more", args.limit));
    }
    Ok(exit::DONE)
}
