//! The main use case: a task or a plan, run to its end.

use std::sync::Arc;

use serde_json::Value as Json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use luaplan_base::{ContentHash, Error, ErrorCode, LimitName, Limits, Result, RunId, Usage, Value};
use luaplan_bus::{CallHandler, Circumstances, Mode, RunBudget};
use luaplan_engine::{PhaseEvent, RunOutcome, RunPhase};
use luaplan_journal::{
    Actor, Durability, EventBody, EventListener, JournalWrite, MemoryJournal, RunLog, RunState, RunStatus,
};
use luaplan_plan::CheckReport;
use luaplan_planner::Proposal;

use super::App;
use super::agents::AgentRun;
use super::finish::{ended_early, failed, limit_hit};
use super::planning::PlanningOptions;
use super::recovered::Prepared;
use super::restore::{began_without_secret, run_request};

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
    /// How a task is planned.
    pub planning: PlanningOptions,
    /// What the run may use.
    pub limits: Limits,
    /// Whose run it is, and how much it does unasked.
    pub circumstances: Circumstances,
    /// Who answers calls instead of the bus: mocks.
    pub handler: Option<Arc<dyn CallHandler>>,
    /// Who else is told of every event.
    pub listeners: Vec<EventListener>,
    /// Cancelled when somebody ends the run.
    pub cancel: CancellationToken,
    /// The run that this one starts over.
    pub starts_over: Option<RunId>,
}

impl App {
    /// Runs to the end, sleeps included, during which nothing of the run is held; a run that needs a person
    /// comes back paused. What went wrong is in the outcome and in the journal.
    pub async fn run(&self, request: RunRequest) -> RunOutcome {
        let (listeners, cancel) = (request.listeners.clone(), request.cancel.clone());
        let outcome = self.run_to_rest(request).await;
        self.sleep_out(outcome, &listeners, &cancel).await
    }

    /// As [`App::run`], but a run that sleeps comes back sleeping: whoever asked has it woken.
    pub async fn run_to_rest(&self, request: RunRequest) -> RunOutcome {
        let log = match self.new_log(&request.run_id, &request.listeners).await {
            Ok(log) => log,
            Err(error) => return ended_early(&request.run_id, error),
        };
        self.running.insert(&log, &request.cancel, None);
        let outcome = self.carry_out(&request, &log, (None, None), None).await;
        self.go_on_where_decided(outcome, &request.listeners, &request.cancel, None).await
    }

    /// Runs to the end from wherever it is: what it came to before, where it goes on, and what the check found, where
    /// it has looked.
    pub(super) async fn carry_out(
        &self,
        request: &RunRequest,
        log: &RunLog,
        (resumed, checked): (Option<RunState>, Option<CheckReport>),
        agent: Option<&AgentRun>,
    ) -> RunOutcome {
        let started = Instant::now();
        let limits = request.limits.clone();
        let budget = Arc::new(match agent {
            Some(agent) => RunBudget::nested(limits, &agent.budget),
            None => RunBudget::new(limits, 0),
        });
        let (resumed, checked) = (resumed.as_ref(), checked.as_ref());
        let run = Run { app: self, request, log, budget: &budget, started, resumed, checked, agent };
        let mut outcome = run.go().await;
        if outcome.status() == RunStatus::Cancelled && self.is_interrupting() {
            let message = "the process was asked to stop while the run was going";
            outcome.result = Err(Error::new(ErrorCode::Interrupted, message));
        }
        let wall_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        outcome.usage = Usage {
            wall_ms,
            // The calls of agents' runs are those of the run that called them too.
            tool_calls: outcome.usage.tool_calls.max(budget.used(LimitName::ToolCalls)),
            result_bytes: budget.used(LimitName::ResultBytes),
            llm_tokens: budget.used(LimitName::LlmTokens),
            llm_cost_micro_usd: budget.used(LimitName::LlmCost),
            rate_wait_ms: budget.waited_ms(),
            ..outcome.usage
        };
        let outcome = self.end(log, outcome).await;
        match agent {
            // The caller's plan goes on with the result itself.
            Some(_) => outcome,
            None => self.shown(outcome),
        }
    }

