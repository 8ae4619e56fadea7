//! `approve` and `policy` as a person uses them.

use luaplan::demo::DemoParts;

use super::{MAILER, POLICY, absent_mail_server};
use crate::cli::Folder;

fn folder() -> Folder {
    Folder::with(&[
        ("policy.toml", POLICY),
        ("luaplan.toml", &format!("{}policy.file = \"policy.toml\"\n", absent_mail_server())),
        ("plan.lua", MAILER),
        ("mocks.json", r#"[{"tool": "send_email", "result": {"delivered": true}}]"#),
    ])
}

/// As [`folder`], with a mail server.
fn with_mail(parts: &DemoParts) -> Folder {
    let folder = folder();
    let lines: String =
        parts.configuration().into_iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
    folder.write("luaplan.toml", format!("policy.file = \"policy.toml\"\n{lines}"));
    folder
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_is_listed_decided_and_the_run_goes_on() {
    let parts_folder = tempfile::tempdir().unwrap();
    let parts = DemoParts::start(parts_folder.path()).await.unwrap();
    let folder = with_mail(&parts);
    folder.run(&["approve"]).exits(0);
    folder.run(&["run", "plan.lua"]).fails(5, "approval_required");
    let listed = folder.run(&["approve"]).exits(0);
    for words in [
        "call 1 send_email (send, line 2)",
        "mail leaves the machine",
        "`mail-asks`",
        "admin@company.com",
        "← context.to",
    ] {
        assert!(listed.out.contains(words), "{words}: {listed}");
    }
    let shown = folder.run(&["show", "last"]).exits(0);
    assert!(shown.out.contains("luaplan approve"), "{shown}");
    folder.run(&["approve", "last", "9"]).fails(2, "not_found");
    folder.run(&["approve", "last", "--once"]).fails(2, "usage");
    folder.run(&["approve", "last", "1", "--once", "--deny", "x"]).exits(2);
    folder.run(&["approve", "last", "1", "--for", "soon"]).exits(2);
    let ended = folder.run(&["approve", "last", "1", "--json"]).exits(0);
    assert_eq!(ended.json()["result"]["delivered"], true);
    assert_eq!(parts.received().len(), 1);
    let decided = folder.run(&["approve", "last", "1"]).fails(2, "approval_stale");
    assert!(decided.err.contains("decided already: `once` by local"), "{decided}");
    let explained = folder.run(&["policy", "explain", "last"]).exits(0);
    assert!(explained.out.contains("then: made, by `mail-asks`, with approval:"), "{explained}");
    assert!(explained.out.contains("now: a person is asked (prompt by `mail-asks`)"), "{explained}");
    parts.stop().await;
}

/// A run cannot resume without its data, so no approver is asked about it.
#[test]
fn a_call_of_a_run_that_cannot_go_on_does_not_wait_and_the_run_can_be_ended() {
    let folder = folder();
    let configuration = folder.read("luaplan.toml");
    folder.write("luaplan.toml", format!("{configuration}secrets.word.file = \"word\"\n"));
    folder.write("word", "hush-hush-9f3a");
    let asked = folder.run(&[
        "run",
        "plan.lua",
        "--context",
        r#"{"to": "admin@company.com", "note": "hush-hush-9f3a"}"#,
    ]);
    asked.fails(5, "approval_required");
    let why = "began with a secret in its context";
    assert_eq!(folder.run(&["approve", "--json"]).exits(0).json(), serde_json::json!([]));
    for command in [&["approve", "last"][..], &["show", "last"]] {
        let said = folder.run(command).exits(0);
        assert!(said.out.contains(why) && said.out.contains("`luaplan cancel "), "{said}");
        assert!(!said.out.contains("decide with"), "{said}");
    }
    for command in [&["approve", "last", "1", "--once"][..], &["approve", "last", "--all"]] {
        let refused = folder.run(command).fails(2, "run_not_resumable");
        assert!(refused.err.contains(why) && refused.err.contains("`luaplan cancel "), "{refused}");
    }
    let ended = folder.run(&["cancel", "last", "--json"]).exits(0).json();
    assert_eq!(ended["status"], "cancelled");
    assert_eq!(folder.run(&["runs", "--json"]).exits(0).json()[0]["status"], "cancelled");
    folder.run(&["cancel", "last"]).fails(2, "run_not_active");
}

#[test]
fn a_denial_that_ends_the_run_exits_with_six() {
    let folder = folder();
    folder.write("ends.lua", "function run() return send_email('admin@company.com', 's', 'x').delivered end");
    folder.run(&["run", "ends.lua"]).exits(5);
    folder.run(&["approve", "last", "--all", "--deny", "no mail today"]).fails(6, "approval_denied");
    folder.write("boss.lua", "function run() return send_email('boss@company.com', 's', 'x').delivered end");
    let ended = folder.run(&["run", "boss.lua"]).fails(6, "permission_denied");
    assert!(ended.err.contains("never-the-boss"), "{ended}");
    let explained = folder.run(&["policy", "explain", "last", "1"]).exits(0);
    assert!(explained.out.contains("then: refused, by `never-the-boss`"), "{explained}");
}

#[test]
fn a_failure_that_repeats_a_denial_is_no_denial() {
    let folder = folder();
    let plan = "function run()
      local denied = send_email('boss@company.com', 's', 'x').error
      return #fetch_url('http://' .. denied)
    end";
    folder.write("repeats.lua", plan);
    let ended = folder.run(&["run", "repeats.lua"]).fails(1, "tool_error_used");
    assert!(ended.err.contains("never-the-boss"), "the other tool's error repeats the denial: {ended}");
}

#[test]
fn mocked_runs_and_plan_tests_ask_nobody() {
    let folder = folder();
    folder.run(&["run", "plan.lua", "--mock", "default"]).exits(0);
    folder.run(&["approve"]).exits(0);
}

#[test]
fn the_policy_is_checked_and_explained_before_anything_runs() {
    let folder = folder();
    let checked = folder.run(&["policy", "check"]).exits(0);
    assert!(checked.out.contains("policy.toml: 3 rules, fine"), "{checked}");
    folder.write("typo.toml", POLICY.replace("send_email", "send_emial"));
    let warned = folder.run(&["policy", "check", "typo.toml"]).exits(0);
    assert!(warned.out.contains("rule `mail-asks`: no tool is named `send_emial`"), "{warned}");
    folder.write("broken.toml", POLICY.replace("decision = \"deny\"", "decision = \"forbid\""));
    let refused = folder.run(&["policy", "check", "broken.toml"]).fails(2, "config_invalid");
    assert!(refused.err.contains("broken.toml, line"), "{refused}");
    let explain = |arguments: &str, more: &[&str]| {
        let words = [&["policy", "explain", "--tool", "send_email", "--arguments", arguments], more].concat();
        folder.run(&words).exits(0).out
    };
    let boss = r#"{"to": ["a@company.com", "Boss <BOSS@company.com>"], "subject": "s", "body": "b"}"#;
    let out = explain(boss, &[]);
    assert!(out.contains("now: denied (deny by `never-the-boss`)"), "{out}");
    assert!(out.contains("matches perhaps, so to be safe: deny never-the-boss"), "{out}");
    let fine = r#"{"to": "a@company.com", "subject": "s", "body": "b"}"#;
    assert!(explain(fine, &[]).contains("a person is asked (prompt by `mail-asks`)"));
    assert!(explain(fine, &["--mode", "autonomous"]).contains("as the run is autonomous"));
    // A rule that allows need not say why.
    folder
        .write("policy.toml", POLICY.replace("\"prompt\"\nreason = \"mail leaves the machine\"", "\"auto\""));
    let out = explain(fine, &[]);
    let lines = ["  now: allowed (auto by `mail-asks`)", "    matches: auto mail-asks"];
    assert!(lines.iter().all(|line| out.lines().any(|shown| shown == *line)), "{out}");
    folder.write("luaplan.toml", "[policy]\nfile = \"absent.toml\"\n");
    folder.run(&["run", "plan.lua"]).fails(2, "config_unreadable");
    folder.run(&["config", "validate"]).exits(2);
}

#[cfg(unix)]
#[test]
fn at_a_terminal_a_prompt_is_asked_at_once_and_what_is_manual_waits() {
    use std::io::Write as _;
    use std::process::Stdio;

    // Gives the program a terminal of its own.
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
    let (code, shown) = at_terminal("run plan.lua", "x\nd\nnot now\n");
    assert_eq!(code, Some(0), "{shown}");
    for words in ["call 1 send_email", "← context.to", "[a]llow once", "approval_denied", "not now"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    // What cannot be read is asked for again, in words about the question; an empty line goes back.
    let (code, shown) =
        at_terminal("run plan.lua", "f\nsoon\n0s\n\ne\n{\n7\n\ne\nsubject=other\nn\nd\nnot now\n");
    assert_eq!(code, Some(0), "{shown}");
    for words in [
        "`soon` is no length of time: write `30m`",
        "`0s` is no length",
        "that is no JSON object",
        "an empty line goes back",
        "- subject  \"hello\"",
        "+ subject  \"other\"",
        "allow the call with these arguments?",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!shown.contains("config_invalid") && !shown.contains("error["), "{shown}");
    let times = |question: &str| shown.matches(question).count();
    assert_eq!((times("for how long"), times("by name:"), times("[a]llow once")), (3, 4, 4), "{shown}");
    // In its short form a grant is asked for again where the time cannot be read.
    let (code, shown) = at_terminal("run plan.lua", "y+soon\ny+0s\ny+60s\n");
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("`soon` is no length of time") && shown.contains("`0s` is no length"), "{shown}");
    let grants = folder.run(&["policy", "grants", "--all", "--json"]).exits(0).json();
    let grant = &grants[0];
    assert_eq!(grants.as_array().map(Vec::len), Some(1), "{grants}");
    assert_eq!(grant["tool"], "send_email", "{grants}");
    // On a slow machine its time may be over already, which is as good.
    folder.run(&["policy", "revoke", grant["grant_id"].as_str().unwrap()]);
    let (code, shown) = at_terminal("run plan.lua", "l\n");
    assert_eq!(code, Some(5), "{shown}");
    let (code, shown) = at_terminal("run plan.lua --context '{\"subject\": \"FINAL\"}'", "a\n");
    assert_eq!(code, Some(5), "{shown}");
    assert!(!shown.contains("[a]llow once"), "{shown}");
}

/// The configured file asks about the call; the one of the command line denies it, and lies in the working folder.
#[test]
fn a_policy_of_the_command_line_takes_the_place_of_the_configured_one() {
    let folder = folder();
    let denying = "version = 1\n[[rule]]\nname = \"no-mail\"\ntool = \"send_email\"\ndecision = \"deny\"\nreason = \"closed\"\n";
    folder.write("strict.toml", denying);
    let ended = folder.run(&["run", "plan.lua", "--policy", "strict.toml", "--json"]).exits(0).json();
    assert_eq!(ended["result"]["code"], "permission_denied", "{ended}");
    assert!(ended["result"]["said"].as_str().unwrap().contains("`no-mail`"), "{ended}");
    folder.run(&["run", "plan.lua"]).fails(5, "approval_required");
    let resumed = folder.run(&["resume", "last", "--policy", "strict.toml", "--json"]).exits(0).json();
    assert_eq!(resumed["result"]["code"], "permission_denied", "{resumed}");
    for command in [&["run", "plan.lua"][..], &["serve", "--listen", "127.0.0.1:0"]] {
        let refused = folder.run(&[command, &["--policy", "absent.toml"]].concat());
        refused.fails(2, "config_unreadable");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_allowed_for_a_time_is_shown_listed_and_taken_back() {
    let parts_folder = tempfile::tempdir().unwrap();
    let parts = DemoParts::start(parts_folder.path()).await.unwrap();
    let folder = with_mail(&parts);
    let none = folder.run(&["policy", "grants"]).exits(0);
    assert!(none.out.contains("no calls are allowed for a time"), "{none}");
    folder.run(&["run", "plan.lua"]).exits(5);
    let granted = folder.run(&["approve", "last", "1", "--for", "7d"]).exits(0);
    assert!(granted.out.contains("what `mail-asks` asks about (prompt), in runs of `local`"), "{granted}");
    folder.run(&["run", "plan.lua"]).exits(0);
    let listed = folder.run(&["policy", "grants", "--json"]).exits(0).json();
    let grant = listed[0]["grant_id"].as_str().unwrap().to_owned();
    let revoked = folder.run(&["policy", "revoke", &grant]).exits(0);
    assert!(revoked.out.contains("asked about again"), "{revoked}");
    let stale = folder.run(&["policy", "revoke", &grant]).fails(2, "approval_stale");
    assert!(stale.err.contains("`luaplan policy grants --all`"), "{stale}");
    assert_eq!(folder.run(&["policy", "grants", "--json"]).exits(0).json(), serde_json::json!([]));
    let all = folder.run(&["policy", "grants", "--all"]).exits(0);
    assert!(all.out.contains("(revoked)"), "{all}");
    // The run that ended is newer than the one that waits: `last` is that one, and nothing is decided unseen.
    folder.run(&["run", "plan.lua"]).exits(5);
    folder.write("fine.lua", "function run() return 1 end");
    folder.run(&["run", "fine.lua"]).exits(0);
    folder.run(&["approve", "last", "1"]).fails(2, "not_found");
    let waiting =
        folder.run(&["approve", "--json"]).exits(0).json()[0]["run_id"].as_str().unwrap().to_owned();
    folder.run(&["approve", &waiting, "1"]).exits(0);
    assert_eq!(parts.received().len(), 3);
    parts.stop().await;
}

#[test]
fn a_rule_about_a_parameter_that_no_tool_has_is_refused_where_plans_run() {
    let folder = folder();
    folder.write("policy.toml", POLICY.replace("arguments.subject", "arguments.subjct"));
    for arguments in [&["run", "plan.lua"][..], &["policy", "check"], &["serve"]] {
        let refused = folder.run(arguments).fails(2, "config_invalid");
        assert!(refused.err.contains("did you mean `subject`?"), "{refused}");
    }
}

#[test]
fn the_last_run_is_the_newest_for_cancel_too() {
    let folder = folder();
    folder.write("quick.lua", "function run() return 7 end");
    folder.run(&["run", "plan.lua"]).fails(5, "approval_required");
    folder.run(&["run", "quick.lua"]).exits(0);
    for command in ["cancel", "pause"] {
        folder.run(&[command, "last"]).fails(2, "run_not_active");
    }
    let paused = folder.run(&["runs", "--status", "paused", "--json"]).exits(0).json();
    assert_eq!(paused.as_array().unwrap().len(), 1, "{paused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_denied_or_changed_is_shown() {
    let parts_folder = tempfile::tempdir().unwrap();
    let parts = DemoParts::start(parts_folder.path()).await.unwrap();
    let folder = with_mail(&parts);
    folder.run(&["run", "plan.lua"]).fails(5, "approval_required");
    folder.run(&["approve", "last", "1", "--deny", "no mail today"]);
    let page = folder.run(&["show", "last"]).exits(0);
    assert!(page.out.contains("✗ 1 send_email: `deny` by local: no mail today"), "{page}");
    folder.run(&["run", "plan.lua"]).fails(5, "approval_required");
    folder.run(&["approve", "last", "1", "--argument", "subject=better"]).exits(0);
    let page = folder.run(&["show", "last", "--call", "1"]).exits(0);
    assert!(
        page.out.contains("- subject  \"hello\"") && page.out.contains("+ subject  \"better\""),
        "{page}"
    );
    parts.stop().await;
}

#[test]
fn a_refused_call_is_on_record_by_name_and_line() {
    let folder = folder();
    folder.run(&["run", "plan.lua", "--context", r#"{"to": "boss@company.com"}"#]).exits(0);
    let call = folder.run(&["show", "last", "--call", "1", "--json"]).exits(0).json();
    assert_eq!(
        (&call["call"]["arguments"], &call["call"]["line"]),
        (
            &serde_json::json!({"to": "boss@company.com", "subject": "hello", "body": "x"}),
            &serde_json::json!(2)
        )
    );
    let explained = folder.run(&["policy", "explain", "last", "1"]).exits(0);
    assert!(explained.out.contains(r#"1 send_email {"to":"boss@company.com""#), "{explained}");
    folder.run(&["replay", "last"]).exits(0);
    // What was never a call of the tool has no names.
    folder.write("wrong.lua", "function run()\n  local f = send_email\n  local sent = f(table.unpack(json.decode('[1,2,3,4,5,6,7,8,9,10]')))\n  return sent.error\nend");
    folder.run(&["run", "wrong.lua"]).exits(0);
    let call = folder.run(&["show", "last", "--call", "1", "--json"]).exits(0).json();
    assert_eq!(call["call"]["arguments"].as_array().map(Vec::len), Some(10), "{call}");
    folder.run(&["replay", "last"]).exits(0);
}

/// Runs the program with a terminal as all three streams, without input.
#[cfg(target_os = "linux")]
pub(crate) fn at_terminal(folder: &Folder, words: &str) -> String {
    let line = format!("{} {words}", env!("CARGO_BIN_EXE_luaplan"));
    let mut command = std::process::Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(folder.path()).env_clear();
    command.env("HOME", folder.path()).env("PATH", "/usr/bin:/bin").stdin(std::process::Stdio::null());
    crate::cli::finish(&mut command).out
}

#[cfg(target_os = "linux")]
#[test]
fn who_may_not_decide_is_not_asked_at_the_terminal() {
    let folder = folder();
    folder.write(
        "policy.toml",
        POLICY.replace(
            "version = 1",
            "version = 1\napprovers_other_than_starter = true\napprovers = [\"ops\", \"local\"]",
        ),
    );
    let said = at_terminal(&folder, "run plan.lua");
    assert!(said.contains("not asked here: `local` started run"), "{said}");
    assert!(said.contains("`ops`") && !said.contains("[a]llow once"), "{said}");
    folder.write("policy.toml", POLICY);
    let said = at_terminal(&folder, "run plan.lua");
    assert!(said.contains("[a]llow once"), "{said}");
}

#[test]
fn what_was_typed_and_does_not_fit_is_a_matter_of_usage() {
    let folder = folder();
    folder.run(&["run", "plan.lua"]).fails(5, "approval_required");
    let refused = folder.run(&["approve", "last", "1", "--argument", "too=x"]).fails(2, "bad_arguments");
    assert!(refused.err.contains("`luaplan tools show send_email`"), "{refused}");
    let refused =
        folder.run(&["policy", "explain", "--tool", "send_email", "--arguments", r#"{"too": "x"}"#]);
    let refused = refused.fails(2, "bad_arguments");
    assert!(refused.err.contains("`luaplan tools show send_email`"), "{refused}");
    let absent = folder.run(&["policy", "explain", "--tool", "sendmail"]).fails(2, "not_found");
    assert!(absent.err.contains("the tools are"), "{absent}");
}

#[test]
fn a_call_tried_out_that_waits_has_no_result_yet() {
    let folder = folder();
    let arguments = r#"{"to": "admin@company.com", "subject": "x", "body": "x"}"#;
    let waits = folder.run(&["tools", "test", "send_email", "--arguments", arguments]);
    let waits = waits.fails(5, "approval_required");
    assert!(!waits.out.contains("result"), "{waits}");
}
