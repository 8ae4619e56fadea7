//! One server: started at the first call, restarted with a growing pause, asked what it offers.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, GetPromptRequestParams, GetPromptResponse,
    Prompt, ReadResourceRequestParams, ReadResourceResult, Tool,
};
use rmcp::service::{Peer, RunningService, ServiceError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleClient, ServiceExt as _};
use secrecy::SecretString;
use serde_json::Value as Json;
use tokio::sync::Mutex;
use tokio::time::Instant;

use luaplan_base::{ContentHash, ErrorCode, ToolFailure};

use super::accepted::{Accepted, AcceptedTool, hash_of};
use super::address::{Address, secrets_of_address};
use super::content::shown;
use super::handler::Handler;
use super::http_error::{self, LastHttpError, cause};
use super::oauth::Authorization;
use super::process::{Process, UNASKED_BYTES_MAX};
use super::prompts::{self, AcceptedPrompt, RefusedOffer};
use super::remote;
use super::settings::{McpServerSettings, McpTransport, UnwrapResults};
use crate::manifest::Scrubber;

/// The longest message; a longer one is skipped, and its call runs into its timeout.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

const PAUSE_FIRST: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// A server, whether it runs or not.
pub struct McpConnection {
    settings: McpServerSettings,
    authorization: Option<Arc<Authorization>>,
    /// Where the server is at a `url`.
    address: Option<Address>,
    /// The secrets in its own address.
    address_secrets: Vec<SecretString>,
    http_error: LastHttpError,
    state: Mutex<ServerState>,
    allowance: Arc<AtomicU64>,
}

#[derive(Default)]
struct ServerState {
    running: Option<Running>,
    /// Consecutive starts and failures without an answer between them.
    failures: u32,
    not_before: Option<Instant>,
    /// How often it was started.
    starts: u64,
}

struct Running {
    service: RunningService<RoleClient, Handler>,
    handler: Handler,
    offered: HashMap<String, ContentHash>,
    /// Once it was asked.
    prompts: Option<HashMap<String, ContentHash>>,
    _process: Option<Process>,
}

impl Running {
    fn is_over(&self) -> bool {
        self.service.is_closed() || self.service.is_transport_closed()
    }
}

impl McpConnection {
    /// Not started yet. `authorization` gets tokens where the server is at a `url` and requires them.
    #[must_use]
    pub fn new(settings: McpServerSettings, authorization: Option<Arc<Authorization>>) -> Self {
        let allowance = Arc::new(AtomicU64::new(UNASKED_BYTES_MAX));
        let url = match &settings.transport {
            McpTransport::Url { url, .. } => Some(url.as_str()),
            McpTransport::Command { .. } => None,
        };
        Self {
            address: url.map(Address::new),
            address_secrets: url.into_iter().flat_map(secrets_of_address).map(SecretString::from).collect(),
            settings,
            authorization,
            http_error: LastHttpError::default(),
            state: Mutex::default(),
            allowance,
        }
    }

    /// Removes the server's secrets from its words: it knows them, and may repeat them.
    pub(super) fn scrubber(&self) -> Scrubber {
        let tokens = self.authorization.iter().flat_map(|authorization| authorization.secrets());
        let secrets: Vec<SecretString> = tokens.chain(self.address_secrets.iter().cloned()).collect();
        Scrubber::new(&secrets)
    }

