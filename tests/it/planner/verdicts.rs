//! The verdicts on candidates, where a run is looked at.

use std::sync::Arc;

use luaplan::app::{ActiveRuns, PlanningOptions, RunSpec, Work};
use luaplan::llm::{RecordedClient, RecordedReply};

use crate::app_parts::Bench;

/// However a run is looked up, its candidates were judged in the same words.
#[tokio::test]
async fn the_page_of_a_run_has_the_verdicts_of_its_outcome() {
    let answer = |number: u32| RecordedReply {
        matches: None,
        text:
            serde_json::json!({ "plan": format!("function run() return {number} end"), "explanation": "x" })
                .to_string(),
    };
    let model = Arc::new(RecordedClient::new("two", vec![answer(1), answer(2)]));
    let bench = Bench::with(&[], Some(model)).await;
    let planning = PlanningOptions { candidates: Some(2), ..PlanningOptions::default() };
    let request = RunSpec { planning, ..bench.request(Work::Task("write a number".to_owned())) };
    let outcome = bench.app.run(request).await;
    assert_eq!(outcome.candidates.len(), 2, "{outcome:?}");
    let report = ActiveRuns::new(Arc::new(bench.app.clone())).report(&outcome.run_id).await.unwrap();
    assert_eq!(report["candidates"].to_string(), serde_json::to_string(&outcome.candidates).unwrap());
}
