//! `luaplan test --watch` on real files: what changes is run again. Lines are waited for, not time.

#![cfg(unix)]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::plan_tests::folder;

/// So long a line is waited for before the test gives up.
const PATIENCE: Duration = Duration::from_secs(120);

struct Watching {
    child: Child,
    lines: Receiver<String>,
}

/// Puts a file there in one step: a file that is written where it stands is empty for a moment, which
/// may be seen as a change of its own.
fn put(path: &Path, text: &str) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, text).unwrap();
    file.persist(path).unwrap();
}

impl Watching {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_luaplan"))
            .args(["test", "--watch"])
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        for reader in [Box::new(out) as Box<dyn std::io::Read + Send>, Box::new(err)] {
            let sender = sender.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(reader).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        Self { child, lines }
    }

    /// All lines up to the one that says that changes are waited for.
    fn round(&self) -> String {
        let mut text = String::new();
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no more after:\n{text}"));
            if line.starts_with("watching ") {
                return text;
            }
            text.push_str(&line);
            text.push('\n');
        }
    }

    /// Waits for a line with these words. Errors come on a stream of their own, so that they may be
    /// read after the end of their round.
    fn until(&self, words: &str) {
        let mut text = String::new();
        while !text.contains(words) {
            let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no {words} in:\n{text}"));
            text.push_str(&line);
            text.push('\n');
        }
    }

    /// Ends it as Ctrl-C does, and gives the exit code.
    fn interrupt(mut self) -> Option<i32> {
        let id = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGINT).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const TEST: &str = "test(\"gives one\", function()\n  local run = run_plan({})\n  expect.succeeded(run)\n  expect.equal(run.result, 1)\nend)\n";

#[test]
fn what_a_change_concerns_is_run_again_until_ctrl_c() {
    let folder = folder("function run(context) return 1 end", TEST);
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("other.lua"), "function run(context) return 1 end").unwrap();
    std::fs::write(at("other_test.lua"), TEST).unwrap();
    let watching = Watching::start(folder.path(), &[]);
    let first = watching.round();
    assert!(first.contains("other_test.lua") && first.ends_with("2 passed, 0 failed\n"), "{first}");
    assert!(!first.contains('\u{1b}'), "nothing for terminals goes into a pipe: {first:?}");

    put(&at("plan.lua"), "function run(context) return 2 end");
    let second = watching.round();
    assert!(
        second.starts_with("changed: plan.lua\n") && second.ends_with("0 passed, 1 failed\n"),
        "{second}"
    );
    assert!(!second.contains("other_test.lua"), "{second}");

    put(&at("plan.lua"), "function run(context return 1 end");
    let broken = watching.round();
    assert!(broken.contains("check refused the plan"), "{broken}");

    put(&at("plan_test.lua"), "test(");
    let broken = watching.round();
    assert!(broken.contains("(the file)"), "{broken}");

    std::fs::remove_file(at("plan_test.lua")).unwrap();
    let gone = watching.round();
    assert!(gone.contains("gone: plan_test.lua\nno test is concerned\n"), "{gone}");

    put(&at("plan_test.lua"), TEST);
    put(&at("plan.lua"), "function run(context) return 1 end");
    let mut mended = watching.round();
    // The two writes may be told apart.
    while !mended.ends_with("1 passed, 0 failed\n") {
        mended.push_str(&watching.round());
    }

    put(&at("luaplan.toml"), "[limits]\nprofile = \"strict\"\n");
    let all = watching.round();
    assert!(all.contains("changed: luaplan.toml") && all.ends_with("2 passed, 0 failed\n"), "{all}");

    put(&at("luaplan.toml"), "[limits\n");
    watching.until("error[config_");
    assert_eq!(watching.interrupt(), Some(130));
}

#[test]
fn one_test_file_is_watched_with_its_plan() {
    let folder = folder("function run(context) return 1 end", TEST);
    let watching = Watching::start(folder.path(), &["plan_test.lua", "--coverage"]);
    assert!(watching.round().contains("100.0 % of lines"));
    std::fs::write(folder.path().join("other_test.lua"), TEST).unwrap();
    assert!(watching.round().contains("no test is concerned"));
    std::fs::write(folder.path().join("plan.lua"), "function run(context)\n  return 1\nend").unwrap();
    assert!(watching.round().contains("2/2"));
    assert_eq!(watching.interrupt(), Some(130));
}

#[test]
fn what_is_not_there_cannot_be_watched() {
    let folder = tempfile::tempdir().unwrap();
    let mut watching = Watching::start(folder.path(), &["absent"]);
    assert_eq!(watching.child.wait().unwrap().code(), Some(2));
}
