//! The arguments of `mcp`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use luaplan_base::parse_duration;

/// `mcp`.
#[derive(Debug, Args)]
pub struct McpArgs {
    /// What to do instead of serving.
    #[command(subcommand)]
    pub action: Option<McpAction>,
    /// Work in this folder: its luaplan.toml, data and plans [default: the current one]
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
}

/// `mcp …`.
#[derive(Debug, Subcommand)]
pub enum McpAction {
    /// Ask a configured MCP server what it offers, and let plans call that
    Accept {
        /// The server: NAME of `[mcp.NAME]`
        name: String,
        /// Only show what it offers and how that differs from what was accepted
        #[arg(long)]
        dry_run: bool,
    },
    /// Call the tools of a server that only read and need no arguments, to learn what they return
    Probe(McpProbeArgs),
    /// Show the configured MCP servers: what was accepted of each, and how its login stands
    List,
    /// Log in to an MCP server at a `url` that wants that: prints the address to open in a browser
    Login(McpLoginArgs),
    /// Forget the login to an MCP server
    Logout {
        /// The server: NAME of `[mcp.NAME]`
        name: String,
    },
}

/// `mcp probe`.
#[derive(Debug, Args)]
pub struct McpProbeArgs {
    /// The server: NAME of `[mcp.NAME]`
    pub name: String,
    /// Call them without asking first; policy and journal apply all the same
    #[arg(long, short)]
    pub yes: bool,
}

/// `mcp login`.
#[derive(Debug, Args)]
pub struct McpLoginArgs {
    /// The server: NAME of `[mcp.NAME]`
    pub name: String,
    /// Ask for this scope instead of what the configuration or the server names; may be repeated
    #[arg(long = "scope", value_name = "SCOPE")]
    pub scopes: Vec<String>,
    /// For a browser on another machine: read the address it ends at from standard input
    #[arg(long)]
    pub paste: bool,
    /// How long to wait for the browser
    #[arg(long, default_value = "5m", value_name = "TIME", value_parser = wait_time)]
    pub wait: Duration,
}

fn wait_time(text: &str) -> Result<Duration, String> {
    match parse_duration(text) {
        Ok(time) if !time.is_zero() => Ok(time),
        Ok(_) => Err("nobody logs in within no time; give a time such as `5m`".to_owned()),
        Err(error) => Err(error.message().to_owned()),
    }
}
