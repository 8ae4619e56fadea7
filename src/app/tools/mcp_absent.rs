//! What stands for MCP servers in a build without the feature `mcp`: configuration refuses them, so there is none.

use std::sync::Arc;

use luaplan_base::{Clock, Error, ErrorCode, Result};
use luaplan_bus::Tool;
use luaplan_catalog::{TargetKind, ToolSpec};
use luaplan_planner::Note;

use super::mcp_server_state::McpServerState;
use crate::config::Config;
use crate::runs::spec::PromptRef;

/// The servers: none.
#[derive(Clone)]
pub(crate) struct McpServers;

impl McpServers {
    pub(crate) fn new(_: &Config, _: &Arc<dyn Clock>) -> Result<Self> {
        Ok(Self)
    }

    pub(crate) fn check_prompts(&self, wishes: &[PromptRef]) -> Result<()> {
        let Some(wish) = wishes.first() else { return Ok(()) };
        let message =
            format!("this build of luaplan has no MCP servers, so there is no prompt `{}`", wish.name);
        Err(Error::new(ErrorCode::NotFound, message)
            .with_help("leave the prompt out, or use a build with the feature `mcp`, as releases are"))
    }

    pub(crate) async fn notes(&self, wishes: &[PromptRef]) -> Result<Vec<Note>> {
        self.check_prompts(wishes).map(|()| Vec::new())
    }

    pub(crate) fn tool(&self, spec: &ToolSpec) -> Result<Arc<dyn Tool>> {
        Err(Error::new(ErrorCode::Internal, format!("no server has the tool `{}`", spec.name)))
    }
}

pub(crate) fn declared(_: &Config, _: &[ToolSpec]) -> Result<Vec<ToolSpec>> {
    Ok(Vec::new())
}

pub(crate) fn reached(_: &Config, _: &ToolSpec) -> Vec<(TargetKind, String)> {
    Vec::new()
}

/// Whether settings of `tool` may stand there although there is no such tool: its server is not enabled.
pub(crate) fn may_have(config: &Config, _: &[ToolSpec], tool: &str) -> bool {
    tool.split_once('.').is_some_and(|(server, _)| config.mcp_disabled.contains(server))
}

pub(crate) fn not_accepted(_: &Config) -> Vec<(String, String)> {
    Vec::new()
}

/// Every enabled server: none.
#[must_use]
pub fn mcp_server_states(_: &Config) -> Vec<McpServerState> {
    Vec::new()
}
