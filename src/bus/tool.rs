//! The interface between the bus and a tool.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

use luaplan_base::{CallId, CallOutcome, Error, RunId, ToolFailure, Value};
use luaplan_catalog::{DatabaseSchema, ToolSpec};
use luaplan_journal::{QuestionState, RunLog};

use super::{ForeseenCall, Prepared, RunBudget, Suspension, TextFault};

/// One allowed call.
pub struct Invocation {
    /// The run that makes the call.
    pub run_id: RunId,
    /// The call.
    pub call_id: CallId,
    /// The arguments by name, checked against the tool's parameters, without defaults filled in.
    pub arguments: Value,
    /// The idempotency key, the same for every repetition of this call; for tools that can use one.
    pub idempotency_key: String,
    /// The run's budget.
    pub budget: Arc<RunBudget>,
    /// The run's log, for tools that report more than their result.
    pub log: RunLog,
    /// The recorded wake time, where the call put its run to sleep before.
    pub wake_at: Option<Timestamp>,
    /// The question on record, where the call asked a person before.
    pub question: Option<QuestionState>,
    /// Cancelled with the run; the bus also drops the call's future at its timeout.
    pub cancellation: CancellationToken,
}

/// The progress of a call.
#[derive(Debug)]
pub enum Progress {
    /// It has an outcome.
    Ended(CallOutcome),
    /// It waits for a time or a person, so its run is suspended. When the run resumes, the call is started again.
    Suspended(Suspension),
}

impl Progress {
    /// The outcome of a call that cannot be suspended, as no process would resume it.
    ///
    /// # Errors
    /// Those of the call; where it is suspended, a failure that says what it waits for.
    pub fn into_outcome(self) -> CallOutcome {
        match self {
            Self::Ended(outcome) => outcome,
            Self::Suspended(suspension) => Err(suspension.into()),
        }
    }
}

/// What the databases of a tool hold, by their configured names in order, or why that cannot be told.
pub type Schemas = Vec<(String, Result<DatabaseSchema, Error>)>;

/// A tool.
#[async_trait]
pub trait Tool: Send + Sync {
    /// The tool's manifest.
    fn spec(&self) -> &ToolSpec;

    /// Makes the call. Failures are values that the plan will see; their messages hold no secret.
    async fn call(&self, invocation: Invocation) -> CallOutcome;

    /// As [`Tool::call`], for tools whose calls may outlast the process: they override this.
    async fn begin(&self, invocation: Invocation) -> Progress {
        Progress::Ended(self.call(invocation).await)
    }

    /// Whether a call with these bound arguments could be made, as far as configuration and arguments tell, so that
    /// no approval is requested for an impossible call. Does no I/O.
    ///
    /// # Errors
    /// The failure that the call would have.
    fn could_call(&self, arguments: &Value) -> Result<(), ToolFailure> {
        let _ = arguments;
        Ok(())
    }

    /// As [`Tool::could_call`], for a call that a plan may make: refused is what no value makes right of the arguments that
    /// are not known. A tool that is not set up refuses nothing, as lists and checks say so already.
    ///
    /// # Errors
    /// The failure that the call would have.
    fn could_ever_call(&self, call: &ForeseenCall) -> Result<(), ToolFailure> {
        if call.is_whole() { self.could_call(&call.arguments()) } else { Ok(()) }
    }

    /// What is wrong with the texts of a call that a plan may make, such as templates, whatever the arguments are that are
    /// not known. Reads at most files that the tool's own configuration names.
    fn text_faults(&self, call: &ForeseenCall) -> Vec<TextFault> {
        let _ = call;
        Vec::new()
    }

    /// What a call that a plan may make gives, as JSON Schema, where its arguments tell more of it than the manifest. Does
    /// no I/O.
    fn result_of(&self, call: &ForeseenCall) -> Option<Json> {
        let _ = call;
        None
    }

    /// Has the database look at the statement of a call that a plan may make, in a read-only session and within the
    /// time of a call. Nothing is executed, and no data is told.
    async fn prepare(&self, call: &ForeseenCall) -> Prepared {
        let _ = call;
        Prepared::NoStatement
    }

    /// Why [`Tool::prepare`] does not look at the statement of a call that a plan may make, where the call has one.
    fn not_looked_at(&self, call: &ForeseenCall) -> Option<String> {
        let _ = call;
        None
    }

    /// What the databases hold that this tool reads, in order, as far as their users may read it: or why that cannot be
    /// told. Asks the databases anew, within the time of a call. Rows are never told.
    async fn schemas(&self) -> Arc<Schemas> {
        Arc::default()
    }

    /// The operator's own words about what these databases hold.
    fn schema_notes(&self) -> Option<&str> {
        None
    }

    /// What a plan has to know of how this tool is set up: its bounds, and what it may reach. Short phrases for the model
    /// that plans, the same for every task, without secrets.
    fn planning_rules(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether calls end by limits of their own, so that the manifest's timeout does not apply.
    fn keeps_own_time(&self) -> bool {
        false
    }

    /// What a call with these bound arguments would send, for people, without secrets; `None` where
    /// the arguments already show it. Does no I/O.
    fn request_shape(&self, arguments: &Value) -> Option<Result<Json, ToolFailure>> {
        let _ = arguments;
        None
    }
}
