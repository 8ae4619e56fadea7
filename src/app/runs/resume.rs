//! Going on with a run from its journal.

use serde_json::json;
use tokio_util::sync::CancellationToken;

use luaplan_base::{Effect, Error, ErrorCode, Result, RunId};
use luaplan_bus::{CallInDoubt, CallsInDoubt, Suspension};
use luaplan_engine::RunOutcome;
use luaplan_journal::{
    Actor, CallState, Durability, EventBody, EventListener, JournalRead as _, ResolutionKind, Resolved,
    RunFilter, RunLog, RunState, RunStatus,
};

use super::resolutions::CallResolution;
use super::restore::{beginning_suffices, cannot_go_on, run_spec};
use super::spec::RunSpec;
use super::start::ClaimedRun;
use crate::App;
use crate::agents::belongs_to;
use crate::ownership::hold::Hold;

/// A run to go on with.
pub struct ResumeRequest {
    /// The run.
    pub run_id: RunId,
    /// What is known about its calls in doubt.
    pub resolutions: Vec<CallResolution>,
    /// Who else is told of every event.
    pub listeners: Vec<EventListener>,
    /// Cancelled when somebody ends the run.
    pub cancel: CancellationToken,
    /// Who asks for it; nobody where it wakes or is taken up by itself. Where the run is cancelled already, who did that.
    pub by: Option<Actor>,
}

impl ResumeRequest {
    /// With nothing to say about calls in doubt, and nobody else to tell.
    #[must_use]
    pub fn new(run_id: RunId, cancel: CancellationToken) -> Self {
        Self { run_id, resolutions: Vec::new(), listeners: Vec::new(), cancel, by: None }
    }
}

impl App {
    /// Goes on with a run whose process died, that was interrupted, or that is paused. Its plan is run
    /// from the top; calls on record are answered from there and not made again. A call that was begun
    /// and has no outcome on record is made again where its tool reads or is idempotent (under the same
    /// idempotency key); any other pauses the run until somebody says what came of it.
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

    /// As [`App::resume`], but a run that sleeps comes back sleeping: whoever asked has it woken.
    ///
    /// # Errors
    /// As [`App::resume`].
    pub async fn resume_to_rest(&self, request: ResumeRequest) -> Result<RunOutcome> {
        let claimed = self.claim(self.toward_root(request).await?).await?;
        Ok(self.execute(claimed).await)
    }

    /// The first half of [`App::resume_to_rest`]: makes the run this process's own and records what is
    /// known now. What is claimed must be executed.
    ///
    /// # Errors
    /// As [`App::resume`], and `run_not_resumable` for the run of an agent, which is resumed with its caller;
    /// the run is then as it was.
    pub(crate) async fn claim(&self, request: ResumeRequest) -> Result<ClaimedRun> {
        if let Some(parent) = self.parent_of(&request.run_id).await? {
            return Err(belongs_to(&request.run_id, &parent));
        }
        self.claim_own(request).await
    }

    pub(crate) async fn claim_own(&self, request: ResumeRequest) -> Result<ClaimedRun> {
        let hold = self.hold(&request.run_id).await?;
        let log = self.log_under(&hold, &request.run_id, &request.listeners);
        match self.claim_under(&log, &request).await {
            Ok((spec, state)) => {
                let spec = spec.with_listeners(request.listeners, request.cancel);
                Ok(ClaimedRun { spec, log, resumed: Some(state), agent: None })
            }
            Err(error) => {
                self.left_or_ended(&hold, &log, &error).await;
                Err(error.about_run(&request.run_id))
            }
        }
    }

    /// While the right to resume the run is held.
    async fn claim_under(&self, log: &RunLog, request: &ResumeRequest) -> Result<(RunSpec, RunState)> {
        let run_id = log.run_id();
        let mut state = self.known_run(run_id).await?;
        self.may_resume(&state)?;
        let spec = run_spec(&state)?;
        self.record_resolutions(log, &mut state, &request.resolutions, request.by.as_ref()).await?;
        let resumed_by = request.by.as_ref().filter(|_| !request.cancel.is_cancelled());
        let (by, os_user) = Actor::fields(resumed_by);
        let resumed = EventBody::RunResumed {
            owner: Some(self.owner_name().await?),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            calls_recorded: state.calls.iter().filter(|call| !call.is_open()).count() as u64,
            by,
            os_user,
        };
        log.emit(resumed, Durability::Forced).await?;
        let parent = state.parent.as_ref().map(|parent| parent.run_id.clone());
        self.running.insert(log, &request.cancel, parent);
        if request.cancel.is_cancelled() {
            self.running.asked_by(run_id, request.by.as_ref());
        }
        Ok((spec, state))
    }

