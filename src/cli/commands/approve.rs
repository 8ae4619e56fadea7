//! `luaplan approve`.

use serde_json::json;
use tokio_util::sync::CancellationToken;

use luaplan_app::{
    AfterDecision, App, ApprovalAnswer, Caller, PendingApproval, ResumeRequest, approval_of, cannot_go_on,
    pending_approvals,
};
use luaplan_base::{ErrorCode, Result, RunId, counted, parse_duration};
use luaplan_bus::LOCAL_TENANT;
use luaplan_journal::{DecisionKind, JournalRead as _, grants, neutralize};

use super::run::finish;
use super::{Session, inputs, show};
use crate::cli::approvals::{can_ask, describe, describe_grant, is_meant};
use crate::cli::edits::{difference, edited_plan, in_editor, of_plan, set};
use crate::cli::exit;
use crate::cli::exit::usage;
use crate::cli::governance_args::{ApproveArgs, DecisionArgs};
use crate::cli::plan_approvals::{commands, show_waiting_plan};
use crate::cli::progress::{EventPrinter, show_findings};
use crate::cli::shortened::shorten;
use crate::cli::signals::cancelled_by_signals;
use crate::cli::sleeping::sleep_and_resume;

/// The most calls a list shows.
const LISTED_MAX: usize = 50;
/// The most characters of a task in a heading.
const WHAT_CHARS: usize = 300;

pub(super) async fn run(session: &Session<'_>, args: &ApproveArgs) -> Result<u8> {
    decide(session, args).await.map_err(|error| {
        let given = session.options.flags.first().filter(|_| error.code() == ErrorCode::ConfigUnknownKey);
        match given {
            Some((name, value)) => {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                error.with_help(format!(
                    "`--set` is a key of the configuration; an argument of the call is changed by `--argument {name}={value}`"
                ))
            }
            None => error,
        }
    })
}

