//! Agents: named plans and tasks that plans hand work to. Each call is a run of its own, below its caller.

pub(super) mod call;
mod family;
pub(super) mod kin;
mod look;
mod spec;

use std::sync::Arc;

use luaplan_base::{CallId, RunId};
use luaplan_bus::RunBudget;

pub use look::agent_faults;
pub(super) use look::agents_of;
pub(super) use spec::{described, unknown_tool};

/// The tool that calls agents.
pub(super) const CALL_AGENT: &str = "call_agent";

/// What a call of an agent hands down to the agent's run.
#[derive(Clone)]
pub(super) struct AgentRun {
    /// The agent.
    pub(super) name: String,
    /// The run that called it.
    pub(super) parent_run_id: RunId,
    /// The call.
    pub(super) parent_call_id: CallId,
    /// What the caller may still use; what the agent uses counts there too.
    pub(super) budget: Arc<RunBudget>,
    /// How many calls of agents this run is nested in.
    pub(super) depth: u32,
}
