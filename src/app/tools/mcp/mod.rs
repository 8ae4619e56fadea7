//! Servers of the Model Context Protocol: what was accepted of each, and logins to them.

mod logins;
mod probe;
mod servers;

pub use logins::{
    McpLoginKind, begin_mcp_login, log_in_to_mcp_server_as_service, log_out_of_mcp_server, mcp_login_kind,
    mcp_server_states,
};
pub use probe::McpProbe;
pub use servers::{McpOffer, OfferedPrompt, OfferedTool, offer_of_mcp_server};
pub(crate) use servers::{McpServers, declared, may_have, not_accepted, reached};
