//! Authorization with independent software: the example servers of the protocol's own SDKs.
//! `LUAPLAN_TEST_MCP_NODE_MODULES` is a `node_modules` folder with `@modelcontextprotocol/sdk`,
//! `LUAPLAN_TEST_MCP_PYTHON` a Python with `mcp`.

use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use tokio::process::{Child, Command};

use super::{app, config, log_in, token_file, write};
use crate::http_support::PATIENCE;
use crate::mcp_servers::failure;
use crate::support::{Part, variable};

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

async fn until_answering(port: u16) {
    super::site::install_tls();
    let answers = async {
        while reqwest::get(format!("http://localhost:{port}/")).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, answers).await.unwrap();
}

fn started(mut command: Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    command.spawn().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_typescript_sdk_lets_us_in() {
    let modules = variable("LUAPLAN_TEST_MCP_NODE_MODULES");
    let script = modules.map(|modules| {
        Path::new(&modules).join("@modelcontextprotocol/sdk/dist/esm/examples/server/simpleStreamableHttp.js")
    });
    let Some(script) = script.filter(|script| script.exists()) else {
        return Part::McpNode
            .is_absent("TypeScript's example", "LUAPLAN_TEST_MCP_NODE_MODULES does not name it");
    };
    let (port, authority) = (free_port(), free_port());
    let mut node =
        Command::new(variable("LUAPLAN_TEST_MCP_NODE").unwrap_or_else(|| "/usr/bin/node".to_owned()));
    node.arg(script).args(["--oauth", "--oauth-strict"]);
    node.env("MCP_PORT", port.to_string()).env("MCP_AUTH_PORT", authority.to_string());
    let _server = started(node);
    until_answering(authority).await;
    until_answering(port).await;
    let folder = tempfile::tempdir().unwrap();
    let configuration = format!(
        "[mcp.far]\nurl = \"http://localhost:{port}/mcp\"\noauth = {{ allow_hosts = [\"localhost:{authority}\"] }}\n"
    );
    write(folder.path(), &configuration);
    let refused = luaplan::app::offer_of_mcp_server(&config(folder.path()), "far", true).await.unwrap_err();
    assert_eq!(refused.code().as_str(), "mcp_login_required", "{refused}");
    log_in(folder.path()).await;
    luaplan::app::offer_of_mcp_server(&config(folder.path()), "far", true).await.unwrap();
    let app = app(folder.path()).await;
    let answer = failure(&app, "far.greet{name = \"luaplan\"}").await;
    assert_eq!(answer["worked"], json!("Hello, luaplan!"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_sdk_lets_us_in_and_renews() {
    let Some(python) = Part::McpPython.place("Python's authorization") else { return };
    let port = free_port();
    let mut server = Command::new(python);
    server.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/mcp/login_server.py"));
    server.arg(port.to_string());
    let _server = started(server);
    until_answering(port).await;
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &format!("[mcp.far]\nurl = \"http://localhost:{port}/mcp\"\n"));
    log_in(folder.path()).await;
    luaplan::app::offer_of_mcp_server(&config(folder.path()), "far", true).await.unwrap();
    let before = std::fs::read_to_string(token_file(folder.path())).unwrap();
    let app = app(folder.path()).await;
    assert_eq!(failure(&app, "far.whoami{}").await["worked"]["result"], json!("notes"));
    // Its tokens last for less than the time before their end at which they are renewed.
    let after = std::fs::read_to_string(token_file(folder.path())).unwrap();
    assert_ne!(before, after);
}
