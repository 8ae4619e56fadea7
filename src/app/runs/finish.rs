//! How the end of a run is put on record.

use tokio_util::sync::CancellationToken;

use luaplan_base::{Error, ErrorCode, LimitName, Result, RunId, Usage};
use luaplan_bus::{Interruption, Suspension};
use luaplan_engine::RunOutcome;
use luaplan_journal::{
    Actor, CallState, Durability, EventBody, EventListener, JournalRead as _, RunLog, RunState, RunStatus,
    StopReason,
};
use luaplan_vm::FAILED_CALL;

use super::control_files::ControlRequests;
use super::service::Runs;
use super::spec::ResumeRequest;
use super::start::ClaimedRun;
use crate::agents::AgentRun;
use crate::agents::kin::family_of;
use crate::ownership::hold::goes_on_elsewhere;

impl Runs {
    /// The outcome of a run that a failed call ended, with that call's code; of a denied one, under it.
    pub(crate) async fn named_by_call(&self, mut outcome: RunOutcome) -> RunOutcome {
        if let Some(error) = outcome.failure()
            && may_be_of_a_call(error.code())
            && let Ok(Some(state)) = self.history.journal.run_state(&outcome.run_id).await
            && let Some(named) = ended_by_call(error, &state.calls)
        {
            outcome.result = Err(named.into());
        }
        outcome
    }

    /// A person may decide or answer while the other calls of a `parallel` still run; the pause then comes after
    /// that, and no other process would claim the run.
    pub(crate) async fn go_on_where_decided(
        &self,
        mut outcome: RunOutcome,
        listeners: &[EventListener],
        cancel: &CancellationToken,
        agent: Option<&AgentRun>,
    ) -> RunOutcome {
        loop {
            let Some(suspension) = outcome.suspension().filter(|waits| waits.waits_for_decision()) else {
                return outcome;
            };
            if cancel.is_cancelled() {
                return outcome;
            }
            let asks = match self.history.journal.run_state(&outcome.run_id).await {
                Ok(Some(state)) if state.status == RunStatus::Paused => {
                    self.still_asks(state, suspension).await
                }
                _ => Ok(true),
            };
            if !matches!(asks, Ok(false)) {
                return outcome;
            }
            let request = ResumeRequest {
                listeners: listeners.to_vec(),
                ..ResumeRequest::new(outcome.run_id.clone(), cancel.clone())
            };
            outcome = match self.claim_own(request).await {
                Ok(claimed) => self.execute_once(ClaimedRun { agent: agent.cloned(), ..claimed }).await,
                // The process of the decision was first.
                Err(_) => return outcome,
            };
        }
    }

    /// Whether a run, or one of an agent that it waits for, has a request without a decision, or a question without an
    /// answer where it is suspended for questions.
    async fn still_asks(&self, state: RunState, suspension: &Suspension) -> Result<bool> {
        let family = family_of(&*self.history.journal, state).await?;
        Ok(match suspension.waits_for_answer() {
            true => family.iter().any(|state| state.open_questions().next().is_some()),
            false => family.iter().any(|state| state.pending_approvals().next().is_some()),
        })
    }

    /// Waits while a run sleeps, and resumes it. A run that is cancelled meanwhile ends so.
    pub(crate) async fn sleep_out(
        &self,
        mut outcome: RunOutcome,
        listeners: &[EventListener],
        cancel: &CancellationToken,
    ) -> RunOutcome {
        while let Some(wake_at) = outcome.wake_at() {
            let (cancels, wakes) = tokio::select! {
                biased;
                () = cancel.cancelled() => (true, false),
                wakes = self.history.sleep_until(&outcome.run_id, wake_at) => (false, wakes),
            };
            if cancels && self.cancel(&outcome.run_id, None).await.is_err() {
                return outcome;
            }
            if !wakes {
                outcome.result = Err(Error::cancelled().into());
                return outcome;
            }
            let request = ResumeRequest {
                listeners: listeners.to_vec(),
                ..ResumeRequest::new(outcome.run_id.clone(), cancel.clone())
            };
            outcome = match self.resume_to_rest(request).await {
                Ok(outcome) => outcome,
                // Another process woke it first, or ended it, or it cannot be woken.
                Err(error) => return self.not_woken(outcome, error).await,
            };
        }
        outcome
    }

