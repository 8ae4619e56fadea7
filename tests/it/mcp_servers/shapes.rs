//! Plans in the straight styles that models write, over a server whose results are described by references and wrapped as
//! FastMCP does it: each gives the right answer, has a finding, or is stopped while it runs. None ends well and wrong.
//!
//! A file of `tests/cases/mcp/shapes` holds several plans. Each starts with a line `--# what it shows` and says what
//! comes: `--# result: JSON`, `--# ends: CODE`, or lines that end with `--! code` of their finding. `--# server: RULE` is
//! the server's `unwrap_results`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use luaplan::app::{App, ReplayRequest};
use luaplan::base::ErrorCode;
use luaplan::catalog::stubs;
use luaplan::journal::{EventBody, JournalRead as _, RecordFilter};
use luaplan::plan::Severity;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::{accept, run, unasked};
use crate::http_support::open;

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/mcp")
}

#[derive(Default)]
struct Plan {
    name: String,
    rule: Option<String>,
    result: Option<Json>,
    ends: Option<String>,
    /// Lines and codes of findings.
    marks: Vec<(u32, String)>,
    source: String,
}

fn plans() -> Vec<Plan> {
    let mut files: Vec<_> =
        std::fs::read_dir(cases().join("shapes")).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    let mut plans: Vec<Plan> = Vec::new();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            let Some(said) = line.strip_prefix("--# ") else {
                let plan = plans.last_mut().unwrap();
                let (code, mark) =
                    line.split_once(" --! ").map_or((line, None), |(code, mark)| (code, Some(mark)));
                plan.source.push_str(code);
                plan.source.push('\n');
                let number = u32::try_from(plan.source.lines().count()).unwrap();
                plan.marks.extend(mark.map(|mark| (number, mark.to_owned())));
                continue;
            };
            match said.split_once(": ") {
                Some(("result", json)) => {
                    plans.last_mut().unwrap().result = Some(serde_json::from_str(json).unwrap());
                }
                Some(("ends", code)) => plans.last_mut().unwrap().ends = Some(code.to_owned()),
                Some(("server", rule)) => plans.last_mut().unwrap().rule = Some(rule.to_owned()),
                _ => plans.push(Plan { name: format!("{name}: {said}"), ..Plan::default() }),
            }
        }
    }
    plans
}

/// An application with the clinic, accepted.
async fn clinic(folder: &Path, rule: Option<&str>) -> App {
    let script = cases().join("clinic.sh").display().to_string();
    let command = format!("[\"/bin/sh\", {script:?}]");
    let quoted = rule.map(|rule| format!("{rule:?}"));
    let mut settings = vec![("mcp.clinic.command", command.as_str())];
    settings.extend(quoted.as_deref().map(|rule| ("mcp.clinic.unwrap_results", rule)));
    let app = open(folder, &settings, None).await;
    accept(&app, "clinic").await;
    drop(app);
    open(folder, &settings, None).await
}

#[tokio::test(flavor = "multi_thread")]
async fn no_plan_over_wrapped_and_referenced_results_ends_well_and_wrong() {
    let plans = plans();
    assert!(plans.len() >= 60, "only {} plans", plans.len());
    let mut wrong = String::new();
    for rule in [None, Some("never"), Some("always")] {
        let folder = tempfile::tempdir().unwrap();
        let app = clinic(folder.path(), rule).await;
        for plan in plans.iter().filter(|plan| plan.rule.as_deref() == rule) {
            if let Err(what) = as_said(&app, plan).await {
                let _ = writeln!(wrong, "{}: {what}", plan.name);
            }
        }
    }
    assert!(wrong.is_empty(), "in {} plans:\n{wrong}", plans.len());
}

async fn as_said(app: &App, plan: &Plan) -> Result<(), String> {
    let limits = app.config().limits.clone();
    let findings = app.plans().check(&plan.source, "plan", &limits, None).findings;
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
    let found: Vec<(u32, String)> = errors.map(|finding| (finding.line, finding.code.clone())).collect();
    if found != plan.marks {
        return Err(format!("{findings:#?}"));
    }
    if !plan.marks.is_empty() {
        return Ok(());
    }
    let end = unasked(app, &plan.source).await;
    let fits = match (&end, &plan.result, &plan.ends) {
        (Ok(value), Some(expected), None) => value == expected,
        (Err(code), None, Some(expected)) => code.as_str() == expected,
        _ => false,
    };
    if fits { Ok(()) } else { Err(format!("{end:?}")) }
}

#[tokio::test(flavor = "multi_thread")]
async fn stubs_show_the_unwrapped_shape_with_its_definitions() {
    let folder = tempfile::tempdir().unwrap();
    let shown = stubs(clinic(folder.path(), None).await.tools().catalog());
    for line in [
        "---@class clinic.list_appointments.result\n---@field id integer\n---@field kind \"visit\"|\"call\"\n\
         ---@field patient clinic.list_appointments.result.Person\n\
         ---@field doctor? clinic.list_appointments.result.Person|nil (default nil)\n",
        "---@class clinic.list_appointments.result.Person\n---@field id integer\n---@field name string\n",
        "---@return clinic.list_appointments.result[]|ToolError\n",
        "---@class clinic.page.result\n---@field items clinic.page.result.Appointment[]\n",
        "---@return integer|ToolError\nfunction clinic.count(params) end\n",
        "---@class clinic.tree.result\n---@field name string\n---@field parts clinic.tree.result[]\n",
        "---@return table<string, clinic.by_day.result.Appointment[]>|ToolError\n",
        "---@field day? \"mon\"|\"tue\"\n",
    ] {
        assert!(shown.contains(line), "{line}\nin\n{shown}");
    }
    assert!(!shown.contains("---@field result"), "{shown}");
}

/// The journal has the result as the plan got it, so a replay does not depend on the setting.
#[tokio::test(flavor = "multi_thread")]
async fn a_replay_gives_the_plan_the_result_on_record_whatever_the_setting_is_now() {
    let folder = tempfile::tempdir().unwrap();
    let app = clinic(folder.path(), None).await;
    let outcome = run(&app, "function run()\n  return must(clinic.count{}, \"count\") + 1\nend").await;
    assert_eq!(outcome.result.unwrap().to_json(), json!(3));
    let filter = RecordFilter { run_id: Some(outcome.run_id.clone()), ..RecordFilter::default() };
    let records = app.journal().records(filter).await.unwrap();
    let recorded = records.iter().find_map(|record| match &record.event.body {
        EventBody::ToolCallFinished { result, .. } => result.clone(),
        _ => None,
    });
    assert_eq!(recorded, Some(json!(2)));
    drop(app);
    let app = clinic(folder.path(), Some("never")).await;
    let request = ReplayRequest { run_id: outcome.run_id, with: None, cancel: CancellationToken::new() };
    let report = app.runs().replay(request).await.unwrap();
    assert!(report.same && report.calls_answered == 1, "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[mcp.clinic]\ncommand = [\"x\"]\nunwrap_results = \"sometimes\"\n";
    std::fs::write(folder.path().join("luaplan.toml"), text).unwrap();
    let environment = crate::app_parts::environment(folder.path());
    let options = luaplan::app::config::LoadOptions::default();
    let refused =
        luaplan::app::config::load(&environment, &options).unwrap().check(&environment).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::ConfigInvalid);
    assert!(refused.message().contains("mcp.clinic.unwrap_results"), "{refused}");
}
