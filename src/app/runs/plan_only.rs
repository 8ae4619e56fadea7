//! Runs that end before anything of a plan runs: a plan is asked for, or it is only shown what would begin.

use std::sync::Arc;

use serde_json::Value as Json;

use luaplan_base::{Error, ErrorCode, LimitName, Result, Usage};
use luaplan_bus::RunBudget;
use luaplan_journal::{Durability, EventBody, FinishMode, RunLog, StopReason};
use luaplan_planner::{Prompt, Proposal, record_prompt};

use super::finish::{failed, limit_hit};
use super::run::Run;
use super::service::Runs;
use super::spec::{RunSpec, Work};
use super::start::ClaimedRun;

impl Runs {
    /// Finds a plan for a task and checks it; runs nothing.
    ///
    /// # Errors
    /// An `llm_…` code, or `check_refused` with the findings.
    pub async fn propose(&self, spec: RunSpec) -> Result<Proposal> {
        let run_id = spec.run_id.clone();
        if let Work::Plan { .. } = spec.work {
            return Err(Error::new(ErrorCode::BadRequest, "only a task can be planned"));
        }
        let started = self.start_plan_only(spec).await?;
        let budget = Arc::new(RunBudget::new(started.spec.limits.clone(), 0));
        let (run, log) = (Run::of(self, &started, &budget), &started.log);
        let proposed = run.propose().await.map_err(|error| error.about_run(&run_id));
        let usage = Usage {
            llm_tokens: budget.used(LimitName::LlmTokens),
            llm_cached_tokens: budget.cached_tokens(),
            llm_cost_micro_usd: budget.used(LimitName::LlmCost),
            ..Usage::default()
        };
        let end = match &proposed {
            Ok(_) => planned(None, usage),
            Err(error) => failed(error, usage),
        };
        self.record_end_of_planning(log, proposed.as_ref().err(), end).await?;
        proposed
    }

    /// Records what a run would begin with, and gives the prompt of a task: no model is asked, no tool is called and nothing
    /// runs. `may_ask` as for [`crate::Models::prompt`]. Databases are asked for what they hold.
    ///
    /// # Errors
    /// `llm_context_overflow` where the prompt does not fit its budget; `check_refused` with the findings of a saved plan;
    /// the journal's.
    pub async fn dry_run(&self, spec: RunSpec, may_ask: bool) -> Result<Option<Prompt>> {
        let run_id = spec.run_id.clone();
        let started = self.start_plan_only(spec).await?;
        let budget = Arc::new(RunBudget::new(started.spec.limits.clone(), 0));
        let (run, log) = (Run::of(self, &started, &budget), &started.log);
        let prepared = match &started.spec.work {
            Work::Task(_) => run.record_first_prompt(may_ask).await.map(Some),
            Work::Plan { name, source } => run.check_saved(name, source, &run.context()).await.map(|_| None),
        };
        let prepared = prepared.map_err(|error| error.about_run(&run_id));
        let end = match &prepared {
            Ok(_) => planned(Some(FinishMode::DryRun), Usage::default()),
            Err(error) => failed(error, Usage::default()),
        };
        self.record_end_of_planning(log, prepared.as_ref().err(), end).await?;
        prepared
    }

    async fn start_plan_only(&self, spec: RunSpec) -> Result<ClaimedRun> {
        let run_id = spec.run_id.clone();
        let started = self.begin(spec, None, (Durability::Ordered, true)).await?;
        // It is never executed, so it can be neither paused nor cancelled by its id.
        self.registry.remove(&run_id);
        Ok(started)
    }

    async fn record_end_of_planning(&self, log: &RunLog, why: Option<&Error>, end: EventBody) -> Result<()> {
        if let Some(hit) = why.and_then(limit_hit) {
            log.emit(hit, Durability::Queued).await?;
        }
        log.emit(end, Durability::Forced).await
    }
}

impl Run<'_> {
    async fn record_first_prompt(&self, may_ask: bool) -> Result<Prompt> {
        let Work::Task(task) = &self.spec.work else {
            return Err(Error::new(ErrorCode::Internal, "a saved plan has no prompt"));
        };
        let models = &self.runs.models;
        let notes = models.notes(&self.spec.planning.prompts).await?;
        let told = (&notes[..], &self.spec.planning.samples[..], may_ask);
        let prompt = models.prompt(task, &self.context(), &self.spec.limits, told).await?;
        record_prompt(&prompt, self.log).await?;
        Ok(prompt)
    }
}

fn planned(mode: Option<FinishMode>, usage: Usage) -> EventBody {
    let stop_reason = StopReason::Planned.into();
    EventBody::RunFinished {
        stop_reason,
        mode: mode.map(Into::into),
        result: Json::Null,
        usage,
        iterations: None,
    }
}
