//! Stands for `luaplan mcp` and `/mcp` in a build without the feature `mcp`.

use luaplan_base::{Error, ErrorCode, Result};
use luaplan_http::Server;

use super::Session;
use crate::cli::mcp_args::McpArgs;

const MESSAGE: &str = "this build of luaplan has no Model Context Protocol";
const HELP: &str = "use a build with the feature `mcp`, as releases are";

pub(super) async fn run(_: &Session<'_>, _: &McpArgs) -> Result<u8> {
    Err(Error::new(ErrorCode::Usage, MESSAGE).with_help(HELP))
}

/// The server, which answers at `/mcp` that this build lacks it.
pub(super) fn mounted(server: Server) -> Server {
    server.mount_refusal("/mcp", MESSAGE, HELP)
}
