//! The server: its description, its tools, and the dispatch of calls.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorData, Implementation,
    JsonObject, ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use luaplan_app::config::McpData;
use luaplan_app::{ActiveRuns, App};
use luaplan_base::{Error, ErrorCode, Result};

use super::answer::{AnswerForm, bad_call, failed, no_such_method, no_such_tool, sent};
use super::caller::{caller_of, is_over_http};
use super::calls::{RunningCall, RunningCalls};
use super::catalog::tools;

/// The server's instructions for a client.
const INSTRUCTIONS: &str = "\
luaplan runs small Lua programs in a sandbox whose only door to the world is a set of audited tools. For work that \
needs several calls, write one program and give it to `run_lua`, whose description declares the tools; find others \
with `search_tools`, and what databases hold with `describe_databases`. Where an answer is `shortened`, `read_result` reads on. `check` and `explain` say what a program would do before it runs; `audit` says what was done.";

/// The tools that run a plan, and so may ask a person.
const RUNNING: [&str; 6] = ["run_lua", "run", "task", "resume_run", "deny_approval", "answer_question"];

/// One application as a server of the protocol. Cheap to clone.
#[derive(Clone)]
pub struct McpServer(Arc<ServerParts>);

struct ServerParts {
    runs: Arc<ActiveRuns>,
    plan_folder: Option<PathBuf>,
    tools: Vec<Tool>,
    calls: Arc<RunningCalls>,
}

impl McpServer {
    /// A server over the application of `runs`. Plans may be named by file where `plan_folder` is given.
    #[must_use]
    pub fn new(runs: Arc<ActiveRuns>, plan_folder: Option<PathBuf>) -> Self {
        let tools = tools(runs.app(), plan_folder.is_some());
        let calls = RunningCalls::new(runs.app().config().server.shares.max_requests_per_key);
        Self(Arc::new(ServerParts { runs, plan_folder, tools, calls }))
    }

    pub(super) fn runs(&self) -> &Arc<ActiveRuns> {
        &self.0.runs
    }

    pub(super) fn app(&self) -> &App {
        self.0.runs.app()
    }

    pub(super) fn plan_folder(&self) -> Option<&Path> {
        self.0.plan_folder.as_deref()
    }

    /// Redacts an error of the protocol, which repeats text of the client.
    pub(super) fn without_secrets(&self, mut error: ErrorData) -> ErrorData {
        error.message = self.app().history().redactor().text(&error.message).into();
        if let Some(data) = &mut error.data {
            self.app().history().redactor().message(data);
        }
        error
    }

    /// The form of answers for the client.
    pub(super) fn answer_form(&self, context: &RequestContext<RoleServer>) -> AnswerForm {
        let answers = &self.app().config().server.answers;
        // Earlier revisions have no structured content.
        let is_known = context.protocol_version().is_none_or(|known| known >= ProtocolVersion::V_2025_06_18);
        match is_known && answers.mcp_data == McpData::Structured {
            true => AnswerForm { bytes_max: answers.mcp_result_bytes_max, is_structured: true },
            // JSON inside a text has its quotes and backslashes escaped again.
            false => AnswerForm { bytes_max: answers.mcp_result_bytes_max / 2, is_structured: false },
        }
    }

    /// A place for a call, where the call outlives its client's connection.
    fn enter(&self, context: &RequestContext<RoleServer>) -> Result<Option<RunningCall>> {
        let key = is_over_http(context).then(|| caller_of(context).name().to_owned());
        key.map(|key| self.0.calls.enter(&key)).transpose()
    }

    async fn answer(
        &self,
        name: &str,
        arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse> {
        let answer = match name {
            "run_lua" => return self.run_lua(read(arguments)?, context).await,
            "run" => return self.run_plan(read(arguments)?, context).await,
            "task" => return self.task(read(arguments)?, context).await,
            "resume_run" => return self.resume_run(read(arguments)?, context).await,
            "deny_approval" => return self.deny_approval(read(arguments)?, context).await,
            "answer_question" => return self.answer_question(read(arguments)?, context).await,
            "plan" => self.plan(read(arguments)?, context).await,
            "check" => self.check(read(arguments)?, context).await,
            "explain" => self.explain(read(arguments)?, context).await,
            "read_result" => self.read_result(read(arguments)?, context).await,
            "run_status" => self.run_status(read(arguments)?, context).await,
            "list_approvals" => self.list_approvals(read(arguments)?, context).await,
            "cancel_run" => self.cancel_run(read(arguments)?, context).await,
            "list_runs" => self.list_runs(read(arguments)?, context).await,
            "search_tools" => self.search_tools(&read(arguments)?, context),
            "describe_databases" => self.describe_databases(read(arguments)?, context).await,
            "audit" => self.audit(read(arguments)?, context).await,
            other => {
                Err(Error::new(ErrorCode::Internal, format!("the tool `{other}` is listed and not there")))
            }
        };
        answer.map(CallToolResponse::from)
    }
}

/// A tool's arguments. A fault in them is a result of the tool and not an error of the protocol, so that the model
/// that wrote them reads it.
fn read<T: DeserializeOwned>(arguments: JsonObject) -> Result<T> {
    serde_json::from_value(Json::Object(arguments)).map_err(|error| {
        Error::new(ErrorCode::BadRequest, format!("the arguments are not what this tool takes: {error}"))
            .with_help("the tool's input schema says what it takes")
    })
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let implementation = Implementation::new("luaplan", env!("CARGO_PKG_VERSION")).with_title("luaplan");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_resources().build())
            .with_server_info(implementation)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.tools.clone()))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(self.database_resources()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.read_databases(&request.uri).await.map(ReadResourceResponse::from)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.tools.iter().find(|tool| tool.name == name).cloned()
    }

    /// Requests that the SDK cannot parse: an unknown method, or a known one with invalid
    /// parameters. Told apart here, so that the sender of the second does not look for a missing method.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        match request.method.as_str() {
            "tools/call" => Err(self.without_secrets(bad_call(request.params))),
            method => Err(self.without_secrets(no_such_method(method))),
        }
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.clone();
        let name = name.as_ref();
        // Known, but not listed where no model is configured: the call says what to set.
        let hidden = ["task", "plan"].contains(&name);
        if !hidden && self.get_tool(name).is_none() {
            return Err(self.without_secrets(no_such_tool(name)));
        }
        let _under_way = match self.enter(&context) {
            Ok(under_way) => under_way,
            Err(error) => return Ok(sent(name, failed(&error), &self.answer_form(&context)).into()),
        };
        let arguments = request.arguments.unwrap_or_default();
        // A repeated call with a person's answers resumes its run and starts no other.
        let answer = match request.request_state {
            Some(state) if RUNNING.contains(&name) => {
                let answers = request.input_responses.unwrap_or_default();
                self.answered(&state, &answers, &arguments, &context).await
            }
            _ => self.answer(name, arguments, &context).await,
        };
        Ok(match answer.unwrap_or_else(|error| failed(&error).into()) {
            CallToolResponse::Complete(mut result) => {
                if let Some(said) = &mut result.structured_content {
                    match result.is_error {
                        Some(true) => self.app().history().redactor().message(said),
                        _ => self.app().history().redactor().document(said),
                    }
                }
                sent(name, result, &self.answer_form(&context)).into()
            }
            asked => asked,
        })
    }
}