    /// Finds a plan for a task and checks it; runs nothing.
    ///
    /// # Errors
    /// An `llm_…` code, or `check_refused` with the findings.
    pub async fn propose(&self, request: &RunRequest) -> Result<Proposal> {
        let log = self.new_log(&request.run_id, &request.listeners).await?;
        let budget = Arc::new(RunBudget::new(request.limits.clone(), 0));
        let run = Run {
            app: self,
            request,
            log: &log,
            budget: &budget,
            started: Instant::now(),
            resumed: None,
            checked: None,
            agent: None,
        };
        let Work::Task(task) = &request.work else {
            return Err(Error::new(ErrorCode::BadRequest, "only a task can be planned"));
        };
        let context = run.context().await?;
        run.record_start(&context, None, None, Durability::Ordered).await?;
        let proposed = run.propose(task, &context).await.map_err(|error| error.about_run(&request.run_id));
        let usage = Usage { llm_tokens: budget.used(LimitName::LlmTokens), ..Usage::default() };
        let end = match &proposed {
            Ok(_) => EventBody::RunFinished { stop_reason: "planned".into(), result: Json::Null, usage },
            Err(error) => failed(error, usage),
        };
        if let Some(hit) = proposed.as_ref().err().and_then(limit_hit) {
            log.emit(hit, Durability::Queued).await?;
        }
        log.emit(end, Durability::Forced).await?;
        proposed
    }

    /// A plan for the task of a recorded run, by the model that is configured now. Nothing is recorded.
    ///
    /// # Errors
    /// `not_found`; `run_not_resumable` where the run had no task or its journal lacks what is needed; else
    /// as [`App::propose`].
    pub async fn plan_again(&self, run_id: &RunId, cancel: CancellationToken) -> Result<Proposal> {
        let state = self.known_run(run_id).await?;
        let refused = |what: &str| Error::new(ErrorCode::RunNotResumable, format!("run {run_id} {what}"));
        began_without_secret(&state)?;
        // Another plan is asked for as one is by itself: what the run was asked with is not asked for again.
        let planning = PlanningOptions::default();
        let request = RunRequest { cancel, planning, ..run_request(&state)? };
        let Work::Task(task) = &request.work else {
            return Err(refused("was that of a saved plan, not of a task that can be planned again")
                .with_help("give another plan with `--with`"));
        };
        let log = RunLog::new(
            run_id.clone(),
            Arc::new(MemoryJournal::default()),
            self.clock.clone(),
            self.randomness.clone(),
            self.redactor.clone(),
            Vec::new(),
        );
        let budget = Arc::new(RunBudget::new(request.limits.clone(), 0));
        let (app, started) = (self, Instant::now());
        let run = Run {
            app,
            request: &request,
            log: &log,
            budget: &budget,
            started,
            resumed: None,
            checked: None,
            agent: None,
        };
        run.propose(task, &run.context().await?).await
    }

    pub(super) fn run_log(&self, run_id: &RunId, listeners: &[EventListener]) -> RunLog {
        self.run_log_with(self.pen.clone(), run_id, listeners)
    }

    pub(super) fn run_log_with(
        &self,
        pen: Arc<dyn JournalWrite>,
        run_id: &RunId,
        listeners: &[EventListener],
    ) -> RunLog {
        let mut all = vec![self.hub.listener()];
        all.extend(listeners.iter().cloned());
        RunLog::new(
            run_id.clone(),
            pen,
            self.clock.clone(),
            self.randomness.clone(),
            self.redactor.clone(),
            all,
        )
    }
}

/// One run while it goes on.
pub(super) struct Run<'a> {
    pub(super) app: &'a App,
    pub(super) request: &'a RunRequest,
    pub(super) log: &'a RunLog,
    pub(super) budget: &'a Arc<RunBudget>,
    pub(super) started: Instant,
    /// What it came to before, where it goes on.
    pub(super) resumed: Option<&'a RunState>,
    /// What the check found, where its plan was checked for the request that began it.
    pub(super) checked: Option<&'a CheckReport>,
    /// What called it, where it is the run of an agent.
    pub(super) agent: Option<&'a AgentRun>,
}

