//! One `*_test.lua` in its sandbox.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value as Json, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::mock_tools::MockTools;
use super::recorder::CallRecord;
use crate::base::{
    CallOutcome, Error, ErrorCode, LimitName, LimitProfile, Limits, Result, RunId, SystemClock,
    SystemRandomness, Value,
};
use crate::bus::CallHandler;
use crate::catalog::{CallRequest, Catalog, read_manifest};
use crate::engine::{DriveRequest, RunOutcome, drive};
use crate::journal::{MemoryJournal, Redactor, RunLog};
use crate::plan::{CheckedPlan, Finding, check};

const LIBRARY: &str = include_str!("../../lua/testlib.lua");
const RUN_PLAN_MANIFEST: &str = include_str!("run_plan.toml");
const RUN_PLAN: &str = "testkit_run_plan";

/// A test file that passed the check, with the plan it tests.
pub(super) struct TestFile {
    test: CheckedPlan,
    limits: Limits,
    plan: PlanUnderTest,
}

/// The plan beside the test file, and what it may call.
struct PlanUnderTest {
    name: String,
    source: String,
    catalog: Arc<Catalog>,
    limits: Limits,
}

impl TestFile {
    /// Reads a test file and the plan beside it (`x_test.lua` tests `x.lua`).
    /// `name` is how messages call it.
    pub(super) fn open(path: &Path, name: &str, catalog: &Arc<Catalog>, limits: &Limits) -> Result<Self> {
        let plan_path = plan_beside(path)?;
        let source = format!("{} {}", joined_library(), read(path)?);
        // The test may hold and say more than its plan, and its time covers several runs of it; its
        // instructions are for assertions, so that one that loops ends soon.
        let mut test_limits = LimitProfile::Generous.limits();
        test_limits.instructions = LimitProfile::Standard.limits().instructions;
        test_limits.wall = limits.wall.saturating_mul(4).max(Duration::from_secs(60));
        let report = check(
            &source,
            name,
            &Catalog::from_iter([read_manifest(RUN_PLAN_MANIFEST, "run_plan.toml")?]),
            &test_limits,
        );
        let findings: Vec<String> =
            report.errors().map(|finding| format!("line {}: {}", finding.line, finding.message)).collect();
        let test = report.plan.ok_or_else(|| Error::new(ErrorCode::CheckRefused, findings.join("; ")))?;
        let plan = PlanUnderTest {
            name: plan_path.display().to_string(),
            source: read_plan(&plan_path)?,
            catalog: catalog.clone(),
            limits: limits.clone(),
        };
        Ok(Self { test, limits: test_limits, plan })
    }

