//! Whether a task is done: the plan's own `done`, then the user's tests, then the model.

use std::path::Path;
use std::sync::Arc;

use luaplan::app::{PlanningOptions, ReplayRequest, RunSpec, Work};
use luaplan::base::{ErrorCode, Value};
use luaplan::bus::{Circumstances, Mode};
use luaplan::journal::{EventBody, EventListener, RunStatus};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{Scripted, count, iterations, plan, run_in, verdict};
use crate::app_parts::Bench;

/// Counts users, says when that is done, and is not content with less than `wanted`.
fn counting(wanted: u32) -> String {
    format!(
        "function run(context)\n  local rows = must(query_db{{table = \"users\"}}, \"users\")\n  return {{ n = {wanted}, rows = #rows }}\nend\n\
         function done(context, result)\n  if result.n < 2 then return false, \"the total is missing\" end\n  return true\nend\n"
    )
}

fn returning(text: &str) -> String {
    format!("function run(context)\n  return {{ said = {text:?} }}\nend\n")
}

fn with_most(max_iterations: u32) -> PlanningOptions {
    PlanningOptions { max_iterations: Some(max_iterations), ..PlanningOptions::default() }
}

#[tokio::test]
async fn a_plan_that_says_when_it_is_done_is_believed_first() {
    let model = Scripted::new(&[plan(&counting(1)), plan(&counting(2))]);
    let bench = Bench::with(&[], Some(Arc::clone(&model) as _)).await;
    let outcome = run_in(&bench, PlanningOptions::default()).await;
    assert_eq!(outcome.status(), RunStatus::Succeeded, "{outcome:?}");
    assert_eq!(outcome.iterations, Some(2));
    let records = bench.records(&outcome.run_id).await;
    let missing = "Its `done` says: the total is missing".to_owned();
    let content = "Its `done` says that it is.".to_owned();
    assert_eq!(
        iterations(&records),
        [(1, 8, None), (1, 8, Some((false, missing))), (2, 8, None), (2, 8, Some((true, content)))]
    );
    let asked = model.asked();
    assert_eq!(asked.len(), 2, "no model judges where the plan does");
    assert!(asked[0].contains("function done(context, result)"), "the model is told of it");
    for told in [
        "the task is not done. Its `done` says: the total is missing",
        "It returned: {n: integer, rows: integer}",
    ] {
        assert!(asked[1].contains(told), "{told}: {}", asked[1]);
    }
    assert!(matches!(records.last().unwrap().event.body, EventBody::RunFinished { iterations: Some(2), .. }));
    assert!(bench.app.journal().verify().await.unwrap().ok);
}

#[tokio::test]
async fn what_a_done_says_wrongly_is_a_no_and_calls_nothing() {
    let cases = [
        ("error(\"broken\")", "Its `done` failed with `plan_error`: "),
        ("return \"yes\"", "Its `done` returned string where `true` or `false` is wanted"),
        ("return nil", "Its `done` returned nil where `true` or `false` is wanted"),
        ("return 1", "Its `done` returned integer where `true` or `false` is wanted"),
        ("return #query_db{table = \"users\"} > 0", "Its `done` failed with `call_not_possible_here`: "),
        ("local n = 0 while true do n = n + 1 end", "Its `done` failed with `limit_"),
    ];
    let answers: Vec<String> = cases
        .iter()
        .map(|(body, _)| {
            plan(&format!(
                "function run(context)\n  return 1\nend\nfunction done(context, result)\n  {body}\nend\n"
            ))
        })
        .collect();
    let model = Scripted::new(&answers);
    let bench = Bench::with(&[("limits.instructions", "1000000")], Some(Arc::clone(&model) as _)).await;
    for (body, said) in cases {
        let outcome = run_in(&bench, with_most(1)).await;
        let error = outcome.error().unwrap();
        assert_eq!(error.code(), ErrorCode::IterationsExceeded, "{body}: {error}");
        let records = bench.records(&outcome.run_id).await;
        let (_, _, judged) = iterations(&records).pop().unwrap();
        let (done, observation) = judged.unwrap();
        assert!(!done && observation.starts_with(said), "{body}: {observation}");
        assert_eq!(count(&records, "tool_call_started") + count(&records, "tool_call_refused"), 0, "{body}");
    }
    assert_eq!(model.asked().len(), cases.len(), "no model is asked where the plan has a `done`");
}

#[tokio::test]
async fn the_model_judges_last_and_sees_no_data() {
    let shows = "function run(context)\n  local rows = must(query_db{table = \"users\"}, \"users\")\n  return { mail = rows[1].email, rows = rows }\nend\n";
    for shares in [false, true] {
        let model = Scripted::new(&[
            plan(shows),
            verdict(false, "the mails are not sent"),
            plan(&returning("sent")),
            "I would say so.".to_owned(),
            verdict(true, "all is there"),
        ]);
        let setting = [("planner.share_run_data", if shares { "true" } else { "false" })];
        let bench = Bench::with(&setting, Some(Arc::clone(&model) as _)).await;
        let outcome = run_in(&bench, PlanningOptions::default()).await;
        assert_eq!(outcome.status(), RunStatus::Succeeded, "{outcome:?}");
        let asked = model.asked();
        assert_eq!(asked.len(), 5, "an answer without a verdict is asked for once more");
        assert!(asked[1].starts_with("You judge whether a task is done."), "{}", asked[1]);
        assert!(asked[1].contains("Report on the users.") && asked[1].contains("1. query_db, line 2: ok"));
        assert!(asked[2].contains("The model that judges says: the mails are not sent"), "{}", asked[2]);
        assert!(asked[4].contains("That was no verdict."), "{}", asked[4]);
        let heard = asked.iter().filter(|prompt| prompt.contains("user1@example.com")).count();
        assert_eq!(heard > 0, shares, "values pass only where they are shared");
        assert!(asked[1].contains("{mail: string, rows: list of {id: integer") != shares, "{}", asked[1]);
        let records = bench.records(&outcome.run_id).await;
        assert_eq!(iterations(&records).len(), 4);
        let usage = outcome.usage;
        assert_eq!(usage.llm_tokens, 55, "the judge's tokens count");
    }
}

