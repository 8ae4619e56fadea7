//! Shows what waits for approval, and asks about it at a terminal; also what runs ask.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use luaplan_app::config::Environment;
use luaplan_app::{AfterDecision, App, ApprovalAnswer, Caller, PendingApproval, ResumeRequest};
use luaplan_base::{ErrorCode, Result, RunId, Value, parse_duration};
use luaplan_bus::{Suspension, Tier};
use luaplan_engine::RunOutcome;
use luaplan_journal::{EventListener, GrantState, neutralize};

use super::edits;
use super::output::Output;
use super::plan_approvals::{self, Asking};
use super::questions;
use super::shortened::{Detail, PAGE_LINES_MAX, all_of_call};
use super::sleeping::sleep_and_resume;

/// The exact call, the origin of each argument, and why approval is required; or the plan, with what it would do.
pub(super) fn describe(pending: &PendingApproval) -> String {
    let request = &pending.request;
    if let Some(plan) = plan_approvals::describe(pending, PAGE_LINES_MAX) {
        return plan;
    }
    let line = request.line.map_or_else(String::new, |line| format!(", line {line}"));
    let rule = match request.rules.first() {
        Some(rule) => format!("rule `{}`, {}", rule.name, request.tier),
        None => format!("default, {}", request.tier),
    };
    let mut lines = vec![
        format!("call {} {} ({}{line})", request.call_id, request.tool, request.effect.as_str()),
        format!("  why   {} ({rule})", request.reason),
    ];
    let all = all_of_call(&pending.run_id, request.call_id.as_str());
    lines.extend(Detail::Short.arguments(&request.arguments, &all, |name| {
        let from = texts(request.origins.pointer(&format!("/arguments/{name}")));
        if from.is_empty() { String::new() } else { format!("   ← {}", from.join(", ")) }
    }));
    let decided_by = texts(request.origins.get("decided_by"));
    if !decided_by.is_empty() {
        lines.push(format!("  made because of {}", decided_by.join(", ")));
    }
    neutralize(&lines.join("\n"))
}

/// A grant on one line: what it covers, for which tenant, until when.
pub(super) fn describe_grant(grant: &GrantState, now: Timestamp) -> String {
    let asked_by = match grant.rules.as_slice() {
        [] => "the default".to_owned(),
        rules => rules.iter().map(|rule| format!("`{}`", rule.name)).collect::<Vec<_>>().join(", "),
    };
    let ended = match grant {
        grant if grant.is_revoked => " (revoked)",
        grant if !grant.holds_at(now) => " (expired)",
        _ => "",
    };
    neutralize(&format!(
        "{}  {} until {:.0}{ended}: what {asked_by} asks about ({}), in runs of `{}`; issued by {} in run {}",
        grant.grant_id, grant.tool, grant.expires_at, grant.tier, grant.tenant, grant.by, grant.run_id
    ))
}

fn texts(list: Option<&serde_json::Value>) -> Vec<&str> {
    list.and_then(|list| list.as_array()).into_iter().flatten().filter_map(|text| text.as_str()).collect()
}

