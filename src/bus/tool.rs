//! What a tool is to the bus.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

use luaplan_base::{CallId, CallOutcome, RunId, ToolFailure, Value};
use luaplan_catalog::ToolSpec;
use luaplan_journal::RunLog;

use super::{RunBudget, Suspension};

/// One allowed call on its way to a tool.
pub struct Invocation {
    /// The run that makes the call.
    pub run_id: RunId,
    /// The call.
    pub call_id: CallId,
    /// The arguments by name, checked against the tool's parameters, without defaults filled in.
    pub arguments: Value,
    /// The same for every repetition of this call; for tools that can use one.
    pub idempotency_key: String,
    /// What the run may still use.
    pub budget: Arc<RunBudget>,
    /// The run's log, for tools that have more to tell than their result.
    pub log: RunLog,
    /// When the call was to wake its run, where it put it to sleep before.
    pub wake_at: Option<Timestamp>,
    /// Cancelled when the run is; the bus also drops the call's future at its timeout.
    pub cancellation: CancellationToken,
}

/// How far a call has come.
#[derive(Debug)]
pub enum Progress {
    /// It is over.
    Ended(CallOutcome),
    /// It needs time or a person, so its run is put to rest. When the run goes on, the call is begun again.
    Suspended(Suspension),
}

impl Progress {
    /// What came of a call that cannot be suspended, as no process would resume it.
    ///
    /// # Errors
    /// As the call; what it waits for, where it does.
    pub fn into_outcome(self) -> CallOutcome {
        match self {
            Self::Ended(outcome) => outcome,
            Self::Suspended(suspension) => Err(suspension.into()),
        }
    }
}

/// A door to the world.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the manifest says.
    fn spec(&self) -> &ToolSpec;

    /// Does it. Failures are values the plan will see; their messages hold no secret.
    async fn call(&self, invocation: Invocation) -> CallOutcome;

    /// As [`Tool::call`], for tools whose calls may outlast the process: they override this.
    async fn begin(&self, invocation: Invocation) -> Progress {
        Progress::Ended(self.call(invocation).await)
    }

    /// Whether a call with these bound arguments could be made, as far as configuration and arguments tell, so that
    /// nobody is asked about one that cannot. Does no I/O.
    ///
    /// # Errors
    /// What the call would fail with.
    fn could_call(&self, arguments: &Value) -> Result<(), ToolFailure> {
        let _ = arguments;
        Ok(())
    }

    /// Whether calls end by limits of their own, so that the manifest's timeout is not theirs.
    fn keeps_own_time(&self) -> bool {
        false
    }

    /// What a call with these bound arguments would send, for people, without secrets; `None` where
    /// the tool has nothing to tell beyond its arguments. Does no I/O.
    fn request_shape(&self, arguments: &Value) -> Option<Result<Json, ToolFailure>> {
        let _ = arguments;
        None
    }
}