#[tokio::test]
async fn at_the_cap_the_run_ends_as_exceeded() {
    let fails = "function run(context)\n  error(\"first\")\nend\n";
    let model = Scripted::new(&[
        plan(fails),
        plan(&returning("a")),
        verdict(false, "more is wanted"),
        plan(&returning("b")),
        verdict(false, "still more"),
        // A judge that never gives a verdict says no.
        plan(&returning("c")),
        "perhaps".to_owned(),
        "yes".to_owned(),
        plan(fails),
    ]);
    let bench = Bench::with(&[("autonomous.max_iterations", "3")], Some(Arc::clone(&model) as _)).await;
    let outcome = run_in(&bench, PlanningOptions::default()).await;
    let error = outcome.error().unwrap();
    assert_eq!(error.code(), ErrorCode::IterationsExceeded, "{error}");
    assert_eq!((error.limit(), error.observed()), (Some(&json!(3)), Some(&json!(3))), "{error}");
    assert!(error.message().contains("still more"), "{error}");
    let records = bench.records(&outcome.run_id).await;
    let said: Vec<bool> = iterations(&records).into_iter().filter_map(|(_, _, said)| Some(said?.0)).collect();
    assert_eq!(said, [false, false, false]);
    assert!(iterations(&records)[1].2.as_ref().unwrap().1.contains("failed with `plan_error`: "));
    assert_eq!(count(&records, "replan_round"), 1, "for the one that failed");
    // A replay runs the last plan: that the task was not done is no difference.
    let request = ReplayRequest { run_id: outcome.run_id, with: None, cancel: CancellationToken::new() };
    let report = bench.app.runs().replay(request).await.unwrap();
    assert!(report.same, "{report:?}");
    let unsaid = run_in(&bench, with_most(1)).await.error().unwrap();
    assert!(unsaid.message().contains("gave no verdict"), "{unsaid}");
    let failed = run_in(&bench, with_most(1)).await.error().unwrap();
    assert_eq!(failed.code(), ErrorCode::IterationsExceeded);
    assert_eq!(failed.details().get("cause"), Some(&json!("plan_error")), "{failed}");
    // What cannot be asked for.
    for wanted in [0, 1_001] {
        let refused = run_in(&bench, with_most(wanted)).await.error().unwrap();
        assert_eq!(refused.code(), ErrorCode::BadRequest, "{refused}");
    }
}

fn tests_in(folder: &Path, wanted: &str) -> std::path::PathBuf {
    let file = folder.join("task_test.lua");
    let text = format!(
        "test(\"it says so\", function()\n  local run = run_plan({{}})\n  expect.succeeded(run)\n  expect.equal(run.result.said, \"{wanted}\")\nend)\n"
    );
    std::fs::write(&file, text).unwrap();
    file
}

#[tokio::test]
async fn failing_tests_are_not_overridden_by_the_plan_nor_by_the_model() {
    let content = format!("{}function done(context, result)\n  return true\nend\n", returning("a"));
    let model = Scripted::new(&[plan(&content), plan(&returning("b")), verdict(true, "that is it")]);
    let bench = Bench::with(&[], Some(Arc::clone(&model) as _)).await;
    let file = tests_in(bench.folder(), "a");
    let folder = bench.folder().to_path_buf();
    // The person changes the tests while the first plan runs, which passed them.
    let changes: EventListener = Arc::new(move |event, _| {
        if matches!(event.body, EventBody::PlanAccepted { .. }) {
            tests_in(&folder, "b");
        }
    });
    let planning = PlanningOptions { tests: Some(file), ..PlanningOptions::default() };
    let circumstances = Circumstances { mode: Mode::Autonomous, ..Circumstances::default() };
    let work = Work::Task("Say it.".to_owned());
    let spec = RunSpec { circumstances, planning, listeners: vec![changes], ..bench.request(work) };
    let outcome = bench.app.run(spec).await;
    assert_eq!(outcome.result.as_ref().unwrap(), &Value::from_json(json!({ "said": "b" })).unwrap());
    let records = bench.records(&outcome.run_id).await;
    let said: Vec<(bool, String)> =
        iterations(&records).into_iter().filter_map(|(_, _, said)| said).collect();
    assert!(
        !said[0].0 && said[0].1.starts_with("The program fails 1 of 1 test: \"it says so\": "),
        "{said:?}"
    );
    assert!(said[1].0, "{said:?}");
    assert_eq!(model.asked().len(), 3, "no model judges a plan that fails tests");
}

#[tokio::test]
async fn saved_plans_and_structured_runs_are_not_judged() {
    let model = Scripted::new(&[plan(&counting(1))]);
    let bench = Bench::with(&[], Some(Arc::clone(&model) as _)).await;
    let work = Work::Task("Report on the users.".to_owned());
    let structured = bench.app.run(bench.request(work)).await;
    assert!(structured.result.is_ok() && structured.iterations.is_none(), "{structured:?}");
    let circumstances = Circumstances { mode: Mode::Autonomous, ..Circumstances::default() };
    let work = Work::Plan { name: "plan".to_owned(), source: counting(1) };
    let saved = bench.app.run(RunSpec { circumstances, ..bench.request(work) }).await;
    assert!(saved.result.is_ok(), "{saved:?}");
    assert_eq!(iterations(&bench.records(&saved.run_id).await), [(1, 1, None)]);
}
