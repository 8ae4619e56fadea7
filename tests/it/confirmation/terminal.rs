//! A person at a terminal confirms a task, or is not asked.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;

use super::plan;
use super::refined::{folder_with, run};
use crate::cli::Folder;

/// Runs the program with a terminal as all three streams, and types.
pub(super) async fn typed(folder: &Arc<Folder>, words: &str, input: &str) -> (i32, String) {
    let (folder, line) = (folder.clone(), format!("{} {words}", env!("CARGO_BIN_EXE_luaplan")));
    let input = input.to_owned();
    let ended = tokio::task::spawn_blocking(move || {
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(folder.path()).env_clear();
        command.env("HOME", folder.path()).env("PATH", "/usr/bin:/bin").env("OPENAI_API_KEY", "k");
        command.env("EDITOR", "sed -i s/answer/number/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned())
    });
    ended.await.unwrap()
}

const QUESTION: &str = "[r]un, [e]dit, [s]ave, [c]hange, [q]uit?";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_is_shown_whole_and_run_when_it_is_meant() {
    let (folder, _server) = folder_with(&[plan(1), plan(1), plan(2)]).await;
    let (code, shown) = typed(&folder, "task 'answer with one'", "perhaps\ns\nkept.lua\nr\n").await;
    assert_eq!(code, 0, "{shown}");
    for part in ["the model says (its own words, not checked)", "what it would do:", "answer = 1 }", QUESTION]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(shown.contains("answer with one of the letters"), "{shown}");
    assert_eq!(folder.read("kept.lua"), plan(1));
    let page = run(&folder, &["show", "last"]).await.exits(0);
    assert!(page.out.contains("✓ the plan: `once` by local"), "{page}");

    let (code, shown) = typed(&folder, "task 'answer with one'", "c\ntwo, please\nr\n").await;
    assert_eq!((code, shown.matches(QUESTION).count()), (0, 2), "{shown}");
    assert!(shown.contains("\"answer\": 2"), "{shown}");
    let page = run(&folder, &["show", "last"]).await.exits(0);
    assert!(page.out.contains("✗ the plan: `deny` by local: two, please"), "{page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_is_edited_at_the_terminal() {
    let (folder, _server) = folder_with(&[plan(1)]).await;
    let (code, shown) = typed(&folder, "task 'answer with one'", "e\nn\ne\ny\n").await;
    assert_eq!(code, 0, "{shown}");
    for part in [
        "-  return { answer = 1 }",
        "+  return { number = 1 }",
        "{number = 1}",
        "run the plan with these changes?",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(shown.contains("\"number\": 1"), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn last_is_the_newest_run_and_what_was_decided_is_told() {
    let (folder, _server) = folder_with(&[plan(1), plan(2), plan(3)]).await;
    let first = run(&folder, &["task", "the first", "--approve"]).await.fails(5, "approval_required");
    for part in
        ["the model says", "what it would do:", "answer = 1 }", "decide: luaplan approve ", "luaplan cancel "]
    {
        assert!(first.err.contains(part), "{part}: {first}");
    }
    run(&folder, &["task", "the second", "--approve"]).await.exits(5);
    let denied =
        run(&folder, &["approve", "last", "plan", "--deny", "three"]).await.fails(5, "approval_required");
    assert!(
        denied.err.contains("denied: the plan of run ") && denied.err.contains("\"the second\""),
        "{denied}"
    );
    assert!(denied.err.contains("answer = 3 }"), "the new plan is shown: {denied}");
    let approved = run(&folder, &["approve", "last", "plan"]).await.exits(0);
    assert!(approved.err.contains("approved: the plan of run "), "{approved}");
    assert!(approved.out.contains("\"answer\": 3"), "{approved}");
    // The first still waits, and is not what `last` means.
    let none = run(&folder, &["approve", "last", "plan", "--deny", "no", "--no-resume"]).await;
    assert!(none.code != 0 && !none.err.contains("\"the first\""), "{none}");
    let listed = run(&folder, &["approve", "--json"]).await.exits(0).json();
    let waiting = listed[0]["run_id"].as_str().unwrap().to_owned();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["task"]), (1, &"the first".into()), "{listed}");
    let cancelled = run(&folder, &["cancel", &waiting]).await.exits(0);
    assert!(!cancelled.out.contains("waits for a person"), "{cancelled}");
    let runs = run(&folder, &["runs", "--json"]).await.exits(0).json();
    let cancelled = runs.as_array().unwrap().iter().find(|run| run["run_id"] == waiting.as_str()).unwrap();
    assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
    let tokens = cancelled["usage"]["llm_tokens"].as_u64().unwrap();
    assert!(tokens > 0, "what was spent stays counted: {cancelled}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_that_was_left_is_decided_by_command() {
    let (folder, _server) = folder_with(&[plan(1), plan(2), plan(3)]).await;
    let (code, shown) = typed(&folder, "task 'answer with one'", "q\n").await;
    assert_eq!(code, 5, "{shown}");
    assert!(shown.contains("luaplan approve ") && shown.contains(" plan"), "{shown}");
    assert!(shown.contains("nothing was run") && shown.contains("luaplan cancel "), "{shown}");
    let listed = run(&folder, &["approve"]).await.exits(0);
    for part in
        ["answer with one", "what it would do:", "answer = 1 }", "decide: luaplan approve ", "--deny REASON"]
    {
        assert!(listed.out.contains(part), "{part}: {listed}");
    }
    let shown = run(&folder, &["show", "last"]).await.exits(0);
    assert!(shown.out.contains("the plan waits for a person's approval"), "{shown}");
    folder.write("bad.lua", "function run() return nothere() end");
    folder.write("good.lua", plan(9));
    run(&folder, &["approve", "last", "plan", "--plan", "bad.lua"]).await.fails(3, "check_refused");
    run(&folder, &["approve", "last", "plan", "--for", "1h"]).await.exits(2);
    let again = run(&folder, &["approve", "last", "plan", "--deny", "two, please"]).await;
    let again = again.fails(5, "approval_required");
    assert!(again.err.contains("luaplan approve ") && again.err.contains(" plan"), "{again}");
    let ended = run(&folder, &["approve", "last", "plan", "--plan", "good.lua", "--json"]).await.exits(0);
    assert_eq!(ended.json()["result"]["answer"], 9);
    // Without a terminal the run waits only where that is wished.
    run(&folder, &["task", "answer", "--approve"]).await.fails(5, "approval_required");
    run(&folder, &["approve", "last", "plan"]).await.exits(0);
    run(&folder, &["task", "answer", "--approve", "--yes"]).await.exits(2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_want_to_be_asked_is_not() {
    let (folder, _server) = folder_with(&[plan(1), plan(1), plan(1), plan(1)]).await;
    for words in [
        "task 'answer with one' --yes",
        "--set approvals.task_confirmation=auto task 'answer with one'",
        "task 'answer with one' --mock default",
    ] {
        let (code, shown) = typed(&folder, words, "").await;
        assert_eq!((code, shown.contains(QUESTION)), (0, false), "{words}: {shown}");
    }
    let ended = run(&folder, &["task", "answer with one"]).await.exits(0);
    assert!(!ended.err.contains(QUESTION), "{ended}");
    run(&folder, &["--set", "approvals.task_confirmation=never", "runs"]).await.fails(2, "config_invalid");
}
