//! The bus with real tools in this process and the real journal on disk.

mod endings;
mod order;
mod tools;

use std::sync::Arc;

use luaplan::base::{
    CallArguments, CallId, CallOutcome, CallRequest, LimitName, LimitProfile, Limits, Result, RunId,
    SystemClock, SystemRandomness, Value,
};
use luaplan::bus::{
    Bus, BusParts, CallHandler, Interruption, Limiter, LimiterSettings, Policy, Registry, RunApprovals,
    RunBudget, Tool,
};
use luaplan::journal::{EventBody, JournalRead, JournalWrite, RecordFilter, Redactor, RunLog, SqliteJournal};
use tokio_util::sync::CancellationToken;

use crate::journal::Dir;

/// A bus on a journal of its own.
struct World {
    dir: Dir,
    journal: Arc<SqliteJournal>,
    registry: Registry,
    limits: Limits,
    policy: Policy,
    limiter: LimiterSettings,
    result_bytes_max: u64,
    cancellation: CancellationToken,
    secrets: Vec<String>,
    logs: std::sync::Mutex<Vec<RunLog>>,
}

impl World {
    async fn new() -> Self {
        let dir = Dir::new();
        Self {
            journal: Arc::new(dir.open().await),
            dir,
            registry: Registry::default(),
            limits: LimitProfile::Standard.limits(),
            policy: Policy::registered_tools(),
            limiter: LimiterSettings::standard(),
            result_bytes_max: 1 << 20,
            cancellation: CancellationToken::new(),
            secrets: Vec::new(),
            logs: std::sync::Mutex::default(),
        }
    }

    fn with(mut self, tool: impl Tool + 'static) -> Self {
        self.registry.insert(Arc::new(tool));
        self
    }

    fn limit(mut self, name: LimitName, text: &str) -> Self {
        self.limits.set(name, text).unwrap();
        self
    }

    fn bus(&self) -> Bus {
        let log = RunLog::new(
            RunId::generate(),
            Arc::clone(&self.journal) as Arc<dyn JournalWrite>,
            Arc::new(SystemClock),
            Arc::new(SystemRandomness),
            Arc::new(Redactor::new(self.secrets.clone())),
            Vec::new(),
        );
        self.logs.lock().unwrap().push(log.clone());
        Bus::new(BusParts {
            registry: Arc::new(self.registry.clone()),
            limiter: Arc::new(Limiter::new(self.limiter.clone())),
            policy: self.policy.clone(),
            flow: None,
            wakes: std::collections::HashMap::new(),
            questions: std::collections::HashMap::new(),
            approvals: RunApprovals::default(),
            log,
            budget: Arc::new(RunBudget::new(self.limits.clone(), 0)),
            cancellation: self.cancellation.clone(),
            deadline: tokio::time::Instant::now() + self.limits.wall,
            result_bytes_max: self.result_bytes_max,
        })
    }

    async fn answer(&self, calls: Vec<CallRequest>) -> Result<Vec<CallOutcome>, Interruption> {
        self.bus().answer(calls).await
    }

    async fn events(&self) -> Vec<EventBody> {
        let logs = std::mem::take(&mut *self.logs.lock().unwrap());
        for log in logs {
            log.catch_up().await.unwrap();
        }
        let records = self.journal.records(RecordFilter::default()).await.unwrap();
        records.into_iter().map(|record| record.event.body).collect()
    }

    /// `tool_call_started 1`, `tool_call_finished 1 call_cut`, …
    async fn story(&self) -> Vec<String> {
        let tell = |body: &EventBody| {
            let parts = [Some(body.name()), body.call_id().map(CallId::as_str), body.code()];
            parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
        };
        self.events().await.iter().map(tell).collect()
    }
}

fn call(sequence: u64, tool: &str, arguments: Vec<Value>) -> CallRequest {
    CallRequest {
        id: CallId::single(sequence),
        tool: tool.into(),
        arguments: CallArguments(arguments),
        line: Some(7),
    }
}

fn batch(tool: &str, count: i64) -> Vec<CallRequest> {
    (1..=count)
        .map(|number| CallRequest {
            id: CallId::branch(1, usize::try_from(number).unwrap()),
            ..call(1, tool, vec![number.into()])
        })
        .collect()
}

fn code(outcome: &CallOutcome) -> &str {
    &outcome.as_ref().unwrap_err().code
}
