//! Tools of MCP servers in plans: a small server that behaves well and badly, and real ones.

mod asked;
mod hostile;
mod prompts;
mod real;
mod remote;
mod seen;
mod shapes;
mod small;

use std::path::Path;

use luaplan::app::{App, McpOffer, offer_of_mcp_server};
use luaplan::app::{RunSpec, Work};
use luaplan::base::{ErrorCode, LimitProfile};
use luaplan::bus::{Circumstances, Mode};
use luaplan::engine::RunOutcome;
use serde_json::Value as Json;

use crate::http_support::open;

/// The small server as `[mcp.small]`, with its folder.
pub(super) fn small(folder: &Path) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/mcp/server.sh");
    format!("[\"/bin/sh\", {:?}, {:?}]", script.display().to_string(), folder.display().to_string())
}

/// An application with the small server, accepted.
pub(super) async fn accepted(folder: &Path, settings: &[(&str, &str)]) -> App {
    let command = small(folder);
    let mut all = vec![("mcp.small.command", command.as_str())];
    all.extend(settings);
    let app = open(folder, &all, None).await;
    accept(&app, "small").await;
    drop(app);
    open(folder, &all, None).await
}

pub(super) async fn accept(app: &App, server: &str) -> McpOffer {
    offer_of_mcp_server(app.config(), server, true).await.unwrap()
}

pub(super) async fn run(app: &App, source: &str) -> RunOutcome {
    app.run(request(source)).await
}

fn request(source: &str) -> RunSpec {
    RunSpec::new(
        Work::Plan { name: "plan".to_owned(), source: source.to_owned() },
        LimitProfile::Standard.limits(),
    )
}

/// What a plan returned.
pub(crate) async fn result(app: &App, source: &str) -> Json {
    run(app, source).await.result.unwrap_or_else(|error| panic!("{error}")).to_json()
}

/// A plan's result or error, where no approver is asked about calls that a server does not call harmless.
pub(crate) async fn unasked(app: &App, source: &str) -> Result<Json, ErrorCode> {
    let circumstances = Circumstances { mode: Mode::Autonomous, ..Circumstances::default() };
    let outcome = app.run(RunSpec { circumstances, ..request(source) }).await;
    outcome.result.map(|value| value.to_json()).map_err(|why| why.code())
}

/// The failure of one call, as the plan sees it.
pub(crate) async fn failure(app: &App, call: &str) -> Json {
    let plan = format!(
        "function run()\n  local answer = {call}\n  if type(answer) ~= \"table\" or not answer.error then \
         return {{ worked = answer }} end\n  return {{ code = answer.code, error = answer.error, \
         retryable = answer.retryable }}\nend"
    );
    unasked(app, &plan).await.unwrap_or_else(|code| panic!("{code}"))
}