    /// Records how a run ended, or that it waits, and is done with it. Not before it is on record: until then
    /// the run must not look like one whose process is gone. One that was told to end is not suspended.
    pub(crate) async fn end(&self, log: &RunLog, outcome: RunOutcome) -> RunOutcome {
        let run_id = log.run_id();
        let shares_runs = self.history.shares_runs();
        let asked = match shares_runs {
            // There the lease says which node executes it, and this node may claim the run again once it is released.
            true => self.registry.remove(run_id),
            false => self.registry.requests_of(run_id),
        };
        let outcome = self.record_end(log, self.apply_requests(outcome, &asked), &asked).await;
        let told = if shares_runs {
            match outcome.status().is_suspended() {
                true => self.told_to_end(run_id).await,
                false => ControlRequests::default(),
            }
        } else {
            let asked = self.registry.remove(run_id);
            let late = self.registry.files().take_back(run_id);
            if late.cancel { late } else { asked }
        };
        self.cancel_if_requested(outcome, &told).await
    }

    /// What a run that was about to be suspended does where its end or a pause was requested.
    fn apply_requests(&self, mut outcome: RunOutcome, asked: &ControlRequests) -> RunOutcome {
        let status = outcome.status();
        // A process that stops leaves its runs suspended.
        if status.is_suspended() && asked.cancel && !self.is_interrupting() {
            outcome.result = Err(Error::cancelled().into());
        } else if status == RunStatus::Sleeping && asked.pause {
            outcome.result = Err(Suspension::Requested { run_id: outcome.run_id.clone() }.into());
        }
        outcome
    }

    /// Ends a run that was just suspended, where its end was requested meanwhile.
    async fn cancel_if_requested(&self, mut outcome: RunOutcome, told: &ControlRequests) -> RunOutcome {
        let rests = outcome.status().is_suspended();
        // That of an agent is ended with the run that called it.
        let ends = rests && told.cancel && !self.is_interrupting();
        if ends && self.cancel(&outcome.run_id, told.by.as_ref()).await.is_ok() {
            outcome.result = Err(Error::cancelled().into());
        }
        outcome
    }

    /// Whether another node was asked to end a run of this one.
    async fn told_to_end(&self, run_id: &RunId) -> ControlRequests {
        let Ok(Some(leases)) = self.history.leases() else { return ControlRequests::default() };
        // A database that does not answer tells the next node that takes it up.
        let told = leases.cancel_requested(run_id).await.ok().flatten();
        ControlRequests { cancel: told.is_some(), pause: false, by: told.flatten() }
    }

    /// Records how a run ended, or that it waits.
    async fn record_end(&self, log: &RunLog, mut outcome: RunOutcome, asked: &ControlRequests) -> RunOutcome {
        outcome.not_resumable = log.not_resumable();
        if let Some(reason) = &outcome.not_resumable {
            let waits_for_answer = outcome.suspension().is_some_and(Suspension::waits_for_answer);
            if outcome.status() == RunStatus::Sleeping {
                outcome.result = Err(cannot_sleep(log.run_id(), reason).into());
            } else if waits_for_answer {
                outcome.result = Err(cannot_wait(log.run_id(), reason).into());
            }
        }
        outcome.result = outcome.result.map_err(|why| why.about_run(log.run_id()));
        if self.history.shares_runs() && outcome.failure().is_some_and(goes_on_elsewhere) {
            // The record has no end: the process that claims the run resumes it.
            if let Err(error) = log.release_lease().await {
                tracing::warn!(run_id = %log.run_id(), %error, "others take the run up once the lease has run out");
            }
            return outcome;
        }
        if let Some(hit) = outcome.failure().and_then(limit_hit) {
            let _ = log.emit(hit, Durability::Queued).await;
        }
        let by = asked.by.as_ref().filter(|_| asked.cancel || asked.pause);
        let end = match &outcome.result {
            Ok(value) => EventBody::RunFinished {
                stop_reason: StopReason::Completed.into(),
                mode: None,
                result: value.to_json(),
                usage: outcome.usage,
                iterations: outcome.iterations,
            },
            Err(Interruption::Cancelled(error)) => {
                let (by, os_user) = Actor::fields(by);
                EventBody::RunCancelled { reason: error.message().into(), usage: outcome.usage, by, os_user }
            }
            Err(Interruption::Suspended(suspension)) => suspension.event(by),
            Err(Interruption::Failed(error)) => failed(error, outcome.usage),
        };
        // A success that is not on record is no success.
        if let Err(error) = log.emit(end, Durability::Forced).await {
            tracing::error!(run_id = %log.run_id(), %error, "the end of a run could not be recorded");
            if outcome.result.is_ok() {
                outcome.result = Err(error.into());
            }
        }
        outcome
    }
}

