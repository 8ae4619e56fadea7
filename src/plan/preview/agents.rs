//! The agents a plan may call, and what they may do.

use serde::Serialize;

use super::PreviewOptions;
use crate::base::Effect;
use crate::catalog::Catalog;
use crate::plan::flow::{CallSite, Leaf};

/// The parameter that names the agent.
const NAME: &str = "name";

/// An agent that may be called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentReach {
    /// Its name.
    pub name: String,
    /// The tools it may call, with what each does to the world.
    pub tools: Vec<(String, Effect)>,
}

/// The agents the sites may call: those named outright, else all there are.
pub(super) fn reached(sites: &[CallSite], catalog: &Catalog) -> Vec<AgentReach> {
    let mut reached: Vec<AgentReach> = Vec::new();
    for site in sites {
        let Some(spec) = catalog.get(&site.tool).filter(|spec| !spec.agents.is_empty()) else { continue };
        let named: Option<Vec<&str>> = site.arguments.get(NAME).and_then(|argument| {
            let texts = argument.own.iter().map(|leaf| match leaf {
                Leaf::Text(name) => Some(name.as_str()),
                _ => None,
            });
            texts.collect::<Option<Vec<&str>>>().filter(|names| !names.is_empty())
        });
        for (name, tools) in &spec.agents {
            let is_meant = named.as_ref().is_none_or(|named| named.contains(&name.as_str()));
            if is_meant && !reached.iter().any(|known| known.name == *name) {
                let effect = |tool: &String| Some((tool.clone(), catalog.get(tool)?.effect));
                let tools = tools.iter().filter_map(effect).collect();
                reached.push(AgentReach { name: name.clone(), tools });
            }
        }
    }
    reached.sort_by(|left, right| left.name.cmp(&right.name));
    reached
}

/// Everything agents may do to the world.
pub(super) fn effects(agents: &[AgentReach]) -> impl Iterator<Item = Effect> {
    agents.iter().flat_map(|agent| agent.tools.iter().map(|(_, effect)| *effect))
}

/// How long agents may sleep, in seconds: as long as one sleep can, for every call of the run.
pub(super) fn sleeps(agents: &[AgentReach], catalog: &Catalog, options: PreviewOptions<'_>) -> Option<u64> {
    let tools = agents.iter().flat_map(|agent| &agent.tools);
    let longest = tools.filter_map(|(tool, _)| catalog.get(tool)?.sleeps_max).max()?;
    Some(longest.as_secs().saturating_mul(options.tool_calls_max))
}
