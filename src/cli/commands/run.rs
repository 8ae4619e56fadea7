//! `luaplan run FILE`.

use indexmap::IndexMap;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use luaplan_app::{App, Caller, PlanningOptions, RunSpec, Work, explain};
use luaplan_base::{Error, ErrorCode, LimitName, Limits, Result, RunId, Value};
use luaplan_bus::{Circumstances, LOCAL_TENANT, Mode};
use luaplan_catalog::Catalog;
use luaplan_engine::RunOutcome;
use luaplan_journal::{EventListener, context_of_tenant};
use luaplan_plan::CheckInput;
use luaplan_plan::parameters::{MISSING, given, parameters, with_defaults};
use luaplan_plan::preview::Texts;
use luaplan_testkit::MockTools;

use super::{Session, inputs};
use crate::cli::approvals::{ask_and_resume, can_ask};
use crate::cli::args::{RunArgs, RunOptions};
use crate::cli::output::Output;
use crate::cli::plan_approvals::show_waiting_plan;
use crate::cli::progress::{EventPrinter, report};
use crate::cli::questions::wait_for_answers;
use crate::cli::signals::cancelled_by_signals;
use crate::cli::sleeping::sleep_and_resume;
use crate::cli::{exit, findings};

pub(super) async fn run(session: &Session<'_>, args: &RunArgs) -> Result<u8> {
    let (name, source) = inputs::read_plan(session, &args.file)?;
    if args.dry_run {
        return dry_run(session, args, &name, &source).await;
    }
    let needs_kept = args.options.context_name.is_some() && !args.parameters.is_empty();
    let early = if needs_kept { None } else { Some(context(session, args, &source, None).await?) };
    let app = session.open_for(&args.options).await?;
    let context = match early {
        Some(context) => context,
        None => context(session, args, &source, Some(&app)).await?,
    };
    let work = Work::Plan { name: name.clone(), source: source.clone() };
    let planning = PlanningOptions::default();
    let wanted = Wanted { work, context, planning, approve: false, follow: None };
    let outcome = execute(session, &app, wanted, &args.options).await?;
    Ok(finish(session, &outcome, args.options.events, Some((&name, &source))))
}

/// `--context` with the `--param`s in it; where a kept context is named and none is given, those in what it holds.
async fn context(
    session: &Session<'_>,
    args: &RunArgs,
    source: &str,
    app: Option<&App>,
) -> Result<Option<Value>> {
    let mut context = inputs::read_context(session, args.options.context.as_deref())?;
    if !args.parameters.is_empty() {
        if let (None, Some(name), Some(app)) = (&context, &args.options.context_name, app) {
            let name = context_of_tenant(LOCAL_TENANT, name);
            context = app.journal().contexts().load(&name, None).await?.map(|kept| kept.context);
        }
        let Value::Object(mut members) = context.unwrap_or_else(|| Value::Object(IndexMap::new())) else {
            return Err(Error::new(ErrorCode::Usage, "`--param` needs a context that is an object"));
        };
        for text in &args.parameters {
            let (name, value) = given(source, text, |file| inputs::read_text(session, file))?;
            members.insert(name, value);
        }
        context = Some(Value::Object(members));
    }
    if context.is_none() && args.options.context_name.is_some() {
        return Ok(None);
    }
    let given = context.clone().unwrap_or_else(|| Value::Object(IndexMap::new()));
    let whole = with_defaults(source, given).map_err(|error| {
        let names = error.details().get(MISSING).and_then(Json::as_array).into_iter().flatten();
        let flags = names.filter_map(Json::as_str).map(|name| format!("--param {name}=VALUE"));
        let help = format!("{}; here: `{}`", error.help(), flags.collect::<Vec<_>>().join(" "));
        exit::usage(error.message().to_owned(), "--param", &help)
    })?;
    Ok(if parameters(source).is_empty() { context } else { Some(whole) })
}

/// What a command runs.
pub(super) struct Wanted {
    pub(super) work: Work,
    pub(super) context: Option<Value>,
    pub(super) planning: PlanningOptions,
    /// Whether a person confirms the plan of a task.
    pub(super) approve: bool,
    /// The run whose plan a task changes.
    pub(super) follow: Option<RunId>,
}

/// Runs what is wanted with the options, and shows its events.
pub(super) async fn execute(
    session: &Session<'_>,
    app: &App,
    wanted: Wanted,
    options: &RunOptions,
) -> Result<RunOutcome> {
    let Wanted { work, context, planning, approve, follow } = wanted;
    let handler = match &options.mock {
        Some(name) if name.as_os_str() == "default" => {
            Some(MockTools::default_mocks(app.tools().catalog()).handler())
        }
        Some(name) if name.as_os_str() == "generated" => {
            Some(MockTools::generated(app.tools().catalog(), options.mock_seed).handler())
        }
        Some(file) => {
            let path = session.environment.working_dir.join(file);
            Some(MockTools::from_file(&path, app.tools().catalog())?.handler())
        }
        None => None,
    };
    if handler.is_some() && options.context_name.is_some() {
        return Err(Error::new(ErrorCode::Usage, "a mocked run cannot be given `--context-name`").with_help(
            "what mocks answer is not kept; give the context with `--context`, or leave out `--mock`",
        ));
    }
    let listeners = vec![EventPrinter::new(session.output, options.events).listener()];
    let cancel = cancelled_by_signals();
    let spec = RunSpec::new(work, inputs::limits(app.config(), options)?)
        .with_context(context, options.context_name.clone())
        .with_planning(planning)
        .with_circumstances(circumstances(options)?)
        .with_approval(approve)
        .with_listeners(listeners.clone(), cancel.clone());
    let spec = match follow {
        Some(run_id) => app.runs().following(&run_id, spec).await?,
        None => spec,
    };
    let outcome = app.runs().run_to_rest(RunSpec { handler, ..spec }).await;
    attend(session, app, outcome, options.events, &listeners, &cancel).await
}

