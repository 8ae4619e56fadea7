//! The main use case: a task or a plan, run to its end.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value as Json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use luaplan_base::{Error, ErrorCode, LimitName, Result, RunId, Usage, Value};
use luaplan_bus::{Interruption, RunBudget};
use luaplan_engine::{RecordedCalls, RecordedOutput, RunOutcome};
use luaplan_journal::{Durability, EventBody, NewContext, RunLog, RunState, RunStatus};
use luaplan_plan::CheckedPlan;
use luaplan_planner::Proposal;

use super::restore::{began_without_secret, run_spec};
use super::service::Runs;
use super::spec::{PlanningOptions, RunSpec, Work};
use super::start::{ClaimedRun, empty_context, stored_context};
use crate::agents::AgentRun;

impl Runs {
    /// Runs to the end, sleeps included, during which nothing of the run is held; a run that needs a person
    /// comes back paused. What went wrong is in the outcome and in the journal.
    pub async fn run(&self, spec: RunSpec) -> RunOutcome {
        let (listeners, cancel) = (spec.listeners.clone(), spec.cancel.clone());
        let outcome = self.run_to_rest(spec).await;
        self.sleep_out(outcome, &listeners, &cancel).await
    }

    /// As [`Runs::run`], but a run that sleeps comes back sleeping: its caller has it woken.
    pub async fn run_to_rest(&self, spec: RunSpec) -> RunOutcome {
        let run_id = spec.run_id.clone();
        match self.start(spec, None, Durability::Ordered).await {
            Ok(started) => self.execute(started).await,
            Err(error) => self.history.redacted(RunOutcome::of_nothing(run_id, error)),
        }
    }

    /// Executes a run that this process has claimed until it ends or is suspended.
    pub(crate) async fn execute(&self, run: ClaimedRun) -> RunOutcome {
        let (listeners, cancel) = (run.spec.listeners.clone(), run.spec.cancel.clone());
        let agent = run.agent.clone();
        let outcome = self.execute_once(run).await;
        self.go_on_where_decided(outcome, &listeners, &cancel, agent.as_ref()).await
    }

    pub(crate) async fn execute_once(&self, claimed: ClaimedRun) -> RunOutcome {
        let log = &claimed.log;
        if let Some(suspension) = claimed.resumed.as_ref().and_then(|state| self.must_ask(state)) {
            let outcome = self.end(log, RunOutcome::of_nothing(log.run_id().clone(), suspension)).await;
            return self.history.redacted(outcome);
        }
        let limits = claimed.spec.limits.clone();
        let budget = Arc::new(match &claimed.agent {
            Some(agent) => RunBudget::nested(limits, &agent.budget),
            None => RunBudget::new(limits, 0),
        });
        let run = Run::of(self, &claimed, &budget);
        let mut outcome = run.go().await;
        if outcome.status() == RunStatus::Cancelled && self.is_interrupting() {
            let message = "the process was asked to stop while the run was going";
            outcome.result = Err(Error::new(ErrorCode::Interrupted, message).into());
        }
        let wall_ms = u64::try_from(run.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        outcome.usage = Usage {
            wall_ms,
            // The calls of agents' runs are those of the run that called them too.
            tool_calls: outcome.usage.tool_calls.max(budget.used(LimitName::ToolCalls)),
            result_bytes: budget.used(LimitName::ResultBytes),
            llm_tokens: budget.used(LimitName::LlmTokens),
            llm_cached_tokens: budget.cached_tokens(),
            llm_cost_micro_usd: budget.used(LimitName::LlmCost),
            rate_wait_ms: budget.waited_ms(),
            ..outcome.usage
        };
        let outcome = self.end(log, outcome).await;
        match claimed.agent {
            // The caller's plan continues with the result itself.
            Some(_) => outcome,
            None => self.history.redacted(outcome),
        }
    }

    /// A plan for the task of a recorded run, by the model that is configured now. Nothing is recorded.
    ///
    /// # Errors
    /// `not_found`; `run_not_resumable` where the run had no task or its journal lacks what is needed; else
    /// as [`Runs::propose`].
    pub async fn plan_again(&self, run_id: &RunId, cancel: CancellationToken) -> Result<Proposal> {
        let state = self.history.known_run(run_id).await?;
        let refused = |what: &str| Error::new(ErrorCode::RunNotResumable, format!("run {run_id} {what}"));
        began_without_secret(&state)?;
        // Another plan is asked for as one is by itself: what the run was asked with is not asked for again.
        let planning = PlanningOptions::default();
        let spec = RunSpec { cancel, planning, ..run_spec(&state)? };
        if let Work::Plan { .. } = spec.work {
            return Err(refused("was that of a saved plan, not of a task that can be planned again")
                .with_help("give another plan with `--with`"));
        }
        let log = self.history.log_of_nothing(run_id, self.history.redactor.clone());
        let budget = Arc::new(RunBudget::new(spec.limits.clone(), 0));
        let again = ClaimedRun { spec, log, resumed: Some(state), agent: None };
        Run::of(self, &again, &budget).propose().await
    }
}

/// A plan that may run, and what is on record of it.
pub(crate) struct Prepared {
    pub(crate) plan: CheckedPlan,
    pub(crate) context: Value,
    pub(crate) calls_before: u64,
    pub(crate) past: Option<Past>,
    /// How the candidates for the plan were judged.
    pub(crate) candidates: Vec<Json>,
    /// What the model says about the plan.
    pub(crate) explanation: Option<String>,
}

/// What a plan did before its run was broken off.
pub(crate) struct Past {
    pub(crate) calls: RecordedCalls,
    pub(crate) output: RecordedOutput,
}

/// One run while it is executed.
pub(crate) struct Run<'a> {
    pub(crate) runs: &'a Runs,
    pub(crate) spec: &'a RunSpec,
    pub(crate) log: &'a RunLog,
    pub(crate) budget: &'a Arc<RunBudget>,
    pub(crate) started: Instant,
    /// What is on record of it, where it is resumed.
    pub(crate) resumed: Option<&'a RunState>,
    /// What called it, where it is the run of an agent.
    pub(crate) agent: Option<&'a AgentRun>,
}

