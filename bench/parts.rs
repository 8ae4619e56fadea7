//! Shared by the benches: tools that answer from memory, and ways to run a plan.

use std::sync::Arc;

use async_trait::async_trait;
use luaplan::base::{
    CallOutcome, CallRequest, LimitProfile, Limits, Result, RunId, SystemClock, SystemRandomness, Value,
};
use luaplan::bus::{
    Bus, BusParts, CallHandler, Interruption, Invocation, Limiter, LimiterSettings, Policy, Registry,
    RunApprovals, RunBudget, Tool,
};
use luaplan::catalog::{ToolSpec, read_manifest};
use luaplan::engine::{DriveRequest, RunOutcome, drive};
use luaplan::journal::{JournalWrite, Redactor, RunLog};
use luaplan::plan::{CheckedPlan, check};
use luaplan::sandbox::{Interrupt, SLICE_INSTRUCTIONS, Step, Vm, VmLimits, VmOptions, VmPool};
use tokio_util::sync::CancellationToken;

/// VMs a world keeps ready.
const READY_VMS: usize = 64;

/// Rows `query_db` gives.
const ROWS: i64 = 100;

/// Name, effect and parameters of each tool.
const TOOLS: [(&str, &str, &str); 4] = [
    ("query_db", "read", "[params.properties.table]\ntype = \"string\""),
    ("fetch_url", "read", "[params.properties.url]\ntype = \"string\""),
    (
        "send_email",
        "send",
        "[params.properties.to]\ntype = \"string\"\n[params.properties.subject]\ntype = \"string\"\n\
         [params.properties.body]\ntype = \"string\"",
    ),
    ("noop", "read", "[params.properties.n]\ntype = \"integer\""),
];

pub(crate) fn tool_names() -> Vec<String> {
    TOOLS.iter().map(|(name, ..)| (*name).to_owned()).collect()
}

/// The standard profile, with room for long loops of calls.
pub(crate) fn limits() -> Limits {
    let profile = LimitProfile::Generous.limits();
    Limits { instructions: u64::MAX / 2, tool_calls: u64::MAX / 2, result_bytes: u64::MAX / 2, ..profile }
}

pub(crate) fn options() -> VmOptions {
    VmOptions {
        limits: VmLimits::from(&limits()),
        tools: tool_names(),
        interrupt: Interrupt::default(),
        slice_instructions: SLICE_INSTRUCTIONS,
    }
}

pub(crate) fn vm() -> Vm {
    Vm::new(options()).unwrap()
}

pub(crate) fn empty_object() -> Value {
    Value::from_iter::<[(String, Value); 0]>([])
}

/// A document with one field.
pub(crate) fn one_field() -> Value {
    Value::from_iter([("n", Value::Integer(1))])
}

/// What the tools answer, made once.
#[derive(Clone)]
pub(crate) struct Answers {
    rows: Value,
    page: Value,
    receipt: Value,
    one_field: Value,
}

impl Answers {
    pub(crate) fn new() -> Self {
        let row = |id: i64| {
            Value::from_iter([
                ("id", Value::Integer(id)),
                ("name", Value::from(format!("User {id}"))),
                ("email", Value::from(format!("user{id}@example.com"))),
                ("age", Value::Integer(20 + id % 50)),
                ("url", Value::from(format!("https://example.com/users/{id}.html"))),
            ])
        };
        Self {
            rows: Value::Array((1..=ROWS).map(row).collect()),
            page: Value::from("The text of a page. ".repeat(50)),
            receipt: Value::from_iter([("id", "receipt-1"), ("status", "accepted")]),
            one_field: one_field(),
        }
    }

    pub(crate) fn answer(&self, tool: &str) -> Value {
        match tool {
            "query_db" => self.rows.clone(),
            "fetch_url" => self.page.clone(),
            "send_email" => self.receipt.clone(),
            _ => self.one_field.clone(),
        }
    }

    pub(crate) fn all(&self, calls: &[CallRequest]) -> Vec<CallOutcome> {
        calls.iter().map(|call| Ok(self.answer(&call.tool))).collect()
    }
}

#[async_trait]
impl CallHandler for Answers {
    async fn answer(&self, calls: Vec<CallRequest>) -> Result<Vec<CallOutcome>, Interruption> {
        Ok(self.all(&calls))
    }
}

/// Takes a VM from pause to pause to its end.
pub(crate) fn finish(mut step: Step, answers: &Answers) -> Value {
    loop {
        step = match step {
            Step::Calls(pending) => {
                let outcomes = answers.all(&pending.calls);
                pending.answer(outcomes)
            }
            Step::Slice(paused) => paused.resume(),
            Step::Wait(paused) => paused.resume(),
            Step::Done(stopped) => return stopped.result.unwrap(),
        }
    }
}

