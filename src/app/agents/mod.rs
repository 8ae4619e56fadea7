//! Agents: named plans and tasks that plans hand work to. Each call is a run of its own, below its caller.

mod call;
mod family;
mod look;
mod spec;

use std::sync::Arc;

use luaplan_base::{CallId, Limits, RunId};
use luaplan_bus::{Circumstances, RunBudget};

use super::App;

pub(super) use call::CallAgent;
pub(super) use family::{belongs_to, child_of, family_of};
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

/// The run whose plan calls agents.
#[derive(Clone)]
pub(super) struct Caller {
    /// The application as this run sees it: with its tools alone.
    pub(super) app: App,
    pub(super) limits: Limits,
    pub(super) circumstances: Circumstances,
    pub(super) depth: u32,
}

impl App {
    /// The same application for a run that may call `tools` and no others.
    pub(super) fn narrowed(&self, tools: &[String]) -> Self {
        let is_kept = |name: &str| tools.iter().any(|tool| tool == name);
        let keep = |catalog: &luaplan_catalog::Catalog| Arc::new(catalog.only(|spec| is_kept(&spec.name)));
        let mut registry = luaplan_bus::Registry::default();
        self.registry
            .iter()
            .filter(|tool| is_kept(&tool.spec().name))
            .for_each(|tool| registry.insert(tool.clone()));
        Self {
            catalog: keep(&self.catalog),
            usable: keep(&self.usable),
            registry: Arc::new(registry),
            ..self.clone()
        }
    }
}
