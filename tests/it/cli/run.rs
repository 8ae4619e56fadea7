//! `run`: where plan and context come from, what is stored, what is printed while it runs.

use std::net::TcpListener;
use std::process::Stdio;

use serde_json::json;

use super::Folder;

const ECHO: &str = "function run(context) return context end\n";

#[test]
fn the_context_comes_as_json_from_the_flag_a_file_or_nowhere() {
    let folder =
        Folder::with(&[("echo.lua", ECHO), ("data/context.json", "{\"from\": [\"file\", 1.5, null]}")]);
    let result = |words: &[&str]| {
        folder.run(&[&["run", "echo.lua", "--json"], words].concat()).exits(0).json()["result"].clone()
    };
    assert_eq!(result(&[]), json!({}));
    assert_eq!(result(&["--context", "{\"k\": 1, \"ü\": \"✓\"}"]), json!({"k": 1, "ü": "✓"}));
    assert_eq!(result(&["--context", "@data/context.json"]), json!({"from": ["file", 1.5, null]}));
}

#[test]
fn parameters_are_members_of_the_context_that_is_on_record() {
    let plan = "-- luaplan: param(month, \"2026-05\")\n-- luaplan: param(count) how many\n\
        function run(context) return context end\n";
    let folder = Folder::with(&[("plan.lua", plan)]);
    let run = |words: &[&str]| folder.run(&[&["run", "plan.lua", "--json"], words].concat());
    let whole = run(&["--param", "count=3", "--context", "{\"x\": 1}"]).exits(0).json();
    assert_eq!(whole["result"], json!({"x": 1, "count": 3, "month": "2026-05"}));
    let started = folder.run(&["audit", "--event", "run_started", "--json"]).exits(0).json_lines();
    assert_eq!(started[0]["context"], whole["result"]);
    folder.run(&["replay", "last"]).exits(0);
    let page = folder.run(&["show", "last", "--full"]).exits(0);
    assert!(page.out.contains("context\n") && page.out.contains("\"count\": 3"), "{page}");
    let other = run(&["--param", "month=2026", "--param", "count=a=b"]).exits(0).json();
    assert_eq!(other["result"], json!({"month": "2026", "count": "a=b"}));

    let missing = run(&[]).exits(2).json();
    assert_eq!(missing["error"]["code"], "usage", "{missing}");
    assert!(missing["error"]["message"].as_str().unwrap().contains("`count` (how many)"), "{missing}");
    let wrong = run(&["--param", "mnth=1"]).exits(2);
    assert!(
        wrong.err.contains("no parameter `mnth`") || wrong.out.contains("no parameter `mnth`"),
        "{wrong}"
    );
    run(&["--param", "count=1", "--context", "[]"]).exits(2);
    folder.write("wrong.lua", "-- luaplan: param(1)\nfunction run() end\n");
    let refused = folder.run(&["check", "wrong.lua"]).exits(3);
    assert!(
        refused.err.contains("plan_bad_parameter") || refused.out.contains("plan_bad_parameter"),
        "{refused}"
    );
}

#[test]
fn a_context_that_cannot_be_used_is_refused_before_anything_runs() {
    let deep = format!("{}1{}", "[".repeat(400), "]".repeat(400));
    let folder = Folder::with(&[("echo.lua", ECHO), ("broken.json", "{\"a\": "), ("deep.json", &deep)]);
    folder.write("binary.json", b"\xff\xfe");
    for (context, code, expected) in [
        ("{bad", "bad_request", "--context"),
        ("", "bad_request", "--context"),
        ("@broken.json", "bad_request", "broken.json"),
        ("@absent.json", "file_unreadable", "absent.json"),
        ("@.", "file_unreadable", "cannot read"),
        ("@binary.json", "file_unreadable", "binary.json"),
        ("{\"a\": 18446744073709551615}", "value_integer_out_of_range", "--context"),
        ("{\"a\": 99999999999999999999}", "value_integer_out_of_range", "--context"),
    ] {
        let ended = folder.run(&["run", "echo.lua", "--context", context]).fails(2, code);
        assert!(ended.err.contains(expected) && ended.out.is_empty(), "{ended}");
    }
    folder.run(&["run", "echo.lua", "--context", "@deep.json"]).exits(2);
}

