//! `luaplan test --coverage`: what the tests of a plan reach.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::plan_tests::{folder, luaplan, printed};

const PLAN: &str = r#"function run(context)
  local rows = query_db { table = "users" }
  if rows.error then
    error("no rows: " .. rows.error)
  end
  if #rows == 0 then
    context.empty = true

    return context
  end
  local sent = send_email("office@example.com", "rows",
    json.encode(rows))
  context.sent = not sent.error
  return context
end
"#;

const TESTS: &str = r#"
test("mails the rows", function()
  mock("query_db", { returns = { { n = 1 } } })
  mock("send_email", { fails = "smtp_failed" })
  expect.falsy(run_plan({}).result.sent)
end)
test("says why there are none", function()
  mock("query_db", { fails = "query_failed" })
  expect.failed(run_plan({}), "plan_error", "no rows")
end)
"#;

#[test]
fn the_table_shows_what_did_not_run_and_what_calls_came_to() {
    let folder = folder(PLAN, TESTS);
    let text = printed(&mut luaplan(folder.path(), &["test", "--coverage"]), 0);
    let expected = "\
coverage
  plan        lines          not run
  plan.lua   80.0 %  8/10     7-9
calls of plan.lua
  line 2    query_db    failed path taken (2, failed 1)
  line 11   send_email  failed path taken (1, failed 1)
80.0 % of lines (8 of 10)
";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn the_numbers_are_in_every_form() {
    let folder = folder(PLAN, TESTS);
    let text =
        printed(&mut luaplan(folder.path(), &["test", "--coverage", "--json", "--filter", "mails"]), 0);
    let report: Json = serde_json::from_str(&text).unwrap();
    let coverage = &report["coverage"];
    assert_eq!(coverage["lines"], json!({"total": 10, "run": 7, "percent": 70.0}));
    assert_eq!(coverage["calls"], json!({"total": 2, "called": 2, "failed": 1}));
    let plan = &coverage["plans"][0];
    assert_eq!(plan["plan"], "plan.lua");
    assert_eq!(plan["lines"]["not_run"], json!([[4, 4], [7, 9]]));
    assert_eq!(
        plan["calls"][0],
        json!({"line": 2, "tool": "query_db", "calls": 1, "failures": 0, "state": "called"})
    );
    let junit = printed(&mut luaplan(folder.path(), &["test", "--coverage", "--format", "junit"]), 0);
    assert!(junit.contains(r#"<property name="coverage.lines.run" value="8"/>"#), "{junit}");
    let plain = printed(&mut luaplan(folder.path(), &["test", "--json"]), 0);
    assert!(!plain.contains("coverage"), "{plain}");
}

#[test]
fn a_tracefile_has_lines_and_branches() {
    let folder = folder(PLAN, TESTS);
    luaplan(folder.path(), &["test", "--coverage-lcov", "out.info"]).assert().code(0);
    let trace = std::fs::read_to_string(folder.path().join("out.info")).unwrap();
    let expected = "TN:\nSF:plan.lua\nBRDA:2,0,0,1\nBRDA:2,0,1,1\nBRDA:11,1,0,0\nBRDA:11,1,1,1\nBRF:4\nBRH:3\n\
        DA:1,2\nDA:2,2\nDA:3,2\nDA:4,1\nDA:6,1\nDA:7,0\nDA:9,0\nDA:11,1\nDA:13,1\nDA:14,1\nLF:10\nLH:8\nend_of_record\n";
    assert_eq!(trace, expected);
}

#[test]
fn too_little_is_a_failure_and_a_share_beyond_all_a_wrong_option() {
    let folder = folder(PLAN, TESTS);
    luaplan(folder.path(), &["test", "--coverage-min", "80"]).assert().code(0);
    let short = luaplan(folder.path(), &["test", "--coverage-min", "80.1"]).assert().code(1);
    let said = String::from_utf8_lossy(&short.get_output().stderr).into_owned();
    assert_eq!(said, "80.0 % of lines ran, 80.1 % were asked for\n");
    luaplan(folder.path(), &["test", "--coverage-min", "101"]).assert().code(2);
    luaplan(folder.path(), &["test", "--coverage", "--faults"]).assert().code(2);
}

#[test]
fn a_plan_that_never_ran_has_nothing_reached() {
    let folder = folder(PLAN, "test(\"nothing\", function() end)");
    let text = printed(&mut luaplan(folder.path(), &["test", "--coverage", "--json"]), 0);
    let report: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(report["coverage"]["lines"], json!({"total": 10, "run": 0, "percent": 0.0}));
}

/// Also the proof that nothing which ran is shown as not run: the examples use most of the language.
#[test]
fn the_tests_of_the_examples_reach_every_line_of_them() {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = printed(&mut luaplan(tree, &["test", "examples", "--coverage", "--json"]), 0);
    let report: Json = serde_json::from_str(&text).unwrap();
    for plan in report["coverage"]["plans"].as_array().unwrap() {
        assert_eq!(plan["lines"]["not_run"], json!([]), "{}", plan["plan"]);
        let never: Vec<&Json> =
            plan["calls"].as_array().unwrap().iter().filter(|call| call["calls"] == 0).collect();
        assert!(never.is_empty(), "{}: {never:?}", plan["plan"]);
    }
}
