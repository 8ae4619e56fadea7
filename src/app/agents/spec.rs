//! What is said of `call_agent`: the agents there are, and what each may do.

use serde_json::{Value as Json, json};

use luaplan_base::{Effect, Error, ErrorCode};
use luaplan_catalog::{CompiledParams, ToolSpec};

use super::CALL_AGENT;
use crate::config::{AgentWork, Config};

/// Puts the configured agents into the specification, so that checks, prompts and previews know them. Its
/// effect is the strongest that one of them can have.
pub(crate) fn described(config: &Config, spec: &mut ToolSpec, known: &[ToolSpec]) {
    if spec.name != CALL_AGENT || config.agents.is_empty() {
        return;
    }
    let names: Vec<&str> = config.agents.keys().map(String::as_str).collect();
    if let Some(Json::Object(name)) = spec.params.pointer_mut("/properties/name") {
        name.insert("enum".to_owned(), json!(names));
        spec.compiled = CompiledParams::default();
    }
    let mut effect = Effect::Read;
    for (name, agent) in &config.agents {
        if !agent.description.trim().is_empty() {
            spec.description.push_str(&format!(" {name}: {}", agent.description.trim()));
        }
        let tools = known.iter().filter(|tool| agent.tools.contains(&tool.name) && tool.name != CALL_AGENT);
        effect = tools.map(|tool| tool.effect).fold(effect, Effect::max);
        if matches!(agent.work, AgentWork::Task(_)) {
            // A model is paid for its plan.
            effect = effect.max(Effect::Spend);
        }
        spec.agents.insert(name.clone(), agent.tools.clone());
    }
    spec.effect = effect;
}

/// The first tool that an agent is granted and that there is not.
pub(crate) fn unknown_tool(config: &Config, known: &[ToolSpec]) -> Option<Error> {
    config.agents.iter().find_map(|(agent, settings)| {
        let tool = settings.tools.iter().find(|tool| !known.iter().any(|spec| spec.name == **tool))?;
        let names: Vec<&str> = known.iter().map(|spec| spec.name.as_str()).collect();
        let key = format!("agents.{agent}.tools");
        Some(
            Error::new(ErrorCode::ConfigInvalid, format!("{key}: there is no tool `{tool}`"))
                .with_help(format!("the tools are {}", names.join(", ")))
                .with_detail("key", key),
        )
    })
}
