//! `luaplan plan "…"`.

use std::path::Path;

use serde_json::json;

use super::{Session, inputs};
use crate::app::{App, RunRequest, Work};
use crate::base::{Error, ErrorCode, Limits, Result, RunId, Value};
use crate::cli::args::PlanArgs;
use crate::cli::exit;
use crate::cli::progress::EventPrinter;
use crate::cli::signals::cancelled_by_signals;

pub(super) async fn run(session: &Session<'_>, args: &PlanArgs) -> Result<u8> {
    let app = session.open().await?;
    let context = inputs::context_or_empty(session, args.context.as_deref())?;
    let limits = app.config().limits.clone();
    if args.print_prompt {
        return print_prompt(session, &app, &args.task, &context, &limits);
    }
    propose(session, &app, &args.task, context, limits, args.output.as_deref()).await
}

/// Shows the prompt a task would be planned with.
pub(super) fn print_prompt(
    session: &Session<'_>,
    app: &App,
    task: &str,
    context: &Value,
    limits: &Limits,
) -> Result<u8> {
    let prompt = app.prompt(task, context, limits)?;
    if session.output.is_json() {
        session.output.data(&json!({
            "system": prompt.system,
            "user": prompt.user,
            "budget_tokens": prompt.budget.budget_tokens,
            "used_tokens": prompt.budget.used_tokens,
            "trimmed": prompt.budget.trimmed,
        }));
    } else {
        session.output.line(&prompt.system);
        session.output.line("");
        session.output.line(&prompt.user);
        session.output.progress(format_args!(
            "{} of {} tokens; trimmed: {}",
            prompt.budget.used_tokens,
            prompt.budget.budget_tokens,
            if prompt.budget.trimmed.is_empty() {
                "nothing".to_owned()
            } else {
                prompt.budget.trimmed.join(", ")
            }
        ));
    }
    Ok(exit::DONE)
}

/// Plans and checks; prints or writes the plan and runs nothing.
pub(super) async fn propose(
    session: &Session<'_>,
    app: &App,
    task: &str,
    context: Value,
    limits: Limits,
    file: Option<&Path>,
) -> Result<u8> {
    let printer = EventPrinter::new(session.output, false);
    let request = RunRequest {
        run_id: RunId::generate(),
        work: Work::Task(task.to_owned()),
        context: Some(context),
        context_name: None,
        limits,
        handler: None,
        listeners: vec![printer.listener()],
        cancel: cancelled_by_signals(),
    };
    let proposal = app.propose(&request).await?;
    if let Some(file) = file {
        std::fs::write(session.environment.working_dir.join(file), proposal.plan.source()).map_err(
            |error| {
                Error::new(ErrorCode::FileUnreadable, format!("cannot write {}: {error}", file.display()))
            },
        )?;
    }
    if session.output.is_json() {
        session.output.data(&json!({
            "run_id": request.run_id,
            "plan": proposal.plan.source(),
            "plan_hash": proposal.plan.hash(),
            "rounds": proposal.rounds,
            "explanation": proposal.explanation,
        }));
    } else if file.is_none() {
        session.output.source(proposal.plan.source());
    } else if let Some(file) = file {
        session.output.line(format_args!("wrote {}", file.display()));
    }
    Ok(exit::DONE)
}