/// Whether a run that a failed call ended can end so.
const fn may_be_of_a_call(code: ErrorCode) -> bool {
    use ErrorCode as C;
    matches!(code, C::ToolErrorUsed | C::ToolErrorIgnored | C::MustFailed | C::PlanError)
}

/// The error of a run that ended because it used, ignored or raised the failure of a call: with the failure's code
/// as the detail `cause`, or, where policy or a person denied the call, with the code of the denial in place of its
/// own. `None` for any other.
pub(crate) fn ended_by_call(error: &Error, calls: &[CallState]) -> Option<Error> {
    if !may_be_of_a_call(error.code()) {
        return None;
    }
    let is_told = |call: &&CallState| is_ended_by(error, call);
    let code = |call: &CallState| call.end.as_ref()?.code.clone();
    let denial =
        calls.iter().filter(|call| call.refused).filter(is_told).find_map(|call| match code(call)? {
            code if code == ErrorCode::ApprovalDenied.as_str() => Some(ErrorCode::ApprovalDenied),
            code if code == ErrorCode::PermissionDenied.as_str() => Some(ErrorCode::PermissionDenied),
            _ => None,
        });
    let cause = calls.iter().rev().filter(is_told).find_map(code);
    if denial.is_none() && cause.is_none() {
        return None;
    }
    let named = Error::new(denial.unwrap_or(error.code()), error.message()).with_facts_of(error);
    Some(match (denial, cause) {
        (None, Some(cause)) => named.with_detail("cause", cause),
        _ => named.with_detail("ended_with", error.code().as_str()),
    })
}

/// Whether it is the failure of `call` that `error` is about.
fn is_ended_by(error: &Error, call: &CallState) -> bool {
    if error.code() == ErrorCode::ToolErrorIgnored {
        let ignored = error.details().get("calls").cloned().unwrap_or_default();
        let ignored: Vec<IgnoredCall> = serde_json::from_value(ignored).unwrap_or_default();
        return ignored.iter().any(|ignored| ignored.call.as_deref() == Some(call.call_id.as_str()));
    }
    if let Some(used) = error.details().get(FAILED_CALL) {
        return used.as_str() == Some(call.call_id.as_str());
    }
    // What a plan raises is text of its own: the failure's words in it are all that is left of the failure.
    let said = call.end.as_ref().and_then(|end| end.error.as_ref()?.get("error")?.as_str());
    said.is_some_and(|said| !said.is_empty() && error.message().contains(said)) // a plan's own text
}

/// What `tool_error_ignored` tells of a call.
#[derive(serde::Deserialize)]
struct IgnoredCall {
    /// Absent where a step failed without a failed call.
    call: Option<String>,
}

pub(crate) fn failed(error: &Error, usage: Usage) -> EventBody {
    EventBody::RunFailed {
        code: error.code().into(),
        message: error.message().into(),
        recoverable: is_recoverable(error.code()),
        error: error.to_json(),
        usage,
    }
}

pub(crate) fn limit_hit(error: &Error) -> Option<EventBody> {
    let code = error.code();
    let (limit, observed) = (error.limit()?.clone(), error.observed()?.clone());
    let is_limit = code == ErrorCode::LimitSteps || LimitName::ALL.iter().any(|name| name.code() == code);
    is_limit.then(|| EventBody::LimitHit { code: code.into(), limit, observed })
}

/// Whether the same request may succeed later without being changed.
fn is_recoverable(code: ErrorCode) -> bool {
    use ErrorCode as C;
    matches!(
        code,
        C::LlmRateLimited
            | C::LlmTimeout
            | C::LlmUnavailable
            | C::LlmStreamCut
            | C::JournalUnavailable
            | C::JournalDiskFull
            | C::Interrupted
            | C::LimitWallTime
    )
}

/// A run that wants to sleep and could never be woken ends here and now.
pub(crate) fn cannot_sleep(run_id: &RunId, reason: &str) -> Error {
    let message = format!("run {run_id} cannot sleep, as nothing could wake it: {reason}");
    Error::new(ErrorCode::RunNotResumable, message).with_help(START_AGAIN).about_run(run_id)
}

/// A run that asks a person and could never go on with the answer ends here and now.
fn cannot_wait(run_id: &RunId, reason: &str) -> Error {
    let message = format!("run {run_id} cannot wait for an answer, as nothing could resume it: {reason}");
    Error::new(ErrorCode::RunNotResumable, message).with_help(START_AGAIN).about_run(run_id)
}

pub(super) const START_AGAIN: &str = "look at what it did (`luaplan show RUN`) and start it again where it is still wanted; \
                           a plan that sleeps takes secrets from its tools' configuration, never as data";
