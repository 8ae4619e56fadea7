//! What stands for the tools of MCP servers in a build without the feature `mcp`: how servers are configured, so that
//! configuration is read alike and can refuse them.

#[path = "mcp/address.rs"]
mod address;
#[path = "mcp/settings.rs"]
mod settings;

pub use address::{secrets_of_address, shown_address};
pub use settings::{McpServerSettings, McpTransport, OAuthGrant, OAuthSettings, UnwrapResults};
