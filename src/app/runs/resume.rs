//! Resumes a run from its journal.

use serde_json::json;

use luaplan_base::{Effect, Error, ErrorCode, Result, RunId};
use luaplan_bus::{CallInDoubt, CallsInDoubt, Suspension};
use luaplan_engine::RunOutcome;
use luaplan_journal::{
    Actor, CallState, Durability, EventBody, JournalRead as _, ResolutionKind, Resolved, RunFilter, RunLog,
    RunState, RunStatus,
};

use super::resolutions::CallResolution;
use super::restore::{cannot_go_on, engine_suffices, run_spec};
use super::service::Runs;
use super::spec::{ResumeRequest, RunSpec};
use super::start::ClaimedRun;
use crate::agents::kin::belongs_to;
use crate::ownership::hold::Hold;

impl Runs {
    /// Resumes a run whose process died, that was interrupted, or that is paused. Its plan is run
    /// from the top; calls on record are answered from there and not made again. A call that was begun
    /// and has no outcome on record is made again where its tool reads or is idempotent (under the same
    /// idempotency key); any other pauses the run until an operator says what came of it.
    ///
    /// Instructions, calls and bytes count as if the run had never stopped; the wall time counts anew.
    ///
    /// # Errors
    /// `not_found`; `run_active` where it is under way; `run_not_resumable` where it has ended, was
    /// mocked, or its journal lacks what is needed; `bad_request` for a resolution of a call that is
    /// not in doubt. How the run itself ended is in the outcome.
    pub async fn resume(&self, request: ResumeRequest) -> Result<RunOutcome> {
        let (listeners, cancel) = (request.listeners.clone(), request.cancel.clone());
        let outcome = self.resume_to_rest(request).await?;
        Ok(self.sleep_out(outcome, &listeners, &cancel).await)
    }

    /// As [`Runs::resume`], but a run that sleeps comes back sleeping: the caller must wake it.
    ///
    /// # Errors
    /// As [`Runs::resume`].
    pub async fn resume_to_rest(&self, request: ResumeRequest) -> Result<RunOutcome> {
        let claimed = self.claim(self.toward_root(request).await?).await?;
        Ok(self.execute(claimed).await)
    }

    /// The first half of [`Runs::resume_to_rest`]: makes the run this process's own and records what is
    /// known now. What is claimed must be executed.
    ///
    /// # Errors
    /// As [`Runs::resume`], and `run_not_resumable` for the run of an agent, which is resumed with its caller;
    /// the run is then as it was.
    pub(crate) async fn claim(&self, request: ResumeRequest) -> Result<ClaimedRun> {
        if let Some(parent) = self.history.parent_of(&request.run_id).await? {
            return Err(belongs_to(&request.run_id, &parent));
        }
        self.claim_own(request).await
    }

    pub(crate) async fn claim_own(&self, request: ResumeRequest) -> Result<ClaimedRun> {
        let hold = self.ownership.hold(&request.run_id).await?;
        let log = self.ownership.log_under(&hold, &request.run_id, &request.listeners);
        match self.claim_under(&log, &request).await {
            Ok((spec, state)) => {
                let spec = spec.with_listeners(request.listeners, request.cancel);
                Ok(ClaimedRun { spec, log, resumed: Some(state), agent: None })
            }
            Err(error) => {
                self.release_or_fail(&hold, &log, &error).await;
                Err(error.about_run(&request.run_id))
            }
        }
    }

    /// While the right to resume the run is held.
    async fn claim_under(&self, log: &RunLog, request: &ResumeRequest) -> Result<(RunSpec, RunState)> {
        let run_id = log.run_id();
        let mut state = self.history.known_run(run_id).await?;
        self.may_resume(&state)?;
        let spec = run_spec(&state)?;
        self.record_resolutions(log, &mut state, &request.resolutions, request.by.as_ref()).await?;
        let resumed_by = request.by.as_ref().filter(|_| !request.cancel.is_cancelled());
        let (by, os_user) = Actor::fields(resumed_by);
        let resumed = EventBody::RunResumed {
            owner: Some(self.ownership.owner_name().await?),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            calls_recorded: state.calls.iter().filter(|call| !call.is_open()).count() as u64,
            by,
            os_user,
        };
        log.emit(resumed, Durability::Forced).await?;
        let parent = state.parent.as_ref().map(|parent| parent.run_id.clone());
        // What was requested while it was suspended was not meant for what executes now.
        self.registry.files().take_back(run_id);
        self.registry.insert(log, &request.cancel, parent);
        if request.cancel.is_cancelled() {
            self.registry.note_cancelled_by(run_id, request.by.as_ref());
        }
        Ok((spec, state))
    }

