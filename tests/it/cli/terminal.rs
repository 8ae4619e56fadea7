//! What reaches a terminal, a pipe, and a pipe without a reader.

use std::process::{Command, Stdio};

use super::{Folder, finish};

const ESCAPES: [char; 5] = ['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}', '\u{7f}'];

fn harmful(text: &str) -> String {
    ESCAPES.into_iter().filter(|escape| text.contains(*escape)).collect()
}

/// A plan whose name, prints, findings, results and failures all hold `bad`.
fn hostile_folder() -> Folder {
    let bad = "\u{1b}[31mred\u{7}\u{9b}\u{202e}\u{7f}";
    let plan = format!(
        "-- {bad}\nfunction run(context)\n  print('{bad}' .. '\\27[2J')\n  local page = fetch_url('http://127.0.0.1:1/{bad}')\n  return {{page = page.error, context = context, ['{bad}'] = '{bad}'}}\nend"
    );
    Folder::with(&[
        ("\u{1b}[31mplan.lua", &plan),
        ("fails.lua", &format!("function run() error('{bad}') end")),
        ("refused.lua", &format!("function run() local s = '{bad}' return nothere(s) end -- {bad}")),
    ])
}

#[test]
fn nothing_in_a_plan_or_context_can_command_the_terminal() {
    let folder = hostile_folder();
    let context = "{\"k\": \"\u{9b}31m\u{202e}\", \"e\": \"\\u001b[2J\"}";
    for (words, code) in [
        (&["run", "\u{1b}[31mplan.lua", "--context", context][..], 0),
        (&["run", "\u{1b}[31mplan.lua", "--context", context, "--json"], 0),
        (&["run", "\u{1b}[31mplan.lua", "--events"], 0),
        (&["runs"], 0),
        (&["runs", "--json"], 0),
        (&["show", "last"], 0),
        (&["show", "last", "--json"], 0),
        (&["audit"], 0),
        (&["run", "fails.lua"], 1),
        (&["show", "last"], 0),
        (&["run", "refused.lua"], 3),
        (&["check", "refused.lua"], 3),
        (&["check", "refused.lua", "--json"], 3),
        (&["show", "last"], 0),
        (&["run", "\u{1b}[31mabsent.lua"], 2),
        (&["show", "\u{1b}[31m"], 2),
        (&["tools", "show", "\u{1b}[31m"], 2),
        (&["--set", "data_dir=\u{1b}[31m", "config", "show"], 0),
    ] {
        let ended = folder.run(words).exits(code);
        assert_eq!(harmful(&ended.out), "", "{words:?} on standard output: {:?}", ended.out);
        assert_eq!(harmful(&ended.err), "", "{words:?} on standard error: {:?}", ended.err);
    }
}

#[test]
fn a_plan_goes_into_a_pipe_exactly_as_it_was() {
    let folder = hostile_folder();
    folder.run(&["run", "\u{1b}[31mplan.lua"]).exits(0);
    let shown = folder.run(&["show", "last", "--plan"]).exits(0);
    assert_eq!(shown.out, format!("{}\n", folder.read("\u{1b}[31mplan.lua")));
}

/// Runs a command line of the shell with the program as `$LUAPLAN`.
fn shell(folder: &Folder, line: &str) -> super::Ended {
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(folder.path())
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("LUAPLAN", env!("CARGO_BIN_EXE_luaplan"))])
        .env("HOME", folder.path())
        .stdin(Stdio::null());
    finish(&mut command)
}

#[test]
fn a_pipe_that_is_closed_early_is_no_reason_to_panic() {
    let folder = Folder::with(&[(
        "long.lua",
        "function run() for i = 1, 2000 do print(string.rep('x', 100)) end return string.rep('y', 1000000) end",
    )]);
    for words in [
        "tools",
        "tools stubs",
        "tools describe",
        "completions bash",
        "run long.lua",
        "run long.lua --events",
        "audit",
        "show last",
        "--help",
        "config show",
    ] {
        let ended = shell(&folder, &format!("\"$LUAPLAN\" {words} | head -c 10 > /dev/null"));
        assert!(!ended.err.contains("panic"), "{words}: {ended}");
        assert_eq!(ended.err, "", "{words}");
    }
    let whole = folder.run(&["run", "long.lua", "--json"]).exits(0);
    assert_eq!(whole.json()["result"].as_str().unwrap().len(), 1_000_000);
    assert_eq!(whole.json()["printed"].as_str().unwrap().len(), 2000 * 101);
}

/// Runs in a pseudo-terminal; `None` where the machine has no `script`.
fn in_terminal(folder: &Folder, variables: &str, words: &str) -> Option<super::Ended> {
    if shell(folder, "command -v script").code != 0 {
        crate::support::Part::Script.is_absent("terminals", "`script` is not installed");
        return None;
    }
    Some(shell(folder, &format!("{variables} script -qec \"'$LUAPLAN' {words}\" /dev/null")))
}

#[test]
fn a_terminal_gets_colour_and_progress_unless_no_color_is_set() {
    let folder = Folder::with(&[(
        "plan.lua",
        "function run() print('a\\nb') transform_data({1}, '{{ input }}', 'text') return 1 end",
    )]);
    let Some(ended) = in_terminal(&folder, "TERM=xterm", "run plan.lua") else { return };
    let ended = ended.exits(0);
    assert!(ended.out.contains('\u{1b}'), "{ended}");
    for part in ["the plan passed the check", "→ 1 transform_data", "│ a", "│ b", "succeeded · 1 call "]
    {
        assert!(ended.out.contains(part), "{part}: {ended}");
    }
    let plain = in_terminal(&folder, "NO_COLOR=1 TERM=xterm", "run plan.lua").unwrap().exits(0);
    assert!(!plain.out.contains('\u{1b}') && plain.out.contains("succeeded"), "{plain}");
    for words in ["doctor", "show last", "frobnicate", "check plan.lua", "run absent.lua"] {
        let plain = in_terminal(&folder, "NO_COLOR=1 TERM=xterm", words).unwrap();
        assert!(!plain.out.contains('\u{1b}'), "{words}: {plain}");
    }
    let piped = folder.run(&["run", "plan.lua"]).exits(0);
    assert_eq!((piped.out.as_str(), piped.err.as_str()), ("a\nb\n1\n", ""));
}

#[test]
fn a_hostile_plan_is_harmless_in_a_real_terminal() {
    let folder = hostile_folder();
    std::fs::copy(folder.join("\u{1b}[31mplan.lua"), folder.join("plan.lua")).unwrap();
    for words in
        ["run plan.lua", "show last", "show last --plan", "check refused.lua", "run fails.lua", "runs"]
    {
        let Some(ended) = in_terminal(&folder, "NO_COLOR=1 TERM=xterm", words) else { return };
        assert_eq!(harmful(&ended.out), "", "{words}: {:?}", ended.out);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_plan_prints_stands_on_a_terminal_once() {
    let folder =
        Folder::with(&[("plan.lua", "function run() print('said', 'twice') print('more') return 7 end")]);
    let shown = crate::approvals::at_terminal(&folder, "run plan.lua");
    assert_eq!(shown.matches("said\ttwice").count(), 1, "{shown}");
    assert_eq!(shown.matches("more").count(), 1, "{shown}");
    // Where only the progress goes to a terminal, the output is whole.
    let shown = crate::approvals::at_terminal(&folder, "run plan.lua > out.txt");
    assert!(shown.contains("more") && folder.read("out.txt").starts_with("said\ttwice\nmore\n"), "{shown}");
}
