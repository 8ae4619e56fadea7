//! `luaplan demo`: the main job, on real parts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use owo_colors::Style;
use serde_json::{Value as Json, json};

use luaplan_app::config::{Config, load};
use luaplan_app::{App, AppParts, RunSpec};
use luaplan_base::Result;
use luaplan_demo::{DemoParts, MailSummary, RECIPIENT, RECORDED_REPLY};
use luaplan_engine::RunOutcome;
use luaplan_journal::{Event, EventBody, EventListener, JournalRead as _, Record, RecordFilter, neutralize};
use luaplan_llm::RecordedClient;

use super::Session;
use super::run::exit_code;
use crate::cli::args::DemoArgs;
use crate::cli::output::Output;
use crate::cli::progress::describe;
use crate::cli::shortened::Detail;
use crate::cli::signals::cancelled_by_signals;

const TASK: &str = "Find all users older than 30 (table users: name, age, email, profile_image_url), \
fetch their profile pictures, and e-mail an HTML summary table of them to admin@company.com with the \
subject \"User Summary\" and the pictures attached.";

pub(super) async fn run(session: &Session<'_>, args: &DemoArgs) -> Result<u8> {
    let folder = folder(session, args)?;
    let parts = DemoParts::start(&folder).await?;
    let outcome = on_parts(session, &parts, &folder).await;
    parts.stop().await;
    outcome
}

fn folder(session: &Session<'_>, args: &DemoArgs) -> Result<PathBuf> {
    let config = session.load()?.check(session.environment)?;
    Ok(match &args.dir {
        Some(dir) => session.environment.working_dir.join(dir),
        None => config.data_dir.join("demo"),
    })
}

async fn on_parts(session: &Session<'_>, parts: &DemoParts, folder: &Path) -> Result<u8> {
    let mut options = session.options.clone();
    options.flags.extend(parts.configuration());
    let loaded = load(session.environment, &options)?;
    let config = loaded.check(session.environment)?;
    let why_recorded = why_recorded(session, &config);
    let recorded = why_recorded.is_some();
    let llm: Option<Arc<dyn luaplan_llm::LlmClient>> =
        if recorded { Some(Arc::new(RecordedClient::from_json("recorded", RECORDED_REPLY)?)) } else { None };
    let app = App::open_with(&loaded, session.environment, AppParts { llm, ..AppParts::default() }).await?;
    session.closes(&app);
    let output = session.output;
    if !output.is_json() {
        introduce(output, parts, &config, why_recorded.as_deref());
    }
    let listeners = if output.is_json() { Vec::new() } else { vec![narrator(output.colours_out())] };
    let spec =
        RunSpec::task(TASK, app.config().limits.clone()).with_listeners(listeners, cancelled_by_signals());
    let outcome = app.run(spec).await;
    let records = app
        .journal()
        .records(RecordFilter { run_id: Some(outcome.run_id.clone()), ..RecordFilter::default() })
        .await?;
    let mail = parts.received().last().map(luaplan_demo::ReceivedMail::summary).transpose()?;
    let verified = app.journal().verify().await?;
    if output.is_json() {
        output.data(&json!({
            "task": TASK,
            "recorded": recorded,
            "plan": plan_of(&records),
            "run": outcome.to_json(),
            "email": mail,
            "audit": records,
            "audit_ok": verified.ok,
            "folder": folder,
            "next": next_commands(session),
        }));
    } else {
        conclude(session, &outcome, mail.as_ref(), &records, verified.ok);
    }
    Ok(exit_code(&outcome))
}

/// What to try next, with the command name that the user typed.
fn next_commands(session: &Session<'_>) -> [String; 3] {
    let by_cargo = session.environment.get("CARGO_MANIFEST_DIR").is_some();
    let command = if by_cargo { "cargo run --" } else { "luaplan" };
    let has_examples = session.environment.working_dir.join("examples/hello/plan.lua").exists();
    let third = if has_examples { "test examples/overdue_invoices" } else { "init my-plans" };
    ["show last", "audit --tool send_email", third].map(|arguments| format!("{command} {arguments}"))
}