struct Answering {
    spec: ToolSpec,
    answer: Value,
}

#[async_trait]
impl Tool for Answering {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, _invocation: Invocation) -> CallOutcome {
        Ok(self.answer.clone())
    }
}

/// Tools, rates and a journal, shared by all runs of a bench.
pub(crate) struct World {
    registry: Arc<Registry>,
    limiter: Arc<Limiter>,
    redactor: Arc<Redactor>,
    /// VMs made ahead; without a pool each run makes its own.
    vms: Option<VmPool>,
}

impl World {
    pub(crate) fn new() -> Self {
        let answers = Answers::new();
        let tools = TOOLS.map(|(name, effect, params)| -> Arc<dyn Tool> {
            let manifest = format!(
                "name = \"{name}\"\ndescription = \"d\"\nkind = \"builtin\"\neffect = \"{effect}\"\n\
                 rate = \"100000000/s\"\nburst = 100000000\nconcurrency = 10000\n\
                 [params]\ntype = \"object\"\n{params}\n"
            );
            let spec = read_manifest(&manifest, name).unwrap();
            Arc::new(Answering { spec, answer: answers.answer(name) })
        });
        Self::of(tools)
    }

    pub(crate) fn of(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let mut registry = Registry::default();
        tools.into_iter().for_each(|tool| registry.insert(tool));
        let settings = LimiterSettings { queue_max: 100_000, ..LimiterSettings::standard() };
        Self {
            registry: Arc::new(registry),
            limiter: Arc::new(Limiter::new(settings)),
            redactor: Arc::new(Redactor::new(vec!["a-secret-of-the-benches".to_owned()])),
            vms: None,
        }
    }

    /// The same with VMs kept ready and replaced during the runs, as in a service.
    pub(crate) fn with_ready_vms() -> Self {
        Self::new().keeping_vms()
    }

    pub(crate) fn keeping_vms(self) -> Self {
        let vms = VmPool::new(VmOptions { tools: self.tools(), ..options() }, READY_VMS);
        vms.refill().unwrap();
        vms.keep_ready();
        Self { vms: Some(vms), ..self }
    }

    fn tools(&self) -> Vec<String> {
        self.registry.catalog().names().map(str::to_owned).collect()
    }

    pub(crate) fn plan(&self, source: &str) -> CheckedPlan {
        let report = check(source, "plan.lua", &self.registry.catalog(), &limits());
        assert!(report.plan.is_some(), "{:?}", report.findings);
        report.plan.unwrap()
    }

    pub(crate) fn log(&self, journal: &Arc<dyn JournalWrite>) -> RunLog {
        self.log_of(RunId::generate(), journal)
    }

    pub(crate) fn log_of(&self, run_id: RunId, journal: &Arc<dyn JournalWrite>) -> RunLog {
        RunLog::new(
            run_id,
            Arc::clone(journal),
            Arc::new(SystemClock),
            Arc::new(SystemRandomness),
            Arc::clone(&self.redactor),
            Vec::new(),
        )
    }

    /// Drives a plan to its end over a bus that writes to `log`.
    pub(crate) async fn drive(&self, plan: &CheckedPlan, log: &RunLog) -> RunOutcome {
        let cancel_calls = CancellationToken::new();
        let bus = Bus::new(BusParts {
            registry: Arc::clone(&self.registry),
            limiter: Arc::clone(&self.limiter),
            policy: Policy::registered_tools(),
            flow: None,
            wakes: std::collections::HashMap::new(),
            questions: std::collections::HashMap::new(),
            approvals: RunApprovals::default(),
            log: log.clone(),
            budget: Arc::new(RunBudget::new(limits(), 0)),
            cancellation: cancel_calls.clone(),
            deadline: tokio::time::Instant::now() + limits().wall,
            result_bytes_max: 1 << 30,
        });
        let request =
            DriveRequest { cancel_calls, tools: self.tools(), vms: self.vms.clone(), ..request(plan) };
        drive(request, &bus, log).await
    }
}

/// A run of `plan` in a VM of its own in this process.
pub(crate) fn request(plan: &CheckedPlan) -> DriveRequest {
    DriveRequest::new(plan.clone(), empty_object(), tool_names(), limits())
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Stock Lua, with the same libraries and nothing of ours.
pub(crate) fn bare_lua() -> mlua::Lua {
    use mlua::StdLib;
    let libraries = StdLib::COROUTINE | StdLib::TABLE | StdLib::STRING | StdLib::UTF8 | StdLib::MATH;
    mlua::Lua::new_with(libraries, mlua::LuaOptions::default()).unwrap()
}
