//! The sinks of a machine: commands and their log, a terminal, an assistant over pipes, the list of processes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value as Json, json};

use super::forms::{Reach, SECRET, Table, all_marked, context};
use super::scene::{PLAN, Scene, VARIABLES};
use crate::cli::{Ended, Folder};
use crate::manifest_tools::canary_plan::{WAITS, seen_below};
use crate::support::Part;

/// Nobody is asked about calls.
const OPEN: [&str; 2] = ["--set", "policy.file=open.toml"];

fn luaplan(folder: &Folder, words: &[&str]) -> Ended {
    folder.run_with(&VARIABLES, words)
}

fn commands(folder: &Folder, table: &mut Table) {
    let run = ["run", "plan.lua", "--context", "@well.json"];
    for (form, reach) in [
        (&["--json"][..], Reach::Whole),
        (&[], Reach::Whole),
        (&["--events"], Reach::Lines),
        (&["--isolation", "in-process"], Reach::Whole),
    ] {
        let ended = luaplan(folder, &[&run[..], form, &OPEN].concat()).exits(0);
        table.words(format!("standard output of run {form:?}"), reach, ended.out);
        assert!(ended.err.contains("TRACE"), "the log is on");
    }
    for (ends, json) in
        [("raises", false), ("uses a failure", false), ("raises", true), ("uses a failure", true)]
    {
        let context = format!("@{ends}.json");
        let mut words = [&["run", "plan.lua", "--context", &context], &OPEN[..]].concat();
        words.extend(json.then_some("--json"));
        let ended = luaplan(folder, &words).exits(1);
        let said = if json { ended.json()["error"].to_string() } else { ended.err };
        table.words(format!("{ends}: an error, as JSON {json}"), Reach::Anywhere, said);
    }
    let paused = luaplan(folder, &[&run[..], &["--json"]].concat()).exits(5);
    table.words("a pause", Reach::Lines, &paused.out);
    let run_id = paused.json()["run_id"].as_str().unwrap().to_owned();
    for words in [&["approve"][..], &["approve", "--json"]] {
        let asked = luaplan(folder, words).exits(0);
        table.words(format!("{words:?}"), Reach::Anywhere, asked.out);
    }
    let reason = all_marked(true);
    let denied = luaplan(folder, &["approve", &run_id, "1", "--deny", &reason, "--json"]).exits(0);
    table.words("a denied run", Reach::Anywhere, denied.out);
    for (words, reach) in [
        (&["show", &run_id, "--full"][..], Reach::Lines),
        (&["show", &run_id, "--json"], Reach::Lines),
        (&["show", &run_id, "--call", "1", "--full"], Reach::Anywhere),
        (&["audit", "--run", &run_id], Reach::Lines),
        (&["audit", "--run", &run_id, "--csv"], Reach::Lines),
    ] {
        let shown = luaplan(folder, words).exits(0);
        table.words(format!("{:?}", &words[..1]), reach, shown.out);
    }
    let missing = luaplan(folder, &["check", &format!("{}.lua", all_marked(false))]).exits(2);
    table.data("a file that is not there", missing.err);
    let unknown = luaplan(folder, &["run", "--at.openai.sk-abcdefghijklmnopqrstuvwx12345678.end"]).exits(2);
    assert!(unknown.err.contains("at.openai.[redacted].end"), "{unknown}");
}

/// A session over the pipes of `luaplan mcp`: all that came is kept as it came.
struct Session {
    child: Child,
    input: ChildStdin,
    lines: BufReader<ChildStdout>,
    came: String,
    next: u64,
}

impl Session {
    fn start(folder: &Folder) -> Self {
        let mut command = folder.command(&["mcp"]);
        let mut child = command
            .envs(VARIABLES)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, lines) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut session = Self { child, input, lines, came: String::new(), next: 0 };
        let hello = json!({
            "protocolVersion": "2025-06-18", "clientInfo": { "name": "client", "version": "1" },
            "capabilities": { "elicitation": {} },
        });
        session.ask("initialize", &hello);
        session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        session
    }

    fn send(&mut self, message: &Json) {
        writeln!(self.input, "{message}").unwrap();
    }

    /// What is answered; a question on the way is answered with a denial.
    fn ask(&mut self, method: &str, params: &Json) -> (Json, String) {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let from = self.came.len();
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "the session ended");
            self.came.push_str(&line);
            let message: Json = serde_json::from_str(&line).unwrap();
            if message["method"] == "elicitation/create" {
                let content = json!({ "decision": "deny", "reason": "not now" });
                let answer = json!({ "action": "accept", "content": content });
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer }));
            } else if message["id"] == id && message.get("method").is_none() {
                return (message, self.came[from..].to_owned());
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Json) -> (Json, String) {
        let meta = json!({ "progressToken": "t" });
        self.ask("tools/call", &json!({ "name": tool, "arguments": arguments, "_meta": meta }))
    }

    /// What it wrote to standard error.
    fn end(mut self) -> String {
        drop(self.input);
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert!(self.child.wait().unwrap().success());
        log
    }
}

