//! How a configured MCP server stands.

use std::fmt;

use jiff::Timestamp;
use serde::Serialize;

/// One configured server, from what is on this machine: none is started or asked.
#[derive(Debug, Clone, Serialize)]
pub struct McpServerState {
    /// NAME of `[mcp.NAME]`.
    pub name: String,
    /// `command` or `url`.
    pub reached_by: &'static str,
    /// Where it is, without what of it may be a key; absent for a `command`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// How many tools plans may call; `None` where nothing was accepted.
    pub tools: Option<usize>,
    /// `none`, `valid`, `renewed` (ends, and is renewed by itself), `ended` or `unreadable`; absent where there is
    /// none to have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<&'static str>,
    /// When the token ends, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_until: Option<Timestamp>,
    /// What is missing before plans can use it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// What mends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<McpHelp>,
}

/// What mends a server.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum McpHelp {
    /// A command to run.
    Command(String),
    /// Something else, in words.
    Words(String),
}

impl fmt::Display for McpHelp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command) => write!(f, "run `{command}`"),
            Self::Words(words) => f.write_str(words),
        }
    }
}