    /// Records what came of calls in doubt, without resuming the run.
    pub(crate) async fn resolve(
        &self,
        run_id: &RunId,
        resolutions: &[CallResolution],
        by: Option<&Actor>,
    ) -> Result<()> {
        if resolutions.is_empty() {
            return Ok(());
        }
        let hold = self.ownership.hold(run_id).await?;
        let recorded = self.resolve_under(&hold, run_id, resolutions, by).await;
        hold.release().await;
        recorded
    }

    async fn resolve_under(
        &self,
        hold: &Hold,
        run_id: &RunId,
        resolutions: &[CallResolution],
        by: Option<&Actor>,
    ) -> Result<()> {
        let mut state = self.history.known_run(run_id).await?;
        self.record_resolutions(&self.ownership.log_under(hold, run_id, &[]), &mut state, resolutions, by)
            .await
    }

    async fn record_resolutions(
        &self,
        log: &RunLog,
        state: &mut RunState,
        resolutions: &[CallResolution],
        by: Option<&Actor>,
    ) -> Result<()> {
        // All are looked at before any is recorded: what is recorded cannot be taken back.
        let events = resolutions
            .iter()
            .map(|resolution| self.resolution_event(state, resolution, by))
            .collect::<Result<Vec<_>>>()?;
        for (resolution, event) in resolutions.iter().zip(events) {
            log.emit(event, Durability::Ordered).await?;
            let call = state.calls.iter_mut().find(|call| call.call_id.as_str() == resolution.call_id);
            if let Some(call) = call {
                call.resolved = Some(resolution.resolved.clone());
            }
        }
        Ok(())
    }

    pub(crate) fn may_resume(&self, state: &RunState) -> Result<()> {
        let run_id = &state.run_id;
        match state.status {
            _ if state.mocked || state.plan_only => {}
            RunStatus::Running | RunStatus::Sleeping if self.ownership.is_under_way(state) => {
                return Err(
                    Error::new(ErrorCode::RunActive, format!("run {run_id} is under way")).about_run(run_id)
                );
            }
            // Its pause is on record, and this process is not done with it: what was decided meanwhile it sees.
            RunStatus::Paused if self.ownership.is_at_it(run_id) => {
                let message = format!("run {run_id} is about to pause");
                return Err(Error::new(ErrorCode::RunActive, message).about_run(run_id));
            }
            // It would not end by itself, so it is left as it is.
            RunStatus::Paused => {
                if let Some(error) = cannot_go_on(state) {
                    return Err(error);
                }
            }
            RunStatus::Running | RunStatus::Sleeping => {}
            RunStatus::Failed if state.was_interrupted() => {}
            RunStatus::Failed | RunStatus::Succeeded | RunStatus::Cancelled => {
                let message = format!("run {run_id} has ended: it {}", state.status.verb());
                return Err(Error::new(ErrorCode::RunNotResumable, message)
                    .with_help(
                        "it can be started over: `luaplan reset RUN`; `luaplan show RUN` says what it did",
                    )
                    .about_run(run_id));
            }
        }
        engine_suffices(state, self.config.sandbox.engine)
    }

    /// The runs without an end whose process is gone, oldest first.
    ///
    /// # Errors
    /// As reading the journal.
    pub async fn abandoned_runs(&self) -> Result<Vec<RunId>> {
        if let Some(leases) = self.history.leases()? {
            return Ok(leases.open_runs(u32::MAX).await?.into_iter().map(|open| open.run_id).collect());
        }
        let mut abandoned = Vec::new();
        for status in [RunStatus::Running, RunStatus::Paused] {
            let filter = RunFilter { status: Some(status), ..RunFilter::default() };
            for summary in self.history.journal.runs(filter).await?.into_iter().rev() {
                // The run of an agent is resumed with the run that called it.
                let is_below = summary.parent.is_some() && status == RunStatus::Running;
                if !summary.mocked
                    && !summary.plan_only
                    && !is_below
                    && self.is_abandoned(&summary.run_id).await?
                {
                    abandoned.push(summary.run_id);
                }
            }
        }
        Ok(abandoned)
    }