fn assistant(folder: &Folder, table: &mut Table) {
    let mut session = Session::start(folder);
    let program = json!({ "program": PLAN, "context": context("well") });
    let (ran, came) = session.call("run_lua", &program);
    assert!(came.contains("notifications/progress") && came.contains("note_down"), "{came}");
    let question = came.lines().find(|line| line.contains("elicitation/create")).unwrap();
    table.words("a question to the person at a client", Reach::Anywhere, question);
    table.words("all that came about a run", Reach::Whole, came.as_str());
    let outcome = &ran["result"]["structuredContent"];
    assert_eq!(outcome["status"], "succeeded", "{ran}");
    table.data("a result for an assistant", outcome["result"]["data"].to_string());
    let run_id = outcome["run_id"].as_str().unwrap().to_owned();
    for (tool, arguments, reach) in [
        ("run_status", json!({ "run_id": run_id }), Reach::Whole),
        ("read_result", json!({ "run": run_id, "path": "/printed" }), Reach::Whole),
        ("read_result", json!({ "run": run_id, "path": "/calls/1" }), Reach::Anywhere),
        ("audit", json!({ "run": run_id, "limit": 1000 }), Reach::Lines),
        ("run_lua", json!({ "program": PLAN, "context": context("raises") }), Reach::Anywhere),
        ("run_status", json!({ "run_id": all_marked(true) }), Reach::Anywhere),
        (&format!("no-{}", all_marked(true)), json!({}), Reach::Anywhere),
    ] {
        let (_, came) = session.call(tool, &arguments);
        table.words(format!("{}: an answer", &tool[..3]), reach, came);
    }
    let (_, came) = session.ask(&all_marked(true), &json!({}));
    table.words("a method that is not there", Reach::Anywhere, came);
    let log = session.end();
    assert!(log.contains("TRACE") && !log.contains("Canary"), "{log}");
}

/// A person at a terminal sees prints as they come, and is asked about a call.
fn terminal(folder: &Folder, table: &mut Table) {
    let line = format!("{} run plan.lua --context @well.json", env!("CARGO_BIN_EXE_luaplan"));
    let mut command = std::process::Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(folder.path()).env_clear().envs(VARIABLES);
    command
        .env("HOME", folder.path())
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        return Part::Script.is_absent("secrets at a terminal", "there is no `script`");
    };
    child.stdin.take().unwrap().write_all(b"d\nnot now\n").unwrap();
    let shown = String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned();
    let (live, asked) = shown.split_once("waits for approval").unwrap();
    table.words("prints at a terminal", Reach::Lines, live);
    let (asked, result) = asked.split_once("not now").unwrap();
    table.words("a question at a terminal", Reach::Anywhere, asked);
    assert!(result.contains("[redacted]") && !result.contains("Canary"), "{result}");
}

/// What every user may read of the processes below a run while it runs.
fn processes(folder: &Folder) {
    let mut command = folder.command(&["run", "waits.lua", "--isolation", "process"]);
    let seen = seen_below(folder, command.envs(VARIABLES).stdout(Stdio::null()).stderr(Stdio::null()));
    let is_shown = |part: &str| seen.iter().any(|(line, _)| line.contains(part));
    assert!(is_shown(" worker ") && is_shown("at.the.command"), "{seen:?}");
    for (line, environment) in seen {
        assert!(!line.contains("Canary"), "{line}");
        // Between fork and exec a process has what its parent has.
        let is_itself = line.contains(" run waits.lua");
        let own = if line.contains(WAITS) { format!("K={SECRET}") } else { String::new() };
        assert!(is_itself || !environment.replacen(&own, "", 1).contains("Canary"), "{line}: {environment}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_form_is_taken_out_of_every_sink_of_a_machine() {
    let scene = Scene::new(vec!["Fine.".to_owned(); 20]).await;
    let scene = tokio::task::spawn_blocking(move || {
        let mut table = Table::default();
        commands(&scene.folder, &mut table);
        assistant(&scene.folder, &mut table);
        terminal(&scene.folder, &mut table);
        processes(&scene.folder);
        table.judge();
        scene
    })
    .await
    .unwrap();
    drop(scene);
}
