//! The one way a run starts: its log is claimed, what it is to do is put on record, and the rest is
//! [`Runs::execute`]'s.

use std::sync::Arc;

use serde_json::Value as Json;
use tokio::sync::oneshot;
use tracing::Instrument as _;

use luaplan_base::{ContentHash, Error, ErrorCode, Result, Value};
use luaplan_engine::RunOutcome;
use luaplan_journal::{
    Actor, Durability, EventBody, RunLog, RunState, check_context_name, context_of_tenant,
};
use luaplan_plan::parameters::{parameters, with_defaults};

use super::registry::{ActiveRun, Place};
use super::service::Runs;
use super::spec::{PlanningOptions, RunSpec, Work};
use crate::ActiveRuns;
use crate::agents::AgentRun;
use crate::plans::check::PlanOf;

/// A run that this process holds, started just now or resumed, and must execute.
pub(crate) struct ClaimedRun {
    /// With its context.
    pub(crate) spec: RunSpec,
    pub(crate) log: RunLog,
    /// What is on record of it, where it is resumed.
    pub(crate) resumed: Option<RunState>,
    /// What called it, where it is the run of an agent.
    pub(crate) agent: Option<AgentRun>,
}

impl Runs {
    /// Refuses a run that could not start, before anything of it is on record. A plan is checked here, once: the
    /// report goes with the spec.
    ///
    /// # Errors
    /// `bad_request` for an empty task, options or a name that cannot be; `llm_not_configured`; `check_refused` with
    /// the findings, `limit_source`; `analysis_busy` where too many requests wait.
    pub(crate) async fn admit(&self, spec: &mut RunSpec) -> Result<()> {
        spec.context_name.as_deref().map_or(Ok(()), check_context_name)?;
        let (name, source) = match &spec.work {
            Work::Task(task) => return self.admit_task(task, &spec.planning),
            Work::Plan { .. } if spec.checked.is_some() => return Ok(()),
            Work::Plan { name, source } => (name, source),
        };
        // A named context may have a shape that the check knows nothing of.
        let is_whole = spec.context.is_some() || spec.context_name.is_none();
        if is_whole && !parameters(source).is_empty() {
            let given = spec.context.take().unwrap_or_else(empty_context);
            spec.context = Some(with_defaults(source, given)?);
        }
        let (tenant, limits, context) =
            (spec.circumstances.tenant.as_str(), &spec.limits, spec.context.as_ref());
        let report = self.plans.accepted_for(PlanOf { tenant, name, source, limits, context }).await?;
        spec.checked = is_whole.then_some(report);
        Ok(())
    }

    /// Refuses a task that cannot be planned here.
    ///
    /// # Errors
    /// As [`Runs::admit`].
    pub(crate) fn admit_task(&self, task: &str, planning: &PlanningOptions) -> Result<()> {
        if task.trim().is_empty() {
            return Err(Error::new(ErrorCode::BadRequest, "`task` is empty"));
        }
        self.models.check_planning(planning)
    }

    /// Records that a run starts, with all that is needed to run it, as durable as `durability` says when this
    /// returns. What is started must be executed, or released to other nodes.
    ///
    /// # Errors
    /// As writing the journal; `bad_request` for the name of a context that cannot be one.
    pub(crate) async fn start(
        &self,
        spec: RunSpec,
        agent: Option<AgentRun>,
        durability: Durability,
    ) -> Result<ClaimedRun> {
        self.begin(spec, agent, (durability, false)).await
    }

    /// As [`Runs::start`]; where `plan_only`, the record says that nothing of a plan is to run.
    pub(super) async fn begin(
        &self,
        mut spec: RunSpec,
        agent: Option<AgentRun>,
        how: (Durability, bool),
    ) -> Result<ClaimedRun> {
        let log = self.ownership.new_log(&spec.run_id, &spec.listeners).await?;
        // Before its first record, as a run on record that no process executes is claimed by the next that looks.
        let parent = agent.as_ref().map(|agent| agent.parent_run_id.clone());
        self.registry.insert(&log, &spec.cancel, parent);
        let recorded = async {
            let context = self.starting_context(&spec).await?;
            self.record_start(&spec, &context, &log, agent.as_ref(), how).await?;
            Ok(context)
        };
        match recorded.await {
            Ok(context) => {
                spec.context = Some(context);
                Ok(ClaimedRun { spec, log, resumed: None, agent })
            }
            Err(error) => {
                self.registry.remove(&spec.run_id);
                Err(error)
            }
        }
    }

