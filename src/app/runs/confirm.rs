//! A person confirms the plan of a task before anything of it runs.
//!
//! The request is on record and bound to the plan and the context; the run then pauses like one whose call waits. What is
//! decided is found in the records when the run is resumed, so nothing is held meanwhile.

use luaplan_base::{CallId, ContentHash, Effect, Error, ErrorCode, Result, Value, counted};
use luaplan_bus::{Interruption, Suspension, plan_approval_id};
use luaplan_journal::{ApprovalState, CallState, DecisionKind, Durability, EventBody, RunState};
use luaplan_plan::CheckedPlan;
use luaplan_plan::preview::Texts;
use luaplan_planner::{Proposal, Revision};

use crate::plans::check::{PlanOf, accept};
use crate::runs::run::{Prepared, Run};
use crate::runs::spec::{RevisedPlan, RunSpec};

/// How many plans of one run a person may reject; with one more the run fails.
const PLAN_REJECTIONS_MAX: usize = 5;

impl Run<'_> {
    /// Asks a person about a plan, where the run was started so.
    ///
    /// # Errors
    /// The suspension of the run that waits; `run_not_resumable` where it could not be resumed after a decision, as a
    /// secret stands in what it began with.
    pub(crate) async fn confirm(&self, proposal: &Proposal, context: &Value) -> Result<(), Interruption> {
        self.ask(&proposal.plan, proposal.explanation.as_deref(), context).await
    }

    async fn ask(
        &self,
        plan: &CheckedPlan,
        explanation: Option<&str>,
        context: &Value,
    ) -> Result<(), Interruption> {
        if !self.spec.approve || self.spec.handler.is_some() {
            return Ok(());
        }
        if !self.runs.is_whole_on_record(self.spec, plan.source()) {
            let message = "the plan cannot wait for a person's approval: a secret stands in the plan, the context or a \
                           prompt's arguments, and is not on record";
            return Err(Error::new(ErrorCode::RunNotResumable, message)
                .with_help("take the secret out, or start the task without a confirmation")
                .into());
        }
        let RunSpec { circumstances, limits, .. } = self.spec;
        let (tenant, source) = (circumstances.tenant.as_str(), plan.source());
        let explained = PlanOf { tenant, name: "plan", source, limits, context: Some(context) };
        let preview = self.runs.plans.explain_of_run(explained).await?.preview;
        let (run_id, context_hash) = (self.log.run_id(), hash_of(context));
        let earlier = self.resumed.map_or(0, |state| plans_asked(state).count());
        let approval_id = plan_approval_id(run_id, plan.hash(), &context_hash, earlier);
        let asked = EventBody::PlanApprovalRequested {
            approval_id: approval_id.clone(),
            call_id: CallId::whole_plan(),
            plan_hash: plan.hash().clone(),
            context_hash,
            effect: preview
                .as_ref()
                .and_then(|preview| preview.effects.last().copied())
                .unwrap_or(Effect::Read),
            effects: preview.map(|preview| preview.page(Texts::Short)).unwrap_or_default(),
            explanation: explanation.map(str::to_owned),
        };
        self.log.emit(asked, Durability::Forced).await?;
        Err(Suspension::Approvals(vec![approval_id]).into())
    }

    /// What the run goes on with after a request about its plan; `None` where there is none that nothing was made of.
    ///
    /// # Errors
    /// The suspension of a run that still waits, or waits for a decision about another plan; `approval_denied` where too
    /// many were rejected, and as planning.
    pub(crate) async fn prepared_by_decision(
        &self,
        context: &Value,
    ) -> Result<Option<Prepared>, Interruption> {
        let Some(state) = self.resumed else { return Ok(None) };
        let Some(asked) = state.plan_in_question() else { return Ok(None) };
        // All that was called so far, earlier plans called.
        let calls_before = state.calls.iter().map(|call| call.call_id.sequence()).max().unwrap_or(0);
        self.spend_again(state, calls_before).await?;
        let is_of_context = asked.plan.as_ref().is_some_and(|plan| plan.context_hash == hash_of(context));
        let (plan, explanation) = match (&asked.decision, asked.approved_source()) {
            (None, _) => return Err(Suspension::Approvals(vec![asked.approval_id.clone()]).into()),
            (Some(_), Some(source)) => (self.checked_again(source, context).await?, noted(asked)),
            (Some(_), None) => {
                let proposal = self.propose_after(&self.rejected(state, asked).await?).await?;
                (proposal.plan, proposal.explanation)
            }
        };
        if asked.approved_source().is_none() || !is_of_context {
            self.ask(&plan, explanation.as_deref(), context).await?;
        }
        let (context, candidates) = (context.clone(), Vec::new());
        Ok(Some(Prepared { plan, context, calls_before, past: None, candidates, explanation }))
    }

    /// What the model is told of a plan that was rejected.
    async fn rejected(&self, state: &RunState, asked: &ApprovalState) -> Result<Revision> {
        let reason = |asked: &ApprovalState| {
            let decision = asked.decision.as_ref().filter(|decision| !decision.is_allowance())?;
            Some(decision.reason.clone().unwrap_or_default())
        };
        let reasons: Vec<String> = plans_asked(state).filter_map(reason).collect();
        if reasons.len() > PLAN_REJECTIONS_MAX {
            let last = reasons.last().map_or("", String::as_str);
            let message = format!("a person rejected {}, the last: {last}", counted(reasons.len(), "plan"));
            return Err(Error::new(ErrorCode::ApprovalDenied, message)
                .with_limit(PLAN_REJECTIONS_MAX, reasons.len())
                .with_help("word the task differently, or run a plan of your own"));
        }
        let source = asked.arguments.get(CallId::WHOLE_PLAN).and_then(|source| source.as_str());
        let source = source.unwrap_or_default().to_owned();
        let has_acted = |call: &&CallState| {
            call.effect.is_some_and(|effect| effect != Effect::Read)
                && call.end.as_ref().is_some_and(|end| end.ok)
        };
        let done = state.calls.iter().filter(has_acted).map(|call| call.tool.clone()).collect();
        let influenced_by = state.influenced_by.clone();
        let known = self.revision(&RevisedPlan { source, task: None, influenced_by }).await?;
        Ok(Revision { rejected: reasons, done, ..known })
    }

    /// An approved plan, by the check in force now: days may have passed.
    async fn checked_again(&self, source: &str, context: &Value) -> Result<CheckedPlan> {
        let RunSpec { circumstances, limits, .. } = self.spec;
        let tenant = circumstances.tenant.as_str();
        let plan = PlanOf { tenant, name: "plan", source, limits, context: Some(context) };
        accept(self.runs.plans.check_of_run(plan).await?, source, limits)
    }
}

/// The model's note on a plan that a person left as it was.
fn noted(asked: &ApprovalState) -> Option<String> {
    let is_edited = asked.decision.as_ref().is_some_and(|decision| decision.decision == DecisionKind::Edit);
    asked.plan.as_ref().filter(|_| !is_edited)?.explanation.clone()
}

/// The requests about whole plans, oldest first.
fn plans_asked(state: &RunState) -> impl Iterator<Item = &ApprovalState> {
    state.approvals.iter().filter(|asked| asked.plan.is_some())
}

/// What a decision about a plan is bound to besides the plan.
fn hash_of(context: &Value) -> ContentHash {
    ContentHash::of_json(&context.to_exact_json())
}