/// Continues a suspended run: waits while it sleeps, and asks the person at the terminal. Where none sits there, waits
/// for answers that have a time.
pub(super) async fn attend(
    session: &Session<'_>,
    app: &App,
    outcome: RunOutcome,
    events: bool,
    listeners: &[EventListener],
    cancel: &CancellationToken,
) -> Result<RunOutcome> {
    let outcome = sleep_and_resume(session.output, app, outcome, listeners, cancel).await?;
    if !can_ask(session.output, events) {
        let outcome = wait_for_answers(session.output, app, outcome, listeners, cancel).await?;
        if !events {
            show_waiting_plan(session.output, app, &outcome).await?;
        }
        return Ok(outcome);
    }
    ask_and_resume(session.output, (app, session.environment), outcome, listeners, cancel).await
}

/// Reports the end of a run, and returns its exit code. After a stream of events it is one more line of data.
pub(super) fn finish(
    session: &Session<'_>,
    outcome: &RunOutcome,
    events: bool,
    plan: Option<(&str, &str)>,
) -> u8 {
    if events {
        session.output.data_line(&outcome.to_json());
    } else {
        report(session.output, outcome, plan);
    }
    exit_code(outcome)
}

/// The exit code of an ended run.
pub(super) fn exit_code(outcome: &RunOutcome) -> u8 {
    outcome.result.as_ref().map_or_else(|why| exit::number(why.code()), |_| exit::DONE)
}

/// Puts on record what would begin, and shows it: no tool is called and no model asked.
async fn dry_run(session: &Session<'_>, args: &RunArgs, name: &str, source: &str) -> Result<u8> {
    let app = session.open_for(&args.options).await?;
    let context = context(session, args, source, Some(&app)).await?;
    let limits = inputs::limits(app.config(), &args.options)?;
    let work = Work::Plan { name: name.to_owned(), source: source.to_owned() };
    let spec =
        RunSpec::new(work, limits.clone()).with_context(context.clone(), args.options.context_name.clone());
    let spec = rehearsed(session, &args.options, spec)?;
    let run_id = spec.run_id.clone();
    let recorded = app.runs().dry_run(spec, false).await;
    if args.options.events {
        return recorded.map(|_| exit::DONE);
    }
    // The findings are shown with the rest.
    if let Err(error) = recorded
        && error.code() != ErrorCode::CheckRefused
    {
        return Err(error);
    }
    let catalog = app.tools().catalog();
    let (limits, context) = (&limits, context.as_ref());
    let input = CheckInput { source, name, catalog, limits, context, task: None, results: &[] };
    let explanation = explain(app.config(), session.environment, &input);
    if session.output.is_json() {
        session.output.data(&json!({
            "run_id": run_id,
            "ok": explanation.is_ok(),
            "findings": explanation.findings,
            "preview": explanation.preview,
            "limits": limits.to_json(),
            "tools": catalog.names().collect::<Vec<_>>(),
        }));
    } else {
        findings::print(session.output, name, source, &explanation.findings);
        if let Some(preview) = &explanation.preview {
            session.output.line("");
            super::explain::print(session, preview, Texts::Short, &args.file);
        }
        print_means(session.output, limits, catalog);
        session.output.line("\nnothing was run");
    }
    Ok(if explanation.is_ok() { exit::DONE } else { exit::REFUSED })
}

/// A dry run by the options: its events are printed where they were asked for.
pub(super) fn rehearsed(session: &Session<'_>, options: &RunOptions, spec: RunSpec) -> Result<RunSpec> {
    let printer = options.events.then(|| EventPrinter::new(session.output, true).listener());
    Ok(spec
        .with_circumstances(circumstances(options)?)
        .with_listeners(printer.into_iter().collect(), cancelled_by_signals()))
}

fn circumstances(options: &RunOptions) -> Result<Circumstances> {
    let mode = options.mode.as_deref().map_or(Ok(Mode::default()), str::parse)?;
    Ok(Circumstances { mode, ..started_here() })
}

fn started_here() -> Circumstances {
    Circumstances { started_by: Some(Caller::at_terminal().actor().clone()), ..Circumstances::default() }
}

/// Runs a plan that a command writes itself, so that policy and journal apply to its calls as to any.
pub(super) async fn run_own_plan(
    session: &Session<'_>,
    app: &App,
    (name, source): (&str, &str),
    context: Option<Value>,
) -> Result<RunOutcome> {
    let (cancel, listeners) =
        (cancelled_by_signals(), vec![EventPrinter::new(session.output, false).listener()]);
    let spec = RunSpec::plan(name, source, app.config().limits.clone())
        .with_context(context, None)
        .with_circumstances(started_here())
        .with_listeners(listeners.clone(), cancel.clone());
    let outcome = app.runs().run_to_rest(spec).await;
    attend(session, app, outcome, false, &listeners, &cancel).await
}

/// The limits and tools of a run.
pub(super) fn print_means(output: &Output, limits: &Limits, tools: &Catalog) {
    output.heading("limits");
    for limit in LimitName::ALL {
        output.line(format_args!("  {:<13} {} {}", limit.as_str(), limits.get(limit), limit.unit()));
    }
    output.heading("tools");
    let marked = |name: &str| match tools.not_set_up(name) {
        Some(_) => format!("{name} (not set up)"),
        None => name.to_owned(),
    };
    output.line(format_args!("  {}", tools.names().map(marked).collect::<Vec<_>>().join(", ")));
}
