//! Going on with a run from its journal.

use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use luaplan_base::{CallId, Effect, Error, ErrorCode, Result, RunId};
use luaplan_bus::CALLS_IN_DOUBT;
use luaplan_engine::RunOutcome;
use luaplan_journal::{
    Actor, CallState, Durability, EventBody, EventListener, JournalRead as _, Resolved, RunFilter, RunLog,
    RunState, RunStatus,
};
use luaplan_plan::CheckReport;

use super::App;
use super::agents::{AgentRun, belongs_to};
use super::finish::ended_early;
use super::ownership::Hold;
use super::resolutions::CallResolution;
use super::restore::{beginning_suffices, cannot_go_on, run_request};
use super::runs::RunRequest;

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

/// A run that this process has taken up and must go on with.
pub struct TakenUp {
    pub(super) request: RunRequest,
    pub(super) log: RunLog,
    pub(super) state: RunState,
    /// What the check found, where its plan was checked for the request that began it.
    pub(super) checked: Option<CheckReport>,
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
        let taken_up = self.take_up(self.toward_root(request).await?).await?;
        Ok(self.go_on(taken_up).await)
    }

    /// The first half of [`App::resume_to_rest`]: makes the run this process's own and records what is
    /// known now. What is taken up must go on.
    ///
    /// # Errors
    /// As [`App::resume`], and `run_not_resumable` for the run of an agent, which goes on with its caller;
    /// the run is then as it was.
    pub async fn take_up(&self, request: ResumeRequest) -> Result<TakenUp> {
        if let Some(parent) = self.parent_of(&request.run_id).await? {
            return Err(belongs_to(&request.run_id, &parent));
        }
        self.take_up_own(request).await
    }

    pub(super) async fn take_up_own(&self, request: ResumeRequest) -> Result<TakenUp> {
        let hold = self.hold(&request.run_id).await?;
        let log = self.log_under(&hold, &request.run_id, &request.listeners);
        let state = match self.claim(&log, &request).await {
            Ok(state) => state,
            Err(error) => {
                self.left_or_ended(&hold, &log, &error).await;
                return Err(error.about_run(&request.run_id));
            }
        };
        drop(hold);
        let request =
            RunRequest { cancel: request.cancel, listeners: request.listeners, ..run_request(&state)? };
        Ok(TakenUp { request, log, state, checked: None })
    }

    /// The second half of [`App::resume_to_rest`].
    pub async fn go_on(&self, taken_up: TakenUp) -> RunOutcome {
        let (listeners, cancel) = (taken_up.request.listeners.clone(), taken_up.request.cancel.clone());
        let outcome = self.go_on_once(taken_up, None).await;
        self.go_on_where_decided(outcome, &listeners, &cancel, None).await
    }

    pub(super) async fn go_on_once(&self, taken_up: TakenUp, agent: Option<&AgentRun>) -> RunOutcome {
        let TakenUp { request, log, state, checked } = taken_up;
        let Some(error) = self.must_ask(&state) else {
            return self.carry_out(&request, &log, (Some(state), checked), agent).await;
        };
        let outcome = self.end(&log, ended_early(&request.run_id, error)).await;
        self.shown(outcome)
    }

    /// While the right to go on is held.
    async fn claim(&self, log: &RunLog, request: &ResumeRequest) -> Result<RunState> {
        let run_id = log.run_id();
        let mut state = self.known_run(run_id).await?;
        self.may_resume(&state)?;
        run_request(&state)?;
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
        Ok(state)
    }

    /// Records what came of calls in doubt, without going on.
    pub(super) async fn resolve(
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

    pub(super) fn may_resume(&self, state: &RunState) -> Result<()> {
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
            RunStatus::Failed if state.code.as_deref() == Some(ErrorCode::Interrupted.as_str()) => {}
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
    pub(super) fn records_suffice(&self, state: &RunState) -> Result<()> {
        let run_id = &state.run_id;
        beginning_suffices(state)?;
        let engine = self.config.sandbox.engine.to_string();
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
    pub(super) fn is_under_way(&self, state: &RunState) -> bool {
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
            RunStatus::Paused => state.waits_for_nobody() && !self.is_at_it(run_id),
            _ => false,
        }))
    }

    /// The reason to wait for a person: calls in doubt that may not be made again unasked.
    fn must_ask(&self, state: &RunState) -> Option<Error> {
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
        let in_doubt: Vec<&CallState> = state.calls_in_doubt().filter(asks).collect();
        let first = in_doubt.first()?;
        let ids: Vec<&CallId> = in_doubt.iter().map(|call| &call.call_id).collect();
        let named: Vec<String> =
            in_doubt.iter().map(|call| format!("{} `{}`", call.call_id, call.tool)).collect();
        let (run, call) = (&state.run_id, &first.call_id);
        let message = format!("{} may or may not have taken effect", named.join(", "));
        Some(
            Error::new(ErrorCode::CallInDoubt, message)
                .with_detail(CALLS_IN_DOUBT, json!(ids))
                .with_detail("calls", Json::from_iter(in_doubt.iter().map(|call| shown(call))))
                .with_help(format!(
                    "look whether it happened, then go on: `luaplan resume {run} --retry {call}` makes it again, \
                     `--done {call}=JSON` takes it as done with that result, `--failed {call}=REASON` as not done"
                )),
        )
    }

    fn resolution_event(
        &self,
        state: &RunState,
        resolution: &CallResolution,
        by: Option<&Actor>,
    ) -> Result<EventBody> {
        let id = &resolution.call_id;
        let Some(call) = state.calls_in_doubt().find(|call| call.call_id.as_str() == id) else {
            let rests = state.calls.iter().find(|call| call.call_id.as_str() == id && call.rests());
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
            Resolved::Retry => ("retry", None, None),
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
                ("done", Some(result.clone()), None)
            }
            Resolved::Failed { message } => ("failed", None, Some(message.clone())),
        };
        let (by, os_user) = Actor::fields(by);
        Ok(EventBody::CallResolved {
            call_id: call.call_id.clone(),
            resolution: resolution.to_owned(),
            result,
            message,
            by,
            os_user,
        })
    }
}

/// A call as a person needs it to look for its effect.
fn shown(call: &CallState) -> Json {
    json!({
        "call_id": call.call_id,
        "tool": call.tool,
        "line": call.line,
        "arguments": call.arguments,
        "started_at": call.started_at,
        "idempotency_key": call.idempotency_key,
    })
}
