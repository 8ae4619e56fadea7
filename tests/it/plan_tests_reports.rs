//! `luaplan test` and `luaplan run --mock` through the binary: forms of the results, exit codes.

use serde_json::{Value as Json, json};

use crate::plan_tests::{folder, luaplan, printed};

const PLAN: &str = "function run(context)\n  local rows = query_db { table = \"users\" }\n  if rows.error then\n    error(rows.code .. \": \" .. rows.error)\n  end\n  context.count = #rows\n  return context\nend\n";

const TESTS: &str = r#"
test("counts the rows", function()
  mock("query_db", { returns = { { n = 1 } } })
  expect.equal(run_plan({}).result.count, 1)
end)

test("a name with <&\"'> # and \\ in it", function()
  print("seen <b>")
  mock("query_db", { returns = {} })
  expect.equal(run_plan({}).result.count, "<&>\"]]>\n2")
end)
"#;

#[test]
fn json_follows_the_contract() {
    let folder = folder(PLAN, TESTS);
    for arguments in [&["test", "--format", "json"][..], &["test", ".", "--json"]] {
        let mut report: Json =
            serde_json::from_str(&printed(&mut luaplan(folder.path(), arguments), 1)).unwrap();
        for result in report["results"].as_array_mut().unwrap() {
            assert!(result["duration_ms"].is_u64(), "{result}");
            result["duration_ms"] = json!(0);
        }
        assert_eq!(
            report,
            json!({"total": 2, "passed": 1, "failed": 1, "results": [
                {"file": "plan_test.lua", "name": "counts the rows", "status": "passed", "duration_ms": 0, "message": null},
                {"file": "plan_test.lua", "name": "a name with <&\"'> # and \\ in it", "status": "failed", "duration_ms": 0,
                 "message": "line 10: value is 0, expected \"<&>\\\"]]>\\n2\"", "output": "seen <b>\n"},
            ]})
        );
    }
}

#[test]
fn junit_reads_back_with_every_character_it_was_given() {
    let folder = folder(PLAN, TESTS);
    let xml = printed(&mut luaplan(folder.path(), &["test", "--format", "junit"]), 1);
    let report = quick_junit::Report::deserialize_from_str(&xml).unwrap();
    assert_eq!((report.tests, report.failures, report.errors), (2, 1, 0));
    let suite = &report.test_suites[0];
    assert_eq!(suite.name.as_str(), "plan_test.lua");
    let [passed, failed] = &suite.test_cases[..] else { panic!("{xml}") };
    assert_eq!(passed.name.as_str(), "counts the rows");
    assert!(matches!(passed.status, quick_junit::TestCaseStatus::Success { .. }));
    assert_eq!(failed.name.as_str(), "a name with <&\"'> # and \\ in it");
    assert_eq!(failed.system_out.as_ref().unwrap().as_str().trim(), "seen <b>");
    let quick_junit::TestCaseStatus::NonSuccess { message, .. } = &failed.status else { panic!("{xml}") };
    assert_eq!(message.as_ref().unwrap().as_str(), "line 10: value is 0, expected \"<&>\\\"]]>\\n2\"");
}

#[test]
fn tap_numbers_every_test_and_escapes_its_own_signs() {
    let folder = folder(PLAN, TESTS);
    let tap = printed(&mut luaplan(folder.path(), &["test", "--format", "tap"]), 1);
    let lines: Vec<&str> = tap.lines().collect();
    assert_eq!(lines[..3], ["TAP version 14", "1..2", "ok 1 - plan_test.lua: counts the rows"]);
    assert_eq!(lines[3], "not ok 2 - plan_test.lua: a name with <&\"'> \\# and \\\\ in it");
    assert_eq!((lines[4], lines[6]), ("  ---", "  ..."));
    let message: String = serde_json::from_str(lines[5].strip_prefix("  message: ").unwrap()).unwrap();
    assert!(message.starts_with("line 10: value is 0"), "{message}");
    assert_eq!(lines.len(), 7);
}