    /// The server's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.settings.name
    }

    /// Which of its results are unwrapped.
    pub(super) fn unwrap_results(&self) -> UnwrapResults {
        self.settings.unwrap_results
    }

    /// What the server offers now, and what of it cannot be taken.
    ///
    /// # Errors
    /// `mcp_unavailable` where it cannot be reached, `mcp_failed` for what it refuses.
    pub async fn offered(&self) -> Result<(Accepted, Vec<RefusedOffer>), ToolFailure> {
        self.offered_now().await.map_err(|failure| self.scrubber().failure(failure))
    }

    async fn offered_now(&self) -> Result<(Accepted, Vec<RefusedOffer>), ToolFailure> {
        let mut state = self.state.lock().await;
        let running = self.ready(&mut state).await?;
        let has_resources =
            running.service.peer_info().is_some_and(|info| info.capabilities.resources.is_some());
        let tools = self.list(running).await?;
        let prompts = self.list_prompts(running).await?;
        Ok(Accepted::offered(&tools, &prompts, has_resources))
    }

    /// Calls a tool, where it is as it was accepted.
    pub(super) async fn call(
        &self,
        tool: &AcceptedTool,
        arguments: Json,
    ) -> Result<CallToolResult, ToolFailure> {
        let (peer, start) = self.peer(Some(tool)).await?;
        let mut request = CallToolRequestParams::new(tool.original.clone());
        if let Json::Object(arguments) = arguments {
            request = request.with_arguments(arguments);
        }
        match self.settle(start, peer.call_tool_once(request).await).await? {
            CallToolResponse::Complete(result) => Ok(result),
            _ => Err(self.failed("it asked for something in return, which plans cannot give")),
        }
    }

    /// Reads a resource.
    pub(super) async fn read(&self, uri: &str) -> Result<ReadResourceResult, ToolFailure> {
        let (peer, start) = self.peer(None).await?;
        self.settle(start, peer.read_resource(ReadResourceRequestParams::new(uri)).await).await
    }

    /// The text of a prompt, where it is as it was accepted.
    ///
    /// # Errors
    /// `mcp_changed`; `mcp_result_invalid` for what cannot be put before a planner; `mcp_unavailable` and
    /// `mcp_failed` as for tools.
    pub async fn prompt(
        &self,
        prompt: &AcceptedPrompt,
        arguments: serde_json::Map<String, Json>,
    ) -> Result<String, ToolFailure> {
        let asked = self.ask_for_prompt(prompt, arguments).await;
        let scrubber = self.scrubber();
        asked.map(|text| scrubber.text(text)).map_err(|failure| scrubber.failure(failure))
    }

    async fn ask_for_prompt(
        &self,
        prompt: &AcceptedPrompt,
        arguments: serde_json::Map<String, Json>,
    ) -> Result<String, ToolFailure> {
        let (peer, start) = {
            let mut state = self.state.lock().await;
            let running = self.ready(&mut state).await?;
            if running.handler.take_prompts_changed() || running.prompts.is_none() {
                let prompts = self.list_prompts(running).await?;
                let hashes = prompts.iter().map(|prompt| (prompt.name.clone(), prompts::hash_of(prompt)));
                running.prompts = Some(hashes.collect());
            }
            if running.prompts.as_ref().and_then(|all| all.get(&prompt.original)) != Some(&prompt.hash) {
                let server = self.name();
                let message = format!(
                    "the prompt `{server}.{}` is not what was accepted; look at it and accept it: `luaplan mcp accept {server}`",
                    prompt.name
                );
                return Err(ToolFailure::new(ErrorCode::McpChanged, message));
            }
            self.allowance.store(UNASKED_BYTES_MAX, Ordering::Release);
            (running.service.peer().clone(), state.starts)
        };
        let request = GetPromptRequestParams::new(prompt.original.clone()).with_arguments(arguments);
        let asked = tokio::time::timeout(self.settings.start_timeout, peer.get_prompt_once(request)).await;
        let answer = asked.map_err(|_| self.unavailable("the MCP server did not give its prompt in time"))?;
        match self.settle(start, answer).await? {
            GetPromptResponse::Complete(result) => prompts::text_of(&result),
            _ => Err(self.failed("it asked for something in return for a prompt")),
        }
    }

    async fn list_prompts(&self, running: &Running) -> Result<Vec<Prompt>, ToolFailure> {
        if running.service.peer_info().is_none_or(|info| info.capabilities.prompts.is_none()) {
            return Ok(Vec::new());
        }
        let listed =
            tokio::time::timeout(self.settings.start_timeout, running.service.list_all_prompts()).await;
        match listed {
            Ok(Ok(prompts)) => Ok(prompts),
            Ok(Err(error)) => Err(self.broken(&error)),
            Err(_) => Err(self.unavailable("the MCP server did not say what prompts it has")),
        }
    }

    /// The running server, and the number of its start.
    async fn peer(&self, tool: Option<&AcceptedTool>) -> Result<(Peer<RoleClient>, u64), ToolFailure> {
        let mut state = self.state.lock().await;
        self.ready(&mut state).await?;
        let start = state.starts;
        let Some(running) = &state.running else { return Err(self.unavailable("it does not run")) };
        if let Some(tool) = tool
            && running.offered.get(&tool.original) != Some(&tool.hash)
        {
            let (server, name) = (self.name(), &tool.name);
            let what = if running.offered.contains_key(&tool.original) {
                "is not what was accepted: its description, schema or hints have changed"
            } else {
                "is not there any more"
            };
            let message = format!(
                "the tool `{server}.{name}` {what}; look at it and accept it: `luaplan mcp accept {server}`"
            );
            return Err(ToolFailure::new(ErrorCode::McpChanged, message));
        }
        self.allowance.store(UNASKED_BYTES_MAX, Ordering::Release);
        Ok((running.service.peer().clone(), start))
    }

    /// The server, running and asked what it offers since it last changed.
    async fn ready<'a>(&self, state: &'a mut ServerState) -> Result<&'a mut Running, ToolFailure> {
        if let Some(missing) = &self.settings.missing {
            let message = format!("the MCP server `{}` cannot be used: {missing}; set it", self.name());
            return Err(ToolFailure::new(ErrorCode::ToolNotConfigured, message));
        }
        if state.running.as_ref().is_some_and(Running::is_over) {
            state.running = None;
            self.note_failure(state);
        }
        if state.running.is_none() {
            if let Some(wait) = state.not_before.and_then(|at| at.checked_duration_since(Instant::now())) {
                let wait_ms = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
                let (name, again) = (self.name(), http_error::not_yet(self.address.as_ref()));
                let message = format!("the MCP server `{name}` {again}");
                return Err(self.unavailable(&message).with_detail("retry_after_ms", wait_ms));
            }
            match self.start().await {
                Ok(running) => {
                    state.starts += 1;
                    state.running = Some(running);
                }
                Err(failure) => {
                    // No pause after a missing login: the next call may have one.
                    if failure.code != ErrorCode::McpLoginRequired.as_str() {
                        self.note_failure(state);
                    }
                    return Err(failure);
                }
            }
        }
        let Some(running) = state.running.as_mut() else { return Err(self.unavailable("it does not run")) };
        if running.handler.take_changed() || running.offered.is_empty() {
            let tools = self.list(running).await?;
            running.offered = tools.iter().map(|tool| (tool.name.to_string(), hash_of(tool))).collect();
        }
        Ok(running)
    }

    async fn start(&self) -> Result<Running, ToolFailure> {
        self.allowance.store(UNASKED_BYTES_MAX, Ordering::Release);
        let handler = Handler::default();
        let started = tokio::time::timeout(self.settings.start_timeout, self.connect(handler.clone())).await;
        let limit = self.settings.start_timeout;
        started.unwrap_or_else(|_| Err(http_error::too_late(self.name(), self.address.as_ref(), limit)))
    }

    async fn connect(&self, handler: Handler) -> Result<Running, ToolFailure> {
        let refused = |what: &dyn std::fmt::Display| {
            let what = shown(&what.to_string());
            self.unavailable(&format!("the MCP server `{}` could not be started: {what}", self.name()))
        };
        let (service, process) = match &self.settings.transport {
            transport @ McpTransport::Command { .. } => {
                let (process, output, input) = Process::start(self.name(), transport, self.allowance.clone())
                    .map_err(|error| refused(&error))?;
                let transport = AsyncRwTransport::new(output, input).with_max_line_length(LINE_BYTES_MAX);
                let service =
                    handler.clone().serve(transport).await.map_err(|error| refused(&cause(&error)))?;
                (service, Some(process))
            }
            McpTransport::Url { url, headers, .. } => {
                let (authorization, http_error) = (self.authorization.clone(), self.http_error.clone());
                let served = remote::serve(handler.clone(), url, headers, authorization, http_error).await;
                let unusable =
                    |what: String| http_error::unusable(self.name(), self.address.as_ref(), &shown(&what));
                let refused = |what| self.refusal().map_or_else(|| unusable(what), http_error::at_start);
                (served.map_err(refused)?, None)
            }
        };
        Ok(Running { service, handler, offered: HashMap::new(), prompts: None, _process: process })
    }

    async fn list(&self, running: &Running) -> Result<Vec<Tool>, ToolFailure> {
        let listed =
            tokio::time::timeout(self.settings.start_timeout, running.service.list_all_tools()).await;
        match listed {
            Ok(Ok(tools)) => Ok(tools),
            Ok(Err(error)) => Err(self.refusal().unwrap_or_else(|| self.broken(&error))),
            Err(_) => Err(self.unavailable("the MCP server did not say what it offers")),
        }
    }

    /// Notes whether the server still answers, for the start that the request was made in.
    async fn settle<T>(&self, start: u64, answer: Result<T, ServiceError>) -> Result<T, ToolFailure> {
        let mut state = self.state.lock().await;
        match answer {
            Ok(answer) => {
                (state.failures, state.not_before) = (0, None);
                Ok(answer)
            }
            Err(error) => {
                let is_over = matches!(error, ServiceError::TransportClosed | ServiceError::TransportSend(_));
                let refusal = if is_over { self.refusal() } else { None };
                let is_ours = is_over && state.starts == start;
                let is_about_permission = refusal.as_ref().is_some_and(http_error::is_about_permission);
                if is_ours && state.running.take().is_some() && !is_about_permission {
                    self.note_failure(&mut state);
                }
                Err(refusal.unwrap_or_else(|| self.broken(&error)))
            }
        }
    }

    fn note_failure(&self, state: &mut ServerState) {
        // The first restart comes at once.
        let pause =
            PAUSE_FIRST.saturating_mul(2_u32.saturating_pow(state.failures.saturating_sub(1))).min(PAUSE_MAX);
        state.not_before = (state.failures > 0).then(|| Instant::now() + pause);
        state.failures = state.failures.saturating_add(1);
        tracing::warn!(server = self.name(), failures = state.failures, "an MCP server broke down");
    }

    fn broken(&self, error: &ServiceError) -> ToolFailure {
        match error {
            ServiceError::McpError(error) => {
                let failure = self.failed(&shown(&error.message));
                failure.with_detail("mcp_code", i64::from(error.code.0))
            }
            // The call may have taken effect, so it is not marked retryable.
            ServiceError::TransportClosed | ServiceError::TransportSend(_) => {
                let message = format!("the MCP server `{}` broke off before it answered", self.name());
                ToolFailure::new(ErrorCode::McpUnavailable, message)
            }
            other => self.failed(&shown(&other.to_string())),
        }
    }

    /// Why the server, or the way to a token for it, refused the last request.
    fn refusal(&self) -> Option<ToolFailure> {
        let of_login = self.authorization.as_ref().and_then(|authorization| authorization.take_failure());
        let of_server = self.http_error.take(self.name(), self.address.as_ref()?);
        of_login.or(of_server)
    }

    fn failed(&self, what: &str) -> ToolFailure {
        let message = format!("the MCP server `{}` refused: {what}", self.name());
        ToolFailure::new(ErrorCode::McpFailed, self.hidden(message))
    }

    fn unavailable(&self, message: &str) -> ToolFailure {
        ToolFailure::new(ErrorCode::McpUnavailable, self.hidden(message.to_owned())).retryable()
    }

    fn hidden(&self, message: String) -> String {
        match &self.address {
            Some(address) => address.hide(message),
            None => message,
        }
    }
}
