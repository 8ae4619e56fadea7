//! What a build that lacks a feature says where a user meets it. In a build with all of them nothing is left to say:
//!
//!     cargo test --package luaplan --no-default-features --test lean
#![cfg(not(all(
    feature = "mcp",
    feature = "mysql",
    feature = "openapi",
    feature = "piccolo",
    feature = "postgres",
    feature = "types"
)))]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const PLAN: &str = "function run(context) return 1 end";

/// A command in a folder with this configuration and [`PLAN`] as `plan.lua`.
fn ran(config: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("luaplan.toml"), config).unwrap();
    fs::write(folder.path().join("plan.lua"), PLAN).unwrap();
    let Output { status, stdout, stderr } = command(folder.path()).args(arguments).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap())
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_luaplan"));
    command.current_dir(folder).env_clear().env("HOME", folder).env("PATH", "/usr/bin:/bin");
    command
}

/// That the command is refused with `code`, and told which feature is missing.
fn refused(config: &str, arguments: &[&str], code: &str, feature: &str) {
    let (status, said) = ran(config, arguments);
    assert!(status.is_some_and(|status| status != 0), "{arguments:?}: {said}");
    for word in [code, "this build of luaplan", &format!("the feature `{feature}`")] {
        assert!(said.contains(word), "{arguments:?} does not say {word}: {said}");
    }
}

#[cfg(not(feature = "types"))]
#[test]
fn each_check_says_that_no_types_were_inferred() {
    let (status, said) = ran("", &["check", "plan.lua", "--json"]);
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(said.matches("plan_types_not_built").count(), 1, "{said}");
}

#[cfg(not(feature = "openapi"))]
#[test]
fn an_openapi_document_is_refused() {
    refused("", &["tools", "import", "api.yaml", "--json"], "usage", "openapi");
}

#[cfg(not(feature = "postgres"))]
#[test]
fn postgresql_is_refused() {
    let journal = "store = \"postgres\"\n[journal]\nurl = \"postgres://u:pw@localhost/d\"";
    refused(journal, &["runs", "--json"], "config_invalid", "postgres");
    let queried = "[tools.query_db.databases]\nmain = \"postgres://u:pw@localhost/d\"";
    refused(queried, &["config", "validate", "--json"], "config_invalid", "postgres");
}

#[cfg(not(feature = "mysql"))]
#[test]
fn mysql_is_refused() {
    let queried = "[tools.query_db.databases]\nmain = \"mysql://u:pw@localhost/d\"";
    refused(queried, &["config", "validate", "--json"], "config_invalid", "mysql");
}

#[cfg(not(feature = "piccolo"))]
#[test]
fn the_second_engine_is_refused() {
    refused("[sandbox]\nengine = \"piccolo\"", &["run", "plan.lua", "--json"], "config_invalid", "piccolo");
}

#[cfg(not(feature = "mcp"))]
mod mcp {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::net::TcpStream;
    use std::process::Stdio;

    use super::*;

    #[test]
    fn servers_and_the_server_are_refused() {
        refused("", &["mcp", "--json"], "usage", "mcp");
        refused("[mcp.crm]\ncommand = [\"crm\"]", &["config", "validate", "--json"], "config_invalid", "mcp");
        let (status, said) =
            ran("[mcp.crm]\ncommand = [\"crm\"]\nenabled = false", &["config", "validate", "--json"]);
        assert_eq!(status, Some(0), "{said}");
        refused("", &["plan", "a task", "--mcp-prompt", "crm.report", "--json"], "not_found", "mcp");
    }

    #[test]
    fn the_service_says_what_it_lacks() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = command(folder.path());
        let mut server = command
            .args(["serve", "--listen", "127.0.0.1:0", "--json"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        server.kill().unwrap();
        server.wait().unwrap();
        assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
        assert!(answer.contains("\"not_found\"") && answer.contains("the feature `mcp`"), "{answer}");
    }
}