#[test]
fn text_is_for_people_and_has_no_colour_in_a_pipe() {
    let folder = folder(PLAN, TESTS);
    let text = printed(&mut luaplan(folder.path(), &["test"]), 1);
    assert!(text.starts_with("plan_test.lua\n  ok counts the rows\n  FAILED a name"), "{text}");
    assert!(text.contains("       printed: seen <b>\n"), "{text}");
    assert!(text.ends_with("1 passed, 1 failed\n"), "{text}");
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn exit_codes_tell_passed_failed_and_not_usable_apart() {
    let folder = folder(PLAN, TESTS);
    luaplan(folder.path(), &["test", "--filter", "counts"]).assert().code(0);
    luaplan(folder.path(), &["test", "plan_test.lua", "--filter", "counts"]).assert().code(0);
    luaplan(folder.path(), &["test"]).assert().code(1);
    for arguments in [
        &["test", "--filter", "nothing like it"][..],
        &["test", "absent"],
        &["test", "plan.lua"],
        &["test", "--format", "xml"],
        &["test", "--colour"],
    ] {
        let assert = luaplan(folder.path(), arguments).assert().code(2);
        assert!(assert.get_output().stdout.is_empty(), "{arguments:?}");
    }
    std::fs::write(folder.path().join("plan_test.lua"), "local x = = 1").unwrap();
    luaplan(folder.path(), &["test"]).assert().code(1);
    std::fs::write(folder.path().join("luaplan.toml"), "[limit]\nprofile = \"strict\"").unwrap();
    luaplan(folder.path(), &["test"]).assert().code(2);
}

fn run_mocked(mocks: &str, code: i32) -> Json {
    let folder = folder(PLAN, TESTS);
    std::fs::write(folder.path().join("mocks.json"), mocks).unwrap();
    let mut command = luaplan(folder.path(), &["run", "plan.lua", "--mock", "mocks.json", "--json"]);
    let output = command.assert().code(code).get_output().clone();
    let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    serde_json::from_slice(&text).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&text)))
}

#[test]
fn run_takes_the_same_mocks_from_a_file() {
    let outcome = run_mocked(
        r#"[{"tool": "query_db", "when": {"table": "users"}, "returns": [{"id": 1}, {"id": 2}]}]"#,
        0,
    );
    assert_eq!(outcome["result"], json!({"count": 2}));
    let failing = r#"[{"tool": "query_db", "fails": {"code": "my_own_code", "message": "as told", "retryable": true}}]"#;
    let outcome = run_mocked(failing, 1);
    assert_eq!(outcome["error"]["code"], "plan_error");
    assert!(outcome["error"]["message"].as_str().unwrap().contains("my_own_code: as told"), "{outcome}");
    let sequence = r#"[{"tool": "query_db", "sequence": [{"fails": "tool_timeout"}]}]"#;
    assert!(run_mocked(sequence, 1)["error"]["message"].as_str().unwrap().contains("tool_timeout"));
    let outcome = run_mocked("[]", 1);
    assert_eq!((&outcome["error"]["code"], &outcome["error"]["line"]), (&json!("mock_missing"), &json!(2)));
}

#[test]
fn run_refuses_mocks_it_cannot_use_before_the_plan_starts() {
    for (mocks, expected) in [
        ("{", "not valid JSON"),
        ("{\"tool\": \"query_db\"}", "mocks are a list"),
        ("[{\"tool\": \"query_dbs\", \"returns\": []}]", "did you mean `query_db`?"),
        ("[{\"tool\": \"query_db\"}]", "no answer"),
        ("[{\"tool\": \"query_db\", \"returns\": \"x\"}]", "the tool gives array or object"),
        ("[{\"tool\": \"query_db\", \"return\": []}]", "unknown field `return`"),
        ("[{\"returns\": []}]", "missing field `tool`"),
    ] {
        let report = run_mocked(mocks, 2);
        let text = report.to_string();
        assert!(text.contains(expected) && text.contains("mocks.json"), "{mocks}: {text}");
    }
    let folder = folder(PLAN, TESTS);
    luaplan(folder.path(), &["run", "plan.lua", "--mock", "absent.json"]).assert().code(2);
}

#[test]
fn run_takes_the_default_mocks_by_name() {
    let folder = folder(PLAN, TESTS);
    let text = printed(&mut luaplan(folder.path(), &["run", "plan.lua", "--mock", "default", "--json"]), 0);
    let outcome: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(outcome["result"], json!({"count": 2}));
    let summary = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/summary_email/plan.lua");
    luaplan(folder.path(), &["run", summary, "--mock", "default"]).assert().code(0);
}
