//! Independent servers. `LUAPLAN_TEST_MCP_NODE_MODULES` is a `node_modules` folder with the reference
//! servers, `LUAPLAN_TEST_MCP_PYTHON` a Python with `mcp-server-time`, `-git` and `-fetch`.

use std::path::Path;

use serde_json::json;

use super::{accept, unasked};
use crate::http_support::open;
use crate::support::{Part, variable};

/// Runs `plan` with a server of that command; `None` where it is not installed.
async fn with(server: &str, command: &[String], plan: &str) -> serde_json::Value {
    let folder = tempfile::tempdir().unwrap();
    let (key, command) = (format!("mcp.{server}.command"), serde_json::to_string(command).unwrap());
    let settings = [(key.as_str(), command.as_str())];
    accept(&open(folder.path(), &settings, None).await, server).await;
    unasked(&open(folder.path(), &settings, None).await, plan).await.unwrap()
}

fn node(package: &str, arguments: &[&str]) -> Option<Vec<String>> {
    let modules = variable("LUAPLAN_TEST_MCP_NODE_MODULES");
    let script = modules
        .map(|modules| Path::new(&modules).join("@modelcontextprotocol").join(package).join("dist/index.js"));
    let Some(script) = script.filter(|script| script.exists()) else {
        Part::McpNode.is_absent(package, "LUAPLAN_TEST_MCP_NODE_MODULES does not name it");
        return None;
    };
    let node = variable("LUAPLAN_TEST_MCP_NODE").unwrap_or_else(|| "/usr/bin/node".to_owned());
    let mut command = vec![node, script.display().to_string()];
    command.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    Some(command)
}

fn python(module: &str, arguments: &[&str]) -> Option<Vec<String>> {
    let python = Part::McpPython.place(module)?;
    let mut command = vec![python, "-m".to_owned(), module.to_owned()];
    command.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    Some(command)
}

#[tokio::test(flavor = "multi_thread")]
async fn everything() {
    let Some(command) = node("server-everything", &["stdio"]) else { return };
    let plan = "function run()\n  local answer = everything.echo{message = \"hi\"}\n  if type(answer) ~= \"string\" \
                then error(answer.error) end\n  return answer\nend";
    assert_eq!(with("everything", &command, plan).await, json!("Echo: hi"));
}

#[tokio::test(flavor = "multi_thread")]
async fn filesystem() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "first\n").unwrap();
    let real = folder.path().canonicalize().unwrap();
    let Some(command) = node("server-filesystem", &[real.to_str().unwrap()]) else { return };
    let plan = format!(
        "function run()\n  local answer = files.read_text_file{{path = {:?}}}\n  if answer.error then error(answer.error) \
         end\n  return answer.content\nend",
        real.join("a.txt").display().to_string()
    );
    assert_eq!(with("files", &command, &plan).await, json!("first\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn memory() {
    let Some(command) = node("server-memory", &[]) else { return };
    let plan = "function run()\n  local answer = memory.search_nodes{query = \"nothing at all\"}\n  if answer.error then \
                error(answer.error) end\n  return #answer.entities\nend";
    assert_eq!(with("memory", &command, plan).await, json!(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn sequential_thinking() {
    let Some(command) = node("server-sequential-thinking", &[]) else { return };
    let plan = "function run()\n  local answer = thinking.sequentialthinking{thought = \"one\", nextThoughtNeeded = false, \
                thoughtNumber = 1, totalThoughts = 1}\n  if answer.error then error(answer.error) end\n  return \
                answer.thoughtNumber\nend";
    assert_eq!(with("thinking", &command, plan).await, json!(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn time() {
    let Some(command) = python("mcp_server_time", &["--local-timezone", "UTC"]) else { return };
    let plan = "function run()\n  local answer = time.convert_time{source_timezone = \"UTC\", time = \"12:00\", \
                target_timezone = \"Asia/Tokyo\"}\n  local text = type(answer) == \"string\" and answer or \
                json.encode(answer)\n  return text:find(\"21:00\", 1, true) ~= nil\nend";
    assert_eq!(with("time", &command, plan).await, json!(true));
}

#[tokio::test(flavor = "multi_thread")]
async fn git() {
    let folder = tempfile::tempdir().unwrap();
    let Some(command) = python("mcp_server_git", &[]) else { return };
    let made = std::process::Command::new("git").args(["init", "-q"]).arg(folder.path()).status().unwrap();
    assert!(made.success());
    let plan = format!(
        "function run()\n  local answer = git.git_status{{repo_path = {:?}}}\n  if type(answer) ~= \"string\" then \
         error(answer.error) end\n  return answer:find(\"No commits yet\", 1, true) ~= nil\nend",
        folder.path().display().to_string()
    );
    assert_eq!(with("git", &command, &plan).await, json!(true));
}

#[tokio::test(flavor = "multi_thread")]
async fn fetch() {
    let Some(command) = python("mcp_server_fetch", &["--ignore-robots-txt", "--allow-private-ips"]) else {
        return;
    };
    let gate = crate::http_support::Gate::new().await;
    let plan = format!(
        "function run()\n  local answer = web.fetch{{url = \"http://{}/now\", raw = true}}\n  if type(answer) ~= \"string\" \
         then error(answer.error) end\n  return answer:find(\"body\", 1, true) ~= nil\nend",
        gate.host
    );
    assert_eq!(with("web", &command, &plan).await, json!(true));
}
