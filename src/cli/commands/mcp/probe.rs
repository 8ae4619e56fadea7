//! `luaplan mcp probe`: calls what only reads, to learn what a server's tools return.

use serde_json::{Value as Json, json};

use luaplan_app::{App, McpProbe};
use luaplan_base::{Error, ErrorCode, Result, Value};
use luaplan_bus::LOCAL_TENANT;
use luaplan_journal::neutralize;

use super::super::{Session, run};
use crate::cli::approvals::{agrees, can_ask};
use crate::cli::exit;
use crate::cli::mcp_args::McpProbeArgs;
use crate::cli::progress::report;
use crate::cli::signals::cancelled_by_signals;
use crate::cli::table::{LastColumn, table};

pub(super) async fn probe(session: &Session<'_>, app: &App, args: &McpProbeArgs) -> Result<u8> {
    let (name, output) = (&args.name, session.output);
    let probe = McpProbe::of(app.config(), app.tools().catalog(), name)?;
    if !output.is_json() {
        let calls = probe.calls.iter().map(|tool| vec![tool.clone(), "is called".to_owned()]);
        let others = probe.left_out.iter().map(|(tool, why)| vec![tool.clone(), format!("left out: {why}")]);
        output.line(table(&["TOOL", "PROBE"], calls.chain(others).collect(), LastColumn::Whole));
    }
    if probe.calls.is_empty() {
        if output.is_json() {
            output.data(&answer(app, &probe, None));
        } else {
            output.line(
                "nothing is called: no tool only reads, needs no argument and leaves open what it returns",
            );
        }
        return Ok(exit::DONE);
    }
    if !args.yes {
        if !can_ask(output, false) {
            let message = format!("a probe calls tools of `{name}`, and there is no terminal to ask at");
            return Err(Error::new(ErrorCode::Usage, message).with_help(format!(
                "say that it may: `luaplan mcp probe {name} --yes`; policy and journal apply as to any call"
            )));
        }
        let question = format!("call these {} now? [y]es, [n]o: ", probe.calls.len());
        if agrees(&question, &cancelled_by_signals()).await != Some(true) {
            output.line("nothing was called");
            return Ok(exit::DONE);
        }
    }
    let source = probe.plan();
    let outcome = run::run_own_plan(session, app, (&format!("mcp probe {name}"), &source), None).await?;
    let code = run::exit_code(&outcome);
    if output.is_json() {
        let mut answer = answer(app, &probe, outcome.result.as_ref().ok());
        if let Some(members) = answer.as_object_mut() {
            members.insert("run_id".to_owned(), json!(outcome.run_id));
            if let Some(error) = outcome.error() {
                members.insert("error".to_owned(), error.to_json());
            }
        }
        output.data(&answer);
        return Ok(code);
    }
    let Ok(ended) = &outcome.result else {
        report(output, &outcome, Some(("mcp probe", &source)));
        return Ok(code);
    };
    for tool in learned(app, &probe, ended) {
        let (name, ended) = (&tool["tool"], &tool["ended"]);
        let (name, ended) = (name.as_str().unwrap_or_default(), ended.as_str().unwrap_or_default());
        output.heading(name);
        if ended == "ok" {
            let catalog = app.tools().catalog_for(LOCAL_TENANT);
            let seen = catalog.get(name).and_then(|spec| spec.seen_stub());
            output.source(seen.as_deref().unwrap_or("-- nothing but nil was seen\n"));
        } else {
            output.line(neutralize(&format!("  failed: {ended}; see `luaplan show {}`", outcome.run_id)));
        }
    }
    output.note(format_args!("on record as run {}", outcome.run_id));
    Ok(code)
}

/// Each call, how it ended, and what is known of the tool's results now.
fn learned(app: &App, probe: &McpProbe, ended: &Value) -> Vec<Json> {
    let catalog = app.tools().catalog_for(LOCAL_TENANT);
    let ended = ended.to_json();
    let told = |tool: &String| {
        let seen = catalog.get(tool).and_then(|spec| spec.seen.clone());
        json!({ "tool": tool, "ended": ended[tool], "seen": seen })
    };
    probe.calls.iter().map(told).collect()
}

fn answer(app: &App, probe: &McpProbe, ended: Option<&Value>) -> Json {
    let left_out: Vec<Json> =
        probe.left_out.iter().map(|(tool, why)| json!({ "tool": tool, "why": why })).collect();
    let tools = ended.map_or_else(Vec::new, |ended| learned(app, probe, ended));
    json!({ "tools": tools, "left_out": left_out })
}
