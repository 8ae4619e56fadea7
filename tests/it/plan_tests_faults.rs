//! `luaplan test --faults`: every call fails once.

use std::path::Path;

use luaplan::base::LimitProfile;
use luaplan::catalog::{Catalog, builtin_manifests};
use luaplan::testkit::{FaultOptions, FaultReport, FaultScope, TestOptions, run_faults};
use serde_json::{Value as Json, json};

use crate::plan_tests::folder;

async fn faults(path: &Path, scope: &str, retryable: &[bool]) -> luaplan::base::Result<FaultReport> {
    let options = TestOptions {
        path: path.to_path_buf(),
        only: None,
        base_dir: path.to_path_buf(),
        filter: None,
        limits: LimitProfile::Standard.limits(),
        coverage: false,
    };
    let scope: FaultScope = scope.parse()?;
    let faults = FaultOptions { scope, code: "tool_timeout".to_owned(), retryable: retryable.to_vec() };
    run_faults(&options, &faults, &Catalog::from_iter(builtin_manifests().unwrap())).await
}

/// `position tool verdict` of each.
fn verdicts(report: &FaultReport) -> Vec<String> {
    let line = |fault: &luaplan::testkit::FaultResult| {
        format!("{} {} {}", fault.position, fault.tool, fault.verdict.as_str())
    };
    report.faults.iter().map(line).collect()
}

const PLAN: &str = r#"function run(context)
  local rows = query_db { table = "looked_at" }
  if rows.error then
    error("no rows: " .. rows.error)
  end
  local more = query_db { table = "used" }
  context.count = #more
  local page = fetch_url("https://example.com/ignored")
  local told = retry(2, send_email, "a@example.com", "subject", "body")
  if told.error then
    context.told = false
  end
  local text = call_llm("crashes")
  context.length = text.error and #context.missing or #text
  local last = query_db { table = "unmocked" }
  if last.error then
    local again = query_db { table = "not in the test" }
    return again.error or context
  end
  send_email("b@example.com", "subject", "body")
  return context
end
"#;

const TESTS: &str = r#"
mock("query_db", { when = { table = "looked_at" }, returns = {} })
mock("query_db", { when = { table = "used" }, returns = {} })
mock("query_db", { when = { table = "unmocked" }, returns = {} })
mock("fetch_url", { returns = "page" })
mock("send_email", { returns = { delivered = true } })
mock("call_llm", { returns = "text" })
test("all is well", function()
  expect.succeeded(run_plan({}))
end)
"#;

