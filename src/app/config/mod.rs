//! Configuration: raw first, checked second.
//!
//! [`RawConfig`] is what users write; `layers` merges flags over environment over
//! `./luaplan.toml` over the user's file over defaults and remembers where each value came from;
//! [`Config`] is what the rest may use, with every value parsed and every path resolved.
//!
//! The merge is our own because each fault must name file, line and nearest key, and each value
//! its source down to the environment variable's name.

mod agents;
mod approvals;
mod autonomous;
mod checked;
mod environment;
mod flow;
mod journal;
mod layers;
mod mask;
mod mcp;
mod planner;
mod policy_file;
mod raw;
mod redact;
mod sandbox;
mod secrets;
mod server_answers;
mod server_shares;
mod values;

pub use agents::{AgentConfig, AgentWork, RawAgent};
pub use approvals::RawApprovals;
pub use checked::{Config, OVERRIDE_KEYS, ServerConfig, ToolConfig};
pub use environment::Environment;
pub use flow::{FlowRules, RawFlow, SourcePattern};
pub use journal::RawJournal;
pub use layers::{ConfigSource, LoadOptions, Loaded, ValueSource, load, validate_text};
pub use mask::{mask_json, mask_passwords};
pub use mcp::{RawMcpOAuth, RawMcpServer};
pub use policy_file::{RawPolicy, parse_policy, read_policy};
pub use raw::{RawConfig, RawLimits, RawSecret, RawServer};
pub use redact::RawRedact;
pub use sandbox::{RawSandbox, SandboxConfig};
pub use server_answers::{McpData, ServerAnswers};
pub use server_shares::ServerShares;
pub(super) use values::{keyed, refused};

#[cfg(test)]
mod tests;
