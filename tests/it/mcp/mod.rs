//! luaplan as an MCP server: the real binary over its pipes, and `/mcp` on a real socket.

pub(crate) mod asks;
mod bounds;
mod clients;
mod databases;
mod doubts;
mod http;
mod plans;
mod runs;
pub(crate) mod serve;
mod stdio;
mod tenants;

use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientConfig, JsonObject, ProgressNotificationParam,
};
use rmcp::service::{NotificationContext, RunningService};
use rmcp::{ClientHandler, RoleClient, ServiceExt as _};
use serde_json::{Value as Json, json};
use tokio::process::{Child, Command};

use crate::http_support::PATIENCE;

pub(super) const SUM: &str = "function run(context) return { sum = context.a + context.b } end";

/// Keeps the progress it is told of.
#[derive(Clone, Default)]
pub(super) struct Watcher {
    progress: Arc<Mutex<Vec<ProgressNotificationParam>>>,
}

impl ClientHandler for Watcher {
    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.progress.lock().unwrap().push(params);
    }

    fn get_info(&self) -> ClientConfig {
        ClientConfig::default()
    }
}

impl Watcher {
    pub(super) fn progress(&self) -> Vec<ProgressNotificationParam> {
        self.progress.lock().unwrap().clone()
    }
}

/// `luaplan mcp` in a folder, with settings and nothing of this environment.
pub(super) fn command(folder: &Path, settings: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_luaplan"));
    command.current_dir("/").env_clear().env("HOME", folder).kill_on_drop(true);
    command.arg("mcp").arg("--dir").arg(folder);
    for setting in settings {
        command.args(["--set", setting]);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A connected client, and the process it talks to.
pub(crate) struct Session {
    pub(super) client: RunningService<RoleClient, Watcher>,
    pub(super) child: Child,
}

impl Session {
    pub(crate) async fn start(folder: &Path, settings: &[&str]) -> Self {
        let mut child = command(folder, settings).spawn().unwrap();
        let pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let serving = Watcher::default().serve(pipes);
        let client = tokio::time::timeout(PATIENCE, serving).await.unwrap().unwrap();
        Self { client, child }
    }

    pub(crate) async fn call(&self, tool: &'static str, arguments: Json) -> CallToolResult {
        call(&self.client, tool, arguments).await
    }

    /// What a tool that worked gave.
    pub(super) async fn done(&self, tool: &'static str, arguments: Json) -> Json {
        done(self.call(tool, arguments).await)
    }

    /// The code a tool failed with, and all it said.
    pub(super) async fn refused(&self, tool: &'static str, arguments: Json) -> (String, Json) {
        refused(self.call(tool, arguments).await)
    }
}

pub(super) async fn call(
    client: &RunningService<RoleClient, Watcher>,
    tool: &'static str,
    arguments: Json,
) -> CallToolResult {
    let arguments: JsonObject = serde_json::from_value(arguments).unwrap();
    let request = CallToolRequestParams::new(tool).with_arguments(arguments);
    tokio::time::timeout(PATIENCE, client.call_tool(request)).await.unwrap().unwrap()
}

pub(crate) fn done(result: CallToolResult) -> Json {
    assert_eq!(result.is_error, Some(false), "{result:?}");
    let data = result.structured_content.unwrap();
    let text = &result.content[0].as_text().unwrap().text;
    assert!(text.contains("structuredContent") && text.len() < 4_096, "a short text beside the data: {text}");
    data
}

/// The code of what a run waits for, and all that was said: that is no failure.
pub(crate) fn rests(result: CallToolResult) -> (String, Json) {
    let data = done(result);
    assert!(
        !data["error"]["help"].as_str().unwrap().contains("`luaplan "),
        "no command of a terminal: {data}"
    );
    (data["error"]["code"].as_str().unwrap().to_owned(), data)
}

pub(crate) fn refused(result: CallToolResult) -> (String, Json) {
    assert_eq!(result.is_error, Some(true), "{result:?}");
    let data = result.structured_content.unwrap();
    let error = &data["error"];
    for member in ["code", "message", "help"] {
        assert!(!error[member].as_str().unwrap().is_empty(), "{member} of {data}");
    }
    if matches!(
        error["code"].as_str(),
        Some("not_found" | "run_not_active" | "check_refused" | "approval_stale")
    ) {
        assert!(!error["help"].as_str().unwrap().contains("`luaplan "), "no command of a terminal: {data}");
    }
    (error["code"].as_str().unwrap().to_owned(), data)
}

/// A plan that fetches from a gate, as its argument of a tool.
pub(super) fn held(gate: &crate::http_support::Gate) -> Json {
    json!({ "program": gate.plan("/hold") })
}
