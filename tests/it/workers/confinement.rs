//! A worker taken over by its plan can reach nothing. Each attempt in a process of its own, as the
//! first one ends it.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Output, Stdio};

use super::broken_worker;

fn attempt(word: &str) -> Output {
    let mut command = Command::new(broken_worker());
    command.arg(word).env_clear().stdin(Stdio::null());
    command.output().unwrap()
}

const SIGSYS: i32 = 31;

#[test]
#[cfg(target_os = "linux")]
fn nothing_can_be_opened_started_reached_or_looked_at_from_inside() {
    let words = [
        "open", "proc", "write", "list", "connect", "listen", "socket", "pipe", "exec", "replace", "thread",
        "kill", "ptrace", "memory", "dup", "chdir",
    ];
    let mut escaped = Vec::new();
    for word in words {
        let output = attempt(word);
        let (text, signal) = (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.signal());
        assert!(text.contains("seccomp in force"), "{word}: {text}");
        // To open a file is refused, as the allocator tries it too; anything else is the end.
        let opens = ["open", "proc", "write", "list", "memory"].contains(&word);
        let is_refused = text.contains("outcome: Err(\"Permission denied (os error 13)\")");
        let is_ended = signal == Some(SIGSYS) && !text.contains("outcome");
        if if opens { !is_refused } else { !is_ended } {
            escaped.push(format!("{word}: {:?} {text}", output.status));
        }
    }
    assert!(escaped.is_empty(), "{}", escaped.join("\n"));
    assert!(!std::path::Path::new("/tmp/luaplan-escaped").exists());
}

#[test]
fn what_the_loop_needs_still_works_and_every_layer_says_whether_it_holds() {
    let output = attempt("nothing");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{:?} {text}", output.status);
    assert!(text.contains("outcome: Ok(\"it worked\")"), "{text}");
    for layer in ["landlock", "resources", "seccomp"] {
        assert!(text.contains(&format!("{layer} in force")), "{text}");
    }
}

#[test]
fn memory_and_processor_time_end_where_the_confinement_says() {
    let swell = attempt("swell");
    assert_eq!(swell.status.signal(), Some(6), "{:?}", swell.status);
    let spin = attempt("spin");
    assert_eq!(spin.status.signal(), Some(24), "{:?}", spin.status);
}
