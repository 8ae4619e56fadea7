//! `luaplan answer`.

use serde_json::json;

use luaplan_app::{AfterDecision, Caller, OpenQuestion, cannot_go_on, open_questions, question_of};
use luaplan_base::{Result, RunId, counted};
use luaplan_bus::LOCAL_TENANT;
use luaplan_journal::{JournalRead as _, neutralize};

use super::approve::resume_run;
use super::{Session, show};
use crate::cli::exit;
use crate::cli::governance_args::AnswerArgs;
use crate::cli::questions::describe;
use crate::cli::shortened::shorten;
use crate::cli::signals::cancelled_by_signals;

/// The most questions a list shows.
const LISTED_MAX: usize = 50;
/// The most characters of a task in a heading.
const WHAT_CHARS: usize = 300;

pub(super) async fn run(session: &Session<'_>, args: &AnswerArgs) -> Result<u8> {
    let (run, call, text) = match (&args.run, &args.first, &args.second) {
        (Some(run), Some(call), Some(text)) => (run, Some(call.as_str()), text),
        (Some(run), Some(text), None) => (run, None, text),
        (run, ..) => return list(session, run.as_deref()).await,
    };
    let cancel = cancelled_by_signals();
    let (app, run_id) = session.open_to_resume(run, Vec::new()).await?;
    let open = app.approvals().open_questions(Some(&run_id)).await?;
    let meant = question_of(&**app.journal(), &run_id, &open, call).await?;
    let then = if args.no_resume { AfterDecision::StaysPaused } else { AfterDecision::GoesOn };
    let question = (&meant.run_id, meant.asked.call_id.as_str());
    let answered = app.approvals().answer(question, text, then, Caller::at_terminal().actor()).await?;
    let left = app.approvals().open_questions(Some(&run_id)).await?.len();
    let waits = app.approvals().pending(Some(&run_id)).await?.len();
    if left == 0 && waits == 0 && !args.no_resume {
        if !session.output.is_json() {
            session.output.progress(format_args!("call {} is answered", answered.call_id));
        }
        return resume_run(session, &app, run_id, args.events, cancel).await;
    }
    if session.output.is_json() {
        session
            .output
            .data(&json!({ "run_id": run_id, "answered": answered, "open": left, "pending": waits }));
    } else if left > 0 {
        session.output.line(format_args!(
            "{} of run {run_id} {} open: `luaplan answer {run_id}` lists them",
            counted(left, "question"),
            if left == 1 { "is" } else { "are" },
        ));
    } else if waits > 0 {
        session.output.line(format_args!(
            "{} of run {run_id} {} for approval: `luaplan approve {run_id}` lists them",
            counted(waits, "call"),
            if waits == 1 { "waits" } else { "wait" },
        ));
    } else {
        session.output.line(format_args!("resume it: `luaplan resume {run_id}`"));
    }
    Ok(exit::DONE)
}

async fn list(session: &Session<'_>, run: Option<&str>) -> Result<u8> {
    let mut stuck = None;
    let open: Vec<OpenQuestion> = match session.journal().await? {
        Some(journal) => {
            let run_id = match run {
                Some(run) => Some(show::find(&journal, run).await?),
                None => None,
            };
            if let Some(run_id) = &run_id {
                stuck = journal.run_state(run_id).await?.as_ref().and_then(cannot_go_on);
            }
            open_questions(&journal, run_id.as_ref(), None).await?
        }
        None if run.is_some() => return Err(show::no_runs()),
        None => Vec::new(),
    };
    let output = session.output;
    if output.is_json() {
        output.data(&open);
        return Ok(exit::DONE);
    }
    if open.is_empty() {
        output.line("no run asks anything");
        if let Some(error) = stuck {
            output.line(format_args!("{}; {}", neutralize(error.message()), error.help()));
        }
        return Ok(exit::DONE);
    }
    let mut last: Option<&RunId> = None;
    for one in open.iter().take(LISTED_MAX) {
        if last != Some(&one.run_id) {
            let what = one.task.as_deref().or(one.plan_name.as_deref()).unwrap_or_default();
            let what = shorten(&neutralize(what).replace('\n', " "), WHAT_CHARS);
            let tenant = one.tenant.as_deref().filter(|tenant| *tenant != LOCAL_TENANT);
            let tenant = tenant.map_or_else(String::new, |tenant| format!(" of {}", neutralize(tenant)));
            output.heading(&format!("run {}{tenant}  {what}", one.run_id));
            last = Some(&one.run_id);
        }
        output.line(describe(&one.run_id, &one.asked));
    }
    if open.len() > LISTED_MAX {
        let more = open.len() - LISTED_MAX;
        output.line(format_args!("\n… and {more} more: `luaplan answer --json`"));
    }
    Ok(exit::DONE)
}
