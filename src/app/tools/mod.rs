//! The sources of tools, put together by the configuration: built in, made by manifests, of MCP servers.

pub(crate) mod assemble;
pub(crate) mod manifests;
pub(crate) mod mcp_server_state;
mod model_names;
pub(crate) mod seen;
pub(crate) mod settings;
pub(crate) mod toolbox;
pub(crate) mod unconfigured;

#[cfg(feature = "mcp")]
pub(crate) mod mcp;
#[cfg(not(feature = "mcp"))]
#[path = "mcp_absent.rs"]
pub(crate) mod mcp;
#[cfg(feature = "openapi")]
pub(crate) mod openapi;
