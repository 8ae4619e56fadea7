//! How the end of a run is put on record.

use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use super::{App, ResumeRequest};
use crate::base::{Error, ErrorCode, Usage};
use crate::engine::RunOutcome;
use crate::journal::{
    CallState, Durability, EventBody, EventListener, JournalRead as _, RunLog, RunState, RunStatus,
};

/// The detail of an error that names the calls in doubt.
pub(super) const CALLS_IN_DOUBT: &str = "calls_in_doubt";

/// The detail of an error that names the requests for approval.
pub(super) const APPROVALS: &str = "approvals";

impl App {
    /// The outcome of a run that a denial ended, under the denial's code.
    pub(super) async fn named_by_policy(&self, mut outcome: RunOutcome) -> RunOutcome {
        if let Some(error) = outcome.error()
            && error.code() != ErrorCode::ApprovalRequired
            && let Ok(Some(state)) = self.journal.run_state(&outcome.run_id).await
            && let Some(named) = ended_by_policy(error, &state.calls)
        {
            outcome.result = Err(named);
        }
        outcome
    }

    /// A person may decide while the other calls of a `parallel` still run; the pause then comes after
    /// the decision, and nobody else would take the run up.
    pub(super) async fn go_on_where_decided(
        &self,
        mut outcome: RunOutcome,
        listeners: &[EventListener],
        cancel: &CancellationToken,
    ) -> RunOutcome {
        loop {
            let waits = outcome.error().is_some_and(|error| error.code() == ErrorCode::ApprovalRequired);
            if !waits || cancel.is_cancelled() {
                return outcome;
            }
            let state = self.journal.run_state(&outcome.run_id).await;
            let asks = |state: &RunState| state.pending_approvals().next().is_some();
            if !matches!(state, Ok(Some(state)) if state.status == RunStatus::Paused && !asks(&state)) {
                return outcome;
            }
            let request = ResumeRequest {
                run_id: outcome.run_id.clone(),
                resolutions: Vec::new(),
                listeners: listeners.to_vec(),
                cancel: cancel.clone(),
            };
            outcome = match self.take_up(request).await {
                Ok(taken_up) => self.go_on_once(taken_up).await,
                // Whoever decided was first.
                Err(_) => return outcome,
            };
        }
    }

    /// Records how a run ended, or that it waits.
    pub(super) async fn record_end(&self, log: &RunLog, mut outcome: RunOutcome) -> RunOutcome {
        if let Some(hit) = outcome.error().and_then(limit_hit) {
            let _ = log.emit(hit, Durability::Queued).await;
        }
        let end = match (&outcome.result, outcome.status()) {
            (Ok(value), _) => EventBody::RunFinished {
                stop_reason: "completed".into(),
                result: value.to_json(),
                usage: outcome.usage,
            },
            (Err(error), RunStatus::Cancelled) => {
                EventBody::RunCancelled { reason: error.message().into(), usage: outcome.usage }
            }
            (Err(error), RunStatus::Paused) => EventBody::RunPaused {
                reason: error.message().into(),
                calls_in_doubt: named_in(error, CALLS_IN_DOUBT),
                approvals: named_in(error, APPROVALS),
            },
            (Err(error), _) => failed(error, outcome.usage),
        };
        // A success that is not on record is no success.
        if let Err(error) = log.emit(end, Durability::Forced).await {
            tracing::error!(run_id = %log.run_id(), %error, "the end of a run could not be recorded");
            if outcome.result.is_ok() {
                outcome.result = Err(error);
            }
        }
        outcome
    }
}

/// The list of names a detail of `error` holds; empty where it has none.
fn named_in<T: DeserializeOwned>(error: &Error, detail: &str) -> Vec<T> {
    let named = error.details().get(detail).cloned().unwrap_or_default();
    serde_json::from_value(named).unwrap_or_default()
}

/// The error of a run that ended because it used, ignored or raised the failure of a call that policy or a
/// person denied: with the code of the denial in place of its own. `None` for any other.
pub(super) fn ended_by_policy(error: &Error, calls: &[CallState]) -> Option<Error> {
    let ends_so =
        matches!(error.code(), ErrorCode::ToolErrorUsed | ErrorCode::ToolErrorIgnored | ErrorCode::PlanError);
    let denial = calls.iter().filter(|call| ends_so && call.refused).find_map(|call| {
        let code = match call.end.as_ref()?.code.as_deref()? {
            code if code == ErrorCode::ApprovalDenied.as_str() => ErrorCode::ApprovalDenied,
            code if code == ErrorCode::PermissionDenied.as_str() => ErrorCode::PermissionDenied,
            _ => return None,
        };
        let said = call.end.as_ref()?.error.as_ref()?.get("error")?.as_str()?;
        error.message().contains(said).then_some(code)
    })?;
    let mut named = Error::new(denial, error.message());
    for (name, value) in error.details() {
        named = named.with_detail(name, value.clone());
    }
    Some(named.with_detail("ended_with", error.code().as_str()))
}

pub(super) fn failed(error: &Error, usage: Usage) -> EventBody {
    EventBody::RunFailed {
        code: error.code().as_str().into(),
        message: error.message().into(),
        recoverable: is_recoverable(error.code()),
        error: error.to_json(),
        usage,
    }
}

pub(super) fn limit_hit(error: &Error) -> Option<EventBody> {
    let code = error.code().as_str();
    let (limit, observed) = (error.limit()?.clone(), error.observed()?.clone());
    code.starts_with("limit_").then(|| EventBody::LimitHit { code: code.to_owned(), limit, observed })
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
