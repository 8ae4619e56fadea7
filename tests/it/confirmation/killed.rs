//! The service is killed between the request and the decision.

use std::path::Path;

use serde_json::json;

use super::{asked, decide, id_of, plan, waits};
use crate::cli::model_answer;
use crate::http_binary::{Process, serve};
use crate::http_support::open;
use crate::llm::server::Server;

async fn serving(folder: &Path, model: &Server) -> Process {
    let base_url = format!("llm.base_url={}", model.base_url());
    let mut command = serve(folder, &["llm.provider=openai", "llm.model=m", &base_url]);
    command.env("OPENAI_API_KEY", "k");
    Process::of(command).await
}

async fn kill(mut process: Process) {
    process.child.kill().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_waits_survives_a_kill_and_is_not_planned_or_asked_about_again() {
    let folder = tempfile::tempdir().unwrap();
    let model = Server::start([model_answer(&plan(1)), model_answer(&plan(2))]).await;
    let process = serving(folder.path(), &model).await;
    let approved = id_of(&waits(&process.client, &json!({})).await);
    let rejected = id_of(&waits(&process.client, &json!({})).await);
    let first = asked(&process.client, &approved).await;
    kill(process).await;

    let process = serving(folder.path(), &model).await;
    assert_eq!(asked(&process.client, &approved).await, first, "the same request, asked once");
    decide(&process.client, &approved, &json!({ "decision": "once" })).await;
    let ended = process.client.until_ended(&approved).await;
    assert_eq!(ended["result"], json!({ "answer": 1 }), "{ended}");
    assert_eq!(model.asked().len(), 2, "no plan was asked for again");
    // A decision that no process went on by is gone on by with the next.
    let deny = json!({ "decision": "edit", "set": { "plan": plan(7) }, "resume": false });
    assert_eq!(decide(&process.client, &rejected, &deny).await["run"], "left");
    kill(process).await;
    let process = serving(folder.path(), &model).await;
    let resumed = process.client.post(&format!("/v1/runs/{rejected}/resume?wait=25s"), &json!({})).await;
    assert_eq!(resumed.json()["result"], json!({ "answer": 7 }), "{}", resumed.text);
    kill(process).await;

    let app = open(folder.path(), &[], None).await;
    assert!(app.journal().verify().await.unwrap().ok);
}
