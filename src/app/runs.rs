//! The main use case: a task or a plan, run to its end.

use std::sync::Arc;

use serde_json::Value as Json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::App;
use super::application::{accept, findings_json};
use crate::base::{ContentHash, Effect, Error, ErrorCode, LimitName, Limits, Result, RunId, Usage, Value};
use crate::bus::{Bus, BusParts, CallHandler, Policy, RunBudget};
use crate::engine::{DriveRequest, PhaseEvent, RunOutcome, RunPhase, drive};
use crate::journal::{
    CallState, ContextStore as _, Durability, EventBody, EventListener, JournalRead as _, NewContext, RunLog,
    RunStatus, check_context_name,
};
use crate::plan::CheckedPlan;
use crate::planner::{FailedRun, PastCall, PlanningRequest, Proposal};

/// What is to be run.
#[derive(Debug, Clone)]
pub enum Work {
    /// A task in plain words; a model writes the plan.
    Task(String),
    /// A saved plan.
    Plan {
        /// The name used in messages.
        name: String,
        /// Its source.
        source: String,
    },
}

/// One run, as an edge asks for it.
pub struct RunRequest {
    /// The run's id, chosen by the caller so that it is known before the run begins.
    pub run_id: RunId,
    /// What is to be run.
    pub work: Work,
    /// The context handed to `run`; `None` takes the named context's latest version, or `{}`.
    pub context: Option<Value>,
    /// A context kept between runs.
    pub context_name: Option<String>,
    /// What the run may use.
    pub limits: Limits,
    /// Who answers calls instead of the bus: mocks.
    pub handler: Option<Arc<dyn CallHandler>>,
    /// Who else is told of every event.
    pub listeners: Vec<EventListener>,
    /// Cancelled when somebody ends the run.
    pub cancel: CancellationToken,
}

impl App {
    /// Runs to the end. What went wrong is in the outcome and in the journal.
    pub async fn run(&self, request: RunRequest) -> RunOutcome {
        let started = Instant::now();
        let log = self.run_log(&request.run_id, &request.listeners);
        self.running().insert(request.run_id.clone(), log.clone());
        let budget = Arc::new(RunBudget::new(request.limits.clone(), 0));
        let run = Run { app: self, request: &request, log: &log, budget: &budget, started };
        let mut outcome = run.go().await;
        if outcome.status() == RunStatus::Cancelled && self.is_interrupting() {
            let message = "the process was asked to stop while the run was going";
            outcome.result = Err(Error::new(ErrorCode::Interrupted, message));
        }
        self.running().remove(&request.run_id);
        let wall_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        outcome.usage = Usage {
            wall_ms,
            result_bytes: budget.used(LimitName::ResultBytes),
            llm_tokens: budget.used(LimitName::LlmTokens),
            llm_cost_micro_usd: budget.used(LimitName::LlmCost),
            ..outcome.usage
        };
        self.record_end(&log, outcome).await
    }

    /// Finds a plan for a task and checks it; runs nothing.
    ///
    /// # Errors
    /// An `llm_…` code, or `check_refused` with the findings.
    pub async fn propose(&self, request: &RunRequest) -> Result<Proposal> {
        let log = self.run_log(&request.run_id, &request.listeners);
        let budget = Arc::new(RunBudget::new(request.limits.clone(), 0));
        let run = Run { app: self, request, log: &log, budget: &budget, started: Instant::now() };
        let Work::Task(task) = &request.work else {
            return Err(Error::new(ErrorCode::BadRequest, "only a task can be planned"));
        };
        let context = run.context().await?;
        run.record_start(&context, None, None).await?;
        let proposed = run.propose(task, &context).await;
        let usage = Usage { llm_tokens: budget.used(LimitName::LlmTokens), ..Usage::default() };
        let end = match &proposed {
            Ok(_) => EventBody::RunFinished { stop_reason: "planned".into(), result: Json::Null, usage },
            Err(error) => failed(error, usage),
        };
        if let Some(hit) = proposed.as_ref().err().and_then(limit_hit) {
            log.emit(hit, Durability::Ordered).await?;
        }
        log.emit(end, Durability::Forced).await?;
        proposed
    }

    fn run_log(&self, run_id: &RunId, listeners: &[EventListener]) -> RunLog {
        let mut all = vec![self.hub.listener()];
        all.extend(listeners.iter().cloned());
        RunLog::new(
            run_id.clone(),
            self.journal.clone(),
            self.clock.clone(),
            self.randomness.clone(),
            self.redactor.clone(),
            all,
        )
    }

    async fn record_end(&self, log: &RunLog, mut outcome: RunOutcome) -> RunOutcome {
        if let Some(hit) = outcome.error().and_then(limit_hit) {
            let _ = log.emit(hit, Durability::Ordered).await;
        }
        let end = match (&outcome.result, outcome.status()) {
            (Ok(value), _) => EventBody::RunFinished {
                stop_reason: "completed".into(),
                result: value.to_json(),
                usage: outcome.usage,
            },
            (Err(error), RunStatus::Cancelled) => {
                EventBody::RunCancelled { reason: error.message().into(), usage: outcome.usage }
            }
            (Err(error), _) => failed(error, outcome.usage),
        };
        // A success that is not on record is no success.
        if let Err(error) = log.emit(end, Durability::Forced).await {
            tracing::error!(run_id = %log.run_id(), %error, "the end of a run could not be recorded");
            if outcome.result.is_ok() {
                outcome.result = Err(error);
            }
        }
        outcome
    }
}

