//! Every command: its help, its data, and what it says about a wrong command line.

use std::process::Stdio;

use clap::CommandFactory as _;
use luaplan::cli::Cli;
use serde_json::json;

use super::{Folder, keys};

const ECHO: &str = "function run(context) return context end\n";

#[test]
fn every_command_has_help_that_tells_what_it_does() {
    let folder = Folder::new();
    let main = folder.run(&["--help"]).exits(0);
    for command in Cli::command().get_subcommands() {
        let name = command.get_name();
        // A hidden command is documented, and not offered.
        assert_eq!(main.out.contains(&format!("  {name} ")), !command.is_hide_set(), "{name}: {main}");
        let about = command.get_about().unwrap().to_string();
        let help = folder.run(&[name, "--help"]).exits(0);
        assert!(help.out.starts_with(&about), "{name}: {help}");
        assert!(help.out.contains("Usage: luaplan") && help.out.contains("--json"), "{name}: {help}");
        assert!(help.err.is_empty(), "{name}: {help}");
        for sub in command.get_subcommands() {
            folder.run(&[name, sub.get_name(), "--help"]).exits(0);
        }
    }
    assert!(main.out.contains("130 interrupted"), "{main}");
    assert!(folder.names().is_empty(), "help must not leave anything behind");
}

#[test]
fn the_version_is_the_packages() {
    let ended = Folder::new().run(&["--version"]).exits(0);
    assert_eq!(ended.out.trim(), concat!("luaplan ", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_name_the_commands_in_each_shell() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ended = folder.run(&["completions", shell]).exits(0);
        for word in ["audit", "doctor", "context-name"] {
            assert!(ended.out.contains(word), "{shell} lacks {word}");
        }
        let data = folder.run(&["completions", shell, "--json"]).exits(0).json();
        assert_eq!(data["shell"], json!(shell));
        assert_eq!(data["script"].as_str().unwrap().trim_end(), ended.out.trim_end());
    }
    let wrong = folder.run(&["completions", "tcsh"]).exits(2);
    assert!(wrong.err.contains("bash, elvish, fish, powershell, zsh"), "{wrong}");
}

#[test]
fn what_is_set_before_and_behind_a_command_all_counts() {
    let folder = Folder::new();
    let set = |key: &'static str| ["--set".to_owned(), format!("{key}=7")];
    let mut words: Vec<String> = set("planner.candidates").into();
    words.push("config".to_owned());
    words.extend(set("llm.max_attempts"));
    words.push("show".to_owned());
    words.extend(set("journal.queue_max").into_iter().chain(["--json".to_owned()]));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let shown = folder.run(&words).exits(0).json();
    for key in ["planner.candidates", "llm.max_attempts", "journal.queue_max"] {
        let value = shown.as_array().unwrap().iter().find(|row| row["key"] == key);
        assert_eq!(value.unwrap()["value"], json!(7), "{key}");
    }
}

#[test]
fn a_wrong_command_line_is_usage_in_words_and_as_data() {
    let folder = Folder::new();
    for words in [
        &["frobnicate"][..],
        &["run"],
        &["run", "a.lua", "--engine", "luajit"],
        &["run", "a.lua", "--isolation", "none"],
        &["runs", "--status", "odd"],
        &["runs", "--limit", "-1"],
        &["audit", "--outcome", "maybe"],
        &["config"],
        &[],
    ] {
        let ended = folder.run(words).exits(2);
        assert!(
            ended.out.is_empty() && ended.err.contains("Usage") || ended.err.contains("error:"),
            "{ended}"
        );
        if words.is_empty() {
            continue;
        }
        let data = folder.run(&[words, &["--json"]].concat()).exits(2);
        assert_eq!(data.json()["error"]["code"], json!("usage"), "{data}");
        assert!(data.err.is_empty(), "{data}");
    }
    let engine = folder.run(&["run", "a.lua", "--engine", "luajit"]);
    assert!(engine.err.contains("[possible values: mlua, piccolo]"), "{engine}");
    let isolation = folder.run(&["run", "a.lua", "--isolation", "none"]);
    assert!(isolation.err.contains("[possible values: process, in-process]"), "{isolation}");
}

#[test]
fn every_command_gives_data_with_the_keys_that_are_documented() {
    let folder = Folder::with(&[("echo.lua", ECHO)]);
    let data = |words: &[&str]| folder.run(&[words, &["--json"]].concat()).exits(0).json();
    assert_eq!(keys(&data(&["init", "new"])), ["wrote"]);
    assert_eq!(keys(&data(&["config", "init"])), ["wrote"]);
    assert_eq!(keys(&data(&["config", "validate"])), ["ok", "files", "tools", "mcp_waiting"]);
    assert_eq!(keys(&data(&["config", "show"])[0]), ["key", "value", "source"]);
    assert_eq!(keys(&data(&["check", "echo.lua"])), ["ok", "findings"]);
    assert_eq!(
        keys(&data(&["run", "echo.lua", "--dry-run"])),
        ["run_id", "ok", "findings", "preview", "limits", "tools"]
    );
    let run = data(&["run", "echo.lua"]);
    assert_eq!(keys(&run), ["run_id", "status", "result", "usage"]);
    for key in ["instructions", "memory_peak_bytes", "wall_ms", "tool_calls"] {
        assert!(run["usage"][key].is_u64(), "{run}");
    }
    assert_eq!(keys(&data(&["test", "new"])), ["total", "passed", "failed", "results"]);
    let runs = data(&["runs"]);
    for key in ["run_id", "status", "started_at", "tool_calls"] {
        assert!(!runs[0][key].is_null(), "{key}: {runs}");
    }
    assert_eq!(keys(&data(&["show", "last"])), ["run", "plan", "records"]);
    assert_eq!(keys(&data(&["show", "last", "--plan"])), ["run_id", "plan"]);
    assert!(data(&["audit", "verify"])["ok"].as_bool().unwrap());
    assert_eq!(data(&["tools"])[0]["name"], json!("query_db"));
    assert_eq!(data(&["tools", "list"]), data(&["tools"]));
    assert_eq!(data(&["tools", "show", "send_email"])["effect"], json!("send"));
    assert_eq!(keys(&data(&["tools", "stubs"])), ["tools", "library"]);
    let prompt = data(&["plan", "add two numbers", "--print-prompt"]);
    assert_eq!(
        keys(&prompt),
        [
            "system",
            "system_stable_bytes",
            "user",
            "user_stable_bytes",
            "budget_tokens",
            "used_tokens",
            "trimmed",
            "tools_left_out"
        ]
    );
    let dry = data(&["task", "add two numbers", "--dry-run"]);
    assert_eq!(keys(&dry), ["run_id", "model", "prompt", "limits", "tools"]);
    let doctor = folder.run(&["doctor", "--json"]).exits(2).json();
    assert_eq!(keys(&doctor), ["ok", "checks"]);
}

#[test]
fn without_json_the_same_commands_speak_plainly_and_only_on_standard_output() {
    let folder = Folder::with(&[("echo.lua", ECHO)]);
    for (words, expected) in [
        (&["check", "echo.lua"][..], "echo.lua: no findings"),
        (&["run", "echo.lua"], "{}"),
        (&["run", "echo.lua", "--dry-run"], "nothing was run"),
        (&["runs"], "succeeded"),
        (&["show", "last"], "what happened"),
        (&["audit"], "run_started"),
        (&["audit", "--csv"], "sequence,"),
        (&["audit", "verify"], "the chain is whole"),
        (&["tools"], "WHAT IT DOES"),
        (&["tools", "show", "query_db"], "function query_db(params) end"),
        (&["tools", "stubs"], "function text."),
        (&["config", "show"], "profile standard"),
        (&["config", "validate"], "no configuration file"),
        (&["task", "x", "--dry-run"], "no model was asked"),
    ] {
        let ended = folder.run(words).exits(0);
        assert!(ended.out.contains(expected), "{words:?}: {ended}");
        assert!(ended.err.is_empty(), "{words:?} is not quiet in a pipe: {ended}");
    }
}

#[test]
fn lists_of_tools_and_runs_fit_a_line_of_a_hundred_columns_in_a_pipe() {
    let long = format!("plans/{}.lua", "long_name_".repeat(20));
    let folder = Folder::with(&[(&*long, ECHO)]);
    folder.run(&["run", &long]).exits(0);
    for words in [&["tools"][..], &["runs"]] {
        let ended = folder.run(words).exits(0);
        let widest = ended.out.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 100, "{widest}: {ended}");
        assert!(ended.out.lines().all(|line| line == line.trim_end()), "{ended}");
    }
}

