//! What a decision about a plan leads to: an edit is run against the task's plan tests, a rejection goes to the model with what
//! the check finds.

use std::sync::Arc;

use luaplan::app::{AfterDecision, ApprovalAnswer, PlanningOptions, ResumeRequest, RunSpec, Work};
use luaplan::base::{ErrorCode, RunId, Value};
use luaplan::journal::{Actor, JournalRead as _};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::app_parts::Bench;
use crate::modes::{Scripted, count, plan};

fn saying(text: &str) -> String {
    format!("function run(context)\n  return {{ said = {text:?} }}\nend\n")
}

/// Starts a task whose plan waits to be confirmed; the run and the request.
async fn waits(bench: &Bench, planning: PlanningOptions) -> (RunId, String) {
    let spec = RunSpec { approve: true, planning, ..bench.request(Work::Task("Say it.".to_owned())) };
    let outcome = bench.app.run(spec).await;
    assert_eq!(outcome.error().unwrap().code(), ErrorCode::ApprovalRequired, "{outcome:?}");
    let id = request_of(bench, &outcome.run_id).await;
    (outcome.run_id, id)
}

async fn request_of(bench: &Bench, run_id: &RunId) -> String {
    let state = bench.app.journal().run_state(run_id).await.unwrap().unwrap();
    state.pending_approvals().next().unwrap().approval_id.clone()
}

async fn decide(bench: &Bench, id: &str, answer: ApprovalAnswer) -> luaplan::base::Result<()> {
    let by = Actor::named("ann");
    bench.app.approvals().decide(id, answer, AfterDecision::StaysPaused, &by).await.map(drop)
}

fn edit(source: &str) -> ApprovalAnswer {
    ApprovalAnswer::Edit(Value::from_json(json!({ "plan": source })).unwrap())
}

fn resume(run_id: &RunId) -> ResumeRequest {
    ResumeRequest::new(run_id.clone(), CancellationToken::new())
}

#[tokio::test]
async fn an_edited_plan_must_pass_the_tests_of_its_task() {
    let model = Scripted::new(&[plan(&saying("a"))]);
    let bench = Bench::with(&[], Some(Arc::clone(&model) as _)).await;
    let file = bench.folder().join("task_test.lua");
    let test = "test(\"it says something\", function()\n  local run = run_plan({})\n  expect.succeeded(run)\n  \
                expect.equal(#run.result.said, 1)\nend)\n";
    std::fs::write(&file, test).unwrap();
    let planning = PlanningOptions { tests: Some(file.clone()), ..PlanningOptions::default() };
    let (run_id, id) = waits(&bench, planning).await;
    let refused = decide(&bench, &id, edit(&saying("too much"))).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::TestFailed, "{refused}");
    assert!(refused.message().contains("fails 1 of 1 plan tests"), "{refused}");
    assert!(refused.details().get("failure").unwrap().to_string().contains("it says something"), "{refused}");
    // Where the tests cannot be read nothing is decided either.
    std::fs::rename(&file, file.with_extension("gone")).unwrap();
    decide(&bench, &id, edit(&saying("b"))).await.unwrap_err();
    std::fs::rename(file.with_extension("gone"), &file).unwrap();
    assert_eq!(count(&bench.records(&run_id).await, "approval_resolved"), 0, "the plan still waits");
    decide(&bench, &id, edit(&saying("b"))).await.unwrap();
    let outcome = bench.app.resume(resume(&run_id)).await.unwrap();
    assert_eq!(outcome.result.unwrap(), Value::from_json(json!({ "said": "b" })).unwrap());
}

#[tokio::test]
async fn after_a_rejection_the_model_is_told_the_reason_and_the_findings() {
    let faulty = "function run(context)\n  local made = transform_data(1, '{{ input }}', 'text')\n  return { said = \"a\" }\nend\n";
    let model = Scripted::new(&[plan(faulty), plan(&saying("b"))]);
    let bench = Bench::with(&[], Some(Arc::clone(&model) as _)).await;
    let (run_id, id) = waits(&bench, PlanningOptions::default()).await;
    decide(&bench, &id, ApprovalAnswer::Deny("say b".to_owned())).await.unwrap();
    bench.app.resume(resume(&run_id)).await.unwrap();
    let asked = model.asked();
    for told in [
        "rejected it and says:\n> say b",
        "The check finds this in the program as it is:",
        "- line 2, `plan_result_unused` (advice): ",
        "2 |   local made = transform_data(1",
    ] {
        assert!(asked[1].contains(told), "{told}: {}", asked[1]);
    }
    assert_ne!(request_of(&bench, &run_id).await, id, "the new plan waits in turn");
}
