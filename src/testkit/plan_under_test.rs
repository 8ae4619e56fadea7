//! The plan beside a test file, and its runs within one test.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Value as Json, json};

use luaplan_base::{
    CallOutcome, CallRequest, Error, ErrorCode, LimitName, LimitProfile, Limits, Result, RunId, SystemClock,
    SystemRandomness, Value,
};
use luaplan_bus::{CallHandler, Interruption};
use luaplan_catalog::Catalog;
use luaplan_engine::{DriveRequest, drive};
use luaplan_journal::{MemoryJournal, Redactor, RunLog};
use luaplan_plan::parameters::with_defaults;
use luaplan_plan::{CheckedPlan, Finding, check};
use luaplan_vm::LineTrace;

use super::fixture::{Fixture, Recorded, differences, recorded_end};
use super::mock_tools::{MockTools, Otherwise};
use super::probe::{ObservedRun, Probe};
use super::recorder::CallRecord;

/// When the runs of tests start unless they say otherwise.
const RUN_START: &str = "2026-01-01T12:00:00Z";

/// The detail of an error where the runs of one test exceeded a limit together.
pub(super) const RUNS_TOGETHER: &str = "runs_together";

/// How many instructions the runs of one test may take together: those of one run of the largest profile, or of a
/// few of these runs. This ends a test that runs its plan in a loop.
pub(super) fn runs_instructions_max(limits: &Limits) -> u64 {
    LimitProfile::Generous.limits().instructions.max(limits.instructions.saturating_mul(4))
}

/// The plan beside the test file, and what it may call.
pub(super) struct PlanUnderTest {
    /// Where its tests and their fixtures lie.
    pub(super) folder: PathBuf,
    pub(super) name: String,
    pub(super) source: String,
    pub(super) catalog: Arc<Catalog>,
    pub(super) limits: Limits,
    /// How many instructions the runs of one test may take together.
    pub(super) runs_instructions_max: u64,
}

/// The runs one test makes of its plan.
pub(super) struct TestRuns<'a> {
    plan: &'a PlanUnderTest,
    probe: &'a Probe,
    seen: Mutex<Vec<ObservedRun>>,
    instructions: AtomicU64,
}

impl<'a> TestRuns<'a> {
    pub(super) fn new(plan: &'a PlanUnderTest, probe: &'a Probe) -> Self {
        Self { plan, probe, seen: Mutex::default(), instructions: AtomicU64::new(0) }
    }

    /// The observations of them, in order.
    pub(super) fn seen(self) -> Vec<ObservedRun> {
        self.seen.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, run: ObservedRun) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(run);
    }

    fn count(&self) -> usize {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Refuses another run where the earlier ones used up the test's budget.
    fn check_budget(&self) -> Result<()> {
        let limit = self.plan.runs_instructions_max;
        let used = self.instructions.load(Ordering::Relaxed);
        if used <= limit {
            return Ok(());
        }
        Err(LimitName::Instructions.exceeded(limit, used).with_detail(RUNS_TOGETHER, true))
    }

    /// One run of the plan, as a test sees it.
    async fn run(&self, argument: &Json) -> Result<Value> {
        let plan = self.plan;
        let fault = self.probe.fault.as_ref().filter(|fault| fault.run == self.count());
        let fixture = match argument.get("fixture").and_then(Json::as_str) {
            Some(name) => Some(Fixture::read(&plan.folder, name)?),
            None => None,
        };
        let mocks = argument.get("mocks").cloned().unwrap_or_else(|| json!([]));
        let otherwise = match argument.get("otherwise") {
            None => Otherwise::NoAnswer,
            Some(Json::Number(seed)) => Otherwise::Generated(seed.as_i64().unwrap_or(0).cast_unsigned()),
            Some(_) => Otherwise::Defaults,
        };
        let mocks = MockTools::from_json(mocks, &plan.catalog)?
            .with_otherwise(otherwise)
            .with_recorded(fixture.as_ref().map(Recorded::new))
            .with_fault(fault.map(|fault| (fault.call_id.clone(), fault.failure.clone())));
        let mut limits = plan.limits.clone();
        let recorded = fixture.as_ref().map(|fixture| &fixture.limits);
        let asked = argument.get("limits").and_then(Json::as_object);
        for (name, value) in recorded.into_iter().chain(asked).flatten() {
            limits.set(name.parse::<LimitName>()?, &limit_text(value))?;
        }
        let report = check(&plan.source, &plan.name, &plan.catalog, &limits);
        let Some(checked) = report.plan else {
            return Value::from_json(refused_by_check(&report.findings));
        };
        let context = argument.get("context").or(fixture.as_ref().map(|fixture| &fixture.context));
        let context = Value::from_json(context.cloned().unwrap_or_else(|| json!({})))?;
        let context = with_defaults(&plan.source, context)?;
        let tools = plan.catalog.names().map(str::to_owned).collect();
        let lines = self.probe.notes_lines.then(LineTrace::default);
        let now = argument.get("now").and_then(Json::as_str);
        let started_at = run_start(now.or(fixture.as_ref().map(|fixture| fixture.recorded_at.as_str())))?;
        let asked = DriveRequest {
            run_started_at: Some(started_at),
            ..request(checked, context, tools, &limits, lines.clone())
        };
        let outcome = drive(asked, &mocks, &log()).await;
        self.instructions.fetch_add(outcome.usage.instructions, Ordering::Relaxed);
        let calls = mocks.calls();
        let ended = outcome.to_json();
        let mut shown = Value::from_json(ended.clone())?;
        if let Value::Object(members) = &mut shown {
            members.shift_remove("run_id");
            let calls: Result<Vec<Value>> = calls.iter().map(CallRecord::to_value).collect();
            members.insert("calls".to_owned(), Value::Array(calls?));
            members.entry("printed".to_owned()).or_insert_with(|| Value::from(""));
            members.entry("steps".to_owned()).or_insert_with(|| Value::Array(Vec::new()));
            if let Some(fixture) = &fixture {
                members.insert("recorded".to_owned(), Value::from_json(recorded_end(fixture))?);
                let found = differences(fixture, &ended, &mocks.unmade());
                let found = found.into_iter().map(Value::from).collect();
                members.insert("differences".to_owned(), Value::Array(found));
            }
        }
        let lines = lines.map(|trace| trace.lines()).unwrap_or_default();
        self.note(ObservedRun { lines, calls, error: outcome.error().as_ref().map(Into::into) });
        Ok(shown)
    }
}