#[tokio::test(flavor = "multi_thread")]
async fn what_becomes_of_a_plan_is_told_for_each_call() {
    let folder = folder(PLAN, TESTS);
    let report = faults(folder.path(), "all", &[false]).await.unwrap();
    assert_eq!(
        verdicts(&report),
        [
            "1 query_db handled",
            "2 query_db used",
            "3 fetch_url ignored",
            "4 send_email handled",
            "5 call_llm crashed",
            "6 query_db unmocked",
            "7 send_email ignored",
        ],
        "{}",
        report.to_text(false)
    );
    assert_eq!(report.failed(), 4);
    // What is sent after a failure is a notice, whether the failure was handled or not.
    assert_eq!(
        report.faults[2].effects_after,
        ["send_email (line 9)", "call_llm (line 13)", "send_email (line 20)"]
    );
    assert!(report.faults[0].effects_after.is_empty());
    assert_eq!(report.faults[3].effects_after, ["call_llm (line 13)", "send_email (line 20)"]);
    let text = report.to_text(false);
    assert!(text.contains("    IGNORED  call 3, fetch_url at line 8, fails, not retryable\n"), "{text}");
    assert!(
        text.ends_with("7 failing calls: 2 handled, 2 ignored, 1 used, 1 crashed, 1 unmocked\n"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_may_be_retried_is_tried_again_and_that_is_no_notice() {
    let plan = r#"function run(context)
  local told = retry(2, send_email, "a@example.com", "subject", "body")
  context.told = not told.error
  return context
end"#;
    let tests = r#"test("it", function()
  mock("send_email", { returns = { delivered = true } })
  expect.truthy(run_plan({}).result.told)
end)"#;
    let folder = folder(plan, tests);
    let report = faults(folder.path(), "all", &[true, false]).await.unwrap();
    assert_eq!(verdicts(&report), ["1 send_email handled", "1 send_email handled"]);
    assert!(report.faults.iter().all(|fault| fault.effects_after.is_empty()));
    assert!(report.to_text(false).contains("call 1, send_email at line 2, fails, retryable or not"));
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_side_by_side_fail_one_by_one() {
    let plan = r#"function run(context)
  local both = parallel {
    function() return query_db { table = "a" } end,
    function() return send_email("a@example.com", "s", "b") end,
  }
  for _, answer in ipairs(both) do
    if answer.error then error(answer.error) end
  end
  return context
end"#;
    let tests = r#"test("it", function()
  mock_defaults()
  expect.succeeded(run_plan({}))
  expect.succeeded(run_plan({}))
end)"#;
    let folder = folder(plan, tests);
    let report = faults(folder.path(), "all", &[false]).await.unwrap();
    assert_eq!(
        verdicts(&report),
        ["1 query_db handled", "2 send_email handled", "1 query_db handled", "2 send_email handled"]
    );
    let runs: Vec<usize> = report.faults.iter().map(|fault| fault.run).collect();
    assert_eq!(runs, [1, 1, 2, 2]);
    // The mail went out beside the query, not after its failure was known.
    assert!(report.faults.iter().all(|fault| fault.effects_after.is_empty()));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_tool_or_one_place_can_be_meant() {
    let folder = folder(PLAN, TESTS);
    let of_tool = faults(folder.path(), "tool=send_email", &[false]).await.unwrap();
    assert_eq!(verdicts(&of_tool), ["4 send_email handled", "7 send_email ignored"]);
    let at_place = faults(folder.path(), "position=2", &[false]).await.unwrap();
    assert_eq!(verdicts(&at_place), ["2 query_db used"]);
    for (scope, code) in [
        ("tool=nothing", "not_found"),
        ("position=99", "not_found"),
        ("position=0", "usage"),
        ("some", "usage"),
        ("tool=", "usage"),
    ] {
        let error = faults(folder.path(), scope, &[false]).await.unwrap_err();
        assert_eq!(error.code().as_str(), code, "{scope}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_that_fails_undisturbed_tells_nothing_and_fails() {
    let folder = folder(PLAN, "test(\"it\", function() expect.succeeded(run_plan({})) end)");
    let report = faults(folder.path(), "all", &[false]).await.unwrap();
    assert!(report.faults.is_empty());
    assert_eq!(report.failed(), 1);
    assert!(
        report.to_text(false).contains("FAILED without any failing call: it"),
        "{}",
        report.to_text(false)
    );
}

#[test]
fn the_command_reports_in_every_form_and_exits_by_what_it_found() {
    let run = |folder: &Path, arguments: &[&str], code: i32| {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_luaplan"));
        let done = command.env_clear().current_dir(folder).args(arguments).assert().code(code);
        String::from_utf8(done.get_output().stdout.clone()).unwrap()
    };
    let bad = folder(PLAN, TESTS);
    let report: Json =
        serde_json::from_str(&run(bad.path(), &["test", "--faults", "--json", "--fault-code", "away"], 1))
            .unwrap();
    assert_eq!(report["total"], 14);
    let first = &report["faults"][0];
    assert_eq!(first["retryable"], true);
    assert_eq!(first["verdict"], "handled");
    assert_eq!(first["line"], 2);
    assert!(first["ending"].as_str().unwrap().contains("injected failure `away`"), "{first}");
    assert_eq!(report["broken_tests"], json!([]));
    let junit = run(bad.path(), &["test", "--faults=tool=fetch_url", "--format", "junit"], 1);
    assert!(junit.contains("tests=\"2\"") && junit.contains("failures=\"2\""), "{junit}");
    let tap =
        run(bad.path(), &["test", "--faults", "position=1", "--format", "tap", "--fault-retryable", "no"], 0);
    assert!(tap.starts_with("TAP version 14\n1..1\nok 1 - "), "{tap}");
}
