//! The agents a plan may call, and what they may do.
//!
//! Configuration, which this room does not read, says which plan an agent has: [`agents_called`] names the agents
//! of a plan, and the caller passes what it found out about them, and about the agents they call in turn, in
//! [`PreviewOptions::agents`](super::PreviewOptions). An agent that the caller did not examine may do anything its
//! tools can.

use std::collections::BTreeMap;

use serde::Serialize;

use luaplan_base::Effect;
use luaplan_catalog::{Catalog, TargetKind, ToolSpec};

use super::{PreviewCall, PreviewOptions, Target, TargetPattern, call, reach};
use crate::flow::{CallSite, Flow, Leaf};

/// The parameter that names the agent.
const NAME: &str = "name";

/// An agent that may be called, by the plan or by another agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentReach {
    /// Its name.
    pub name: String,
    /// How many calls of agents its run is nested in, at least.
    pub depth: u32,
    /// The tools it may call, with what each does to the world.
    pub tools: Vec<(String, Effect)>,
    /// The limits of one of its runs, where they are lower than those of the plan's run.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, u64>,
    /// Its plan.
    pub work: AgentPlan,
}

/// What is known of an agent's plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "plan")]
pub enum AgentPlan {
    /// The planner writes it when the agent is called: it may do anything its tools can.
    Unknown,
    /// The agent does nothing.
    Refused {
        /// The reason, in words.
        reason: String,
    },
    /// A saved plan.
    Saved(SavedPlan),
}

/// What the saved plan of an agent would do. It reads its own context, not that of the calling plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SavedPlan {
    /// The name of its file.
    pub file: String,
    /// Its calls, in the order of the source.
    pub calls: Vec<PreviewCall>,
    /// The agents it may call in turn.
    pub agents: Vec<String>,
    /// Whether the analysis gave up, so that anything may happen.
    pub gave_up: bool,
}

impl SavedPlan {
    /// Says what an analysed plan would do with the tools of `catalog`, each time it runs.
    #[must_use]
    pub fn of(file: &str, flow: &Flow, catalog: &Catalog, options: PreviewOptions<'_>) -> Self {
        let options = PreviewOptions { context: None, agents: &[], ..options };
        Self {
            file: file.to_owned(),
            calls: flow.call_sites().iter().filter_map(|site| call(site, &[], catalog, options)).collect(),
            agents: agents_called(flow, catalog),
            gave_up: flow.gave_up(),
        }
    }
}

/// The names of the agents a plan may call: those named outright, else all there are.
#[must_use]
pub fn agents_called(flow: &Flow, catalog: &Catalog) -> Vec<String> {
    let sites = flow.call_sites().iter();
    let mut called: Vec<String> =
        sites.flat_map(|site| called_at(site, catalog)).map(str::to_owned).collect();
    called.sort();
    called.dedup();
    called
}

fn called_at<'a>(site: &'a CallSite, catalog: &'a Catalog) -> Vec<&'a str> {
    let Some(spec) = catalog.get(&site.tool).filter(|spec| !spec.agents.is_empty()) else {
        return Vec::new();
    };
    let named: Option<Vec<&str>> = site.arguments.get(NAME).and_then(|argument| {
        let texts = argument.own.iter().map(|leaf| match leaf {
            Leaf::Text(name) => Some(name.as_str()),
            _ => None,
        });
        texts.collect::<Option<Vec<&str>>>().filter(|names| !names.is_empty())
    });
    let is_meant = |name: &&str| named.as_ref().is_none_or(|named| named.contains(name));
    spec.agents.keys().map(String::as_str).filter(is_meant).collect()
}

/// What is known of the agents that may be called, all levels in one list.
pub(super) fn reached(flow: &Flow, catalog: &Catalog, known: &[AgentReach]) -> Vec<AgentReach> {
    let mut reached = known.to_vec();
    for site in flow.call_sites() {
        let names = called_at(site, catalog);
        let Some(spec) = catalog.get(&site.tool) else { continue };
        for name in names {
            if !reached.iter().any(|agent| agent.name == name) {
                let tools = spec.agents.get(name).map_or(&[][..], Vec::as_slice);
                reached.push(AgentReach {
                    name: name.to_owned(),
                    depth: 1,
                    tools: with_effects(tools, catalog),
                    limits: BTreeMap::new(),
                    work: AgentPlan::Unknown,
                });
            }
        }
    }
    reached.sort_by(|left, right| (left.depth, &left.name).cmp(&(right.depth, &right.name)));
    reached
}

/// Tools with what each does to the world.
#[must_use]
pub fn with_effects(tools: &[String], catalog: &Catalog) -> Vec<(String, Effect)> {
    tools.iter().filter_map(|tool| Some((tool.clone(), catalog.get(tool)?.effect))).collect()
}

impl AgentReach {
    /// The tools its plan may call, each once.
    fn used(&self) -> Vec<&str> {
        let mut used: Vec<&str> = match &self.work {
            AgentPlan::Unknown => self.tools.iter().map(|(tool, _)| tool.as_str()).collect(),
            AgentPlan::Refused { .. } => Vec::new(),
            AgentPlan::Saved(plan) => plan.calls.iter().map(|call| call.tool.as_str()).collect(),
        };
        used.sort_unstable();
        used.dedup();
        used
    }

    pub(super) fn targets(
        &self,
        catalog: &Catalog,
        always: &BTreeMap<String, Vec<(TargetKind, String)>>,
    ) -> Vec<Target> {
        match &self.work {
            AgentPlan::Refused { .. } => Vec::new(),
            AgentPlan::Unknown => {
                let specs = self.tools.iter().filter_map(|(tool, _)| catalog.get(tool));
                specs.flat_map(|spec| reach::anywhere(spec, always.get(&spec.name))).collect()
            }
            AgentPlan::Saved(plan) => {
                // Its context and the numbers of its calls are not those of the calling plan.
                let above = |target: &Target| match &target.reach {
                    TargetPattern::From(_) => Target { kind: target.kind, reach: TargetPattern::Any },
                    _ => target.clone(),
                };
                plan.calls.iter().flat_map(|call| &call.targets).map(above).collect()
            }
        }
    }

    pub(super) fn announces(&self, tool: &str, kind: TargetKind, what: &str) -> bool {
        match &self.work {
            AgentPlan::Refused { .. } => false,
            AgentPlan::Unknown => self.tools.iter().any(|(own, _)| own == tool),
            AgentPlan::Saved(plan) => {
                let calls = plan.calls.iter().filter(|call| call.tool == tool);
                calls.flat_map(|call| &call.targets).any(|target| target.covers(kind, what))
            }
        }
    }
}

/// The specifications of the tools that agents may call.
pub(super) fn specs<'a>(
    agents: &'a [AgentReach],
    catalog: &'a Catalog,
) -> impl Iterator<Item = &'a ToolSpec> + Clone {
    agents.iter().flat_map(AgentReach::used).filter_map(|tool| catalog.get(tool)).map(AsRef::as_ref)
}

/// How long agents may sleep, in seconds: as long as one sleep can, for every call of the run.
pub(super) fn sleeps(agents: &[AgentReach], catalog: &Catalog, options: PreviewOptions<'_>) -> Option<u64> {
    let longest = specs(agents, catalog).filter_map(|spec| spec.sleeps_max).max()?;
    Some(longest.as_secs().saturating_mul(options.tool_calls_max))
}