    /// The names of its tests, in order.
    pub(super) async fn names(&self) -> Result<Vec<String>> {
        let listed = self.run(Value::from_iter([] as [(&str, Value); 0])).await.result?;
        let items = listed.as_array().unwrap_or_default();
        Ok(items.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// Runs the test at `index` (from 0) in a fresh VM. Gives what it printed as well.
    pub(super) async fn run_test(&self, index: usize) -> (Result<()>, String) {
        let select = i64::try_from(index + 1).unwrap_or(i64::MAX);
        let outcome = self.run(Value::from_iter([("select", select)])).await;
        (outcome.result.map(drop), outcome.printed)
    }

    async fn run(&self, context: Value) -> RunOutcome {
        let request = request(self.test.clone(), context, vec![RUN_PLAN.to_owned()], &self.limits);
        drive(request, &self.plan, &log()).await
    }
}

#[async_trait]
impl CallHandler for PlanUnderTest {
    async fn answer(&self, calls: Vec<CallRequest>) -> Result<Vec<CallOutcome>> {
        let mut outcomes = Vec::with_capacity(calls.len());
        for call in calls {
            let argument = call.arguments.0.into_iter().next().unwrap_or_default();
            // What is wrong with the test itself is raised at its line, so it goes back as a value.
            outcomes.push(Ok(self
                .run(&argument.to_json())
                .await
                .unwrap_or_else(|error| Value::from_iter([("refused", refusal(&error))]))));
        }
        Ok(outcomes)
    }
}

impl PlanUnderTest {
    /// One run of the plan, as a test sees it.
    async fn run(&self, argument: &Json) -> Result<Value> {
        let mocks = argument.get("mocks").cloned().unwrap_or_else(|| json!([]));
        let has_defaults = argument.get("defaults").and_then(Json::as_bool).unwrap_or(false);
        let mocks = MockTools::from_json(mocks, &self.catalog)?.with_defaults(has_defaults);
        let mut limits = self.limits.clone();
        for (name, value) in argument.get("limits").and_then(Json::as_object).into_iter().flatten() {
            limits.set(name.parse::<LimitName>()?, &limit_text(value))?;
        }
        let report = check(&self.source, &self.name, &self.catalog, &limits);
        let Some(plan) = report.plan else {
            return Value::from_json(refused_by_check(&report.findings));
        };
        let context = Value::from_json(argument.get("context").cloned().unwrap_or_else(|| json!({})))?;
        let tools = self.catalog.names().map(str::to_owned).collect();
        let outcome = drive(request(plan, context, tools, &limits), &mocks, &log()).await;
        let mut seen = Value::from_json(outcome.to_json())?;
        if let Value::Object(members) = &mut seen {
            members.shift_remove("run_id");
            let calls: Result<Vec<Value>> = mocks.calls().iter().map(CallRecord::to_value).collect();
            members.insert("calls".to_owned(), Value::Array(calls?));
            members.entry("printed".to_owned()).or_insert_with(|| Value::from(""));
        }
        Ok(seen)
    }
}

/// A run that the check kept from starting.
fn refused_by_check(findings: &[Finding]) -> Json {
    let said: Vec<String> =
        findings.iter().map(|finding| format!("line {}: {}", finding.line, finding.message)).collect();
    let mut error = json!({
        "code": ErrorCode::CheckRefused,
        "message": format!("the check refused the plan: {}", said.join("; ")),
        "findings": serde_json::to_value(findings).unwrap_or_default(),
    });
    if let (Some(first), Some(members)) = (findings.first(), error.as_object_mut()) {
        members.insert("line".to_owned(), first.line.into());
    }
    json!({"status": "failed", "error": error, "calls": [], "printed": ""})
}

fn refusal(error: &Error) -> String {
    match (error.limit(), error.observed()) {
        (Some(limit), Some(seen)) => format!("{} (limit {limit}, seen {seen})", error.message()),
        // The remedy of the code speaks of configuration files; only a help of its own fits a test.
        _ if error.help() != error.code().remedy() && error.code() == ErrorCode::ConfigInvalid => {
            format!("{}; {}", error.message(), error.help())
        }
        _ => error.message().to_owned(),
    }
}

/// A limit as configuration would write it; a whole number stays one though Lua made it a float.
fn limit_text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Number(number) => {
            let text = number.to_string();
            text.strip_suffix(".0").unwrap_or(&text).to_owned()
        }
        other => other.to_string(),
    }
}

fn request(plan: CheckedPlan, context: Value, tools: Vec<String>, limits: &Limits) -> DriveRequest {
    DriveRequest {
        plan,
        context,
        tools,
        limits: limits.clone(),
        calls_before: 0,
        workers: None,
        started: Instant::now(),
        cancel: CancellationToken::new(),
        cancel_calls: CancellationToken::new(),
    }
}

fn log() -> RunLog {
    RunLog::new(
        RunId::generate(),
        Arc::new(MemoryJournal::default()),
        Arc::new(SystemClock),
        Arc::new(SystemRandomness),
        Arc::new(Redactor::without_secrets()),
        Vec::new(),
    )
}

/// The library on one line, so that the first line of the test file stays the first.
fn joined_library() -> String {
    let code = LIBRARY.lines().map(str::trim).filter(|line| !line.starts_with("--"));
    code.collect::<Vec<_>>().join(" ")
}

fn plan_beside(path: &Path) -> Result<PathBuf> {
    let stem =
        path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix("_test.lua"));
    let stem = stem.filter(|stem| !stem.is_empty()).ok_or_else(|| {
        Error::new(ErrorCode::Usage, format!("{} is not named `NAME_test.lua`", path.display()))
    })?;
    Ok(path.with_file_name(format!("{stem}.lua")))
}

fn read_plan(path: &Path) -> Result<String> {
    if path.exists() {
        return read(path);
    }
    let name = path.file_name().unwrap_or_default().display();
    Err(Error::new(ErrorCode::FileUnreadable, format!("the plan it tests, {name}, is not beside it")))
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| {
        Error::new(ErrorCode::FileUnreadable, format!("cannot read {}: {error}", path.display()))
    })
}
