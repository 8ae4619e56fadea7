//! `answer` as a person uses it, at a terminal and without one, and plan tests with mocks.

use serde_json::json;

use super::ASKS;
use crate::cli::Folder;

fn folder() -> Folder {
    Folder::with(&[("plan.lua", ASKS)])
}

#[test]
fn a_question_is_listed_answered_and_the_run_goes_on() {
    for engine in ["mlua", "piccolo"] {
        let folder = folder();
        let none = folder.run(&["answer"]).exits(0);
        assert!(none.out.contains("no run asks anything"), "{none}");
        let paused = folder.run(&["run", "plan.lua", "--engine", engine]);
        paused.fails(5, "answer_required");
        for listed in
            [folder.run(&["answer"]), folder.run(&["answer", "last"]), folder.run(&["show", "last"])]
        {
            let listed = listed.exits(0);
            for words in ["call 1 asks: Which month?", "[1] May", "[2] June", "luaplan answer "] {
                assert!(listed.out.contains(words), "{engine} {words}: {listed}");
            }
        }
        let open = folder.run(&["answer", "--json"]).exits(0).json();
        assert_eq!((&open[0]["call_id"], &open[0]["plan_name"]), (&json!("1"), &json!("plan.lua")));
        let refused = folder.run(&["answer", "last", "July"]).fails(2, "bad_request");
        assert!(refused.err.contains("May, June"), "{refused}");
        folder.run(&["answer", "last", "7", "May"]).fails(2, "not_found");
        let ended = folder.run(&["answer", "last", "1", "June", "--json"]).exits(0);
        assert_eq!(ended.json()["result"], json!({ "month": "June" }), "{ended}");
        let late = folder.run(&["answer", "last", "May"]);
        assert_eq!(late.code, 2, "{late}");
        folder.run(&["replay", "last"]).exits(0);
        folder.run(&["audit", "verify"]).exits(0);
    }
}

#[test]
fn a_choice_is_named_by_its_number_or_in_another_case() {
    let folder = folder();
    for (said, month) in [("2", "June"), ("may", "May")] {
        folder.run(&["run", "plan.lua"]).exits(5);
        let ended = folder.run(&["answer", "last", said, "--json"]).exits(0);
        assert_eq!(ended.json()["result"], json!({ "month": month }), "{ended}");
    }
    folder.run(&["run", "plan.lua"]).exits(5);
    for said in ["0", "3"] {
        folder.run(&["answer", "last", said]).fails(2, "bad_request");
    }
    let numbers = ASKS.replace("\"May\", \"June\"", "\"2\", \"1\"");
    folder.write("plan.lua", numbers);
    folder.run(&["run", "plan.lua"]).exits(5);
    let ended = folder.run(&["answer", "last", "1", "--json"]).exits(0);
    assert_eq!(ended.json()["result"], json!({ "month": "1" }), "a choice before its number: {ended}");
}

/// The first command shows the question at once, and in the end what the run came to.
#[test]
fn a_command_without_a_terminal_shows_the_question_and_the_end() {
    use std::io::BufRead as _;
    use std::process::Stdio;

    let folder = folder();
    folder.write("plan.lua", ASKS.replace("choices =", "timeout_seconds = 600, choices ="));
    let mut command = folder.command(&["run", "plan.lua", "--json"]);
    let mut waiting = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    for line in std::io::BufReader::new(waiting.stderr.take().unwrap()).lines() {
        said.push_str(&line.unwrap());
        if said.contains("luaplan answer ") {
            break;
        }
    }
    assert!(said.contains("call 1 asks: Which month?") && said.contains("[2] June"), "{said}");
    folder.run(&["answer", "last", "June"]).exits(0);
    let output = waiting.wait_with_output().unwrap();
    let ended: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &ended["result"]["month"]), (Some(0), &json!("June")), "{ended}");
}

