//! Which tools of a server a probe may call to learn what they return: those that only read and need no argument.

use luaplan_base::{Effect, Error, ErrorCode, Result};
use luaplan_catalog::{Catalog, ToolKind, ToolSpec};

use super::servers::{accepted_of, complete, settings_of};
use crate::config::Config;

/// The most tools that one probe calls.
const CALLS_MAX: usize = 50;

/// The tools of a server, as a probe sees them.
#[derive(Debug)]
pub struct McpProbe {
    /// Those it calls, in the server's order.
    pub calls: Vec<String>,
    /// The others, each with why not.
    pub left_out: Vec<(String, &'static str)>,
}

impl McpProbe {
    /// What a probe of the server `name` would call of the tools in `catalog`. No server is asked.
    ///
    /// # Errors
    /// `not_found` where no such server is configured or nothing of it was accepted; `config_invalid` where something of
    /// its configuration is missing, or shapes are not learned; `config_unreadable` as reading what was accepted.
    pub fn of(config: &Config, catalog: &Catalog, name: &str) -> Result<Self> {
        complete(settings_of(config, name)?)?;
        if accepted_of(config, name)?.is_none() {
            let message = format!("nothing of the MCP server `{name}` was accepted yet");
            return Err(Error::new(ErrorCode::NotFound, message)
                .with_help(format!("look at what it offers and accept it: `luaplan mcp accept {name}`")));
        }
        if !config.learn_shapes {
            let message = "planner.learn_shapes: it is off, so a probe would learn nothing";
            return Err(Error::new(ErrorCode::ConfigInvalid, message)
                .with_help("set `learn_shapes = true` under `[planner]`, or use the tools without a probe")
                .with_detail("key", "planner.learn_shapes"));
        }
        let is_of_server =
            |spec: &&ToolSpec| spec.kind == ToolKind::Mcp && spec.name.split('.').next() == Some(name);
        let (mut calls, mut left_out) = (Vec::new(), Vec::new());
        for spec in catalog.iter().map(AsRef::as_ref).filter(is_of_server) {
            match why_not(spec) {
                None if calls.len() < CALLS_MAX => calls.push(spec.name.clone()),
                None => left_out.push((spec.name.clone(), "a probe calls at most 50 tools")),
                Some(why) => left_out.push((spec.name.clone(), why)),
            }
        }
        Ok(Self { calls, left_out })
    }

    /// A plan that makes each call once, and returns by the tool's name `ok` or the code of its failure.
    #[must_use]
    pub fn plan(&self) -> String {
        let note = "  local function note(tool, result)\n    \
                    if type(result) == \"table\" and result.error and result.code then\n      \
                    ended[tool] = result.code\n    else\n      ended[tool] = \"ok\"\n    end\n  end\n";
        let calls: String = self.calls.iter().map(|tool| format!("  note(\"{tool}\", {tool}())\n")).collect();
        format!("function run()\n  local ended = json.object()\n{note}{calls}  return ended\nend\n")
    }
}

fn why_not(spec: &ToolSpec) -> Option<&'static str> {
    let needs = spec.parameters().any(|(name, _)| spec.is_required(name));
    match spec {
        spec if spec.effect != Effect::Read => Some("it does not only read"),
        _ if needs => Some("it needs arguments"),
        spec if !spec.learns_result() => Some("it declares what it returns"),
        _ => None,
    }
}
