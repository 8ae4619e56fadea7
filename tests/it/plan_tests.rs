//! The kit for plan tests, on case files: `NAME_test.lua` tests `NAME.lua`, and `NAME.txt` is what
//! the report says. A case without `NAME.txt` passes whole.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use luaplan::base::{LimitProfile, Limits};
use luaplan::catalog::{Catalog, builtin_manifests};
use luaplan::testkit::{TestOptions, TestReport, run_tests};

/// Runs the tests at `path` with the built-in tools.
pub(crate) async fn run(path: &Path, filter: Option<&str>) -> luaplan::base::Result<TestReport> {
    run_within(path, filter, LimitProfile::Standard.limits()).await
}

async fn run_within(path: &Path, filter: Option<&str>, limits: Limits) -> luaplan::base::Result<TestReport> {
    let base_dir = if path.is_dir() { path } else { path.parent().unwrap() }.to_path_buf();
    let filter = filter.map(str::to_owned);
    let catalog = Catalog::from_iter(builtin_manifests().unwrap());
    run_tests(
        &TestOptions { path: path.to_path_buf(), only: None, base_dir, filter, limits, coverage: false },
        &catalog,
    )
    .await
}

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/plan_tests")
}

/// The binary in a folder, without an environment.
pub(crate) fn luaplan(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_luaplan"));
    command.env_clear().current_dir(folder).args(arguments);
    command
}

/// What a command prints, which ends with `code`.
pub(crate) fn printed(command: &mut Command, code: i32) -> String {
    let output = command.assert().code(code).get_output().stdout.clone();
    String::from_utf8(output).unwrap()
}