    /// Whether a run has neither an end nor a process now, nor waits for a person.
    ///
    /// # Errors
    /// As reading the journal.
    pub async fn is_abandoned(&self, run_id: &RunId) -> Result<bool> {
        let state = self.history.journal.run_state(run_id).await?;
        Ok(state.is_some_and(|state| match state.status {
            RunStatus::Running => !self.ownership.is_under_way(&state),
            RunStatus::Paused => state.is_ready_to_resume() && !self.ownership.is_at_it(run_id),
            _ => false,
        }))
    }

    /// The reason to wait for a person: calls in doubt that may not be made again unasked.
    pub(super) fn must_ask(&self, state: &RunState) -> Option<Suspension> {
        let asks = |call: &&CallState| {
            let repeatable = match self.tools.catalog.get(&call.tool) {
                // What it was then counts: the tool may have been granted more than it is now.
                Some(spec) => {
                    call.effect == Some(spec.effect) && (spec.idempotent || spec.effect == Effect::Read)
                }
                None => false,
            };
            !repeatable
        };
        let calls: Vec<CallInDoubt> = state.calls_in_doubt().filter(asks).map(in_doubt).collect();
        (!calls.is_empty()).then(|| {
            Suspension::InDoubt(CallsInDoubt { run_id: state.run_id.clone(), calls, agents: Vec::new() })
        })
    }

    fn resolution_event(
        &self,
        state: &RunState,
        resolution: &CallResolution,
        by: Option<&Actor>,
    ) -> Result<EventBody> {
        let id = &resolution.call_id;
        let Some(call) = state.calls_in_doubt().find(|call| call.call_id.as_str() == id) else {
            let rests = state.calls.iter().find(|call| call.call_id.as_str() == id && call.is_suspended());
            if let Some(call) = rests {
                let message = format!("call `{id}` of `{}` is not in doubt: it waits", call.tool);
                return Err(Error::new(ErrorCode::BadRequest, message).with_help(match &call.child_run_id {
                    Some(child) => format!("`luaplan show {child}` says what the agent's run waits for"),
                    None => "resume the run without resolutions: it sleeps until its time".to_owned(),
                }));
            }
            let known: Vec<&str> = state.calls_in_doubt().map(|call| call.call_id.as_str()).collect();
            let help = match known.as_slice() {
                [] => "no call of this run is in doubt: resume it without resolutions".to_owned(),
                known => format!("the calls in doubt are {}", known.join(", ")),
            };
            return Err(
                Error::new(ErrorCode::BadRequest, format!("call `{id}` is not in doubt")).with_help(help)
            );
        };
        let (resolution, result, message) = match &resolution.resolved {
            Resolved::Retry => (ResolutionKind::Retry, None, None),
            Resolved::Done { result } => {
                if let Some(spec) = self.tools.catalog.get(&call.tool)
                    && let Err(fault) = spec.check_result(&call.arguments, result)
                {
                    let message = format!("that is no result of `{}`: {fault}", call.tool);
                    return Err(Error::new(ErrorCode::BadRequest, message).with_help(format!(
                        "give what the tool would have answered; `luaplan tools show {}` has its form",
                        call.tool
                    )));
                }
                (ResolutionKind::Done, Some(result.clone()), None)
            }
            Resolved::Failed { message } => (ResolutionKind::Failed, None, Some(message.clone())),
        };
        let (by, os_user) = Actor::fields(by);
        Ok(EventBody::CallResolved {
            call_id: call.call_id.clone(),
            resolution: resolution.into(),
            result,
            message,
            by,
            os_user,
        })
    }
}

/// A call as a person needs it to look for its effect.
fn in_doubt(call: &CallState) -> CallInDoubt {
    let facts = json!({
        "call_id": call.call_id,
        "tool": call.tool,
        "line": call.line,
        "arguments": call.arguments,
        "started_at": call.started_at,
        "idempotency_key": call.idempotency_key,
    });
    CallInDoubt { call_id: call.call_id.clone(), tool: call.tool.clone(), facts }
}