impl<'a> Run<'a> {
    pub(crate) fn of(runs: &'a Runs, claimed: &'a ClaimedRun, budget: &'a Arc<RunBudget>) -> Self {
        let ClaimedRun { spec, log, resumed, agent } = claimed;
        let started = Instant::now();
        Self { runs, spec, log, budget, started, resumed: resumed.as_ref(), agent: agent.as_ref() }
    }

    async fn go(&self) -> RunOutcome {
        let prepared = match self.prepare().await {
            Ok(ready) => ready,
            Err(why) => return self.ended_early(why),
        };
        let (candidates, explanation) = (prepared.candidates.clone(), prepared.explanation.clone());
        // Boxed, as what a run waits for is large, and runs of agents are within runs.
        let mut outcome = Box::pin(self.iterate(prepared)).await;
        if let (Some(name), Ok(value)) = (&self.spec.context_name, &outcome.result)
            && let Err(error) = self.save_context(name, value).await
        {
            outcome.result = Err(error.into());
        }
        outcome.candidates = candidates;
        outcome.explanation = explanation;
        outcome
    }

    async fn save_context(&self, name: &str, value: &Value) -> Result<()> {
        // The next run would be given what stands in its place, and not know.
        if self.runs.history.redactor.finds_in(&value.to_exact_json()) {
            let message = format!("the context `{name}` was not saved: what the run returned holds a secret");
            return Err(Error::new(ErrorCode::ContextHoldsSecret, message));
        }
        let new = NewContext {
            name: stored_context(self.spec, name),
            context: value.clone(),
            run_id: Some(self.log.run_id().clone()),
            at: self.log.clock().now(),
            expected_version: None,
        };
        let saved = self.runs.history.journal.contexts().save(new).await?;
        let saved = EventBody::ContextSaved {
            name: name.to_owned(),
            version: saved.version,
            context_hash: saved.hash,
        };
        self.log.emit(saved, Durability::Forced).await
    }

    /// When the run started by its record, also where it goes on later.
    pub(crate) fn started_at(&self) -> Option<Timestamp> {
        self.resumed.map(|state| state.started_at).or_else(|| self.log.began_at())
    }

    /// The context the run starts with; a run that this process claimed has one.
    pub(crate) fn context(&self) -> Value {
        self.spec.context.clone().unwrap_or_else(empty_context)
    }

    /// From the spec to a plan that may run.
    async fn prepare(&self) -> Result<Prepared, Interruption> {
        let context = self.context();
        if let Some(prepared) = self.prepared_by_decision(&context).await? {
            return Ok(prepared);
        }
        if let Some(prepared) = self.prepared_before(&context).await? {
            return Ok(prepared);
        }
        let (mut candidates, mut explanation) = (Vec::new(), None);
        let plan = match &self.spec.work {
            Work::Task(_) => {
                let proposal = self.propose_or_ask().await?;
                self.confirm(&proposal, &context).await?;
                let verdicts = proposal.verdicts.iter().map(serde_json::to_value);
                candidates = verdicts.filter_map(std::result::Result::ok).collect();
                explanation = proposal.explanation;
                proposal.plan
            }
            Work::Plan { name, source } => self.check_saved(name, source, &context).await?,
        };
        Ok(Prepared { plan, context, calls_before: 0, past: None, candidates, explanation })
    }

    pub(crate) fn ended_early(&self, why: impl Into<Interruption>) -> RunOutcome {
        RunOutcome::of_nothing(self.log.run_id().clone(), why)
    }
}