    /// The context a run starts with: its own, else the latest of the named one, else an empty object; with the defaults of
    /// a saved plan's parameters.
    ///
    /// # Errors
    /// `bad_request` for a name that cannot be one or a parameter that is missing, and as reading the journal.
    async fn starting_context(&self, spec: &RunSpec) -> Result<Value> {
        // Known before anything is done: a bad name could not be saved at the end.
        if let Some(name) = &spec.context_name {
            check_context_name(name)?;
            if self.history.redactor.finds_in(&Json::String(name.clone())) {
                let message = "the name of the context holds a secret, and names are kept and shown";
                return Err(Error::new(ErrorCode::BadRequest, message).with_help("name it otherwise"));
            }
        }
        let given = match (&spec.context, &spec.context_name) {
            (Some(context), _) => context.clone(),
            (None, Some(name)) => {
                let saved = self.history.journal.contexts().load(&stored_context(spec, name), None).await?;
                saved.map_or_else(empty_context, |saved| saved.context)
            }
            (None, None) => empty_context(),
        };
        match &spec.work {
            Work::Task(_) => Ok(given),
            Work::Plan { source, .. } => with_defaults(source, given),
        }
    }

    async fn record_start(
        &self,
        spec: &RunSpec,
        context: &Value,
        log: &RunLog,
        agent: Option<&AgentRun>,
        (durability, plan_only): (Durability, bool),
    ) -> Result<()> {
        let (task, plan) = match &spec.work {
            Work::Task(task) => (Some(task.clone()), None),
            Work::Plan { name, source } => (None, Some((name, source))),
        };
        let plan_hash = plan.map(|(_, source)| ContentHash::of(source.as_bytes()));
        let (by, os_user) = Actor::fields(spec.circumstances.started_by.as_ref());
        let started = EventBody::RunStarted {
            task,
            plan_hash: plan_hash.clone(),
            plan_name: plan.map(|(name, _)| name.clone()),
            context: context.to_exact_json(),
            limits: spec.limits.to_json(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            mocked: spec.handler.is_some(),
            engine: Some(self.config.sandbox.engine.into()),
            isolation: Some(self.isolation().into()),
            context_name: spec.context_name.clone(),
            owner: Some(self.ownership.owner_name().await?),
            tenant: Some(spec.circumstances.tenant.clone()),
            mode: Some(spec.circumstances.mode.into()),
            parent_run_id: agent.map(|agent| agent.parent_run_id.clone()),
            parent_call_id: agent.map(|agent| agent.parent_call_id.clone()),
            agent: agent.map(|agent| agent.name.clone()),
            starts_over: spec.starts_over.clone(),
            follows: spec.follows.clone(),
            approve: spec.approve,
            plan_only,
            planning: spec.planning.to_record().map(Box::new),
            by,
            os_user,
        };
        let (Some((_, source)), Some(plan_hash)) = (plan, plan_hash) else {
            return log.emit(started, durability).await;
        };
        log.emit(started, Durability::Queued).await?;
        let source = source.clone();
        let proposed = EventBody::PlanProposed {
            round: 0,
            source,
            plan_hash,
            explanation: None,
            influenced_by: Vec::new(),
        };
        log.emit(proposed, durability).await
    }

    /// Whether another node could execute the run from what is on record of it: no secret stands in it, and
    /// it asks for nothing that is not recorded.
    pub(super) fn can_be_released(&self, spec: &RunSpec) -> bool {
        let plan = match &spec.work {
            Work::Task(task) => task,
            Work::Plan { source, .. } => source,
        };
        // Tests lie in a file of this machine.
        self.is_whole_on_record(spec, plan) && spec.handler.is_none() && spec.planning.tests.is_none()
    }

    /// Whether no secret is taken out of what the run begins with, and out of `plan`, where they are recorded.
    pub(super) fn is_whole_on_record(&self, spec: &RunSpec, plan: &str) -> bool {
        let mut whole = serde_json::json!({
            "context": spec.context.as_ref().map(Value::to_exact_json),
            "plan": plan,
            "planning": spec.planning.to_record(),
        });
        let before = whole.clone();
        self.history.redactor.arguments(&mut whole);
        whole == before
    }

    /// Leaves a run that was started to whichever node has room.
    ///
    /// # Errors
    /// `journal_unavailable`; others then claim it once this node's lease has run out.
    pub(super) async fn release(&self, started: ClaimedRun) -> Result<()> {
        self.registry.remove(&started.spec.run_id);
        started.log.release_lease().await
    }
}

/// What `run` is handed where no context is given.
pub(super) fn empty_context() -> Value {
    Value::Object(indexmap::IndexMap::new())
}

/// A named context is its tenant's own.
pub(super) fn stored_context(spec: &RunSpec, name: &str) -> String {
    context_of_tenant(&spec.circumstances.tenant, name)
}

impl ActiveRuns {
    /// Starts a run in the background, which was checked and is on record before this returns. Where nodes share the
    /// journal and this one has no room the run is left to the others: then there is no run here.
    ///
    /// # Errors
    /// As [`crate::Models::require_model`] and [`crate::Plans::accepted_for`]; `too_many_requests` where there is no
    /// room and none may wait, `shutting_down`, and as writing the journal.
    pub async fn start(self: &Arc<Self>, mut spec: RunSpec) -> Result<Option<ActiveRun>> {
        let own = self.app().runs().clone();
        own.admit(&mut spec).await?;
        let leases = own.history.leases()?.cloned();
        let (run_id, cancel) = (spec.run_id.clone(), spec.cancel.clone());
        match self.registry().place(run_id, spec.circumstances.tenant.clone(), cancel, self.runs_max()) {
            Ok(place) => {
                let claims = async move { own.start(spec, None, Durability::Forced).await };
                self.execute_in(place, claims).await.map(Some)
            }
            Err(full) if full.code() == ErrorCode::TooManyRequests && own.can_be_released(&spec) => {
                let Some(leases) = leases else { return Err(full) };
                let (limit, waiting) = (own.config.queue_max, leases.waiting().await?);
                if waiting >= limit.into() {
                    let message = "as many runs as may be wait for a node with room";
                    return Err(Error::new(ErrorCode::TooManyRequests, message).with_limit(limit, waiting));
                }
                let started = own.start(spec, None, Durability::Forced).await?;
                own.release(started).await?;
                Ok(None)
            }
            Err(refused) => Err(refused),
        }
    }