#[test]
fn an_answer_can_leave_the_run_paused() {
    let folder = folder();
    folder.run(&["run", "plan.lua"]).exits(5);
    let left = folder.run(&["answer", "last", "May", "--no-resume"]).exits(0);
    assert!(left.out.contains("luaplan resume "), "{left}");
    let done = folder.run(&["resume", "last", "--json"]).exits(0);
    assert_eq!(done.json()["result"]["month"], "May");
}

/// Nobody sits at a terminal: the command waits until the time of the question is over.
#[test]
fn a_command_without_a_terminal_waits_for_an_answer_that_has_a_time() {
    let folder = folder();
    folder.write("plan.lua", ASKS.replace("choices =", "default = \"May\", timeout_seconds = 1, choices ="));
    let done = folder.run(&["run", "plan.lua", "--json"]).exits(0);
    assert_eq!(done.json()["result"]["month"], "May", "{done}");
    folder.write("plan.lua", ASKS.replace("choices =", "timeout_seconds = 1, choices ="));
    let done = folder.run(&["run", "plan.lua", "--json"]).exits(0);
    assert_eq!(done.json()["result"]["code"], "question_unanswered", "{done}");
}

/// Escape sequences and line starts of a question's own do not reach the terminal.
#[test]
fn a_question_is_shown_without_its_escapes() {
    let folder = folder();
    folder.write("plan.lua", r#"function run() return ask_person("\27[31mred\27[0m or \7 not?") end"#);
    let paused = folder.run(&["run", "plan.lua"]).exits(5);
    for shown in [paused, folder.run(&["answer"]), folder.run(&["show", "last"]), folder.run(&["audit"])] {
        assert!(!shown.out.contains('\u{1b}') && !shown.err.contains('\u{1b}'), "{shown}");
        assert!(!shown.out.contains('\u{7}'), "{shown}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_person_at_the_terminal_is_asked_at_once() {
    use std::io::Write as _;
    use std::process::Stdio;

    const SCRIPT: &str = "/usr/bin/script";
    if !std::path::Path::new(SCRIPT).exists() {
        eprintln!("skipped: there is no {SCRIPT}");
        return;
    }
    let folder = folder();
    let at_terminal = |arguments: &str, typed: &str| {
        let line = format!("{} {arguments}", env!("CARGO_BIN_EXE_luaplan"));
        let mut command = std::process::Command::new(SCRIPT);
        command.args(["-qec", &line, "/dev/null"]).current_dir(folder.path()).env_clear();
        command.env("HOME", folder.path()).env("PATH", "/usr/bin:/bin");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    // What is none of the choices is asked again; a number stands for a choice.
    let (code, shown) = at_terminal("run plan.lua", "July\n2\n");
    assert_eq!(code, Some(0), "{shown}");
    for words in ["call 1 asks: Which month?", "[2] June", "none of the choices", "\"June\""] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let (code, shown) = at_terminal("run plan.lua", "\n");
    assert_eq!(code, Some(5), "{shown}");
    let (code, shown) = at_terminal("resume last", "May\n");
    assert_eq!(code, Some(0), "{shown}");
}

#[test]
fn plan_tests_and_mocked_runs_answer_for_the_person() {
    let folder = folder();
    folder.write(
        "plan_test.lua",
        r#"test("the month that was chosen", function()
  mock("ask_person", { returns = "June" })
  local run = run_plan{}
  expect.equal(run.result.month, "June")
  expect.called(run, "ask_person", { with = { question = "Which month?" }, times = 1 })
end)
test("nobody answers", function()
  mock("ask_person", { fails = "question_unanswered" })
  expect.equal(run_plan{}.result.code, "question_unanswered")
end)
"#,
    );
    folder.run(&["test"]).exits(0);
    let mocked = folder.run(&["run", "plan.lua", "--mock", "default", "--json"]).exits(0);
    assert_eq!(mocked.json()["result"]["month"], "yes", "{mocked}");
    let none = folder.run(&["answer"]).exits(0);
    assert!(none.out.contains("no run asks anything"), "{none}");
}
