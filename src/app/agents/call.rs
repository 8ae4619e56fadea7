//! One call of an agent: starts its run, resumes it, or tells how it ended.

use async_trait::async_trait;
use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use luaplan_base::{CallOutcome, Error, ErrorCode, Limits, Result, RunId, ToolFailure, Value};
use luaplan_bus::{Circumstances, Interruption, Invocation, Progress, Tool};
use luaplan_catalog::ToolSpec;
use luaplan_engine::RunOutcome;
use luaplan_journal::{Durability, EventBody, JournalRead as _, RunState, RunStatus, Word, is_marked};

use super::AgentRun;
use super::family::spent_by;
use super::kin::child_of;
use crate::config::{AgentConfig, AgentWork};
use crate::runs::service::Runs;
use crate::runs::spec::{RunSpec, Work};

/// The run whose plan calls agents.
#[derive(Clone)]
pub(crate) struct CallingRun {
    /// What executes runs, with the tools of this run alone.
    pub(crate) runs: Runs,
    pub(crate) limits: Limits,
    pub(crate) circumstances: Circumstances,
    pub(crate) depth: u32,
}

/// The tool, as one run has it.
pub(crate) struct CallAgent {
    spec: ToolSpec,
    caller: CallingRun,
    /// The agents' runs under way: they outlast a call that is cut, until they have recorded their ends.
    running: TaskTracker,
}

impl CallAgent {
    pub(crate) fn new(spec: ToolSpec, caller: CallingRun, running: TaskTracker) -> Self {
        Self { spec, caller, running }
    }

    /// The agent, where this run may call it.
    fn agent(&self, name: &str) -> Result<AgentConfig, ToolFailure> {
        let runs = &self.caller.runs;
        let Some(agent) = runs.config.agents.get(name) else {
            return Err(ToolFailure::new(ErrorCode::BadArguments, format!("there is no agent `{name}`")));
        };
        let depth_max = runs.config.agent_depth;
        if self.caller.depth >= depth_max {
            let message = format!("this run is nested in {} calls of agents already", self.caller.depth);
            let error = Error::new(ErrorCode::AgentDepth, message).with_limit(depth_max, self.caller.depth);
            return Err(error.into());
        }
        let beyond: Vec<&str> = agent
            .tools
            .iter()
            .map(String::as_str)
            .filter(|tool| runs.tools.catalog.get(tool).is_none())
            .collect();
        if beyond.is_empty() {
            return Ok(agent.clone());
        }
        let message = format!(
            "agent `{name}` may call {}, which this run may not; an agent is never granted more than its caller has",
            beyond.join(", ")
        );
        Err(ToolFailure::new(ErrorCode::AgentWidens, message)
            .with_detail("tools", Value::Array(beyond.into_iter().map(Value::from).collect())))
    }

    async fn outcome(&self, invocation: Invocation) -> Result<RunOutcome, ToolFailure> {
        let (name, context) = arguments(&invocation.arguments);
        let agent = self.agent(name)?;
        let parent = invocation.run_id.clone();
        let child = child_of(&parent, &invocation.call_id);
        let runs = self.caller.runs.narrowed(&agent.tools);
        let known = runs.history.journal.run_state(&child).await?;
        if let Some(ended) = known.as_ref().and_then(recorded_outcome) {
            // The call was cut off between the end of the agent's run and its own.
            spent_by(&runs.history, &child, &invocation.budget).await?;
            return Ok(ended);
        }
        let run = AgentRun {
            name: name.to_owned(),
            parent_run_id: parent,
            parent_call_id: invocation.call_id.clone(),
            budget: invocation.budget.clone(),
            depth: self.caller.depth + 1,
        };
        let cancel = invocation.cancellation.clone();
        let did_nothing = |state: &RunState| state.source.is_none() && state.task.is_none();
        let work = if let Some(state) = known.clone().filter(did_nothing) {
            let spec = self.spec_of(child, &agent, context, cancel);
            self.running.spawn(async move { runs.start_again_as_agent(spec, run, state).await })
        } else if known.is_some() {
            self.running.spawn(async move { runs.resume_as_agent(child, run, cancel).await })
        } else {
            let begun = EventBody::AgentStarted {
                call_id: invocation.call_id.clone(),
                agent: name.to_owned(),
                child_run_id: child.clone(),
            };
            invocation.log.emit(begun, Durability::Ordered).await?;
            let spec = self.spec_of(child, &agent, context, cancel);
            self.running.spawn(async move { runs.start_as_agent(spec, run).await })
        };
        let ended = work.await.map_err(|error| {
            ToolFailure::new(ErrorCode::Internal, format!("the agent's run broke off: {error}"))
        })?;
        Ok(ended?)
    }

