//! `luaplan task "…"`.

use serde_json::json;

use luaplan_app::{App, RunSpec, Work};
use luaplan_base::{Error, ErrorCode, Result};

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
    planning.max_iterations = args.max_iterations;
    planning.validate()?;
    if !args.print_prompt && !args.dry_run && !args.planning.samples.is_empty() {
        // Before anything is looked up and shown for a model that is not there.
        app.models().require_model()?;
    }
    planning.samples = samples::of_task(session, &app, &args.task, &args.planning.samples).await?;
    // As the run would: with one candidate, its questions reach a person who answers.
    let candidates = planning.candidates.unwrap_or(app.config().candidates);
    let may_ask = candidates <= 1 && planning.tests.is_none();
    if args.print_prompt {
        let notes = app.models().notes(&planning.prompts).await?;
        let told = (&notes[..], &planning.samples[..], may_ask);
        let prompt = app.models().prompt(&args.task, &context, &limits, told).await?;
        return plan::print_prompt(session, &prompt);
    }
    if args.dry_run {
        let spec = RunSpec::task(&args.task, limits)
            .with_context(Some(context), args.options.context_name.clone())
            .with_planning(planning);
        let spec = run::rehearsed(session, &args.options, spec)?;
        return dry_run(session, &app, spec, (may_ask, args.options.events)).await;
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

/// Puts the prompt on record, and shows the cost of planning and the limits of the run: no model is asked.
async fn dry_run(
    session: &Session<'_>,
    app: &App,
    spec: RunSpec,
    (may_ask, events): (bool, bool),
) -> Result<u8> {
    let (run_id, limits) = (spec.run_id.clone(), spec.limits.clone());
    let Some(prompt) = app.runs().dry_run(spec, may_ask).await? else {
        return Err(Error::new(ErrorCode::Internal, "a task has a prompt"));
    };
    if events {
        return Ok(exit::DONE);
    }
    let model = app.models().require_model().is_ok().then(|| app.config().llm.name());
    let budget = &prompt.budget;
    if session.output.is_json() {
        session.output.data(&json!({
            "run_id": run_id,
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
    run::print_means(output, &limits, app.tools().usable());
    output.line("\nno model was asked and nothing was run; `luaplan plan` asks for the plan alone");
    Ok(exit::DONE)
}