    /// Records what came of calls in doubt, without going on.
    pub(crate) async fn resolve(
        &self,
        run_id: &RunId,
        resolutions: &[CallResolution],
        by: Option<&Actor>,
    ) -> Result<()> {
        if resolutions.is_empty() {
            return Ok(());
        }
        let hold = self.hold(run_id).await?;
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
        let mut state = self.known_run(run_id).await?;
        self.record_resolutions(&self.log_under(hold, run_id, &[]), &mut state, resolutions, by).await
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
            _ if state.mocked => {}
            RunStatus::Running | RunStatus::Sleeping if self.is_under_way(state) => {
                return Err(
                    Error::new(ErrorCode::RunActive, format!("run {run_id} is under way")).about_run(run_id)
                );
            }
            // Its pause is on record, and this process is not done with it: what was decided meanwhile it sees.
            RunStatus::Paused if self.is_at_it(run_id) => {
                let message = format!("run {run_id} is about to pause");
                return Err(Error::new(ErrorCode::RunActive, message).about_run(run_id));
            }
            // Nobody waits for it to end by itself, so it is left as it is.
            RunStatus::Paused => {
                if let Some(error) = cannot_go_on(state) {
                    return Err(error);
                }
            }
            RunStatus::Running | RunStatus::Sleeping => {}
            RunStatus::Failed if state.was_interrupted() => {}
            RunStatus::Failed | RunStatus::Succeeded | RunStatus::Cancelled => {
                let message = format!("run {run_id} has ended: it is {}", state.status);
                return Err(Error::new(ErrorCode::RunNotResumable, message)
                    .with_help(
                        "it can be started over: `luaplan reset RUN`; `luaplan show RUN` says what it did",
                    )
                    .about_run(run_id));
            }
        }
        self.records_suffice(state)
    }

    /// Whether the journal holds all it takes to go on with the run once it stands still.
    ///
    /// # Errors
    /// `run_not_resumable` with what is missing.
    pub(crate) fn records_suffice(&self, state: &RunState) -> Result<()> {
        let run_id = &state.run_id;
        beginning_suffices(state)?;
        let engine = self.config.sandbox.engine;
        if let Some(recorded) = state.engine.as_ref().filter(|recorded| **recorded != engine) {
            return Err(Error::new(
                ErrorCode::RunNotResumable,
                format!("run {run_id} ran on the engine `{recorded}`, and this is `{engine}`"),
            )
            .with_help(format!("use the same engine: `--set sandbox.engine={recorded}`")));
        }
        Ok(())
    }

    /// Whether somebody is still at it: this process, or another that lives.
    pub(crate) fn is_under_way(&self, state: &RunState) -> bool {
        if self.shares_runs() {
            // Whoever has its lease may go on, so there is nobody else.
            return false;
        }
        match &state.owner {
            _ if self.is_at_it(&state.run_id) => true,
            Some(owner) => !self.owners.is_mine(owner) && self.owners.is_alive(owner),
            None => false,
        }
    }

    /// Whether this process has begun or taken up the run and not yet put its end, pause or sleep on record.
    fn is_at_it(&self, run_id: &RunId) -> bool {
        !self.shares_runs() && self.running.has(run_id)
    }

    /// The runs without an end whose process is gone, oldest first.
    ///
    /// # Errors
    /// As reading the journal.
    pub async fn abandoned_runs(&self) -> Result<Vec<RunId>> {
        if let Some(leases) = self.leases()? {
            return Ok(leases.open_runs(u32::MAX).await?.into_iter().map(|open| open.run_id).collect());
        }
        let mut abandoned = Vec::new();
        for status in [RunStatus::Running, RunStatus::Paused] {
            let filter = RunFilter { status: Some(status), ..RunFilter::default() };
            for summary in self.journal.runs(filter).await?.into_iter().rev() {
                // The run of an agent goes on with the run that called it.
                let is_below = summary.parent.is_some() && status == RunStatus::Running;
                if !summary.mocked && !is_below && self.is_abandoned(&summary.run_id).await? {
                    abandoned.push(summary.run_id);
                }
            }
        }
        Ok(abandoned)
    }

    /// Whether a run has neither an end nor a process now, nor waits for anybody.
    ///
    /// # Errors
    /// As reading the journal.
    pub async fn is_abandoned(&self, run_id: &RunId) -> Result<bool> {
        let state = self.journal.run_state(run_id).await?;
        Ok(state.is_some_and(|state| match state.status {
            RunStatus::Running => !self.is_under_way(&state),
            RunStatus::Paused => state.is_ready_to_resume() && !self.is_at_it(run_id),
            _ => false,
        }))
    }

    /// The reason to wait for a person: calls in doubt that may not be made again unasked.
    pub(super) fn must_ask(&self, state: &RunState) -> Option<Suspension> {
        let asks = |call: &&CallState| {
            let repeatable = match self.catalog.get(&call.tool) {
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
                if let Some(spec) = self.catalog.get(&call.tool)
                    && let Err(fault) = spec.check_result(result)
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