    /// The agent's run, with no more than its caller has.
    fn spec_of(
        &self,
        run_id: RunId,
        agent: &AgentConfig,
        context: Value,
        cancel: CancellationToken,
    ) -> RunSpec {
        let work = match &agent.work {
            AgentWork::Plan { name, source } => Work::Plan { name: name.clone(), source: source.clone() },
            AgentWork::Task(task) => Work::Task(task.clone()),
        };
        RunSpec {
            run_id,
            context: Some(context),
            circumstances: self.caller.circumstances.clone(),
            cancel,
            ..RunSpec::new(work, agent.limits.within(&self.caller.limits))
        }
    }
}

#[async_trait]
impl Tool for CallAgent {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, invocation: Invocation) -> CallOutcome {
        self.begin(invocation).await.into_outcome()
    }

    async fn begin(&self, invocation: Invocation) -> Progress {
        let name = arguments(&invocation.arguments).0.to_owned();
        match self.outcome(invocation).await {
            Ok(outcome) => progress(&name, outcome),
            Err(failure) => Progress::Ended(Err(failure)),
        }
    }

    /// The agent's run has its own wall time, and may sleep.
    fn keeps_own_time(&self) -> bool {
        true
    }
}

fn arguments(arguments: &Value) -> (&str, Value) {
    let Value::Object(arguments) = arguments else { return ("", Value::default()) };
    let name = match arguments.get("name") {
        Some(Value::String(name)) => name.as_str(),
        _ => "",
    };
    let context = arguments.get("context").cloned();
    (name, context.unwrap_or_else(|| Value::Object(indexmap::IndexMap::new())))
}

/// How a run ended by its records, where it did for good.
#[must_use]
pub fn recorded_outcome(state: &RunState) -> Option<RunOutcome> {
    let result = match state.status {
        RunStatus::Succeeded => recorded_result(state),
        RunStatus::Cancelled => Err(Error::new(ErrorCode::Cancelled, "its run was cancelled")),
        RunStatus::Failed if state.was_interrupted() => return None,
        RunStatus::Failed => Err(recorded_error(state)),
        RunStatus::Running | RunStatus::Sleeping | RunStatus::Paused => return None,
    };
    Some(RunOutcome {
        run_id: state.run_id.clone(),
        result: result.map_err(Interruption::from),
        usage: state.usage.unwrap_or_default(),
        printed: String::new(),
        steps: Vec::new(),
        candidates: Vec::new(),
        explanation: None,
        iterations: None,
        not_resumable: None,
    })
}

fn recorded_result(state: &RunState) -> Result<Value> {
    if is_marked(&state.redacted, "/result") {
        let message =
            format!("the result of run {} held a secret, which is not in the journal", state.run_id);
        return Err(Error::new(ErrorCode::RunNotResumable, message));
    }
    Value::from_json(state.result.clone().unwrap_or_default())
}

fn recorded_error(state: &RunState) -> Error {
    let code = state.code.as_ref().and_then(Word::known).unwrap_or(ErrorCode::ToolFailed);
    let message = state.error.as_ref().and_then(|error| error.get("message")).and_then(Json::as_str);
    Error::new(code, message.unwrap_or_default())
}

/// What the caller's plan, or the caller's run, makes of how the agent's run stands.
fn progress(agent: &str, outcome: RunOutcome) -> Progress {
    let RunOutcome { run_id, result, .. } = outcome;
    match result {
        // In the form the journal keeps, so that it is the same where it is told from there.
        Ok(value) => Progress::Ended(Value::from_json(value.to_json()).map_err(ToolFailure::from)),
        Err(Interruption::Suspended(suspension)) => Progress::Suspended(suspension.below(agent, run_id)),
        Err(Interruption::Cancelled(error) | Interruption::Failed(error)) => {
            let mut failure = ToolFailure::from(error);
            failure.message = format!("agent `{agent}` failed: {}", failure.message);
            failure.details.insert("run_id".to_owned(), Value::from(run_id.as_str()));
            Progress::Ended(Err(failure))
        }
    }
}
