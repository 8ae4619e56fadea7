//! Clients that were written elsewhere: the SDKs for Python and TypeScript, the inspector, and the
//! protocol's conformance suite.
//!
//! `LUAPLAN_TEST_MCP_PYTHON` is the path of a Python that has the package `mcp`;
//! `LUAPLAN_TEST_MCP_NODE_MODULES` is a `node_modules` folder with `@modelcontextprotocol/sdk`,
//! `…/inspector` and `…/conformance`, and `LUAPLAN_TEST_MCP_NODE` the Node to run them with (`node` when
//! not set; the conformance suite needs 22 or newer).

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value as Json, json};
use tokio::process::Command;

use super::serve::Serving;
use crate::http_support::PATIENCE;
use crate::support::{Part, variable};

const BINARY: &str = env!("CARGO_BIN_EXE_luaplan");

/// Scenarios a server of tools alone can be asked. All others of the suite want tools of the suite's own
/// (`test_simple_text` and its like), or resources, prompts, logging, completion, sampling or
/// elicitation.
const SCENARIOS: [&str; 5] =
    ["server-initialize", "ping", "tools-list", "server-sse-multiple-streams", "dns-rebinding-protection"];

const PYTHON: &str = r#"
import asyncio, json, sys
from mcp import Client, StdioServerParameters

async def use(target):
    heard = []
    async def hear(progress, total, message):
        heard.append(message)
    async with Client(target) as client:
        tools = await client.list_tools()
        sum = "function run(context) return { sum = context.a + context.b } end"
        ran = await client.call_tool(
            "run_lua", {"program": sum, "context": {"a": 2, "b": 3}}, progress_callback=hear)
        refused = await client.call_tool("run_lua", {"program": "function run("})
    return {
        "tools": [tool.name for tool in tools.tools],
        "ran": ran.model_dump(mode="json", by_alias=True),
        "refused": refused.model_dump(mode="json", by_alias=True),
        "heard": heard,
    }

async def main():
    binary, folder, url = sys.argv[1:]
    stdio = StdioServerParameters(command=binary, args=["mcp", "--dir", folder])
    print(json.dumps([await use(stdio), await use(url)]))

asyncio.run(main())
"#;

/// A person who declines the first question and allows the second, over both forms of the protocol.
const PYTHON_ASKED: &str = r#"
import asyncio, json, sys
from mcp import Client, StdioServerParameters, types

PLAN = 'function run() local a = fetch_url("http://127.0.0.1:1/") return a.code end'

async def use(target, mode):
    asked = []
    async def answer(context, params):
        asked.append(params.message)
        if len(asked) == 1:
            return types.ElicitResult(action="decline")
        return types.ElicitResult(action="accept", content={"decision": "once"})
    async with Client(target, mode=mode, elicitation_callback=answer) as client:
        denied = await client.call_tool("run_lua", {"program": PLAN})
        allowed = await client.call_tool("run_lua", {"program": PLAN})
    return {"asked": asked, "denied": denied.structured_content, "allowed": allowed.structured_content}

async def main():
    binary, folder, url = sys.argv[1:]
    stdio = StdioServerParameters(command=binary, args=["mcp", "--dir", folder])
    print(json.dumps([await use(target, mode) for target in (stdio, url) for mode in ("auto", "legacy")]))

asyncio.run(main())
"#;

const TYPESCRIPT: &str = r#"
import { pathToFileURL } from "node:url";
const [modules, binary, folder, url] = process.argv.slice(2);
const sdk = (path) => import(pathToFileURL(`${modules}/@modelcontextprotocol/sdk/dist/esm/client/${path}.js`));
const { Client } = await sdk("index");
const { StdioClientTransport } = await sdk("stdio");
const { StreamableHTTPClientTransport } = await sdk("streamableHttp");

async function use(transport) {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  const heard = [];
  const { tools } = await client.listTools();
  const program = "function run(context) return { sum = context.a + context.b } end";
  const ran = await client.callTool({ name: "run_lua", arguments: { program, context: { a: 2, b: 3 } } },
    undefined, { onprogress: (progress) => heard.push(progress.message) });
  const refused = await client.callTool({ name: "run_lua", arguments: { program: "function run(" } });
  await client.close();
  return { tools: tools.map((tool) => tool.name), ran, refused, heard };
}

const stdio = new StdioClientTransport({ command: binary, args: ["mcp", "--dir", folder] });
const http = new StreamableHTTPClientTransport(new URL(url));
console.log(JSON.stringify([await use(stdio), await use(http)]));
process.exit(0);
"#;

/// The Node to run things with, and its modules.
fn node(what: &str) -> Option<(String, PathBuf)> {
    let modules = Part::McpNode.place(what)?;
    Some((variable("LUAPLAN_TEST_MCP_NODE").unwrap_or_else(|| "node".to_owned()), modules.into()))
}

async fn output(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = run(command).await;
    let stdout = String::from_utf8(stdout).unwrap();
    assert!(status.success(), "{status}\n{stdout}\n{}", String::from_utf8_lossy(&stderr));
    stdout
}

async fn run(command: &mut Command) -> Output {
    let command = command.stdin(Stdio::null()).kill_on_drop(true);
    tokio::time::timeout(PATIENCE * 2, command.output()).await.unwrap().unwrap()
}

