//! The service is killed while an autonomous run is judged, and between that and its next plan.

use std::path::Path;

use serde_json::json;

use super::{count, iterations, verdict};
use crate::cli::{model_answer, model_said};
use crate::http_binary::{Process, serve};
use crate::http_support::{open, records, until};
use crate::llm::server::{Answer, Server};

async fn serving(folder: &Path, model: &Server) -> Process {
    let base_url = format!("llm.base_url={}", model.base_url());
    let mut command = serve(folder, &["llm.provider=openai", "llm.model=m", &base_url]);
    command.env("OPENAI_API_KEY", "k");
    Process::of(command).await
}

/// Waits until the model was asked so often, and kills the service with SIGKILL.
async fn killed_at(mut process: Process, model: &Server, asked: usize) {
    until(async || (model.asked().len() >= asked).then_some(())).await;
    process.child.kill().await.unwrap();
}

/// A plan with one call on record.
fn plan(number: u32) -> String {
    format!(
        "function run(context)\n  return {{ n = must(transform_data({number}, \"{{{{ input }}}}\", \"text\"), \"n\") }}\nend\n"
    )
}

async fn begin(process: &Process) -> String {
    let body = json!({ "task": "Count to two.", "mode": "autonomous", "max_iterations": 4 });
    let begun = process.client.post("/v1/tasks", &body).await;
    assert_eq!(begun.status, 202, "{}", begun.text);
    begun.json()["run_id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_killed_after_its_judgement_goes_on_with_the_next_iteration() {
    let folder = tempfile::tempdir().unwrap();
    let model = Server::start([
        model_answer(&plan(1)),
        model_said(&verdict(false, "that is one")),
        Answer::silent(),
        model_answer(&plan(2)),
        Answer::silent(),
        model_said(&verdict(true, "that is two")),
    ])
    .await;
    let process = serving(folder.path(), &model).await;
    let run_id = begin(&process).await;
    // The next plan is asked for: the judgement is on record.
    killed_at(process, &model, 3).await;
    let process = serving(folder.path(), &model).await;
    // The judge of the second plan is asked.
    killed_at(process, &model, 5).await;
    let process = serving(folder.path(), &model).await;
    let ended = process.client.until_ended(&run_id).await;
    assert_eq!((&ended["status"], &ended["result"]), (&json!("succeeded"), &json!({ "n": "2" })), "{ended}");
    assert_eq!(model.asked().len(), 6, "what was judged is not judged again");
    let mut process = process;
    process.child.kill().await.unwrap();

    let app = open(folder.path(), &[], None).await;
    let records = records(&app, &run_id).await;
    let numbers: Vec<(u32, Option<bool>)> = iterations(&records)
        .into_iter()
        .map(|(number, _, said)| (number, said.map(|(done, _)| done)))
        .collect();
    assert_eq!(numbers, [(1, None), (1, Some(false)), (2, None), (2, Some(true))]);
    assert_eq!(count(&records, "tool_call_started"), 2, "no call was made again");
    let last = serde_json::to_value(&records.last().unwrap().event).unwrap();
    assert_eq!(last["iterations"], 2, "{last}");
    assert!(app.journal().verify().await.unwrap().ok);
}
