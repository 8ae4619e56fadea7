//! A person confirms the plan of a task before anything of it runs, and a task changes an earlier plan. Real service, real
//! processes, a real terminal; the model's replies are recorded.

mod decided;
mod keys;
mod killed;
mod refined;
mod samples;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(unix)]
mod tested;
mod writes;

use std::sync::Arc;

use luaplan::llm::{RecordedClient, RecordedReply};
use serde_json::{Value as Json, json};

use crate::http_support::{Client, Service};

/// Returns a number of its own and calls nothing.
pub(crate) fn plan(number: u32) -> String {
    format!("function run(context)\n  return {{ answer = {number} }}\nend\n")
}

/// A reply with a plan, for a request that holds `matches`.
fn reply(matches: Option<&str>, source: &str) -> RecordedReply {
    let text = json!({ "plan": source, "explanation": "It answers with a number." }).to_string();
    RecordedReply { matches: matches.map(str::to_owned), text }
}

fn model(replies: Vec<RecordedReply>) -> Arc<RecordedClient> {
    Arc::new(RecordedClient::new("recorded", replies))
}

async fn service(settings: &[(&str, &str)], replies: Vec<RecordedReply>) -> Service {
    Service::with(settings, Some(model(replies))).await
}

/// Starts a task whose plan is to be approved; the outcome of the run, which waits.
async fn waits(client: &Client, more: &Json) -> Json {
    let mut body = json!({ "task": "Answer with a number.", "approve": true });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let answer = client.post("/v1/tasks?wait=25s", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let outcome = answer.json();
    let code = &outcome["error"]["code"];
    assert_eq!((&outcome["status"], code), (&json!("paused"), &json!("approval_required")), "{outcome}");
    outcome
}

/// The only request of a run that waits.
async fn asked(client: &Client, run_id: &str) -> Json {
    let listed = client.get(&format!("/v1/approvals?run={run_id}")).await.json();
    let approvals = listed["approvals"].as_array().unwrap();
    assert_eq!(approvals.len(), 1, "{listed}");
    approvals[0].clone()
}

fn path_of(request: &Json) -> String {
    format!("/v1/approvals/{}", request["approval_id"].as_str().unwrap())
}

/// Decides about the only request of a run.
async fn decide(client: &Client, run_id: &str, body: &Json) -> Json {
    let request = asked(client, run_id).await;
    let answer = client.post(&path_of(&request), body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

fn id_of(outcome: &Json) -> String {
    outcome["run_id"].as_str().unwrap().to_owned()
}

/// The names of a run's events, in order.
async fn events(service: &Service, run_id: &str) -> Vec<&'static str> {
    service.records(run_id).await.iter().map(|record| record.event.body.name()).collect()
}
