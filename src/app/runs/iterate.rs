//! Works on a task by one plan after another: in an autonomous run until it is judged to be done, else while a better plan
//! may avoid a failure.
//!
//! Where the loop stands is in the records alone: which plan runs, how many there were, and what was said of the last.

use luaplan_base::{Error, ErrorCode, Result, Usage, Value};
use luaplan_bus::{Interruption, Mode};
use luaplan_engine::RunOutcome;
use luaplan_journal::{Durability, EventBody, JudgedIteration, RunState, switched_mode};
use luaplan_plan::CheckedPlan;
use luaplan_planner::{PastEnd, PastRun, Proposal};

use super::judge::returned;
use super::past::{failed_with, has_only_read, is_for_a_better_plan};
use super::restore::circumstances_of;
use crate::runs::run::{Prepared, Run};
use crate::runs::spec::Work;

impl Run<'_> {
    /// Runs the prepared plan, and others after it as long as another one is wanted.
    pub(crate) async fn iterate(&self, prepared: Prepared) -> RunOutcome {
        let Prepared { mut plan, context, mut calls_before, mut past, .. } = prepared;
        // Of the plans on record, one that goes on was counted already.
        let plans = self.resumed.map_or(0, |state| state.iterations.plans);
        let mut replanned = plans.saturating_sub(u32::from(past.is_some()));
        let mut before = Usage::default();
        loop {
            if past.is_none()
                && let Err(error) = self.tell_iteration(&plan).await
            {
                return self.ended_early(error);
            }
            let driven = self.drive(plan.clone(), context.clone(), calls_before, past.take());
            let mut outcome = Box::pin(driven).await;
            calls_before = calls_before.saturating_add(outcome.usage.tool_calls);
            outcome.usage.instructions += before.instructions;
            outcome.usage.tool_calls += before.tool_calls;
            outcome.usage.memory_peak_bytes = outcome.usage.memory_peak_bytes.max(before.memory_peak_bytes);
            let next = match Box::pin(self.next_plan((&plan, &context), replanned, &mut outcome)).await {
                Ok(Some(next)) => next,
                Ok(None) => return outcome,
                Err(why) => {
                    outcome.result = Err(why);
                    return outcome;
                }
            };
            if let Err(why) = self.confirm(&next.plan_of, &context).await {
                return self.ended_early(why);
            }
            plan = next.plan_of.plan;
            calls_before = calls_before.max(next.calls_on_record);
            before = outcome.usage;
            replanned += 1;
        }
    }

    /// The plan to go on with; `None` where the run ends as the last plan did.
    async fn next_plan(
        &self,
        (plan, context): (&CheckedPlan, &Value),
        replanned: u32,
        outcome: &mut RunOutcome,
    ) -> Result<Option<Next>, Interruption> {
        let may_go_on = match &outcome.result {
            Ok(_) => true,
            Err(Interruption::Failed(error)) => is_for_a_better_plan(error.code()),
            Err(_) => false,
        };
        if !may_go_on || matches!(self.spec.work, Work::Plan { .. }) {
            return Ok(None);
        }
        let state = self.state().await?;
        let proposed = match self.mode_now(&state).await? {
            Mode::Autonomous => self.unless_done(&state, (plan, context), outcome).await?,
            Mode::Structured => self.unless_failed(&state, (plan, context), replanned, outcome).await?,
        };
        let calls_on_record = state.calls.iter().map(|call| call.call_id.sequence()).max().unwrap_or(0);
        Ok(proposed.map(|plan_of| Next { plan_of, calls_on_record }))
    }

    /// A new plan for a structured run that failed, where it may have another one.
    async fn unless_failed(
        &self,
        state: &RunState,
        (plan, context): (&CheckedPlan, &Value),
        replanned: u32,
        outcome: &RunOutcome,
    ) -> Result<Option<Proposal>, Interruption> {
        let Some(error) = outcome.failure() else { return Ok(None) };
        let config = &self.runs.config;
        let attempts_max = match has_only_read(&state.calls) {
            true => config.replans.max(config.replans_after_reads),
            false => config.replans,
        };
        if replanned >= attempts_max {
            return Ok(None);
        }
        let past = self.past_run(state, plan, failed_with(error));
        self.tell_replan(&past, (replanned + 1, attempts_max)).await?;
        self.plan_instead(&past, context).await
    }

    /// A new plan for an autonomous run whose task is not done.
    async fn unless_done(
        &self,
        state: &RunState,
        (plan, context): (&CheckedPlan, &Value),
        outcome: &mut RunOutcome,
    ) -> Result<Option<Proposal>, Interruption> {
        let (counted, max) = (state.iterations.counted, self.iterations_max(state));
        // What was said before the run was broken off is not asked for again.
        let judged = match state.iterations.judged.clone() {
            Some(judged) => judged,
            None => {
                let judged = self.judge(state, plan, context, outcome).await?;
                let told = EventBody::Iteration {
                    iteration: counted,
                    iterations_max: max,
                    plan_hash: plan.hash().clone(),
                    done: Some(judged.done),
                    observation: Some(judged.observation.clone()),
                };
                self.log.emit(told, Durability::Ordered).await?;
                judged
            }
        };
        outcome.iterations = Some(state.iterations.total);
        if judged.done {
            return Ok(None);
        }
        if counted >= max {
            return Err(exceeded(max, counted, &judged, outcome.failure()).into());
        }
        let end = match (&outcome.result, outcome.failure()) {
            (Ok(value), _) => PastEnd::NotDone {
                reason: judged.observation,
                returned: returned(value, self.runs.config.share_run_data),
            },
            (Err(_), Some(error)) => failed_with(error),
            (Err(_), None) => return Ok(None),
        };
        let past = self.past_run(state, plan, end);
        self.tell_replan(&past, (counted, max.saturating_sub(1))).await?;
        self.plan_instead(&past, context).await
    }

    /// Another plan after one that ended so. Where none is found after a failure, the failure stands.
    async fn plan_instead(&self, past: &PastRun, context: &Value) -> Result<Option<Proposal>, Interruption> {
        let has_failed = matches!(past.end, PastEnd::Failed { .. });
        match self.plan_after(past, context).await {
            Ok(proposal) => Ok(Some(proposal)),
            Err(error) if has_failed && error.code() != ErrorCode::Cancelled => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Announces that another plan is asked for, after a plan that failed.
    async fn tell_replan(&self, past: &PastRun, (attempt, attempts_max): (u32, u32)) -> Result<()> {
        let PastEnd::Failed { code, line, .. } = past.end else { return Ok(()) };
        let round = EventBody::ReplanRound {
            attempt,
            attempts_max,
            code: code.into(),
            message: past.told_message(),
            line,
            calls: past.calls.len() as u64,
        };
        self.log.emit(round, Durability::Ordered).await
    }

    /// Announces that an autonomous run begins to work by `plan`. A saved plan is the only one.
    async fn tell_iteration(&self, plan: &CheckedPlan) -> Result<()> {
        let (iteration, iterations_max) = match self.spec.work {
            Work::Plan { .. } if self.spec.circumstances.mode == Mode::Autonomous => (1, 1),
            Work::Plan { .. } => return Ok(()),
            Work::Task(_) => {
                let state = self.state().await?;
                if self.mode_now(&state).await? == Mode::Structured {
                    return Ok(());
                }
                (state.iterations.counted.saturating_add(1), self.iterations_max(&state))
            }
        };
        let plan_hash = plan.hash().clone();
        let (done, observation) = (None, None);
        let told = EventBody::Iteration { iteration, iterations_max, plan_hash, done, observation };
        self.log.emit(told, Durability::Queued).await
    }

    /// By how many plans at most a task is worked on.
    fn iterations_max(&self, state: &RunState) -> u32 {
        let asked = state.iterations.max.or(self.spec.planning.max_iterations);
        asked.unwrap_or(self.runs.config.iterations_max)
    }

    /// The mode that the run is in now: that of the run of an agent is the mode of the run that called it.
    async fn mode_now(&self, state: &RunState) -> Result<Mode> {
        let journal = &*self.runs.history.journal;
        if let Some(root) = self.mode_of().await?
            && let Some(mode) = switched_mode(journal, &root).await?
        {
            return Ok(mode.known().unwrap_or_default());
        }
        Ok(circumstances_of(state)?.mode)
    }

    /// The run as it is on record now.
    async fn state(&self) -> Result<RunState> {
        self.log.catch_up().await?;
        self.runs.history.known_run(self.log.run_id()).await
    }
}

/// The plan to go on with.
struct Next {
    plan_of: Proposal,
    /// The last number of a call on record: those of the plan follow it.
    calls_on_record: u64,
}

fn exceeded(max: u32, counted: u32, judged: &JudgedIteration, failure: Option<&Error>) -> Error {
    let message = format!("the task is not done after {counted} of {max} iterations. {}", judged.observation);
    let error = Error::new(ErrorCode::IterationsExceeded, message).with_limit(max, counted);
    match failure {
        Some(failure) => error.with_detail("cause", failure.code().as_str()),
        None => error,
    }
}