async fn decide(session: &Session<'_>, args: &ApproveArgs) -> Result<u8> {
    let says_something = args.decision.once
        || args.decision.time.is_some()
        || args.decision.edits()
        || args.decision.deny.is_some();
    let run = match (&args.run, &args.call) {
        (Some(run), Some(_)) => run,
        (Some(run), None) if args.all => run,
        (run, None) if says_something => {
            let list = run.as_ref().map_or_else(String::new, |run| format!(" {run}"));
            return Err(usage(
                "which call is meant?".to_owned(),
                "CALL",
                &format!(
                    "`luaplan approve{list}` lists the calls that wait, each with the command that decides about it; `--all` means all of a run"
                ),
            ));
        }
        (run, _) => return list(session, run.as_deref()).await,
    };
    let cancel = cancelled_by_signals();
    let answer = answer(&args.decision)?;
    let (app, run_id) = session.open_for_recorded(run).await?;
    let pending = app.approvals().pending(Some(&run_id)).await?;
    let meant: Vec<&PendingApproval> = match &args.call {
        Some(call) => vec![approval_of(&**app.journal(), &run_id, &pending, call).await?],
        None if pending.is_empty() => {
            match app.journal().run_state(&run_id).await?.as_ref().and_then(cannot_go_on) {
                Some(error) => return Err(error),
                None => Vec::new(),
            }
        }
        None => pending.iter().collect(),
    };
    let mut answers = Vec::new();
    for waits in meant {
        let answer = match edit(session, &app, waits, &args.decision)? {
            Some(edit) => edit,
            None => answer.clone(),
        };
        let difference = difference(waits, &answer)?;
        if !difference.is_empty() && !session.output.is_json() {
            if can_ask(session.output, args.events) && !args.yes {
                if is_meant(session.output, waits, &difference, &cancel).await != Some(true) {
                    session.output.line("nothing was decided");
                    return Ok(exit::PAUSED);
                }
            } else {
                difference.iter().for_each(|line| session.output.note(line));
            }
        }
        answers.push((&waits.request.approval_id, answer));
    }
    // Only after all questions: a "no" to one decides nothing.
    let mut decided = Vec::new();
    let by = Caller::at_terminal();
    let rejects = matches!(answer, ApprovalAnswer::Deny(_));
    let what = pending.first().map(|waits| waits.task.clone().or_else(|| waits.plan_name.clone()));
    let what = shorten(&what.flatten().unwrap_or_default().replace('\n', " "), WHAT_CHARS);
    let then = if args.no_resume { AfterDecision::StaysPaused } else { AfterDecision::GoesOn };
    for (approval_id, answer) in answers {
        let edited = edited_plan(&answer).map(str::to_owned);
        let answered = app.approvals().decide(approval_id, answer, then, by.actor()).await;
        if let (Err(error), Some(source), false) = (&answered, edited, session.output.is_json()) {
            show_findings(session.output, error, Some(("the edited plan", &source)));
        }
        decided.push(answered.map_err(|error| exit::about_argument(error, "--argument"))?);
    }
    let left = app.approvals().pending(Some(&run_id)).await?.len();
    if !session.output.is_json() {
        for request in &decided {
            let decided = match request.decision.as_ref().and_then(|decision| decision.decision.known()) {
                Some(DecisionKind::Deny) => "denied",
                Some(DecisionKind::Edit) => "approved with changes",
                Some(DecisionKind::For) => "approved for a time",
                _ => "approved",
            };
            let which = match request.plan {
                Some(_) => "the plan".to_owned(),
                None => format!("call {} {}", request.call_id, request.tool),
            };
            session.output.note(neutralize(&format!("{decided}: {which} of run {run_id}, \"{what}\"")));
        }
        let issued: Vec<_> =
            decided.iter().filter_map(|request| request.decision.as_ref()?.grant_id.as_ref()).collect();
        if !issued.is_empty() {
            let known = grants(&**app.journal(), None).await?;
            for grant in known.iter().filter(|grant| issued.contains(&&grant.grant_id)) {
                session.output.line(format_args!(
                    "allowed for a time: {}\ntake it back with `luaplan policy revoke {}`",
                    describe_grant(grant, app.history().now()),
                    grant.grant_id
                ));
            }
        }
    }
    if left > 0 || args.no_resume || decided.is_empty() {
        return Ok(left_alone(session, &run_id, &decided, left));
    }
    if rejects && decided.iter().any(|request| request.plan.is_some()) {
        session.output.progress("another plan is asked for, with what you said");
    }
    resume_run(session, &app, run_id, args.events, cancel).await
}

/// Reports the state of the run where the decision does not resume it.
fn left_alone(
    session: &Session<'_>,
    run_id: &RunId,
    decided: &[luaplan_journal::ApprovalState],
    left: usize,
) -> u8 {
    if session.output.is_json() {
        session.output.data(&json!({ "run_id": run_id, "decided": decided, "pending": left }));
    } else if left > 0 {
        session.output.line(format_args!(
            "{} of run {run_id} still {}: `luaplan approve {run_id}` lists them",
            counted(left, "call"),
            if left == 1 { "waits" } else { "wait" },
        ));
    } else if decided.is_empty() {
        session.output.line(format_args!("no call of run {run_id} waits for an approval"));
    } else {
        session.output.line(format_args!("resume it: `luaplan resume {run_id}`"));
    }
    exit::DONE
}

pub(super) async fn resume_run(
    session: &Session<'_>,
    app: &App,
    run_id: RunId,
    events: bool,
    cancel: CancellationToken,
) -> Result<u8> {
    let printer = EventPrinter::new(session.output, events);
    let listeners = vec![printer.listener()];
    let request = ResumeRequest {
        listeners: listeners.clone(),
        by: Some(Caller::at_terminal().actor().clone()),
        ..ResumeRequest::new(run_id.clone(), cancel.clone())
    };
    let outcome = match app.runs().resume_to_rest(request).await {
        Ok(outcome) => outcome,
        Err(error) if error.code() == ErrorCode::RunActive => {
            session.output.note(format_args!("run {run_id} is under way and goes on by itself"));
            return Ok(exit::DONE);
        }
        Err(error) => return Err(error),
    };
    let outcome = sleep_and_resume(session.output, app, outcome, &listeners, &cancel).await?;
    if !events {
        show_waiting_plan(session.output, app, &outcome).await?;
    }
    Ok(finish(session, &outcome, events, None))
}

