//! `luaplan resume` and `luaplan replay` as a person uses them.

use std::path::Path;
use std::process::{Command, Output};

use luaplan::demo::DemoParts;

use super::resume::{TAKEN, in_doubt};

fn luaplan(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_luaplan"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        .output()
        .unwrap();
    (status.code().unwrap_or(-1), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// The parts' configuration as a file.
fn configure(parts: &DemoParts, folder: &Path) {
    let lines: String =
        parts.configuration().into_iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
    std::fs::write(folder.join("luaplan.toml"), lines).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_run_pauses_is_told_and_ends() {
    let folder = tempfile::tempdir().unwrap();
    let parts = DemoParts::start(&folder.path().join("parts")).await.unwrap();
    let run_id = in_doubt(&parts, folder.path()).await;
    configure(&parts, folder.path());
    let run = |arguments: &[&str]| luaplan(folder.path(), arguments);

    let (code, _, err) = run(&["resume", "last"]);
    assert_eq!(code, 5, "{err}");
    assert!(
        err.contains("call_in_doubt") && err.contains(&format!("luaplan resume {run_id} --retry 1")),
        "{err}"
    );
    let (_, out, _) = run(&["runs", "--status", "paused"]);
    assert!(out.contains(run_id.as_str()), "{out}");
    let (_, out, _) = run(&["show", "last"]);
    assert!(out.contains("paused") && out.contains("send_email") && out.contains("`--done 1=JSON`"), "{out}");

    for (arguments, code, words) in [
        (vec!["--done", "1"], 2, "has no `=`"),
        (vec!["--done", "1={"], 2, "--done 1={"),
        (vec!["--retry", "1", "--failed", "1=no"], 2, "resolved twice"),
        (vec!["--retry", "9"], 2, "the calls in doubt are 1"),
    ] {
        let (exit, out, err) = run(&[&["resume", "last"], arguments.as_slice()].concat());
        assert_eq!(exit, code, "{arguments:?}: {out}{err}");
        assert!(err.contains(words), "{arguments:?}: {err}");
    }

    let (code, out, err) = run(&["resume", "last", "--done", &format!("1={TAKEN}"), "--json"]);
    assert_eq!(code, 0, "{err}");
    let outcome: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&outcome["status"], &outcome["result"]["answer"]),
        (&"succeeded".into(), &"250 taken".into()),
        "{outcome}"
    );
    assert_eq!(parts.received().len(), 1);

    let (code, out, err) = run(&["replay", "last"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("the same"), "{out}");
    std::fs::write(folder.path().join("other.lua"), "function run() return 3 end").unwrap();
    let (code, out, err) = run(&["replay", "last", "--with", "other.lua"]);
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("missing") && out.contains("send_email"), "{out}");
    let (code, _, err) = run(&["resume", "last"]);
    assert_eq!((code, err.contains("run_not_resumable")), (2, true), "{err}");
    let (code, _, err) = run(&["audit", "verify"]);
    assert_eq!(code, 0, "{err}");
}