    /// Executes the run that `claims` claims in the background, once it has; the run is executed even where the
    /// request for it is gone.
    ///
    /// # Errors
    /// As `claims`.
    pub(super) async fn execute_in(
        self: &Arc<Self>,
        place: Place,
        claims: impl Future<Output = Result<ClaimedRun>> + Send + 'static,
    ) -> Result<ActiveRun> {
        let (sender, is_claimed) = oneshot::channel();
        let (runs, run) = (Arc::clone(self), place.run.clone());
        let span = tracing::info_span!("run", run_id = %place.run_id);
        tokio::spawn(
            async move {
                let claimed = match claims.await {
                    Ok(claimed) => claimed,
                    Err(error) => {
                        drop(place);
                        let _ = sender.send(Err(error));
                        return;
                    }
                };
                let _ = sender.send(Ok(()));
                tracing::info!("the run is under way");
                let outcome = runs.app().runs().execute(claimed).await;
                let code = outcome.result.as_ref().err().map(|why| why.code().as_str());
                tracing::info!(status = outcome.status().as_str(), code, "the run ended");
                runs.leave(place, outcome).await;
            }
            .instrument(span),
        );
        let broke_off = |_| Err(Error::new(ErrorCode::Internal, "the run broke off"));
        is_claimed.await.unwrap_or_else(broke_off)?;
        Ok(run)
    }

    /// Gives the place of a run back that ended or came to rest.
    pub(super) async fn leave(self: &Arc<Self>, place: Place, outcome: RunOutcome) {
        let rests = outcome.status().is_suspended();
        let wake_at = outcome.wake_at().or_else(|| outcome.answer_by());
        let (run_id, tenant) = (place.run_id.clone(), place.run.tenant.clone());
        // That no client waits for the outcome is no fault.
        let _ = place.sender.send(Some(Arc::new(outcome)));
        if !rests || self.app().runs().is_interrupting() {
            return;
        }
        // Cancelled in the moment in which it came to rest, when its drive could hear of it no more.
        if let Some((_place, by)) = place.leave_unless_cancelled() {
            if let Err(error) = self.app().runs().cancel_unless_over(&run_id, by.as_ref()).await {
                tracing::warn!(%run_id, %error, "a run at rest could not be ended");
            }
        } else if let Some(wake_at) = wake_at {
            self.wake_later(tenant, run_id, wake_at);
        }
    }
}