#[test]
fn a_plan_is_read_from_standard_input() {
    let folder = Folder::new();
    let ended = folder.run_fed("function run() return 6 * 7 end", &["run", "-", "--json"]).exits(0);
    assert_eq!(ended.json()["result"], json!(42));
    let runs = folder.run(&["runs", "--json"]).json();
    assert_eq!(runs[0]["plan_name"], json!("stdin"));
    folder.run_fed("function run( return 1 end", &["check", "-"]).exits(3);
}

#[test]
fn a_plan_that_cannot_be_read_is_named() {
    let folder = Folder::new();
    folder.write("latin.lua", b"-- caf\xe9\nfunction run() end");
    folder.write("folder.lua/inner.txt", "");
    let absent = folder.run(&["run", "absent.lua"]).fails(2, "file_unreadable");
    assert!(absent.err.contains("absent.lua"), "{absent}");
    folder.run(&["run", "folder.lua"]).fails(2, "file_unreadable");
    let latin = folder.run(&["run", "latin.lua"]).fails(3, "check_refused");
    assert!(latin.err.contains("not UTF-8 text (at byte 6)"), "{latin}");
    assert_eq!(
        folder.run(&["run", "latin.lua", "--json"]).exits(3).json()["error"]["code"],
        json!("check_refused")
    );
}

#[test]
fn a_named_context_is_kept_and_grows_from_run_to_run() {
    let folder = Folder::with(&[(
        "count.lua",
        "function run(context) context.runs = (context.runs or 0) + 1 return context end",
    )]);
    let run = |words: &[&str]| {
        folder.run(&[&["run", "count.lua", "--context-name", "counter", "--json"], words].concat()).exits(0)
    };
    assert_eq!(run(&[]).json()["result"], json!({"runs": 1}));
    assert_eq!(run(&[]).json()["result"], json!({"runs": 2}));
    assert_eq!(run(&["--context", "{\"runs\": 40}"]).json()["result"], json!({"runs": 41}));
    assert_eq!(run(&[]).json()["result"], json!({"runs": 42}));
    let saved = folder.run(&["audit", "--event", "context_saved"]).exits(0).json_lines();
    let versions: Vec<_> = saved.iter().map(|record| record["version"].clone()).collect();
    let named = |record: &serde_json::Value| record.to_string().contains("\"counter\"");
    assert_eq!(saved.len(), 4, "{versions:?}");
    assert!(saved.iter().all(named));
    // A run that fails leaves the context as it was.
    folder.write("fail.lua", "function run(context) context.runs = 0 error('no') end");
    folder.run(&["run", "fail.lua", "--context-name", "counter"]).exits(1);
    assert_eq!(run(&[]).json()["result"], json!({"runs": 43}));
    folder.run(&["run", "count.lua", "--context-name", "", "--json"]).exits(2);
}

#[test]
fn events_are_lines_of_data_and_the_last_line_is_the_outcome() {
    let folder = Folder::new();
    let ended = folder.plan("function run() print('hello') return 1 end", &["--events"]).exits(0);
    let lines = ended.json_lines();
    let names: Vec<&str> = lines.iter().filter_map(|line| line["event"].as_str()).collect();
    assert_eq!(
        names,
        ["run_started", "plan_proposed", "plan_checked", "plan_accepted", "printed", "run_finished"]
    );
    let outcome = lines.last().unwrap();
    assert_eq!((&outcome["status"], &outcome["result"]), (&json!("succeeded"), &json!(1)));
    assert!(lines.iter().all(|line| line["run_id"] == outcome["run_id"]));
    assert!(ended.err.is_empty(), "{ended}");
    let failed = folder.plan("function run() error('no') end", &["--events", "--json"]).exits(1);
    assert_eq!(failed.json_lines().last().unwrap()["error"]["code"], json!("plan_error"));
}