impl Run<'_> {
    async fn go(&self) -> RunOutcome {
        let prepared = match self.prepare().await {
            Ok(ready) => ready,
            Err(error) => return self.ended_early(error),
        };
        let Prepared { mut plan, context, calls_before, past, candidates, explanation } = prepared;
        let replanned = self.resumed.map_or(0, |state| state.replans);
        if past.is_none()
            && let Err(error) = self.tell_iteration(replanned, &plan).await
        {
            return self.ended_early(error);
        }
        let mut outcome = self.drive(plan.clone(), context.clone(), calls_before, past).await;
        let mut calls_told = 0;
        for attempt in replanned + 1..=self.replans_max() {
            let Some(better) = self.replan(attempt, &mut calls_told, &plan, &context, &outcome).await else {
                break;
            };
            plan = better;
            if let Err(error) = self.tell_iteration(attempt, &plan).await {
                return self.ended_early(error);
            }
            let before = outcome.usage;
            outcome = self.drive(plan.clone(), context.clone(), before.tool_calls, None).await;
            outcome.usage.instructions += before.instructions;
            outcome.usage.tool_calls += before.tool_calls;
            outcome.usage.memory_peak_bytes = outcome.usage.memory_peak_bytes.max(before.memory_peak_bytes);
        }
        if let (Some(name), Ok(value)) = (&self.request.context_name, &outcome.result)
            && let Err(error) = self.save_context(name, value).await
        {
            outcome.result = Err(error);
        }
        outcome.candidates = candidates;
        outcome.explanation = explanation;
        outcome
    }

    /// How often the task may be planned anew after a failed run.
    pub(super) fn replans_max(&self) -> u32 {
        let config = &self.app.config;
        match self.request.circumstances.mode {
            Mode::Structured => config.replans,
            Mode::Autonomous => config.replans.max(config.autonomous_replans),
        }
    }

    /// From the request to a plan that may run.
    async fn prepare(&self) -> Result<Prepared> {
        let context = self.context().await?;
        let begins = self.resumed.is_none();
        if let Some(prepared) = self.prepared_before(&context).await? {
            return Ok(prepared);
        }
        let (mut candidates, mut explanation) = (Vec::new(), None);
        let plan = match &self.request.work {
            Work::Task(task) => {
                if begins {
                    self.record_start(&context, None, None, Durability::Ordered).await?;
                }
                let mut phase = RunPhase::Created.after(PhaseEvent::TaskGiven)?;
                let proposal = self.propose(task, &context).await?;
                phase = phase.after(PhaseEvent::PlanGiven)?;
                phase.after(PhaseEvent::CheckPassed)?;
                let verdicts = proposal.verdicts.iter().map(serde_json::to_value);
                candidates = verdicts.filter_map(std::result::Result::ok).collect();
                explanation = proposal.explanation;
                proposal.plan
            }
            Work::Plan { name, source } => {
                let hash = ContentHash::of(source.as_bytes());
                if begins {
                    self.record_start(&context, Some(name), Some(&hash), Durability::Ordered).await?;
                }
                let phase = RunPhase::Created.after(PhaseEvent::PlanGiven)?;
                let plan = self.check_saved(name, source, &context).await?;
                phase.after(PhaseEvent::CheckPassed)?;
                plan
            }
        };
        Ok(Prepared { plan, context, calls_before: 0, past: None, candidates, explanation })
    }

    pub(super) async fn record_start(
        &self,
        context: &Value,
        plan_name: Option<&str>,
        plan_hash: Option<&ContentHash>,
        durability: Durability,
    ) -> Result<()> {
        let task = match &self.request.work {
            Work::Task(task) => Some(task.clone()),
            Work::Plan { .. } => None,
        };
        let (by, os_user) = Actor::fields(self.request.circumstances.started_by.as_ref());
        let body = EventBody::RunStarted {
            task,
            plan_hash: plan_hash.cloned(),
            plan_name: plan_name.map(str::to_owned),
            context: context.to_exact_json(),
            limits: self.request.limits.to_json(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            mocked: self.request.handler.is_some(),
            engine: Some(self.app.config.sandbox.engine.to_string()),
            isolation: Some(self.app.isolation().to_string()),
            context_name: self.request.context_name.clone(),
            owner: Some(self.app.owner_name().await?),
            tenant: Some(self.request.circumstances.tenant.clone()),
            mode: Some(self.request.circumstances.mode.to_string()),
            parent_run_id: self.agent.map(|agent| agent.parent_run_id.clone()),
            parent_call_id: self.agent.map(|agent| agent.parent_call_id.clone()),
            agent: self.agent.map(|agent| agent.name.clone()),
            starts_over: self.request.starts_over.clone(),
            planning: self.request.planning.to_record().map(Box::new),
            by,
            os_user,
        };
        self.log.emit(body, durability).await
    }

    pub(super) fn ended_early(&self, error: Error) -> RunOutcome {
        ended_early(self.log.run_id(), error)
    }
}
