//! Parameters of a plan are one idea at every edge: defaults count before the context is looked at, and what is missing is
//! named at once. Real processes, a real service.

use serde_json::json;

use crate::cli::Folder;
use crate::http_support::Service;
use crate::mcp::{Session, done};

const REPORT: &str = "-- luaplan: param(month, \"2026-11\") the month to report\n\
    -- luaplan: param(who) who gets it\n\
    function run(context)\n  return { month = context.month, who = context.who }\nend\n";

#[test]
fn every_command_takes_the_defaults_before_it_looks_at_the_context() {
    let folder = Folder::with(&[("plan.lua", REPORT)]);
    let context = r#"{"who": "ops"}"#;
    for words in [
        &["check", "plan.lua", "--context", context][..],
        &["explain", "plan.lua", "--context", context],
        &["run", "plan.lua", "--dry-run", "--context", context],
        &["run", "plan.lua", "--dry-run", "--param", "who=ops"],
    ] {
        let ended = folder.run(words).exits(0);
        assert!(!ended.out.contains("no field"), "{words:?}: {ended}");
    }
    let page = folder.run(&["explain", "plan.lua"]).exits(0);
    for part in ["parameters\n", "\"2026-11\"   the month to report", "has to be given   who gets it"] {
        assert!(page.out.contains(part), "{part}: {page}");
    }
    let shown = folder.run(&["run", "plan.lua", "--dry-run", "--param", "who=ops", "--json"]).exits(0).json();
    let expected = json!([
        { "name": "month", "default": "2026-11", "description": "the month to report" },
        { "name": "who", "description": "who gets it" },
    ]);
    assert_eq!(shown["preview"]["parameters"], expected, "{shown}");
    folder.run(&["run", "plan.lua", "--dry-run"]).fails(2, "usage");
}

#[test]
fn a_kept_context_takes_parameters() {
    let plan = "-- luaplan: param(a)\nfunction run(context)\n  context.runs = (context.runs or 0) + 1\n  return context\nend\n";
    let folder = Folder::with(&[("plan.lua", plan)]);
    let run = |words: &[&str]| {
        folder.run(&[&["run", "plan.lua", "--json", "--context-name", "kept"], words].concat())
    };
    let first = run(&["--param", "a=1"]).exits(0).json();
    assert_eq!(first["result"], json!({ "a": 1, "runs": 1 }), "{first}");
    let second = run(&["--param", "a=2"]).exits(0).json();
    assert_eq!(second["result"], json!({ "a": 2, "runs": 2 }), "{second}");
    let third = run(&[]).exits(0).json();
    assert_eq!(third["result"], json!({ "a": 2, "runs": 3 }), "{third}");
}

#[test]
fn values_are_of_the_kind_of_the_default_and_may_be_in_a_file() {
    let plan = "-- luaplan: param(min, 0)\n-- luaplan: param(text, \"\")\n\
        function run(context)\n  return { min = context.min, text = context.text }\nend\n";
    let folder = Folder::with(&[("plan.lua", plan), ("orders.csv", "a,b\n1,2\n")]);
    let run = |words: &[&str]| folder.run(&[&["run", "plan.lua", "--json"], words].concat());
    let refused = run(&["--param", "min=abc"]).exits(2).json();
    assert!(refused["error"]["message"].as_str().unwrap().contains("a number"), "{refused}");
    let read = run(&["--param", "text=@orders.csv", "--param", "min=1.5"]).exits(0).json();
    assert_eq!(read["result"], json!({ "min": 1.5, "text": "a,b\n1,2\n" }), "{read}");
    run(&["--param", "text=@absent.csv"]).exits(2);
    folder.write("late.lua", "function run(context)\n  return 1\nend\n-- luaplan: param(a, 1)\n");
    let late = folder.run(&["check", "late.lua"]).exits(3);
    assert!(
        late.out.contains("plan_bad_parameter") && late.out.contains("below the first statement"),
        "{late}"
    );
    folder.write("bare.lua", "-- luaplan: param(month, 2026-11)\nfunction run() return 1 end\n");
    let bare = folder.run(&["check", "bare.lua"]).exits(3);
    assert!(bare.out.contains("quotes around a text"), "{bare}");
}

#[test]
fn plan_tests_take_defaults_and_tell_what_is_missing() {
    let folder = Folder::with(&[("plan.lua", REPORT)]);
    let tests = |body: &str| {
        folder.write("plan_test.lua", format!("test(\"t\", function()\n{body}\nend)\n"));
        folder.run(&["test"])
    };
    tests("  expect.equal(run_plan{ who = \"ops\" }.result.month, \"2026-11\")").exits(0);
    let missing = tests("  run_plan{ month = \"2026-10\" }").exits(1);
    assert!(missing.out.contains("the plan needs `who` (who gets it)"), "{missing}");
}

#[tokio::test]
async fn http_takes_the_defaults_and_names_all_that_is_missing() {
    let service = Service::new().await;
    let client = &service.client;
    let body = json!({ "plan": REPORT, "context": { "who": "ops" } });
    let answer = client.post("/v1/runs?wait=25s", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.json()["result"], json!({ "month": "2026-11", "who": "ops" }), "{}", answer.text);
    let two = "-- luaplan: param(a)\n-- luaplan: param(b)\nfunction run(context) return context end\n";
    let missing = client.post("/v1/runs", &json!({ "plan": two, "context": { "c": 1 } })).await;
    let missing = missing.problem(400, "bad_request");
    assert!(missing["message"].as_str().unwrap().contains("`a` and `b`"), "{missing}");
    assert!(missing["help"].as_str().unwrap().contains("`context`"), "{missing}");
    let explained = client.post("/v1/plans/explain", &body).await;
    assert_eq!(explained.status, 200, "{}", explained.text);
    assert_eq!(explained.json()["preview"]["parameters"][0]["default"], "2026-11", "{}", explained.text);
}

#[tokio::test]
async fn mcp_takes_the_defaults() {
    let folder = Folder::new();
    let session = Session::start(folder.path(), &[]).await;
    let run = session.call("run_lua", json!({ "program": REPORT, "context": { "who": "ops" } })).await;
    assert_eq!(done(run)["result"], json!({ "month": "2026-11", "who": "ops" }));
}