#[async_trait]
impl CallHandler for TestRuns<'_> {
    async fn answer(&self, calls: Vec<CallRequest>) -> Result<Vec<CallOutcome>, Interruption> {
        let mut outcomes = Vec::with_capacity(calls.len());
        for call in calls {
            self.check_budget()?;
            let argument = call.arguments.0.into_iter().next().unwrap_or_default();
            // A mistake of the test itself is returned as a value, and raised at the test's line.
            outcomes.push(Ok(self
                .run(&argument.to_json())
                .await
                .unwrap_or_else(|error| Value::from_iter([("refused", refusal(&error))]))));
        }
        Ok(outcomes)
    }
}

/// When a run of a test starts: the same moment in every test that says nothing else.
fn run_start(text: Option<&str>) -> Result<Timestamp> {
    let text = text.unwrap_or(RUN_START);
    text.parse().map_err(|_| {
        Error::new(ErrorCode::BadRequest, format!("`now` must be like \"{RUN_START}\", got {text:?}"))
    })
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
    json!({"status": "failed", "error": error, "calls": [], "printed": "", "steps": []})
}

fn refusal(error: &Error) -> String {
    match (error.limit(), error.observed()) {
        (Some(limit), Some(seen)) => format!("{} (limit {limit}, seen {seen})", error.message()),
        // The code's remedy is about configuration files; only an error's own help fits a test.
        _ if error.help() != error.code().remedy() && error.code() == ErrorCode::ConfigInvalid => {
            format!("{}; {}", error.message(), error.help())
        }
        _ => error.message().to_owned(),
    }
}

/// A limit in configuration's form; a whole number stays one even where Lua made it a float.
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

/// A run in this process, whatever the configuration: a test's observations depend on the plan alone.
pub(super) fn request(
    plan: CheckedPlan,
    context: Value,
    tools: Vec<String>,
    limits: &Limits,
    lines: Option<LineTrace>,
) -> DriveRequest {
    DriveRequest { lines, ..DriveRequest::new(plan, context, tools, limits.clone()) }
}

/// A log that is not stored.
pub(super) fn log() -> RunLog {
    RunLog::new(
        RunId::generate(),
        Arc::new(MemoryJournal::default()),
        Arc::new(SystemClock),
        Arc::new(SystemRandomness),
        Arc::new(Redactor::without_secrets()),
        Vec::new(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use luaplan_base::{CallArguments, CallId, RunId};

    #[tokio::test]
    async fn runs_of_one_test_share_their_instructions() {
        let plan = PlanUnderTest {
            folder: PathBuf::new(),
            name: "plan.lua".to_owned(),
            source: "function run() for i = 1, 10000 do end end".to_owned(),
            catalog: Arc::new(Catalog::default()),
            limits: LimitProfile::Standard.limits(),
            runs_instructions_max: 25_000,
        };
        let probe = Probe::default();
        let runs = TestRuns::new(&plan, &probe);
        let again = || {
            let id = CallId::single(1);
            let arguments = CallArguments(vec![Value::from_iter([] as [(&str, Value); 0])]);
            runs.answer(vec![CallRequest { id, tool: String::new(), arguments, line: None }])
        };
        let mut made = 0;
        let error = loop {
            match again().await {
                Ok(outcomes) => {
                    assert_eq!(outcomes[0].as_ref().unwrap().get("status"), Some(&"succeeded".into()));
                }
                Err(why) => break why.into_error(&RunId::generate()),
            }
            made += 1;
        };
        assert_eq!(made, 3);
        assert_eq!(error.code(), ErrorCode::LimitInstructions);
        assert_eq!(error.limit(), Some(&json!(25_000)));
        assert!(error.observed().and_then(Json::as_u64).unwrap() > 30_000, "{error}");
        let said = super::super::runner::describe(&error);
        assert!(said.contains("the runs of this test") && said.contains("limit 25000"), "{said}");
    }
}
