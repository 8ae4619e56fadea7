//! `luaplan plan "…"`.

use std::path::Path;

use serde_json::json;

use luaplan_app::{App, RevisedPlan, RunSpec};
use luaplan_base::{Error, ErrorCode, Result};
use luaplan_journal::neutralize;
use luaplan_plan::parameters::parameters;
use luaplan_planner::Prompt;

use super::{Session, inputs, samples};
use crate::cli::difference::unified;
use crate::cli::exit;
use crate::cli::planning_args::PlanArgs;
use crate::cli::progress::{EventPrinter, show_findings};
use crate::cli::shortened::Detail;
use crate::cli::signals::cancelled_by_signals;

pub(super) async fn run(session: &Session<'_>, args: &PlanArgs) -> Result<u8> {
    let app = session.open().await?;
    let context = inputs::context_or_empty(session, args.context.as_deref())?;
    let limits = app.config().limits.clone();
    let mut planning = inputs::planning(session, &args.planning)?;
    if !args.print_prompt && !args.planning.samples.is_empty() {
        // Before anything is looked up and shown for a model that is not there.
        app.models().require_model()?;
    }
    planning.samples = samples::of_task(session, &app, &args.task, &args.planning.samples).await?;
    if args.print_prompt {
        let notes = app.models().notes(&planning.prompts).await?;
        return print_prompt(
            session,
            &app.models().prompt(&args.task, &context, &limits, (&notes, &planning.samples, false)).await?,
        );
    }
    if let Some(file) = &args.output {
        refuse_existing(session, file, args.force)?;
    }
    let revised = args.revise.as_ref().map(|file| inputs::read_plan(session, file)).transpose()?;
    planning.revises =
        revised.clone().map(|(_, source)| RevisedPlan { source, task: None, influenced_by: Vec::new() });
    let printer = EventPrinter::new(session.output, false);
    let spec = RunSpec::task(&args.task, limits)
        .with_context(Some(context), None)
        .with_planning(planning)
        .with_listeners(vec![printer.listener()], cancelled_by_signals());
    propose(session, &app, spec, (args.output.as_deref(), revised)).await
}

/// Refuses an existing file of `--output`, unless it may be replaced.
pub(super) fn refuse_existing(session: &Session<'_>, file: &Path, may_replace: bool) -> Result<()> {
    if may_replace || !session.environment.working_dir.join(file).exists() {
        return Ok(());
    }
    Err(Error::new(ErrorCode::FileExists, format!("{} is already there", file.display()))
        .with_help("name another file, or replace it with `--force`"))
}

/// Shows the prompt for a task.
pub(super) fn print_prompt(session: &Session<'_>, prompt: &Prompt) -> Result<u8> {
    if session.output.is_json() {
        session.output.data(&json!({
            "system": prompt.system,
            "system_stable_bytes": prompt.system_stable_bytes,
            "user": prompt.user,
            "user_stable_bytes": prompt.user_stable_bytes,
            "budget_tokens": prompt.budget.budget_tokens,
            "used_tokens": prompt.budget.used_tokens,
            "trimmed": prompt.budget.trimmed,
            "tools_left_out": prompt.budget.tools_left_out,
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

/// Plans and checks; prints or writes the plan and runs nothing. `revised` is the name and source of the plan that
/// changes.
async fn propose(
    session: &Session<'_>,
    app: &App,
    spec: RunSpec,
    (file, revised): (Option<&Path>, Option<(String, String)>),
) -> Result<u8> {
    let run_id = spec.run_id.clone();
    let proposal = match app.runs().propose(spec).await {
        Ok(proposal) => proposal,
        Err(error) => {
            if !session.output.is_json() {
                show_findings(session.output, &error, None);
            }
            return Err(error);
        }
    };
    let kept = parameters(proposal.plan.source());
    let declared = revised.iter().flat_map(|(_, source)| parameters(source)).map(|one| one.name);
    let lost: Vec<String> = declared.filter(|name| kept.iter().all(|one| one.name != *name)).collect();
    let difference =
        revised.map(|(name, source)| unified((&name, &source), ("the changed plan", proposal.plan.source())));
    if let Some(file) = file {
        std::fs::write(session.environment.working_dir.join(file), proposal.plan.source()).map_err(
            |error| {
                Error::new(ErrorCode::FileUnreadable, format!("cannot write {}: {error}", file.display()))
            },
        )?;
    }
    if session.output.is_json() {
        let mut report = json!({
            "run_id": run_id,
            "plan": proposal.plan.source(),
            "plan_hash": proposal.plan.hash(),
            "rounds": proposal.rounds,
            "explanation": proposal.explanation,
            "candidates": proposal.verdicts,
        });
        if let (Some(difference), Some(members)) = (difference, report.as_object_mut()) {
            members.insert("difference".to_owned(), difference.into());
        }
        session.output.data(&report);
        return Ok(exit::DONE);
    }
    for name in &lost {
        session.output.note(neutralize(&format!(
            "warning: the changed plan does not declare the parameter `{name}` any more: `--param {name}=…` is then refused"
        )));
    }
    match difference.as_deref() {
        Some("") => session.output.note("the plan stays as it is"),
        Some(difference) => session.output.note(difference),
        None => {}
    }
    if file.is_none() {
        session.output.source(proposal.plan.source());
    } else if let Some(file) = file {
        let is_same = difference.as_deref() == Some("");
        if !is_same {
            session.output.line(format_args!("wrote {}", file.display()));
        }
        // Where standard output gets the plan itself, the model's note goes to standard error.
        if let Some(said) = &proposal.explanation {
            let all = format!("luaplan show {run_id} --full");
            session
                .output
                .line(format_args!("the model says: {}", neutralize(&Detail::Short.text(said, &all))));
        }
    }
    Ok(exit::DONE)
}