fn failed(error: &Error, usage: Usage) -> EventBody {
    EventBody::RunFailed {
        code: error.code().as_str().into(),
        message: error.message().into(),
        recoverable: is_recoverable(error.code()),
        error: error.to_json(),
        usage,
    }
}

fn limit_hit(error: &Error) -> Option<EventBody> {
    let code = error.code().as_str();
    let (limit, observed) = (error.limit()?.clone(), error.observed()?.clone());
    code.starts_with("limit_").then(|| EventBody::LimitHit { code: code.to_owned(), limit, observed })
}

/// Whether the same request may succeed later without being changed.
fn is_recoverable(code: ErrorCode) -> bool {
    use ErrorCode as C;
    matches!(
        code,
        C::LlmRateLimited
            | C::LlmTimeout
            | C::LlmUnavailable
            | C::LlmStreamCut
            | C::JournalUnavailable
            | C::JournalDiskFull
            | C::Interrupted
            | C::LimitWallTime
    )
}

/// One run while it goes on.
struct Run<'a> {
    app: &'a App,
    request: &'a RunRequest,
    log: &'a RunLog,
    budget: &'a Arc<RunBudget>,
    started: Instant,
}

impl Run<'_> {
    async fn go(&self) -> RunOutcome {
        let (plan, context) = match self.prepare().await {
            Ok(ready) => ready,
            Err(error) => return self.ended_early(error),
        };
        let mut plan = plan;
        let mut outcome = self.drive(plan.clone(), context.clone(), 0).await;
        for _ in 0..self.app.config.replans {
            let Some(better) = self.replan(&plan, &context, &outcome).await else { break };
            plan = better;
            let before = outcome.usage;
            outcome = self.drive(plan.clone(), context.clone(), before.tool_calls).await;
            outcome.usage.instructions += before.instructions;
            outcome.usage.tool_calls += before.tool_calls;
            outcome.usage.memory_peak_bytes = outcome.usage.memory_peak_bytes.max(before.memory_peak_bytes);
        }
        if let (Some(name), Ok(value)) = (&self.request.context_name, &outcome.result)
            && let Err(error) = self.save_context(name, value).await
        {
            outcome.result = Err(error);
        }
        outcome
    }

    /// From the request to a plan that may run.
    async fn prepare(&self) -> Result<(CheckedPlan, Value)> {
        let context = self.context().await?;
        match &self.request.work {
            Work::Task(task) => {
                self.record_start(&context, None, None).await?;
                let mut phase = RunPhase::Created.after(PhaseEvent::TaskGiven)?;
                let proposal = self.propose(task, &context).await?;
                phase = phase.after(PhaseEvent::PlanGiven)?;
                phase.after(PhaseEvent::CheckPassed)?;
                Ok((proposal.plan, context))
            }
            Work::Plan { name, source } => {
                let hash = ContentHash::of(source.as_bytes());
                self.record_start(&context, Some(name), Some(&hash)).await?;
                let phase = RunPhase::Created.after(PhaseEvent::PlanGiven)?;
                let plan = self.check_saved(name, source, &hash).await?;
                phase.after(PhaseEvent::CheckPassed)?;
                Ok((plan, context))
            }
        }
    }

    async fn context(&self) -> Result<Value> {
        // Known before anything is done: a bad name could not be saved at the end.
        self.request.context_name.as_deref().map_or(Ok(()), check_context_name)?;
        if let Some(context) = &self.request.context {
            return Ok(context.clone());
        }
        if let Some(name) = &self.request.context_name
            && let Some(saved) = self.app.journal.contexts().load(name, None).await?
        {
            return Ok(saved.context);
        }
        Ok(Value::Object(indexmap::IndexMap::new()))
    }

    async fn save_context(&self, name: &str, value: &Value) -> Result<()> {
        let new = NewContext {
            name: name.to_owned(),
            context: value.clone(),
            run_id: Some(self.log.run_id().clone()),
            at: self.log.clock().now(),
            expected_version: None,
        };
        let saved = self.app.journal.contexts().save(new).await?;
        let saved =
            EventBody::ContextSaved { name: saved.name, version: saved.version, context_hash: saved.hash };
        self.log.emit(saved, Durability::Forced).await
    }

    async fn record_start(
        &self,
        context: &Value,
        plan_name: Option<&str>,
        plan_hash: Option<&ContentHash>,
    ) -> Result<()> {
        let task = match &self.request.work {
            Work::Task(task) => Some(task.clone()),
            Work::Plan { .. } => None,
        };
        let body = EventBody::RunStarted {
            task,
            plan_hash: plan_hash.cloned(),
            plan_name: plan_name.map(str::to_owned),
            context: context.to_json(),
            limits: self.request.limits.to_json(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            mocked: self.request.handler.is_some(),
            engine: Some(self.app.config.sandbox.engine.to_string()),
            isolation: Some(self.app.isolation().to_string()),
        };
        self.log.emit(body, Durability::Ordered).await
    }

    async fn propose(&self, task: &str, context: &Value) -> Result<Proposal> {
        let planner = self.app.planner()?;
        let limits = &self.request.limits;
        let request = self.app.planning_request(task, context, limits);
        let check = |source: &str| self.app.check(source, "plan", limits);
        let planning = planner.plan(&request, &check, self.log, self.budget);
        tokio::select! {
            biased;
            () = self.request.cancel.cancelled() => Err(Error::new(ErrorCode::Cancelled, "the run was cancelled")),
            planned = tokio::time::timeout(self.app.config.planning_timeout, planning) => {
                planned.unwrap_or_else(|_| Err(self.planning_took_too_long()))
            }
        }
    }

    fn planning_took_too_long(&self) -> Error {
        let limit_ms = u64::try_from(self.app.config.planning_timeout.as_millis()).unwrap_or(u64::MAX);
        Error::new(ErrorCode::LlmTimeout, "no plan was found in the time planning may take")
            .with_limit(limit_ms, u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX))
            .with_help("raise `planner.timeout`, or use a faster model")
    }

    async fn check_saved(&self, name: &str, source: &str, hash: &ContentHash) -> Result<CheckedPlan> {
        let report = self.app.check(source, name, &self.request.limits);
        let proposed =
            EventBody::PlanProposed { round: 0, source: source.to_owned(), plan_hash: hash.clone() };
        self.log.emit(proposed, Durability::Ordered).await?;
        let checked = EventBody::PlanChecked {
            plan_hash: hash.clone(),
            ok: report.plan.is_some(),
            findings: findings_json(&report),
        };
        self.log.emit(checked, Durability::Ordered).await?;
        for finding in report.findings.iter().filter(|finding| finding.reaches_out()) {
            let violation = EventBody::SandboxViolation { message: finding.message.clone() };
            self.log.emit(violation, Durability::Ordered).await?;
        }
        accept(report, source, &self.request.limits)
    }

    async fn drive(&self, plan: CheckedPlan, context: Value, calls_before: u64) -> RunOutcome {
        let cancel_calls = CancellationToken::new();
        let handler: Arc<dyn CallHandler> = match &self.request.handler {
            Some(handler) => handler.clone(),
            None => Arc::new(Bus::new(BusParts {
                registry: self.app.registry.clone(),
                limiter: self.app.limiter.clone(),
                policy: Policy::registered_tools(),
                log: self.log.clone(),
                budget: self.budget.clone(),
                cancellation: cancel_calls.clone(),
                result_bytes_max: self.request.limits.result_bytes,
            })),
        };
        let request = DriveRequest {
            plan,
            context,
            tools: self.app.catalog.names().map(str::to_owned).collect(),
            limits: self.request.limits.clone(),
            calls_before,
            workers: self.app.workers.clone(),
            started: Instant::now(),
            cancel: self.request.cancel.clone(),
            cancel_calls,
        };
        drive(request, &*handler, self.log).await
    }

    /// A new plan for a run that failed in a way a better plan could avoid.
    async fn replan(&self, plan: &CheckedPlan, context: &Value, outcome: &RunOutcome) -> Option<CheckedPlan> {
        let (Work::Task(task), Some(error)) = (&self.request.work, outcome.error()) else { return None };
        let repairable = matches!(
            error.code(),
            ErrorCode::PlanError | ErrorCode::ToolErrorUsed | ErrorCode::ToolErrorIgnored
        );
        if !repairable {
            return None;
        }
        let planner = self.app.planner().ok()?;
        let failed = self.failed_run(plan, error).await.ok()?;
        let limits = &self.request.limits;
        let request =
            PlanningRequest { failed: Some(&failed), ..self.app.planning_request(task, context, limits) };
        let check = |source: &str| self.app.check(source, "plan", limits);
        let proposal = planner.plan(&request, &check, self.log, self.budget).await;
        proposal.ok().map(|proposal| proposal.plan)
    }

    async fn failed_run(&self, plan: &CheckedPlan, error: &Error) -> Result<FailedRun> {
        let state = self.app.journal.run_state(self.log.run_id()).await?;
        let calls = state.map(|state| state.calls).unwrap_or_default();
        let past = |call: &CallState| PastCall {
            tool: call.tool.clone(),
            line: call.line,
            code: call.end.as_ref().and_then(|end| end.code.clone()),
            has_effect: call.effect.is_some_and(|effect| effect != Effect::Read),
        };
        Ok(FailedRun {
            source: plan.source().to_owned(),
            code: error.code().as_str().to_owned(),
            message: error.message().to_owned(),
            calls: calls.iter().map(past).collect(),
        })
    }

    fn ended_early(&self, error: Error) -> RunOutcome {
        RunOutcome {
            run_id: self.log.run_id().clone(),
            result: Err(error),
            usage: Usage::default(),
            printed: String::new(),
        }
    }
}
