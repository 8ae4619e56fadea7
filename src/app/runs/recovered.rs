//! What a run is executed with: its plan, and the recorded calls where it is resumed.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;

use luaplan_base::{CallId, LimitName, Result, Value};
use luaplan_bus::CallHandler;
use luaplan_engine::{FromJournal, RecordedCalls, RecordedOutput};
use luaplan_journal::{QuestionState, RunState};

use super::restore::recorded_source;
use crate::plans::check::PlanOf;
use crate::runs::run::{Past, Prepared, Run};
use crate::runs::spec::RunSpec;

impl Run<'_> {
    /// When the calls that put the run to sleep are to wake it.
    pub(crate) fn wakes(&self) -> HashMap<CallId, Timestamp> {
        let calls = self.resumed.iter().flat_map(|state| &state.calls);
        calls.filter_map(|call| Some((call.call_id.clone(), call.wake_at?))).collect()
    }

    /// What calls of it asked a person, with the answers so far.
    pub(crate) fn questions(&self) -> HashMap<CallId, QuestionState> {
        let asked = self.resumed.iter().flat_map(|state| &state.questions);
        asked.map(|asked| (asked.call_id.clone(), asked.clone())).collect()
    }

    /// The plan the run worked by before it was broken off; `None` where it had none yet.
    pub(crate) async fn prepared_before(&self, context: &Value) -> Result<Option<Prepared>> {
        let Some(state) = self.resumed else { return Ok(None) };
        self.spend_again(state, state.accepted.as_ref().map_or(0, |plan| plan.calls_before)).await?;
        let Some((source, _)) = recorded_source(state)? else { return Ok(None) };
        let Some(accepted) = &state.accepted else { return Ok(None) };
        let name = state.plan_name.as_deref().unwrap_or("plan");
        let RunSpec { circumstances, limits, .. } = self.spec;
        let tenant = circumstances.tenant.as_str();
        let plan = PlanOf { tenant, name, source, limits, context: Some(context) };
        let plan = self.runs.plans.accepted_before(plan).await?;
        let past = Past {
            calls: RecordedCalls::of(&state.calls)?,
            output: RecordedOutput {
                prints: accepted.prints,
                retries: accepted.retries,
                step_changes: accepted.step_changes,
            },
        };
        Ok(Some(Prepared {
            plan,
            context: context.clone(),
            calls_before: accepted.calls_before,
            past: Some(past),
            candidates: Vec::new(),
            explanation: None,
        }))
    }

    /// Counts what is not asked for again: models, what agents used, and the calls of earlier plans, up to `calls_before`.
    pub(crate) async fn spend_again(&self, state: &RunState, calls_before: u64) -> Result<()> {
        let earlier = state.calls.iter().filter(|call| call.call_id.sequence() <= calls_before);
        let (count, bytes) = earlier.fold((0, 0), |(count, bytes), call| {
            (count + 1, bytes + call.end.as_ref().map_or(0, |end| end.result_bytes))
        });
        self.budget.read_from_cache(state.llm_cached_tokens);
        let spent = [
            (LimitName::LlmTokens, state.llm_tokens),
            (LimitName::LlmCost, state.llm_cost_micro_usd),
            (LimitName::ToolCalls, count),
            (LimitName::ResultBytes, bytes),
        ];
        spent.into_iter().try_for_each(|(name, amount)| self.budget.spend(name, amount))?;
        self.runs.spend_for_children(state, self.budget).await
    }

    pub(crate) fn answering_from(
        &self,
        calls: RecordedCalls,
        next: Arc<dyn CallHandler>,
    ) -> Arc<dyn CallHandler> {
        Arc::new(FromJournal {
            calls,
            catalog: self.runs.tools.catalog.clone(),
            redactor: self.runs.history.redactor.clone(),
            budget: self.budget.clone(),
            next,
        })
    }
}