/// What a client saw over each of the two ways in.
fn judge(seen: &str) {
    let ways: Vec<Json> = serde_json::from_str(seen).unwrap();
    assert_eq!(ways.len(), 2);
    for way in ways {
        assert!(way["tools"].as_array().unwrap().contains(&json!("run_lua")), "{way}");
        assert_eq!(way["ran"]["structuredContent"]["result"], json!({ "sum": 5 }), "{way}");
        assert_eq!(way["ran"]["isError"], false, "{way}");
        assert_eq!(way["refused"]["structuredContent"]["error"]["code"], "check_refused", "{way}");
        assert_eq!(way["refused"]["isError"], true, "{way}");
        assert_eq!(way["heard"][0], "run_started", "{way}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_sdk_works_with_it() {
    let Some(python) = Part::McpPython.place("the Python SDK") else { return };
    let (serving, folder) = (Serving::start(&[]).await, tempfile::tempdir().unwrap());
    let mut command = Command::new(python);
    command.args(["-c", PYTHON, BINARY]).arg(folder.path()).arg(format!("{}/mcp", serving.client.base));
    judge(&output(&mut command).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_sdk_puts_questions_before_a_person() {
    let Some(python) = Part::McpPython.place("questions to the Python SDK") else { return };
    let folder = tempfile::tempdir().unwrap();
    let policy = "version = 1\n[[rule]]\nname = \"asks\"\ntool = \"fetch_url\"\ndecision = \"prompt\"\nreason = \"it leaves the machine\"\n";
    std::fs::write(folder.path().join("policy.toml"), policy).unwrap();
    let file = folder.path().join("policy.toml").display().to_string();
    let config = format!("[policy]\nfile = {file:?}\n[tools.fetch_url]\nallow_hosts = [\"127.0.0.1:1\"]\n");
    std::fs::write(folder.path().join("luaplan.toml"), config).unwrap();
    let hosts = "tools.fetch_url.allow_hosts=[\"127.0.0.1:1\"]";
    let serving = Serving::start(&[&format!("policy.file={file}"), hosts]).await;
    let mut command = Command::new(python);
    command.args(["-c", PYTHON_ASKED, BINARY]).arg(folder.path()).arg(format!("{}/mcp", serving.client.base));
    let ways: Vec<Json> = serde_json::from_str(&output(&mut command).await).unwrap();
    assert_eq!(ways.len(), 4);
    for way in ways {
        assert_eq!(way["denied"]["result"], "approval_denied", "{way}");
        // It was allowed, and no server listens there.
        assert_eq!(way["allowed"]["result"], "fetch_failed", "{way}");
        assert!(way["asked"][1].as_str().unwrap().contains("it leaves the machine"), "{way}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_typescript_sdk_works_with_it() {
    let Some((node, modules)) = node("the TypeScript SDK") else { return };
    let (serving, folder) = (Serving::start(&[]).await, tempfile::tempdir().unwrap());
    let script = folder.path().join("use.mjs");
    std::fs::write(&script, TYPESCRIPT).unwrap();
    let mut command = Command::new(node);
    command.arg(script).arg(modules).arg(BINARY).arg(folder.path());
    judge(&output(command.arg(format!("{}/mcp", serving.client.base))).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_inspector_works_with_it() {
    let Some((node, modules)) = node("the inspector") else { return };
    let folder = tempfile::tempdir().unwrap();
    let servers = json!({ "mcpServers": { "luaplan": {
        "command": BINARY, "args": ["mcp", "--dir", folder.path()] } } });
    let config = folder.path().join("servers.json");
    std::fs::write(&config, servers.to_string()).unwrap();
    let inspect = |words: &[&str]| {
        let mut command = Command::new(&node);
        command.arg(modules.join(".bin/mcp-inspector")).args(["--cli", "--config"]).arg(&config);
        command.args(["--server", "luaplan"]).args(words);
        command
    };
    let tools: Json = serde_json::from_str(&output(&mut inspect(&["--method", "tools/list"])).await).unwrap();
    assert_eq!(tools["tools"][0]["name"], "run_lua");
    let words = [
        "--method",
        "tools/call",
        "--tool-name",
        "run_lua",
        "--tool-arg",
        "program=function run() return { answer = 6 * 7 } end",
    ];
    let ran: Json = serde_json::from_str(&output(&mut inspect(&words)).await).unwrap();
    assert_eq!(ran["structuredContent"]["result"], json!({ "answer": 42 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn it_conforms_to_the_protocol() {
    let Some((node, modules)) = node("the conformance suite") else { return };
    let serving = Serving::start(&[]).await;
    let suite = modules.join(".bin/conformance");
    let url = format!("{}/mcp", serving.client.base);
    let mut failed = Vec::new();
    for scenario in SCENARIOS {
        let mut command = Command::new(&node);
        command.arg(&suite).args(["server", "--url", &url, "--scenario", scenario]);
        command.current_dir(Path::new(env!("CARGO_TARGET_TMPDIR")));
        let Output { status, stdout, stderr } = run(&mut command).await;
        if !status.success() {
            let said = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
            failed.push(format!("{scenario}: {said}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
