//! `luaplan task "…"`.

use serde_json::json;

use luaplan_app::{App, Work};
use luaplan_base::{Limits, Result};
use luaplan_planner::Prompt;

use super::run::{self, Wanted, execute, finish};
use super::{Session, inputs, plan, samples, show};
use crate::cli::approvals::can_ask;
use crate::cli::exit;
use crate::cli::planning_args::TaskArgs;

pub(super) async fn run(session: &Session<'_>, args: &TaskArgs) -> Result<u8> {
    let app = session.open_for(&args.options).await?;
    let context = inputs::context_or_empty(session, args.options.context.as_deref())?;
    let limits = inputs::limits(app.config(), &args.options)?;
    let mut planning = inputs::planning(session, &args.planning)?;
    if !args.print_prompt && !args.dry_run {
        app.models().require_model()?;
    }
    planning.samples = samples::of_task(session, &app, &args.task, &args.planning.samples).await?;
    if args.print_prompt || args.dry_run {
        let notes = app.models().notes(&planning.prompts).await?;
        // As the run would: with one candidate, its questions reach whoever answers.
        let candidates = planning.candidates.unwrap_or(app.config().candidates);
        let may_ask = candidates <= 1 && planning.tests.is_none();
        let prompt =
            app.models().prompt(&args.task, &context, &limits, (&notes, &planning.samples, may_ask)).await?;
        if args.print_prompt {
            return plan::print_prompt(session, &prompt);
        }
        return dry_run(session, &app, &prompt, &limits);
    }
    let asks = app.config().confirms_tasks && can_ask(session.output, args.options.events);
    let approve = !args.yes && args.options.mock.is_none() && (args.approve || asks);
    let follow = match &args.follow {
        Some(run) => Some(show::find(app.journal(), run).await?),
        None => None,
    };
    let context = inputs::read_context(session, args.options.context.as_deref())?;
    let work = Work::Task(args.task.clone());
    let wanted = Wanted { work, context, planning, approve, follow };
    let outcome = execute(session, &app, wanted, &args.options).await?;
    Ok(finish(session, &outcome, args.options.events, None))
}

/// The cost of planning and the limits of the run, without asking a model.
fn dry_run(session: &Session<'_>, app: &App, prompt: &Prompt, limits: &Limits) -> Result<u8> {
    let model = app.models().require_model().is_ok().then(|| app.config().llm.name());
    let budget = &prompt.budget;
    if session.output.is_json() {
        session.output.data(&json!({
            "model": model,
            "prompt": {
                "budget_tokens": budget.budget_tokens,
                "used_tokens": budget.used_tokens,
                "parts": budget.parts,
                "trimmed": budget.trimmed,
                "tools_left_out": budget.tools_left_out,
            },
            "limits": limits.to_json(),
            "tools": app.tools().usable().names().collect::<Vec<_>>(),
        }));
        return Ok(exit::DONE);
    }
    let output = session.output;
    output.line(format_args!("model: {}", model.as_deref().unwrap_or("none configured")));
    output.line(format_args!("prompt: {} of {} tokens", budget.used_tokens, budget.budget_tokens));
    for part in &budget.parts {
        output.line(format_args!("  {:<13} {}", part.name, part.tokens));
    }
    if !budget.trimmed.is_empty() {
        output.line(format_args!("trimmed: {}", budget.trimmed.join(", ")));
    }
    run::print_means(output, limits, app.tools().usable());
    output.line("\nno model was asked and nothing was run; `luaplan plan` asks for the plan alone");
    Ok(exit::DONE)
}
