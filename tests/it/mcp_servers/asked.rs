//! What tools of MCP servers may do without a policy, and what `explain` says that a plan reaches by them.

use luaplan::app::{App, ApprovalAnswer, ResumeRequest};
use luaplan::base::{ErrorCode, Value};
use luaplan::bus::Circumstances;
use luaplan::plan::preview::Texts;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::{accepted, result, run, small, unasked};
use crate::approvals::decide;
use crate::http_support::open;

fn plan(call: &str) -> String {
    format!(
        "function run()\n  local answer = small.{call}\n  if answer.error then error(answer.error) end\n  return answer\nend"
    )
}

/// What the server was told to do.
fn did(folder: &std::path::Path) -> String {
    std::fs::read_to_string(folder.join("did")).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_may_destroy_something_is_asked_about_without_a_policy_file() {
    let folder = tempfile::tempdir().unwrap();
    let app = accepted(folder.path(), &[]).await;
    // Destructive is what the protocol assumes where a tool is not said to be read-only or not to destroy.
    for name in ["tell", "save_note", "quiet"] {
        let outcome = run(&app, &plan(&format!("{name}{{text = \"x\"}}"))).await;
        let error = outcome.error().unwrap();
        assert_eq!(error.code(), ErrorCode::ApprovalRequired, "{name}: {error}");
        assert_eq!(did(folder.path()), "", "{name}");
    }
    assert_eq!(result(&app, &plan("add_note{text = \"x\"}")).await, json!("did"));
    assert_eq!(result(&app, "function run() return small.text{} end").await, json!("hello"));
    assert_eq!(did(folder.path()), "addNote\n");

    let paused = run(&app, &plan("tell{text = \"x\"}")).await;
    let waits = app.approvals().pending(Some(&paused.run_id)).await.unwrap().remove(0).request;
    assert!(waits.reason.contains("no policy file") && waits.rules.is_empty(), "{}", waits.reason);
    decide(&app, &waits.approval_id, ApprovalAnswer::Once, "local").await.unwrap();
    let resumed = app.resume(ResumeRequest::new(paused.run_id, CancellationToken::new())).await.unwrap();
    assert_eq!(resumed.result.unwrap().to_json(), json!("did"));
    assert_eq!(did(folder.path()), "addNote\ntell\n");

    assert_eq!(unasked(&app, &plan("quiet{}")).await, Ok(json!("did")));
    let verdict = app.approvals().explain_call(
        "small.tell",
        Value::from_json(json!({})).unwrap(),
        &Circumstances::default(),
    );
    assert_eq!(verdict.unwrap().now.unwrap().decision.as_str(), "prompt");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_configures_a_tool_or_a_policy_has_the_last_word() {
    let folder = tempfile::tempdir().unwrap();
    drop(accepted(folder.path(), &[]).await);
    let (command, policy) = (small(folder.path()), folder.path().join("policy.toml"));
    let reads = [("mcp.small.command", command.as_str()), ("mcp.small.effects", "{ tell = \"read\" }")];
    assert_eq!(result(&open(folder.path(), &reads, None).await, &plan("tell{}")).await, json!("did"));
    std::fs::write(&policy, "version = 1\n[defaults]\nsend = \"auto\"\nspend = \"auto\"\nwrite = \"auto\"\n")
        .unwrap();
    let file = format!("{:?}", policy.display().to_string());
    let ruled = [("mcp.small.command", command.as_str()), ("policy.file", file.as_str())];
    assert_eq!(result(&open(folder.path(), &ruled, None).await, &plan("quiet{}")).await, json!("did"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_accepted_before_hints_were_kept_counts_as_destructive() {
    let folder = tempfile::tempdir().unwrap();
    let app = accepted(folder.path(), &[]).await;
    let file = app.config().data_dir.join("mcp/small.json");
    drop(app);
    let mut kept: Json = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    for tool in kept["tools"].as_array_mut().unwrap() {
        let tool = tool.as_object_mut().unwrap();
        assert!(tool.remove("is_destructive").is_some() && tool.remove("is_open_world").is_some());
    }
    std::fs::write(&file, kept.to_string()).unwrap();
    let command = small(folder.path());
    let app = open(folder.path(), &[("mcp.small.command", command.as_str())], None).await;
    let error = run(&app, &plan("add_note{text = \"x\"}")).await.error().unwrap();
    assert_eq!(error.code(), ErrorCode::ApprovalRequired);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_explanation_names_the_servers_of_a_plan_and_what_they_may_reach() {
    let folder = tempfile::tempdir().unwrap();
    let app = accepted(folder.path(), &[]).await;
    let limits = app.config().limits.clone();
    let page = |app: &App, call: &str| {
        app.plans().explain(&plan(call), "plan", &limits, None).preview.unwrap().page(Texts::Short)
    };
    let open_world = page(&app, "tell{text = \"x\"}");
    assert!(
        open_world.contains("MCP servers small") && open_world.contains("hosts       any"),
        "{open_world}"
    );
    let closed = page(&app, "save_note{text = \"x\"}");
    assert!(closed.contains("MCP servers small") && !closed.contains("hosts"), "{closed}");
    for call in ["tell{}", "save_note{}", "echo{text = \"x\"}", "read{uri = \"note:1\"}", "quiet{}"] {
        assert!(!page(&app, call).contains("nothing outside"), "{call}");
    }
    drop(app);
    // A server at an address is named by its host too. What was accepted does not depend on how it is reached.
    let url = [("mcp.small.url", "\"https://user:word@crm.example.com:8443/mcp?key=1\"")];
    let app = open(folder.path(), &url, None).await;
    let remote = page(&app, "save_note{text = \"x\"}");
    assert!(remote.contains("hosts       crm.example.com:8443\n") && !remote.contains("word"), "{remote}");
}