#[test]
fn a_dry_run_calls_nothing_and_is_on_record() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let plan = format!("function run() return fetch_url('http://{address}/') end");
    let settings = format!(
        "[tools.fetch_url]\nallow_hosts = [\"{address}\"]\n[llm]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://{address}/v1\"\n"
    );
    let folder = Folder::with(&[("plan.lua", &plan), ("luaplan.toml", &settings)]);
    let dry = folder.run(&["run", "plan.lua", "--dry-run", "--limit", "wall=3s", "--json"]).exits(0).json();
    assert_eq!(dry["limits"]["wall"], json!(3000));
    let task = folder.run(&["task", "fetch it", "--dry-run", "--json"]).exits(0).json();
    assert_eq!(task["model"], json!("openai/m"));
    assert!(task["prompt"]["used_tokens"].as_u64().unwrap() > 0, "{task}");
    folder.run(&["task", "fetch it", "--print-prompt"]).exits(0);
    assert!(listener.accept().is_err(), "a dry run connected");
    folder.write("bad.lua", "function run() return nothere() end");
    let refused = folder.run(&["run", "bad.lua", "--dry-run", "--json"]).exits(3).json();
    assert_eq!(refused["ok"], json!(false));
    let runs = folder.run(&["runs", "--json"]).exits(0).json();
    let found: Vec<(&str, bool)> = (runs.as_array().unwrap().iter())
        .map(|run| (run["status"].as_str().unwrap(), run["plan_only"].as_bool().unwrap()))
        .collect();
    assert_eq!(found, [("failed", true), ("succeeded", true), ("succeeded", true)]);
    assert!(folder.run(&["runs"]).exits(0).out.contains("(plan only) "));
}

#[test]
fn a_dry_run_has_the_events_of_planning_and_says_what_it_was() {
    let plan = "function run() return fetch_url('https://example.com/') end";
    let folder = Folder::with(&[("plan.lua", plan)]);
    for (words, expected) in [
        (["run", "plan.lua"], &["run_started", "plan_proposed", "plan_checked", "run_finished"]),
        (["task", "fetch it"], &["run_started", "prompt_budget_computed", "prompt_composed", "run_finished"]),
    ] {
        let ended = folder.run(&[&words[..], &["--dry-run", "--events"]].concat()).exits(0);
        let events = ended.json_lines();
        let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
        assert_eq!(names, expected, "{ended}");
        assert_eq!(events[0]["plan_only"], json!(true));
        let end = events.last().unwrap();
        assert_eq!((&end["mode"], &end["stop_reason"]), (&json!("dry_run"), &json!("planned")), "{ended}");
        let run = events[0]["run_id"].as_str().unwrap();
        let kept = folder.run(&["audit", "--run", run]).exits(0).json_lines();
        assert_eq!(kept.len(), events.len());
        folder.run(&["resume", run]).fails(2, "run_not_resumable");
    }
}

#[test]
fn a_plan_that_was_only_asked_for_never_runs_once_its_process_is_killed() {
    // A model that takes the request and says nothing.
    let model = TcpListener::bind("127.0.0.1:0").unwrap();
    let settings = format!(
        "[llm]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://{}/v1\"\n",
        model.local_addr().unwrap()
    );
    let folder = Folder::with(&[("luaplan.toml", &settings)]);
    let mut planning = folder.command(&["plan", "send it to all"]);
    let mut planning = planning.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let _request = model.accept().unwrap();
    planning.kill().unwrap();
    planning.wait().unwrap();
    let runs = folder.run(&["runs", "--json"]).exits(0).json();
    assert_eq!((&runs[0]["status"], &runs[0]["plan_only"]), (&json!("running"), &json!(true)), "{runs}");
    let run = runs[0]["run_id"].as_str().unwrap();
    let refused = folder.run(&["resume", run]).fails(2, "run_not_resumable");
    assert!(refused.err.contains("was to plan"), "{refused}");
    folder.run(&["reset", run]).fails(2, "run_not_resumable");
}