#[test]
fn an_unknown_tool_is_answered_with_the_known_ones() {
    let ended = Folder::new().run(&["tools", "show", "query_dbb"]).fails(2, "not_found");
    assert!(ended.err.contains("query_db, fetch_url"), "{ended}");
}

#[test]
fn what_every_command_takes_stands_apart_in_its_help() {
    let folder = Folder::new();
    let help = folder.run(&["run", "--help"]).exits(0).out;
    let (own, of_all) = help.split_once("Options of every command:").unwrap();
    assert!(own.contains("--dry-run") && !own.contains("--config"), "{help}");
    for option in ["--json", "--config", "--set"] {
        assert!(of_all.contains(option), "{option}: {help}");
    }
}

#[test]
fn a_plan_that_returns_nothing_has_its_context_as_result() {
    let folder = Folder::new();
    for end in ["", "return nil"] {
        let plan = format!("function run(context) context.seen = true {end} end");
        let ended = folder.plan(&plan, &["--context", r#"{"n": 1}"#, "--json"]).exits(0).json();
        assert_eq!(ended["result"], serde_json::json!({"n": 1, "seen": true}), "{end}");
    }
}

#[test]
fn a_run_whose_process_was_killed_is_told_as_such() {
    let folder = Folder::with(&[("long.lua", "function run() while true do end end")]);
    let limits = ["run", "long.lua", "--limit", "instructions=1000000000000", "--limit", "wall=60s"];
    let mut process = folder.command(&limits).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !folder.run(&["runs"]).out.contains("running") {
        assert!(process.try_wait().unwrap().is_none());
    }
    assert!(!folder.run(&["runs"]).out.contains("process gone"));
    let shown = folder.run(&["show", "last"]).exits(0);
    assert!(shown.out.contains("running\nno end is on record yet; `luaplan cancel "), "{shown}");
    process.kill().unwrap();
    process.wait().unwrap();
    let listed = folder.run(&["runs"]).exits(0);
    assert!(listed.out.contains("running (process gone)"), "{listed}");
    let shown = folder.run(&["show", "last"]).exits(0);
    assert!(shown.out.contains("its process is gone; `luaplan resume "), "{shown}");
}

#[test]
fn small_faults_are_said_in_the_right_words() {
    let folder = Folder::new();
    let flag = folder.run(&["serve", "--listen", "nowhere"]).exits(2);
    assert!(flag.err.contains("the command line: ") && !flag.err.contains("a flag"), "{flag}");
    folder.write("plan.lua", "function run() return 1 end");
    let absent =
        folder.run(&["--set", "tools.transform_data.templates_dir=absent", "run", "plan.lua"]).exits(2);
    assert!(absent.err.contains("relative to the working folder"), "{absent}");
}

#[test]
fn a_printed_text_of_several_lines_is_one_line_of_the_table() {
    let folder = Folder::new();
    folder.plan("function run() print('one\\ntwo') end", &[]).exits(0);
    let csv = folder.run(&["audit", "--csv"]).exits(0).out;
    assert!(csv.contains(r"one\ntwo,"), "{csv}");
}
