//! `luaplan audit`: the log as JSON lines or CSV, and its verification.

use jiff::Timestamp;
use serde_json::json;

use luaplan_app::{check_event_names, check_tool_on_record, no_such_run};
use luaplan_base::{Clock as _, Error, ErrorCode, Result, SystemClock, parse_duration, shorten_members};
use luaplan_journal::{JournalRead as _, RecordFilter, neutralize, write_csv};

use super::{Session, show};
use crate::cli::args::{AuditAction, AuditArgs};
use crate::cli::exit;

pub(super) async fn run(session: &Session<'_>, args: &AuditArgs) -> Result<u8> {
    if let Some(AuditAction::Verify) = args.action {
        return verify(session).await;
    }
    if args.csv && session.output.is_json() {
        return Err(Error::new(ErrorCode::Usage, "`--csv` and `--json` ask for different forms")
            .with_help("leave one of them out; without `--csv` each record is one JSON line"));
    }
    check_event_names(&args.event)?;
    let journal = session.journal().await?;
    if let Some(tool) = &args.tool {
        let (_, catalog) = session.tools()?;
        let known: Vec<&str> = catalog.names().collect();
        check_tool_on_record(journal.as_ref().map(|journal| journal as _), None, &known, tool).await?;
    }
    let now = SystemClock.now();
    let run_id = match (args.run.as_deref(), &journal) {
        (Some(run), Some(journal)) => Some(show::find(journal, run).await?),
        (Some("last"), None) | (None, _) => None,
        (Some(run), None) => Some(run.parse()?),
    };
    let filter = RecordFilter {
        run_id,
        tool: args.tool.clone(),
        events: args.event.clone(),
        ok: args.outcome.as_deref().map(|outcome| outcome == "ok"),
        since: args.since.as_deref().map(|text| read_time("--since", text, now)).transpose()?,
        until: args.until.as_deref().map(|text| read_time("--until", text, now)).transpose()?,
        // One more than shown tells whether there are more.
        limit: Some(args.limit.saturating_add(1)),
        newest_first: true,
        ..RecordFilter::default()
    };
    if let Some(run_id) = &filter.run_id {
        let known = match &journal {
            Some(journal) => journal.run_summary(run_id).await?.is_some(),
            None => false,
        };
        if !known {
            return Err(no_such_run(run_id));
        }
    }
    let mut records = match journal {
        Some(journal) => journal.records(filter).await?,
        None => Vec::new(),
    };
    if records.len() > args.limit as usize {
        records.truncate(args.limit as usize);
        session.output.note(format_args!(
            "only the newest {} records; more with `--limit NUMBER`, older ones with `--until {}`",
            args.limit,
            records.last().map(|record| record.event.at.to_string()).unwrap_or_default()
        ));
    }
    records.reverse();
    if args.csv {
        let mut csv = Vec::new();
        write_csv(&records, &mut csv)?;
        session.output.line(String::from_utf8_lossy(&csv).trim_end());
    } else {
        let mut shortened = 0;
        for record in &records {
            if session.output.is_json() || !session.output.is_terminal() {
                session.output.data_line(record);
                continue;
            }
            let mut line = serde_json::to_value(record).unwrap_or_default();
            shortened += line.as_object_mut().map_or(0, |members| shorten_members(members).len());
            session.output.data_line(&line);
        }
        if shortened > 0 {
            session.output.note(format_args!("{shortened} value(s) shortened; all of them with `--json`"));
        }
    }
    Ok(exit::DONE)
}

async fn verify(session: &Session<'_>) -> Result<u8> {
    let Some(journal) = session.journal().await? else {
        if session.output.is_json() {
            session.output.data(&json!({ "records": 0, "ok": true, "head_hash": null, "problems": [], "problems_omitted": 0 }));
        } else {
            session.output.line("0 records: no run has made a journal yet");
        }
        return Ok(exit::DONE);
    };
    let report = journal.verify().await?;
    if session.output.is_json() {
        session.output.data(&report);
    } else {
        for problem in &report.problems {
            let place =
                problem.sequence.map_or_else(|| "the file".to_owned(), |number| format!("record {number}"));
            session.output.line(format_args!("{place}: {}", neutralize(&problem.message)));
        }
        let verdict = if report.ok { "the chain is whole" } else { "the chain is broken" };
        session.output.line(format_args!("{} records, {verdict}", report.records));
    }
    Ok(if report.ok { exit::DONE } else { exit::FAILED })
}

/// Parses an instant, or how long ago.
fn read_time(flag: &str, text: &str, now: Timestamp) -> Result<Timestamp> {
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Ok(instant);
    }
    if let Ok(date) = text.parse::<jiff::civil::Date>()
        && let Ok(zoned) = date.to_zoned(jiff::tz::TimeZone::UTC)
    {
        return Ok(zoned.timestamp());
    }
    let ago = match text.strip_suffix('d').and_then(|days| days.parse::<u64>().ok()) {
        Some(days) => std::time::Duration::from_secs(days * 86_400),
        None => parse_duration(text).map_err(|_| {
            Error::new(ErrorCode::Usage, format!("{flag} `{text}` is neither a time nor a duration"))
                .with_help("write `2026-01-31`, `2026-01-31T10:00:00Z`, or how long ago: `30m`, `2h`, `3d`")
        })?,
    };
    now.checked_sub(ago).map_err(|_| Error::new(ErrorCode::Usage, format!("{flag} `{text}` is too long ago")))
}