/// A folder with one plan and its tests.
pub(crate) fn folder(plan: &str, tests: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("plan.lua"), plan).unwrap();
    std::fs::write(folder.path().join("plan_test.lua"), tests).unwrap();
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn every_case_file_reports_what_it_should() {
    let mut checked = 0;
    for entry in std::fs::read_dir(cases()).unwrap() {
        let path = entry.unwrap().path();
        let Some(name) = path.file_name().unwrap().to_str().unwrap().strip_suffix("_test.lua") else {
            continue;
        };
        let report = run(&path, None).await.unwrap();
        let text = report.to_text(false);
        match std::fs::read_to_string(path.with_file_name(format!("{name}.txt"))) {
            Ok(expected) => {
                assert_eq!(text, expected, "{name}.txt and the report differ; the report:\n{text}");
            }
            Err(_) => assert_eq!(report.failed(), 0, "{text}"),
        }
        checked += 1;
    }
    assert!(checked >= 10, "only {checked} case files were found");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_one_test_is_left_for_the_next() {
    let tests = r#"
        local counter = 0
        test("first", function()
          counter = counter + 1
          leaked = "global"
          string.leaked = "library"
          mock("query_db", { returns = {} })
          expect.equal(counter, 1)
        end)
        test("second", function()
          counter = counter + 1
          expect.equal(counter, 1)
          expect.equal(rawget(_G, "leaked"), nil)
          expect.equal(string.leaked, nil)
          expect.failed(run_plan({}), "mock_missing")
        end)
    "#;
    let folder = folder("function run(context) query_db{table = \"t\"} end", tests);
    let report = run(folder.path(), None).await.unwrap();
    assert_eq!(report.failed(), 0, "{}", report.to_text(false));
}

#[tokio::test(flavor = "multi_thread")]
async fn mocks_outside_of_tests_serve_every_test_of_the_file() {
    let tests = r#"
        mock("query_db", { returns = { { n = "file" } } })
        mock("query_db", { when = { table = "special" }, returns = { { n = "special" } } })
        local function first(context) return run_plan(context).result[1].n end
        test("the file's mocks answer", function()
          expect.equal(first({ table = "t" }), "file")
          expect.equal(first({ table = "special" }), "special")
        end)
        test("a test's own go first, whatever the file's ask for", function()
          mock("query_db", { returns = { { n = "own" } } })
          expect.equal(first({ table = "special" }), "own")
        end)
        test("and only in that test", function()
          expect.equal(first({ table = "special" }), "special")
        end)
    "#;
    let plan = "function run(context) local rows = query_db(context) if rows.error then error(rows.error) end return rows end";
    let folder = folder(plan, tests);
    let report = run(folder.path(), None).await.unwrap();
    assert_eq!(report.failed(), 0, "{}", report.to_text(false));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_picks_tests_by_a_part_of_their_name() {
    let tests = "test(\"red car\", function() end) test(\"red bus\", function() error(\"no\") end)
                 test(\"blue car\", function() end)";
    let folder = folder("function run(context) end", tests);
    let names = |report: TestReport| report.results.into_iter().map(|result| result.name).collect::<Vec<_>>();
    assert_eq!(names(run(folder.path(), Some("car")).await.unwrap()), ["red car", "blue car"]);
    assert_eq!(names(run(folder.path(), Some("red")).await.unwrap()), ["red car", "red bus"]);
    let error = run(folder.path(), Some("green")).await.unwrap_err();
    assert_eq!(error.code().as_str(), "not_found");
    assert!(error.message().contains("`green`"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_found_in_folders_and_passed_over_where_no_plans_are() {
    let folder = tempfile::tempdir().unwrap();
    for place in ["a", "b/c", ".hidden", "target", "node_modules"] {
        let place = folder.path().join(place);
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("x.lua"), "function run(context) end").unwrap();
        std::fs::write(place.join("x_test.lua"), "test(\"it\", function() end)").unwrap();
    }
    let report = run(folder.path(), None).await.unwrap();
    let files: Vec<&str> = report.results.iter().map(|result| result.file.as_str()).collect();
    assert_eq!(files, ["a/x_test.lua", "b/c/x_test.lua"]);
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(run(empty.path(), None).await.unwrap_err().code().as_str(), "not_found");
    let plan = folder.path().join("a/x.lua");
    assert_eq!(run(&plan, None).await.unwrap_err().code().as_str(), "usage");
    let absent = folder.path().join("absent");
    assert_eq!(run(&absent, None).await.unwrap_err().code().as_str(), "file_unreadable");
}

#[tokio::test(flavor = "multi_thread")]
async fn line_numbers_hold_under_a_long_path_and_odd_line_ends() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("a-rather-long-folder-name/".repeat(5));
    std::fs::create_dir_all(&deep).unwrap();
    std::fs::write(deep.join("plan.lua"), "function run(context)\r\n  error(\"boom\")\r\nend\r\n").unwrap();
    let tests = "-- one\r\n\r\ntest(\"it\", function()\r\n  expect.succeeded(run_plan({}))\r\nend)\r\n";
    std::fs::write(deep.join("plan_test.lua"), tests).unwrap();
    let report = run(folder.path(), None).await.unwrap();
    let failure = report.results[0].failure.as_deref().unwrap();
    assert_eq!(failure, "line 4: the run failed with plan_error at line 2 of the plan: boom");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_text_is_a_failed_test_and_the_others_still_run() {
    let folder = folder("function run(context) end", "test(\"it\", function() end)");
    std::fs::write(folder.path().join("odd.lua"), "function run(context) end").unwrap();
    std::fs::write(folder.path().join("odd_test.lua"), b"\x1bLua\xff\xfe").unwrap();
    let report = run(folder.path(), None).await.unwrap();
    assert_eq!((report.results.len(), report.failed()), (2, 1), "{}", report.to_text(false));
    assert!(report.results[0].failure.as_deref().unwrap().starts_with("file_unreadable"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_configured_limits_bind_the_plan_and_spare_the_test() {
    let mut limits = LimitProfile::Strict.limits();
    limits.tool_calls = 1;
    limits.instructions = 20_000;
    let tests = r#"
        mock("query_db", { returns = {} })
        test("it", function()
          for _ = 1, 50000 do local _ = {} end
          expect.failed(run_plan({ calls = 2 }), "limit_tool_calls")
          expect.succeeded(run_plan({ calls = 2 }, { limits = { tool_calls = 2 } }))
        end)
    "#;
    let plan = "function run(context) for _ = 1, context.calls do local r = query_db{table=\"t\"} if r.error then return end end end";
    let folder = folder(plan, tests);
    let report = run_within(folder.path(), None, limits).await.unwrap();
    assert_eq!(report.failed(), 0, "{}", report.to_text(false));
}

/// Tests that are run from above the folder of their tools say where those are.
#[test]
fn tools_that_are_not_read_from_here_are_pointed_out() {
    let folder = crate::cli::Folder::with(&[(
        "shop/plan_test.lua",
        "test(\"it calls\", function()\n  mock(\"shop_stock\", { returns = 1 })\n  expect.succeeded(run_plan({}))\nend)",
    )]);
    folder.write("shop/plan.lua", "function run() return shop_stock{} end");
    let without = folder.run(&["test", "shop"]).exits(1);
    assert!(
        without.out.contains("there is no tool `shop_stock` to mock") && !without.err.contains("note:"),
        "{without}"
    );
    folder.write(
        "shop/luaplan-tools/shop_stock.toml",
        "name = \"shop_stock\"\ndescription = \"Counts.\"\nkind = \"http\"\neffect = \"read\"\n[params]\ntype = \"object\"\n[settings]\nurl = \"https://a.example.com/\"\n",
    );
    let told = folder.run(&["test", "shop"]).exits(1);
    for part in [
        "tools of shop/luaplan-tools are not read from here",
        "`cd shop`",
        "--set tools_dir=shop/luaplan-tools",
        "`-- luaplan: tools_dir(luaplan-tools)`",
    ] {
        assert!(told.err.contains(part), "{part}: {told}");
    }
    let fine = folder.run(&["--set", "tools_dir=shop/luaplan-tools", "test", "shop"]).exits(0);
    assert!(!fine.err.contains("note:"), "{fine}");

    // The test says it itself, and passes from above; what is wrong with what it says fails the file.
    let test = folder.read("shop/plan_test.lua");
    for (named, code, said) in [
        ("luaplan-tools", 0, "1 passed"),
        ("../shop/luaplan-tools", 0, "1 passed"),
        ("elsewhere", 1, "line 1: `tools_dir(elsewhere)`"),
    ] {
        folder.write("shop/plan_test.lua", format!("-- luaplan: tools_dir({named})\n{test}"));
        let ended = folder.run(&["test", "shop"]).exits(code);
        assert!(ended.out.contains(said) && !ended.err.contains("note:"), "{ended}");
    }
    folder.write("shop/plan_test.lua", format!("-- luaplan: tools_dir(luaplan-tools)\n{test}"));
    folder.run(&["test", "shop", "--coverage"]).exits(0);
    let faults = folder.run(&["test", "shop", "--faults", "tool=shop_stock"]);
    assert!(faults.out.contains("shop_stock"), "{faults}");
}
