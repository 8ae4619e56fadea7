//! Drives a plan until it ends or suspends: the bus of its run, and the agents below it.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use luaplan_base::{Result, RunId, STEPS_MAX, Value};
use luaplan_bus::{Bus, BusParts, CallHandler, FlowGate, Registry, RunApprovals};
use luaplan_engine::{DriveRequest, RecordedOutput, RunOutcome, drive};
use luaplan_journal::{DeclaredStep, Durability, EventBody};
use luaplan_plan::CheckedPlan;
use luaplan_plan::steps::{NamedStep, named_steps};

use super::learning::Learning;
use super::provenance::{PlanOrigins, PlanSteering};
use crate::agents::CALL_AGENT;
use crate::agents::call::{CallAgent, CallingRun};
use crate::plans::steering::PlanInputs;
use crate::runs::run::{Past, Run};

/// How long runs of agents have to record their ends once their caller's calls were cut.
const AGENTS_GRACE: Duration = Duration::from_secs(5);

/// The steps that the plan's source shows.
fn declared_steps(plan: &CheckedPlan) -> Vec<DeclaredStep> {
    let most = usize::try_from(STEPS_MAX).unwrap_or(usize::MAX);
    let declared = |NamedStep { name, line, depends_on, .. }| DeclaredStep { name, line, depends_on };
    named_steps(plan.source()).into_iter().take(most).map(declared).collect()
}

impl Run<'_> {
    pub(crate) async fn drive(
        &self,
        plan: CheckedPlan,
        context: Value,
        calls_before: u64,
        past: Option<Past>,
    ) -> RunOutcome {
        if past.is_none() {
            let accepted = EventBody::PlanAccepted {
                plan_hash: plan.hash().clone(),
                calls_before,
                steps: declared_steps(&plan),
            };
            if let Err(error) = self.log.emit(accepted, Durability::Queued).await {
                return self.ended_early(error);
            }
        }
        let started = Instant::now();
        let cancel_calls = CancellationToken::new();
        let agents = TaskTracker::new();
        let origins = Arc::new(PlanOrigins::new(plan.clone(), self.runs.tools.catalog.clone()));
        let handler: Arc<dyn CallHandler> = match &self.spec.handler {
            Some(handler) => handler.clone(),
            None => self.learning(Bus::new(BusParts {
                registry: self.registry(&agents),
                limiter: self.runs.tools.limiter.clone(),
                policy: self.runs.approvals.policy_for(&self.spec.circumstances),
                approvals: match self.mode_of().await {
                    Ok(mode_of) => RunApprovals { mode_of, ..self.approvals(&plan, &origins) },
                    Err(error) => return self.ended_early(error),
                },
                flow: self.flow_gate(&origins, calls_before > 0),
                wakes: self.wakes(),
                questions: self.questions(),
                log: self.log.clone(),
                budget: self.budget.clone(),
                cancellation: cancel_calls.clone(),
                deadline: started + self.spec.limits.wall,
                result_bytes_max: self.spec.limits.result_bytes,
            })),
        };
        let (handler, recorded) = match past {
            Some(past) => (self.answering_from(past.calls, handler), past.output),
            None => (handler, RecordedOutput::default()),
        };
        let request = DriveRequest {
            plan,
            context,
            recorded,
            tools: self.runs.tools.catalog.names().map(str::to_owned).collect(),
            limits: self.spec.limits.clone(),
            calls_before,
            run_started_at: self.started_at(),
            workers: self.runs.workers.as_ref().map(|pool| pool.of(&self.spec.circumstances.tenant)),
            vms: self.runs.vms.clone(),
            lines: None,
            started,
            idle: self.budget.idle().clone(),
            cancel: self.spec.cancel.clone(),
            pause: self.runs.registry.pause_of(self.log.run_id()),
            cancel_calls,
        };
        let outcome = drive(request, &*handler, self.log).await;
        agents.close();
        if tokio::time::timeout(AGENTS_GRACE, agents.wait()).await.is_err() {
            tracing::error!(run_id = %self.log.run_id(), "a run of an agent did not end with its caller");
        }
        self.runs.tools.seen.save(&self.spec.circumstances.tenant).await;
        self.runs.named_by_call(outcome).await
    }

    /// The bus, and what is learned from its answers.
    fn learning(&self, bus: Bus) -> Arc<dyn CallHandler> {
        Arc::new(Learning {
            calls: Arc::new(bus),
            tools: self.runs.tools.clone(),
            redactor: self.runs.history.redactor.clone(),
            tenant: self.spec.circumstances.tenant.clone(),
        })
    }

    /// The tools, with agents that run below this run.
    fn registry(&self, agents: &TaskTracker) -> Arc<Registry> {
        let all = &self.runs.tools.registry;
        let Some(spec) = all.get(CALL_AGENT).map(|tool| tool.spec().clone()) else { return all.clone() };
        if self.runs.config.agents.is_empty() {
            return all.clone();
        }
        let caller = CallingRun {
            runs: self.runs.clone(),
            limits: self.spec.limits.clone(),
            circumstances: self.spec.circumstances.clone(),
            depth: self.agent.map_or(0, |agent| agent.depth),
        };
        let mut registry = Registry::clone(all);
        registry.insert(Arc::new(CallAgent::new(spec, caller, agents.clone())));
        Arc::new(registry)
    }

    /// The run whose mode is this one's, where it is another: that of an agent is in the mode of the first of its callers.
    pub(crate) async fn mode_of(&self) -> Result<Option<RunId>> {
        match self.agent {
            Some(agent) => self.runs.history.root_of(&agent.parent_run_id).await.map(Some),
            None => Ok(None),
        }
    }

    /// What people said about the calls of `plan`.
    fn approvals(&self, plan: &CheckedPlan, origins: &Arc<PlanOrigins>) -> RunApprovals {
        let known = self.resumed.iter().flat_map(|state| &state.approvals);
        RunApprovals {
            plan_hash: Some(plan.hash().clone()),
            known: known.filter(|known| known.plan.is_none()).cloned().collect(),
            journal: Some(self.runs.history.journal.clone()),
            origins: Some(origins.clone()),
            mode_of: None,
        }
    }

    /// Whether untrusted data steers the calls of the plan. The plan of a task is no better than what its model has seen.
    fn flow_gate(&self, origins: &Arc<PlanOrigins>, is_replanned: bool) -> Option<FlowGate> {
        let rules = self.runs.config.flow.clone()?;
        let has_seen_data = !self.spec.planning.samples.is_empty()
            || self.resumed.is_some_and(|state| !state.influenced_by.is_empty())
            || is_replanned && self.runs.config.share_run_data;
        let context_is_from = match (self.agent, &self.spec.context_name) {
            (Some(_), _) => Some("which another plan handed over"),
            (None, Some(_)) => Some("which an earlier run may have left"),
            (None, None) => None,
        };
        let inputs = PlanInputs {
            context_is_from,
            plan_is_from: has_seen_data.then_some("was written by a model that had seen data"),
        };
        let steered = rules.steered;
        Some(FlowGate { judge: Arc::new(PlanSteering { origins: origins.clone(), rules, inputs }), steered })
    }
}
