//! The example programs that embed the crate do what they say.

use std::sync::{Arc, Mutex};

use luaplan::journal::{Event, EventListener};
use serde_json::json;

#[path = "../../examples/embed/own_tool.rs"]
#[expect(dead_code, reason = "its `main` is the program's")]
mod own_tool;
#[path = "../../examples/embed/run_plan.rs"]
#[expect(dead_code, reason = "its `main` is the program's")]
mod run_plan;
#[path = "../../examples/embed/step.rs"]
#[expect(dead_code, reason = "its `main` is the program's")]
mod step;

#[tokio::test(flavor = "multi_thread")]
async fn the_whole_application_runs_a_plan() {
    let folder = tempfile::tempdir().unwrap();
    let names = Arc::new(Mutex::new(Vec::new()));
    let kept = names.clone();
    let told: EventListener = Arc::new(move |event: &Event, _| kept.lock().unwrap().push(event.body.name()));
    let outcome = run_plan::example(folder.path(), told).await.unwrap();
    assert_eq!(outcome.result.unwrap().to_json(), json!({"page": "# Orders\n- Customer 1\n- Customer 2\n"}));
    let names = names.lock().unwrap();
    assert_eq!((names[0], names[names.len() - 1]), ("run_started", "run_finished"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_of_ones_own_is_called_through_the_bus() {
    let (outcome, events) = own_tool::example().await.unwrap();
    let expected = json!({"pieces": 12, "other": "there is no article `Z-9`", "code": "not_found"});
    assert_eq!(outcome.result.unwrap().to_json(), expected);
    assert_eq!(events, ["tool_call_started", "tool_call_finished"].repeat(2));
}

#[test]
fn a_plan_is_driven_by_hand() {
    let mut said = Vec::new();
    let stopped = step::example(&mut said).unwrap();
    assert_eq!(stopped.result.unwrap().to_json(), json!({"sum": 19.0}));
    assert_eq!(said, ["wants 1.1 price_of, 1.2 price_of"]);
}
