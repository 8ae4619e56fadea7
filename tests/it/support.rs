//! What tests of tools need around a call.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::Arc;
use std::time::Duration;

use luaplan::base::{CallId, CallOutcome, LimitProfile, Limits, ManualClock, RunId, SeededRandomness, Value};
use luaplan::bus::{Invocation, RunBudget, Tool};
use luaplan::catalog::{ToolSpec, read_manifest};
use luaplan::journal::{JournalRead, MemoryJournal, Record, RecordFilter, Redactor, RunLog};
use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

/// A run that calls tools: its journal, its budget, a clock that stands at 2026-01-02T03:04:05Z.
pub(crate) struct TestRun {
    journal: Arc<MemoryJournal>,
    pub(crate) budget: Arc<RunBudget>,
    log: RunLog,
}

impl TestRun {
    pub(crate) fn new() -> Self {
        Self::with_limits(LimitProfile::Standard.limits(), 0)
    }

    pub(crate) fn with_limits(limits: Limits, llm_depth: u32) -> Self {
        let journal = Arc::new(MemoryJournal::default());
        let clock = Arc::new(ManualClock::new("2026-01-02T03:04:05Z".parse().unwrap()));
        let randomness = Arc::new(SeededRandomness::new(7));
        let redactor = Arc::new(Redactor::without_secrets());
        let log = RunLog::new(RunId::generate(), journal.clone(), clock, randomness, redactor, Vec::new());
        Self { journal, budget: Arc::new(RunBudget::new(limits, llm_depth)), log }
    }

    /// Calls `tool` with named arguments, as the bus would.
    pub(crate) async fn call(&self, tool: &dyn Tool, arguments: impl Into<Value>) -> CallOutcome {
        let invocation = Invocation {
            run_id: self.log.run_id().clone(),
            call_id: CallId::single(1),
            arguments: arguments.into(),
            idempotency_key: "run-1.call-1".to_owned(),
            wake_at: None,
            budget: Arc::clone(&self.budget),
            log: self.log.clone(),
            cancellation: CancellationToken::new(),
        };
        tool.call(invocation).await
    }

    pub(crate) async fn records(&self) -> Vec<Record> {
        self.journal.records(RecordFilter::default()).await.unwrap()
    }
}

/// A value from JSON.
pub(crate) fn value(json: Json) -> Value {
    Value::from_json(json).unwrap()
}

/// The spec of the built-in tool `name` from its manifest, with another timeout.
pub(crate) fn spec(name: &str, timeout: Duration) -> ToolSpec {
    let path = format!("{}/tools/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let mut spec = read_manifest(&std::fs::read_to_string(&path).unwrap(), &path).unwrap();
    spec.timeout = timeout;
    spec
}

/// A call with these arguments, journaled in memory.
pub(crate) fn invocation(arguments: Value) -> Invocation {
    let run = TestRun::new();
    Invocation {
        run_id: run.log.run_id().clone(),
        call_id: CallId::single(1),
        arguments,
        idempotency_key: "key".to_owned(),
        wake_at: None,
        budget: run.budget,
        log: run.log,
        cancellation: CancellationToken::new(),
    }
}

/// Says that a test was skipped, and why. Straight to standard error: what a passing test prints
/// is kept back, and nobody would learn of it.
pub(crate) fn say_skipped(what_and_why: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "skipped: {what_and_why}");
}
