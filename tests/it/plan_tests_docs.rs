//! The guide to plan tests: its code is run as it stands.

use luaplan::app::Work;
use serde_json::json;

use crate::app_parts::Bench;
use crate::plan_tests::{folder, run};

const GUIDE: &str = include_str!("../../docs/testing-plans.md");

/// The blocks whose fence says `kind`.
fn blocks(kind: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = GUIDE.lines();
    while let Some(line) = lines.next() {
        if line == format!("```{kind}") {
            found.push(lines.by_ref().take_while(|line| *line != "```").collect::<Vec<_>>().join("\n"));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn every_test_in_the_guide_passes_on_the_plan_in_the_guide() {
    let plan = blocks("lua plan").concat();
    let tests = blocks("lua test");
    assert!(tests.len() >= 9, "only {} blocks", tests.len());
    assert!(!GUIDE.contains("```lua\n"), "every block of Lua says whether it is a plan or a test");
    for (index, test) in tests.iter().enumerate() {
        let folder = folder(&plan, test);
        let report = run(folder.path(), None).await.unwrap();
        assert_eq!(report.failed(), 0, "block {}: {}", index + 1, report.to_text(false));
        if index == 0 {
            let shown = report.to_text(false);
            assert!(GUIDE.contains(&format!("```\n{shown}```")), "the guide shows another report:\n{shown}");
        }
    }
}

#[test]
fn the_guide_names_every_function_of_the_kit() {
    let library = include_str!("../../lua/testlib.lua");
    let functions = library.lines().filter_map(|line| line.strip_prefix("function ")?.split('(').next());
    let mut count = 0;
    for name in functions.filter(|name| *name != "run") {
        assert!(GUIDE.contains(&format!("`{name}(")), "`{name}` is not in the guide");
        count += 1;
    }
    assert!(count >= 20, "only {count} functions");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_mock_file_in_the_guide_runs_the_plan_in_the_guide() {
    let bench = Bench::new().await;
    let path = bench.folder().join("mocks.json");
    std::fs::write(&path, blocks("json mocks").concat()).unwrap();
    let mocks = luaplan::testkit::MockTools::from_file(&path, bench.app.tools().catalog()).unwrap();
    let work = Work::Plan { name: "plan.lua".to_owned(), source: blocks("lua plan").concat() };
    let mut request = bench.request(work);
    request.context = Some(crate::support::value(json!({"today": "2026-03-31", "mail_to": "x@example.com"})));
    request.handler = Some(mocks.handler());
    let result = bench.app.run(request).await.result.unwrap().to_json();
    assert_eq!((&result["late"], &result["mailed"]), (&json!(1), &json!(true)));
    assert!(bench.parts.received().is_empty());
}
