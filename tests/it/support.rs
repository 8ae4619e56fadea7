//! What tests of tools need around a call.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::expect_used, reason = "what did not come in time should be named")]

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
            question: None,
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
        question: None,
        budget: run.budget,
        log: run.log,
        cancellation: CancellationToken::new(),
    }
}

/// A part of the machine that some tests need.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    Postgres,
    Mysql,
    Aiosmtpd,
    Llm,
    McpPython,
    McpNode,
    /// `initdb` and `pg_ctl`, and a user who may run them.
    PostgresCluster,
    Bubblewrap,
    /// The command that gives a program a terminal.
    Script,
}

impl Part {
    /// As `LUAPLAN_TEST_REQUIRE` names it.
    const fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Mysql => "mysql",
            Self::Aiosmtpd => "aiosmtpd",
            Self::Llm => "llm",
            Self::McpPython => "mcp_python",
            Self::McpNode => "mcp_node",
            Self::PostgresCluster => "postgres_cluster",
            Self::Bubblewrap => "bwrap",
            Self::Script => "script",
        }
    }

    /// The variable that says where it is; `None` for programs, which are looked for.
    const fn variable(self) -> Option<&'static str> {
        Some(match self {
            Self::Postgres => "LUAPLAN_TEST_POSTGRES_URL",
            Self::Mysql => "LUAPLAN_TEST_MYSQL_URL",
            Self::Aiosmtpd => "LUAPLAN_TEST_AIOSMTPD",
            Self::Llm => "LUAPLAN_TEST_LLM_URL",
            Self::McpPython => "LUAPLAN_TEST_MCP_PYTHON",
            Self::McpNode => "LUAPLAN_TEST_MCP_NODE_MODULES",
            Self::PostgresCluster | Self::Bubblewrap | Self::Script => return None,
        })
    }

    /// Where it is; else the test is skipped, which is said.
    pub(crate) fn place(self, what: &str) -> Option<String> {
        let found = self.variable().and_then(variable);
        if found.is_none() {
            self.is_absent(what, &format!("{} is not set", self.variable().unwrap_or_default()));
        }
        found
    }

    /// Says that a test is skipped, and why.
    ///
    /// # Panics
    /// Where `LUAPLAN_TEST_REQUIRE` names the part.
    pub(crate) fn is_absent(self, what: &str, why: &str) {
        let required = variable("LUAPLAN_TEST_REQUIRE").unwrap_or_default();
        let is_required = required.split(',').any(|name| name.trim() == self.name());
        assert!(!is_required, "{what}: {why}, and LUAPLAN_TEST_REQUIRE names `{}`", self.name());
        say_skipped(&format!("{what}: {why}"));
    }
}

/// What a variable of the tests says.
#[expect(clippy::disallowed_methods, reason = "tests find their parts by the environment")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Says that a test was skipped, and why. Straight to standard error: what a passing test prints
/// is kept back, and no test would notice.
pub(crate) fn say_skipped(what_and_why: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "skipped: {what_and_why}");
}

/// Tries until something comes of it.
pub(crate) async fn until<T>(mut attempt: impl AsyncFnMut() -> Option<T>) -> T {
    let tried = async {
        loop {
            if let Some(value) = attempt().await {
                return value;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(crate::http_support::PATIENCE, tried).await.expect("it never came to be")
}
