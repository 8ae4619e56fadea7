//! Worker processes: real ones, and what is done to them.

mod confinement;
mod hostile;
#[cfg(target_os = "linux")]
mod orphans;
mod runs;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use luaplan::base::{
    CallOutcome, CallRequest, LimitProfile, Limits, Result, RunId, SystemClock, SystemRandomness, Value,
};
use luaplan::bus::{CallHandler, Interruption};
use luaplan::catalog::{Catalog, builtin_manifests};
use luaplan::engine::{DriveRequest, RunOutcome, drive};
use luaplan::journal::{MemoryJournal, Redactor, RunLog};
use luaplan::plan::check;
use luaplan::sandbox::{EngineKind, Interrupt, VmLimits, VmOptions};
use luaplan::workers::{PoolSettings, WorkerPool, WorkerProgram};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

pub(crate) fn limits() -> Limits {
    LimitProfile::Standard.limits()
}

fn catalog() -> Catalog {
    Catalog::from_iter(builtin_manifests().unwrap())
}

fn tools() -> Vec<String> {
    catalog().names().map(str::to_owned).collect()
}

fn settings(program: WorkerProgram) -> PoolSettings {
    PoolSettings {
        program,
        engine: EngineKind::Mlua,
        idle: 1,
        max: 8,
        runs_per_worker: 1,
        prepared: VmOptions {
            limits: VmLimits::from(&limits()),
            tools: tools(),
            interrupt: Interrupt::default(),
            slice_instructions: u64::MAX,
        },
    }
}

/// A pool of real workers.
fn pool() -> WorkerPool {
    WorkerPool::new(settings(WorkerProgram::at(env!("CARGO_BIN_EXE_luaplan"))))
}

/// The example program that breaks things, under a name that says how.
fn broken_program(word: &str) -> (tempfile::TempDir, PathBuf) {
    let program = broken_worker();
    let folder = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
    let path = folder.path().join(word);
    std::fs::hard_link(program, &path).unwrap();
    (folder, path)
}

/// Cargo builds examples beside the tests, and names no variable for them.
fn broken_worker() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let path = tests.parent().unwrap().parent().unwrap().join("examples/confined");
    assert!(path.exists(), "{} is not built; run `cargo build --examples`", path.display());
    path
}

/// Answers every call with its own arguments, and tells of it.
struct Echo(Arc<Notify>);

#[async_trait]
impl CallHandler for Echo {
    async fn answer(&self, calls: Vec<CallRequest>) -> Result<Vec<CallOutcome>, Interruption> {
        self.0.notify_one();
        Ok(calls
            .into_iter()
            .map(|call| {
                let argument = call.arguments.0.into_iter().next().unwrap_or_default();
                Ok(Value::from_iter([("id", Value::from(call.id.as_str())), ("echo", argument)]))
            })
            .collect())
    }
}

pub(crate) struct Wanted {
    pub(crate) source: &'static str,
    pub(crate) context: Value,
    pub(crate) limits: Limits,
    pub(crate) workers: Option<WorkerPool>,
    pub(crate) cancel: CancellationToken,
    /// Told of each call.
    pub(crate) called: Arc<Notify>,
}

impl Wanted {
    fn new(source: &'static str, workers: Option<WorkerPool>) -> Self {
        let cancel = CancellationToken::new();
        Self {
            source,
            context: Value::from_iter::<[(String, Value); 0]>([]),
            limits: limits(),
            workers,
            cancel,
            called: Arc::default(),
        }
    }

    async fn run(self) -> RunOutcome {
        let report = check(self.source, "plan.lua", &catalog(), &self.limits);
        let plan = report.plan.unwrap_or_else(|| panic!("{:?}", report.findings));
        let request = DriveRequest {
            workers: self.workers,
            cancel: self.cancel,
            ..DriveRequest::new(plan, self.context, tools(), self.limits)
        };
        drive(request, &Echo(self.called), &log()).await
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

/// Waits for something that happens beside the test.
async fn eventually(what: &str, mut happens: impl FnMut() -> bool) {
    for _ in 0..1_000 {
        if happens() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never came to this: {what}");
}