/// Why no model is asked; `None` where a model is.
fn why_recorded(session: &Session<'_>, config: &Config) -> Option<String> {
    if !config.llm.is_configured() {
        return Some("no model is configured".to_owned());
    }
    let absent = config.llm.key_variables().into_iter().find(|name| session.environment.get(name).is_none());
    absent.map(|name| format!("${name} is not set"))
}

fn introduce(output: &Output, parts: &DemoParts, config: &Config, why_recorded: Option<&str>) {
    output.heading("Real parts, all on this machine");
    output.line(format_args!("  database   {} (SQLite, 6 users)", parts.database.display()));
    output.line(format_args!("  pictures   http://{}/pictures/ (PNG)", parts.pictures.addr()));
    output.line(format_args!("  mail       smtp://{} (only {RECIPIENT} is allowed)", parts.mail.addr()));
    match why_recorded {
        Some(reason) => {
            output.line(format_args!("  model      recorded: {reason}, so a recorded reply is played back"));
        }
        None => output.line(format_args!("  model      {}", config.llm.name())),
    }
    output.heading("Task");
    output.line(format_args!("  {TASK}"));
}

/// Prints events as they happen.
fn narrator(colour: bool) -> EventListener {
    Arc::new(move |event: &Event, _: Option<&Record>| {
        let output = Output::new(false, !colour);
        match &event.body {
            EventBody::PlanProposed { source, plan_hash, .. } => {
                output.heading(&format!("Plan {}", plan_hash.short()));
                for (index, line) in source.trim_end().lines().enumerate() {
                    output.line(format_args!("{:>4}  {}", index + 1, neutralize(line)));
                }
                output.heading("Check and run");
            }
            EventBody::LlmRequestSent { .. } => {
                output.heading("Model");
                say(&output, event);
            }
            _ => say(&output, event),
        }
    })
}

fn say(output: &Output, event: &Event) {
    if let Some(line) = describe(event, Detail::Short) {
        output.line(format_args!("  {}", neutralize(&line)));
    }
}

fn conclude(
    session: &Session<'_>,
    outcome: &RunOutcome,
    mail: Option<&MailSummary>,
    records: &[Record],
    chain_is_whole: bool,
) {
    let output = session.output;
    output.heading("Result");
    match &outcome.result {
        Ok(value) => output.data(&value.to_json()),
        Err(why) => output.error(&why.to_error(&outcome.run_id)),
    }
    output.heading("The e-mail as it arrived");
    match mail {
        None => output.line("  none arrived"),
        Some(mail) => {
            output.line(format_args!("  file       {}", mail.path.display()));
            output.line(format_args!("  to         {}", mail.to.join(", ")));
            output.line(format_args!("  subject    {}", neutralize(&mail.subject)));
            for attachment in &mail.attachments {
                let (name, kind) = (neutralize(&attachment.name), &attachment.content_type);
                output.line(format_args!("  attached   {name} ({kind}, {} bytes)", attachment.size_bytes));
            }
        }
    }
    output.heading("Audit of the run");
    for record in records {
        let body = &record.event.body;
        let tool = body.tool().unwrap_or_default();
        let hash = record.hash.get(..12).unwrap_or_default();
        output.line(format_args!("  {:>5}  {hash}  {:<24} {tool}", record.sequence, body.name()));
    }
    let verdict = if chain_is_whole { "every hash fits its neighbours" } else { "THE CHAIN IS BROKEN" };
    output.line(format_args!("  {} records of this run; {verdict}", records.len()));
    let usage = outcome.usage;
    output.line(output.paint(
        &format!(
            "  {} · {} calls · {} instructions · {} KiB · {} ms",
            outcome.run_id,
            usage.tool_calls,
            usage.instructions,
            usage.memory_peak_bytes / 1024,
            usage.wall_ms
        ),
        Style::new().dimmed(),
    ));
    output.heading("Try next");
    for command in next_commands(session) {
        output.line(format_args!("  {command}"));
    }
}

fn plan_of(records: &[Record]) -> Option<Json> {
    records.iter().rev().find_map(|record| match &record.event.body {
        EventBody::PlanProposed { source, plan_hash, .. } => {
            Some(json!({ "source": source, "plan_hash": plan_hash }))
        }
        _ => None,
    })
}