#[test]
fn mocks_answer_in_place_of_tools() {
    let plan = "function run()\n  local rows = query_db{table='users'}\n  local page = fetch_url('https://example.com/')\n  if page.error then return {rows = #rows, code = page.code} end\nend";
    let folder = Folder::with(&[
        ("plan.lua", plan),
        (
            "mocks.json",
            r#"[{"tool": "query_db", "when": {"table": "users"}, "returns": [{"id": 1}, {"id": 2}]},
                {"tool": "fetch_url", "fails": {"code": "fetch_failed", "message": "no luck"}}]"#,
        ),
        ("odd.json", "{}"),
        ("unknown.json", r#"[{"tool": "queri_db", "returns": 1}]"#),
        ("empty.json", "[]"),
    ]);
    let ended = folder.run(&["run", "plan.lua", "--mock", "mocks.json", "--json"]).exits(0);
    assert_eq!(ended.json()["result"], json!({"rows": 2, "code": "fetch_failed"}));
    folder.run(&["run", "plan.lua", "--mock", "absent.json"]).fails(2, "file_unreadable");
    folder.run(&["run", "plan.lua", "--mock", "odd.json"]).fails(2, "bad_request");
    let unknown = folder.run(&["run", "plan.lua", "--mock", "unknown.json"]).fails(2, "bad_request");
    assert!(unknown.err.contains("queri_db"), "{unknown}");
    let missing = folder.run(&["run", "plan.lua", "--mock", "empty.json"]).exits(1);
    assert!(missing.err.contains("query_db"), "{missing}");
}

#[test]
fn a_failure_nobody_looked_at_is_told_by_its_place() {
    let folder = Folder::new();
    let ended = folder.plan(
        "function run()\n  local rows = query_db{table='stock', database='nope'}\n  return rows\nend",
        &[],
    );
    let ended = ended.fails(1, "tool_error_ignored");
    let told = ended.err.lines().next().unwrap_or_default();
    assert!(told.starts_with("  1 query_db, line 2: "), "{ended}");
    assert!(!ended.err.contains("null"), "{ended}");
}

#[test]
fn a_context_that_is_no_json_is_told_what_to_write() {
    let folder =
        Folder::with(&[("echo.lua", "function run(c) return c end"), ("stock.csv", "sku,left\nA,3\n")]);
    for (context, help) in [
        ("stock.csv", "write `--context @stock.csv`"),
        ("@stock.csv", "jq -Rs '{text: .}' stock.csv`"),
        ("{name: 1}", "write JSON, as in `--context '{\"name\": \"value\"}'`, or `--context @FILE`"),
    ] {
        let ended = folder.run(&["run", "echo.lua", "--context", context]).exits(2);
        assert!(ended.err.contains("not valid JSON") && ended.err.contains(help), "{context}: {ended}");
    }
}

#[test]
fn a_plan_that_raises_the_failure_of_a_call_is_told_what_to_do_about_that() {
    let folder = Folder::with(&[(
        "mail.lua",
        "function run() local sent = send_email('a@b.example', 's', 'b') if sent.error then error(sent.error) end end",
    )]);
    let mail =
        ["--set", "tools.send_email.smtp=smtp://127.0.0.1:9", "--set", "tools.send_email.from=a@b.example"];
    let ended = folder.run(&[&["run", "mail.lua"][..], &mail].concat()).exits(1);
    assert!(ended.err.contains("error[plan_error]"), "{ended}");
    let cause = "  cause: recipient_denied. Add it to `[tools.send_email] allow_recipients`";
    assert!(ended.err.contains(cause), "{ended}");
}
