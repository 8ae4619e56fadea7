//! `luaplan policy`.

use serde_json::json;

use luaplan_app::config::{parse_policy, read_policy};
use luaplan_app::{
    ApiKeys, CallExplanation, Caller, PolicyReport, tier_meaning, tool_catalog, unknown_approvers,
};
use luaplan_base::{Clock as _, Error, ErrorCode, Result, SystemClock, Value, counted};
use luaplan_bus::{Circumstances, LOCAL_TENANT, Mode, PolicyDecision};
use luaplan_catalog::regular_file::read_text;
use luaplan_journal::{grants, neutralize};

use super::{Session, inputs};
use crate::cli::approvals::describe_grant;
use crate::cli::exit;
use crate::cli::governance_args::{ExplainCallArgs, PolicyAction};
use crate::cli::output::Output;
use crate::cli::shortened::shorten;

const ARGUMENTS_SHOWN_CHARS: usize = 300;

pub(super) async fn run(session: &Session<'_>, action: &PolicyAction) -> Result<u8> {
    match action {
        PolicyAction::Check { file } => check(session, file.as_deref()),
        PolicyAction::Explain(args) => explain(session, args).await,
        PolicyAction::Grants { all } => list_grants(session, *all).await,
        PolicyAction::Revoke { grant } => revoke(session, grant).await,
    }
}

fn check(session: &Session<'_>, file: Option<&std::path::Path>) -> Result<u8> {
    let loaded = session.load()?;
    let (rules, name) = match file {
        Some(file) => {
            let path = session.environment.working_dir.join(file);
            let name = file.display().to_string();
            let text = read_text(&path).map_err(|error| {
                Error::new(ErrorCode::FileUnreadable, format!("cannot read {name}: {error}"))
            })?;
            (parse_policy(&text, &name)?, name)
        }
        None if loaded.raw.policy.file.is_empty() => {
            return Err(Error::new(ErrorCode::ConfigInvalid, "no policy file is configured").with_help(
                "set `[policy] file = \"policy.toml\"`, or name the file: `luaplan policy check FILE`",
            ));
        }
        None => {
            let name = loaded.raw.policy.file.clone();
            (read_policy(&session.environment.working_dir.join(&name))?, name)
        }
    };
    let config = match file {
        // The configured file may be a different one, with faults.
        Some(_) => {
            let mut raw = loaded.raw.clone();
            raw.policy.file.clear();
            luaplan_app::config::Config::check(&raw, session.environment)?
        }
        None => loaded.check(session.environment)?,
    };
    let mut report = PolicyReport::of(&rules, &tool_catalog(&config)?)?;
    if let Some(path) = &config.server.api_keys_file {
        report.warnings.extend(unknown_approvers(&rules, &ApiKeys::from_file(path)?));
    }
    if session.output.is_json() {
        session
            .output
            .data(&json!({ "file": name, "ok": true, "rules": report.rules, "warnings": report.warnings }));
        return Ok(exit::DONE);
    }
    for warning in &report.warnings {
        session.output.line(format_args!("warning: {}", neutralize(warning)));
    }
    session.output.line(format_args!("{}: {}, fine", neutralize(&name), counted(report.rules, "rule")));
    Ok(exit::DONE)
}

async fn explain(session: &Session<'_>, args: &ExplainCallArgs) -> Result<u8> {
    let explained = match (&args.run, &args.tool) {
        (Some(run), _) => {
            let (app, run_id) = session.open_for_recorded(run).await?;
            app.approvals().explain_run(&run_id, args.call.as_deref()).await?
        }
        (None, Some(tool)) => {
            let arguments = match &args.arguments {
                Some(text) => inputs::read_json(session, text, "--arguments")?,
                None => Value::Object(indexmap::IndexMap::new()),
            };
            let mode = args.mode.as_deref().map_or(Ok(Mode::default()), str::parse)?;
            let tenant = args.tenant.clone().unwrap_or_else(|| LOCAL_TENANT.to_owned());
            let circumstances = Circumstances { tenant, mode, started_by: None };
            let explained = session.open().await?.approvals().explain_call(tool, arguments, &circumstances);
            vec![explained.map_err(|error| exit::about_argument(error, "--arguments"))?]
        }
        (None, None) => {
            let message = "neither a run nor a tool is named, so there is no call to explain";
            return Err(Error::new(ErrorCode::Usage, message).with_help(
                "`luaplan policy explain last` explains the calls of the last run; `luaplan policy explain --tool \
                 NAME --arguments JSON` explains a call that nobody made",
            ));
        }
    };
    if session.output.is_json() {
        session.output.data(&explained);
        return Ok(exit::DONE);
    }
    if explained.is_empty() {
        session.output.line("the run made no call and asked for none");
    }
    for call in &explained {
        print(session.output, call);
    }
    Ok(exit::DONE)
}

async fn list_grants(session: &Session<'_>, all: bool) -> Result<u8> {
    let now = SystemClock.now();
    let known = match session.journal().await? {
        Some(journal) => grants(&journal, None).await?,
        None => Vec::new(),
    };
    let shown: Vec<_> = known.iter().filter(|grant| all || grant.holds_at(now)).collect();
    let output = session.output;
    if output.is_json() {
        output.data(&shown);
        return Ok(exit::DONE);
    }
    if shown.is_empty() {
        output.line("no calls are allowed for a time");
    }
    for grant in shown {
        output.line(describe_grant(grant, now));
    }
    Ok(exit::DONE)
}

async fn revoke(session: &Session<'_>, grant_id: &str) -> Result<u8> {
    let grant =
        session.open().await?.approvals().revoke(grant_id, None, Caller::at_terminal().actor()).await?;
    if session.output.is_json() {
        session.output.data(&grant);
    } else {
        session.output.line(format_args!(
            "revoked: calls of {} by grant {} are asked about again",
            grant.tool, grant.grant_id
        ));
    }
    Ok(exit::DONE)
}

fn print(output: &Output, call: &CallExplanation) {
    let id = call.call_id.as_deref().map_or_else(String::new, |id| format!("{id} "));
    let arguments = shorten(&call.arguments.to_string(), ARGUMENTS_SHOWN_CHARS);
    output.line(neutralize(&format!("{id}{} {arguments}", call.tool)));
    if let Some(happened) = call.happened {
        let by = call.decided_then_by.as_deref().map_or_else(String::new, |rule| format!(", by `{rule}`"));
        let permission =
            call.allowed_by.as_deref().map_or_else(String::new, |permission| format!(", with {permission}"));
        output.line(neutralize(&format!("  then: {happened}{by}{permission}")));
    }
    match &call.now {
        Some(verdict) => print_verdict(output, verdict),
        None => output.line("  now: the tool is not there, or its parameters have changed"),
    }
}

fn print_verdict(output: &Output, verdict: &PolicyDecision) {
    let by = verdict.decided_by.as_deref().map_or_else(String::new, |rule| format!(" by `{rule}`"));
    let unasked = if verdict.is_unasked { ", as the run is autonomous" } else { "" };
    let decision = verdict.decision;
    output.line(neutralize(&format!(
        "  now: {} ({}{by}{unasked}){}",
        tier_meaning(decision),
        decision.as_str(),
        because(&verdict.reason)
    )));
    for rule in &verdict.matched {
        let perhaps = if rule.is_certain { "" } else { " perhaps, so to be safe" };
        output.line(neutralize(&format!(
            "    matches{perhaps}: {} {}{}",
            rule.decision.as_str(),
            rule.rule.name,
            because(&rule.reason)
        )));
    }
}

/// A reason behind a decision; a rule need not give one.
pub(super) fn because(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(": {reason}") }
}