/// Whether a person can be asked: standard input and standard error are terminals.
pub(super) fn can_ask(output: &Output, events: bool) -> bool {
    !events && !output.is_json() && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks about the plan of a paused run, about its calls whose tier is `prompt`, and what the run asks, and resumes it, as long as
/// the person decides. The run holds nothing meanwhile: a person who ends the command can
/// decide later.
pub(super) async fn ask_and_resume(
    output: &Output,
    (app, environment): (&App, &Environment),
    mut outcome: RunOutcome,
    listeners: &[EventListener],
    cancel: &CancellationToken,
) -> Result<RunOutcome> {
    loop {
        match outcome.suspension() {
            Some(Suspension::Approvals(_)) => {}
            Some(Suspension::Questions(_)) => {
                if !questions::ask(output, app, &outcome.run_id, cancel).await? {
                    return Ok(outcome);
                }
                outcome = resume(output, app, outcome.run_id, listeners, cancel).await?;
                continue;
            }
            _ => return Ok(outcome),
        }
        let pending = app.approvals().pending(Some(&outcome.run_id)).await?;
        let (at_once, later): (Vec<_>, Vec<_>) =
            pending.into_iter().partition(|waits| waits.request.tier == Tier::Prompt);
        if at_once.is_empty() {
            return Ok(outcome);
        }
        let by = Caller::at_terminal();
        if let Err(refused) = app.approvals().may_decide(&outcome.run_id, by.actor()).await {
            let said = format!("not asked here: {}; {}", refused.message(), refused.help());
            output.note(neutralize(&said));
            return Ok(outcome);
        }
        let mut left = later.len();
        for waits in &at_once {
            let asking = Asking { output, app, environment, cancel };
            let is_decided = match waits.request.plan {
                Some(_) => asking.about(waits).await?,
                None => {
                    output.note(format_args!("\n{}", describe(waits)));
                    ask_one(output, app, waits, cancel).await?
                }
            };
            if !is_decided {
                left += 1;
            }
        }
        if left == at_once.len() + later.len() || cancel.is_cancelled() {
            return Ok(outcome);
        }
        outcome = resume(output, app, outcome.run_id, listeners, cancel).await?;
    }
}

async fn resume(
    output: &Output,
    app: &App,
    run_id: RunId,
    listeners: &[EventListener],
    cancel: &CancellationToken,
) -> Result<RunOutcome> {
    let request = ResumeRequest {
        listeners: listeners.to_vec(),
        by: Some(Caller::at_terminal().actor().clone()),
        ..ResumeRequest::new(run_id, cancel.clone())
    };
    let outcome = app.runs().resume_to_rest(request).await?;
    sleep_and_resume(output, app, outcome, listeners, cancel).await
}

/// Asks until a decision was made (`true`), or the person puts it off.
async fn ask_one(
    output: &Output,
    app: &App,
    waits: &PendingApproval,
    cancel: &CancellationToken,
) -> Result<bool> {
    loop {
        let Some(word) = line("[a]llow once, allow [f]or a time, [e]dit, [d]eny, [l]ater? ", cancel).await
        else {
            return Ok(false);
        };
        let answer = match word.as_str() {
            "a" | "allow" | "y" | "yes" => Some(ApprovalAnswer::Once),
            "l" | "later" => return Ok(false),
            "f" | "for" => match ask_again(output, "for how long (`1h`)? ", duration, cancel).await {
                Some(time) => time.map(ApprovalAnswer::For),
                None => return Ok(false),
            },
            "e" | "edit" => match ask_edit(output, waits, cancel).await {
                Some(answer) => answer,
                None => return Ok(false),
            },
            "d" | "deny" | "n" | "no" => match line("why? ", cancel).await {
                Some(reason) => Some(ApprovalAnswer::Deny(reason)),
                None => return Ok(false),
            },
            // `y+60s`: yes, and for that time.
            other => match other.strip_prefix("y+").map(duration) {
                Some(Ok(time)) => Some(ApprovalAnswer::For(time)),
                Some(Err(what)) => {
                    output.note(neutralize(&what));
                    None
                }
                None => {
                    output.note(
                        "answer with one of the letters in brackets; `y` allows once, `y+60s` for 60 seconds, `n` denies",
                    );
                    None
                }
            },
        };
        let Some(answer) = answer else { continue };
        let (id, by) = (&waits.request.approval_id, Caller::at_terminal());
        match app.approvals().decide(id, answer, AfterDecision::GoesOn, by.actor()).await {
            Ok(_) => return Ok(true),
            // Another approver decided meanwhile: the run may be resumed all the same.
            Err(error) if error.code() == ErrorCode::ApprovalStale => {
                output.error(&error);
                return Ok(true);
            }
            Err(error) => output.error(&error),
        }
    }
}

/// Asks until an answer is valid; `Some(None)` where an empty one returns to the choice.
async fn ask_again<T>(
    output: &Output,
    question: &str,
    read: impl Fn(&str) -> Result<T, String>,
    cancel: &CancellationToken,
) -> Option<Option<T>> {
    loop {
        let text = line(question, cancel).await?;
        if text.is_empty() {
            return Some(None);
        }
        match read(&text) {
            Ok(answer) => return Some(Some(answer)),
            Err(what) => output.note(format_args!("{}; an empty line goes back", neutralize(&what))),
        }
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    match parse_duration(text) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err(format!("`{text}` is no length of time: write `30m`, `1h30m` or `7d`")),
    }
}

/// Asks what to change, shows it, and asks for confirmation; `Some(None)` returns to the choice.
async fn ask_edit(
    output: &Output,
    waits: &PendingApproval,
    cancel: &CancellationToken,
) -> Option<Option<ApprovalAnswer>> {
    let question = "what to change, by name: `to=a@example.com`, or a JSON object to merge: ";
    let read = |text: &str| -> Result<(ApprovalAnswer, Vec<String>), String> {
        let answer = if text.starts_with(['{', '[', '"']) || !text.contains('=') {
            ApprovalAnswer::Merge(arguments(text)?)
        } else {
            edits::set(waits, &[text.to_owned()]).map_err(|error| error.message().to_owned())?
        };
        let difference = edits::difference(waits, &answer).map_err(|error| error.message().to_owned())?;
        Ok((answer, difference))
    };
    let Some((answer, difference)) = ask_again(output, question, read, cancel).await? else {
        return Some(None);
    };
    Some(is_meant(output, waits, &difference, cancel).await?.then_some(answer))
}

/// Shows what an edit of `waits` changes and asks for confirmation; `None` without an answer.
pub(super) async fn is_meant(
    output: &Output,
    waits: &PendingApproval,
    difference: &[String],
    cancel: &CancellationToken,
) -> Option<bool> {
    for line in difference {
        output.note(line);
    }
    let question = match waits.request.plan {
        Some(_) => "run the plan with these changes? [y]es, [n]o: ",
        None => "allow the call with these arguments? [y]es, [n]o: ",
    };
    agrees(question, cancel).await
}

/// Whether the person at the terminal says yes; `None` without an answer.
pub(super) async fn agrees(question: &str, cancel: &CancellationToken) -> Option<bool> {
    line(question, cancel).await.map(|word| matches!(word.as_str(), "y" | "yes"))
}

fn arguments(text: &str) -> Result<Value, String> {
    match Value::from_json_text(text) {
        Ok(arguments @ Value::Object(_)) => Ok(arguments),
        Ok(_) => Err("that is no JSON object: write `{\"name\": value}`".to_owned()),
        Err(error) => Err(format!("that cannot be read: {}", error.message())),
    }
}

/// A line from the terminal; `None` at its end, or at a signal to stop.
pub(super) async fn line(question: &str, cancel: &CancellationToken) -> Option<String> {
    let question = question.to_owned();
    let read = tokio::task::spawn_blocking(move || {
        let mut err = std::io::stderr().lock();
        // A question that cannot be shown gets no answer.
        write!(err, "{question}").and_then(|()| err.flush()).ok()?;
        drop(err);
        let mut text = String::new();
        match std::io::stdin().read_line(&mut text) {
            Ok(1..) => Some(text.trim().to_owned()),
            _ => None,
        }
    });
    tokio::select! {
        biased;
        () = cancel.cancelled() => None,
        read = read => read.ok().flatten(),
    }
}
