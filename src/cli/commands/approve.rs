//! `luaplan approve`.

use serde_json::json;

use super::run::finish;
use super::{Session, inputs, show};
use crate::app::{
    App, ApprovalAnswer, PendingApproval, ResumeRequest, approval_of, cannot_go_on, pending_approvals,
};
use crate::base::{Clock as _, ErrorCode, Result, RunId, SystemClock, parse_duration};
use crate::bus::LOCAL_TENANT;
use crate::cli::approvals::{describe, describe_grant, usage};
use crate::cli::exit;
use crate::cli::governance_args::{ApproveArgs, DecisionArgs};
use crate::cli::progress::EventPrinter;
use crate::cli::signals::cancelled_by_signals;
use crate::cli::sleeping::sleep_and_go_on;
use crate::journal::{JournalRead as _, grants, neutralize};

pub(super) async fn run(session: &Session<'_>, args: &ApproveArgs) -> Result<u8> {
    let says_something = args.decision.once
        || args.decision.time.is_some()
        || args.decision.edit.is_some()
        || args.decision.deny.is_some();
    let run = match (&args.run, &args.call) {
        (Some(run), Some(_)) => run,
        (Some(run), None) if args.all => run,
        _ if says_something => {
            return Err(usage(
                "which call is meant?".to_owned(),
                "CALL",
                "name run and call, or all calls of a run: `luaplan approve RUN CALL`, `luaplan approve RUN --all`",
            ));
        }
        (run, _) => return list(session, run.as_deref()).await,
    };
    let answer = answer(session, &args.decision)?;
    let (app, run_id) = session.open_to_go_on(run).await?;
    let pending = app.pending_approvals(Some(&run_id)).await?;
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
    let mut decided = Vec::new();
    for waits in meant {
        decided.push(app.decide(&waits.request.approval_id, answer.clone(), LOCAL_TENANT).await?);
    }
    let left = app.pending_approvals(Some(&run_id)).await?.len();
    if !session.output.is_json() {
        for request in &decided {
            let what = request.decision.as_ref().map_or("", |decision| decision.decision.as_str());
            session.output.progress(format_args!("call {} {}: {what}", request.call_id, request.tool));
        }
        let issued: Vec<_> =
            decided.iter().filter_map(|request| request.decision.as_ref()?.grant_id.as_ref()).collect();
        if !issued.is_empty() {
            let known = grants(&**app.journal(), None).await?;
            for grant in known.iter().filter(|grant| issued.contains(&&grant.grant_id)) {
                session
                    .output
                    .line(format_args!("allowed for a time: {}", describe_grant(grant, SystemClock.now())));
            }
            session.output.line("take it back with `luaplan policy revoke GRANT`");
        }
    }
    if left > 0 || args.no_resume || decided.is_empty() {
        return Ok(left_alone(session, &run_id, &decided, left));
    }
    go_on(session, &app, run_id, args.events).await
}

/// Says how things stand where the run does not go on by this.
fn left_alone(
    session: &Session<'_>,
    run_id: &RunId,
    decided: &[crate::journal::ApprovalState],
    left: usize,
) -> u8 {
    if session.output.is_json() {
        session.output.data(&json!({ "run_id": run_id, "decided": decided, "pending": left }));
    } else if left > 0 {
        session.output.line(format_args!(
            "{left} more call(s) of run {run_id} wait: `luaplan approve {run_id}` lists them"
        ));
    } else if decided.is_empty() {
        session.output.line(format_args!("no call of run {run_id} waits for an approval"));
    } else {
        session.output.line(format_args!("go on with `luaplan resume {run_id}`"));
    }
    exit::DONE
}

async fn go_on(session: &Session<'_>, app: &App, run_id: RunId, events: bool) -> Result<u8> {
    let printer = EventPrinter::new(session.output, events);
    let (listeners, cancel) = (vec![printer.listener()], cancelled_by_signals());
    let request =
        ResumeRequest { listeners: listeners.clone(), ..ResumeRequest::new(run_id.clone(), cancel.clone()) };
    let outcome = match app.resume_to_rest(request).await {
        Ok(outcome) => outcome,
        Err(error) if error.code() == ErrorCode::RunActive => {
            session.output.note(format_args!("run {run_id} is under way and goes on by itself"));
            return Ok(exit::DONE);
        }
        Err(error) => return Err(error),
    };
    let outcome = sleep_and_go_on(session.output, app, outcome, &listeners, &cancel).await?;
    Ok(finish(session, &outcome, events, None))
}

fn answer(session: &Session<'_>, args: &DecisionArgs) -> Result<ApprovalAnswer> {
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
    if let Some(edit) = &args.edit {
        return Ok(ApprovalAnswer::Edit(inputs::read_json(session, edit, "--edit")?));
    }
    Ok(match &args.deny {
        Some(reason) => ApprovalAnswer::Deny(reason.clone()),
        None => ApprovalAnswer::Once,
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
            pending_approvals(&journal, run_id.as_ref()).await?
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
    for waits in &pending {
        if last != Some(&waits.run_id) {
            let what = waits.task.as_deref().or(waits.plan_name.as_deref()).unwrap_or_default();
            output.heading(&format!("run {}  {}", waits.run_id, neutralize(what).replace('\n', " ")));
            last = Some(&waits.run_id);
        }
        output.line(describe(waits));
    }
    output.line(
        "\ndecide with `luaplan approve RUN CALL` and `--once`, `--for 1h`, `--edit JSON` or `--deny REASON`",
    );
    Ok(exit::DONE)
}
