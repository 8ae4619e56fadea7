//! Tools of MCP servers: `NAME.tool{…}` and `NAME.read{uri = …}`.
//!
//! When the operator accepts a server, its offer is recorded with a hash of each description and
//! schema; plans know only the record. The server is started at the first call, and its offer is
//! compared with the record before a call is made. A server that hangs, dies, floods or lies makes
//! that call fail.

mod accepted;
mod address;
mod connection;
mod content;
mod handler;
mod http_error;
mod oauth;
mod process;
mod prompts;
mod remote;
mod settings;
mod state_file;
mod wrapper;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value as Json;

pub use accepted::{Accepted, AcceptedTool, Change};
pub use address::{secrets_of_address, shown_address};
pub use connection::McpConnection;
pub use http_error::HELP;
pub use oauth::{Authorization, LoginState, PendingLogin};
pub use prompts::{AcceptedArgument, AcceptedPrompt, RefusedOffer};
pub use settings::{McpServerSettings, McpTransport, OAuthGrant, OAuthSettings, UnwrapResults};

use luaplan_base::{CallOutcome, ErrorCode, ToolFailure};
use luaplan_bus::{Invocation, Tool};
use luaplan_catalog::{ToolSpec, check_document};
use wrapper::Wrapper;

/// One accepted tool of a server.
pub struct McpTool {
    spec: ToolSpec,
    tool: AcceptedTool,
    connection: Arc<McpConnection>,
    wrapper: Option<Wrapper>,
}

impl McpTool {
    /// The tool `tool` of the server behind `connection`, with the spec that plans see.
    #[must_use]
    pub fn new(spec: ToolSpec, tool: AcceptedTool, connection: Arc<McpConnection>) -> Self {
        let wrapper = tool.wrapper(connection.unwrap_results());
        Self { spec, tool, connection, wrapper }
    }

    async fn answer(&self, arguments: Json) -> CallOutcome {
        if self.tool.is_resources() {
            let uri = arguments.get("uri").and_then(Json::as_str).unwrap_or_default();
            return content::of_resource(self.connection.read(uri).await?);
        }
        let result = content::of_result(&self.spec.name, self.connection.call(&self.tool, arguments).await?)?;
        if let Some(schema) = &self.tool.result {
            check_document(schema, &result.to_json()).map_err(|what| self.not_allowed(&what))?;
        }
        match &self.wrapper {
            Some(wrapper) => wrapper.take(result).map_err(|what| self.not_allowed(&what)),
            None => Ok(result),
        }
    }

    fn not_allowed(&self, what: &str) -> ToolFailure {
        let name = &self.spec.name;
        let message = format!("`{name}` answered with what its own schema does not allow: {what}");
        ToolFailure::new(ErrorCode::McpResultInvalid, message)
    }
}

#[async_trait]
impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, invocation: Invocation) -> CallOutcome {
        let answer = self.answer(invocation.arguments.to_json());
        let outcome = tokio::select! {
            biased;
            () = invocation.cancellation.cancelled() => {
                let message = format!("the run ended while `{}` was under way", self.spec.name);
                Err(ToolFailure::new(ErrorCode::CallCut, message))
            }
            outcome = answer => outcome,
        };
        let outcome = self.connection.scrubber().outcome(outcome);
        // An unreachable server did nothing; one that broke off may have.
        outcome.map_err(|failure| failure.with_detail("server", self.connection.name()))
    }
}