/// The decision, without edits, which depend on the call.
fn answer(args: &DecisionArgs) -> Result<ApprovalAnswer> {
    if let Some(time) = &args.time {
        let time = parse_duration(time).map_err(|error| {
            usage(
                format!("--for {time}: {}", error.message()),
                "--for",
                "write a duration with its unit: `--for 1h`",
            )
        })?;
        return Ok(ApprovalAnswer::For(time));
    }
    Ok(match &args.deny {
        Some(reason) => ApprovalAnswer::Deny(reason.clone()),
        None => ApprovalAnswer::Once,
    })
}

/// The requested edit of the call, where there is one.
fn edit(
    session: &Session<'_>,
    app: &App,
    waits: &PendingApproval,
    args: &DecisionArgs,
) -> Result<Option<ApprovalAnswer>> {
    if let Some(file) = &args.plan {
        if waits.request.plan.is_none() {
            let message = format!("call {} is no plan, and `--plan` gives one", waits.request.call_id);
            return Err(usage(
                message,
                "--plan",
                "arguments are changed by `--argument NAME=VALUE` or `--edit`",
            ));
        }
        let (_, source) = inputs::read_plan(session, file)?;
        return Ok(Some(of_plan(source)));
    }
    Ok(match &args.edit {
        Some(Some(patch)) => Some(ApprovalAnswer::Merge(inputs::read_json(session, patch, "--edit")?)),
        Some(None) => Some(in_editor(waits, session.environment, &app.config().data_dir)?),
        None if args.arguments.is_empty() => None,
        None => Some(set(waits, &args.arguments)?),
    })
}

async fn list(session: &Session<'_>, run: Option<&str>) -> Result<u8> {
    let mut stuck = None;
    let pending = match session.journal().await? {
        Some(journal) => {
            let run_id = match run {
                Some(run) => Some(show::find(&journal, run).await?),
                None => None,
            };
            if let Some(run_id) = &run_id {
                stuck = journal.run_state(run_id).await?.as_ref().and_then(cannot_go_on);
            }
            pending_approvals(&journal, run_id.as_ref(), None).await?
        }
        None if run.is_some() => return Err(show::no_runs()),
        None => Vec::new(),
    };
    let output = session.output;
    if output.is_json() {
        output.data(&pending);
        return Ok(exit::DONE);
    }
    if pending.is_empty() {
        output.line("nothing waits for an approval");
        if let Some(error) = stuck {
            output.line(format_args!("{}; {}", neutralize(error.message()), error.help()));
        }
        return Ok(exit::DONE);
    }
    let mut last: Option<&RunId> = None;
    let shown = pending.len().min(LISTED_MAX);
    for waits in pending.iter().take(shown) {
        if last != Some(&waits.run_id) {
            let what = waits.task.as_deref().or(waits.plan_name.as_deref()).unwrap_or_default();
            let what = shorten(&neutralize(what).replace('\n', " "), WHAT_CHARS);
            let tenant = waits.tenant.as_deref().filter(|tenant| *tenant != LOCAL_TENANT);
            let tenant = tenant.map_or_else(String::new, |tenant| format!(" of {}", neutralize(tenant)));
            output.heading(&format!("run {}{tenant}  {what}", waits.run_id));
            last = Some(&waits.run_id);
        }
        output.line(describe(waits));
        let (run_id, call) = (&waits.run_id, &waits.request.call_id);
        match waits.request.plan {
            Some(_) => output.line(commands(waits)),
            None => output.line(format_args!("  decide: luaplan approve {run_id} {call}")),
        }
    }
    if pending.len() > shown {
        let more = pending.len() - shown;
        output.line(format_args!("\n… and {more} more: `luaplan approve --json`"));
    }
    if pending.iter().all(|waits| waits.request.plan.is_some()) {
        return Ok(exit::DONE);
    }
    output.line(
        "\nthat allows the call once; with `--for 1h` it allows calls like it for a time, `--argument NAME=VALUE` or `--edit` changes \
         arguments, `--deny REASON` refuses",
    );
    Ok(exit::DONE)
}
