//! `[mcp.NAME]`, ready to use.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::base::Effect;

/// How a server is reached.
#[derive(Clone)]
pub enum McpTransport {
    /// A program that is started, and spoken to over its pipes.
    Command {
        /// Program and arguments; no shell reads them.
        command: Vec<String>,
        /// All of its environment.
        environment: BTreeMap<String, String>,
        /// The folder it starts in.
        folder: PathBuf,
    },
    /// Streamable HTTP.
    Url {
        /// Where.
        url: String,
        /// What is sent with each request; the values may be secret.
        headers: BTreeMap<String, String>,
    },
}

/// One server, as configured.
#[derive(Clone)]
pub struct McpServerSettings {
    /// The name plans put before the dot.
    pub name: String,
    /// How it is reached.
    pub transport: McpTransport,
    /// How long it may take until it answers after its start.
    pub start_timeout: Duration,
    /// Effects of single tools, where the server's own words are not to be trusted.
    pub effects: BTreeMap<String, Effect>,
}

/// Without what may be secret.
impl fmt::Debug for McpServerSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServerSettings").field("name", &self.name).finish_non_exhaustive()
    }
}
