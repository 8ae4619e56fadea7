//! The model asks before it plans: a person answers, and the answer is part of the task.

use std::process::Stdio;
use std::sync::Arc;

use luaplan::app::{ReplayRequest, RunSpec, Work};
use luaplan::journal::EventBody;
use luaplan::llm::{LlmClient, RecordedClient, RecordedReply};
use serde_json::{Value as Json, json};

use super::*;
use crate::app_parts::Bench;
use crate::http_support::{Client, Service, until};
use crate::llm::server::{Answer, Server};

const TASK: &str = "Report the sales.";

fn asks() -> Json {
    json!({ "plan": null, "explanation": null, "question": "Of which month?", "choices": ["May", "June"] })
}

fn plans(month: &str) -> Json {
    json!({ "plan": format!("function run() return '{month}' end"), "explanation": "It names the month." })
}

/// A model with these answers; one with `match` waits for a request that holds it.
fn model(replies: &[(Option<&str>, Json)]) -> Arc<dyn LlmClient> {
    let replies = replies
        .iter()
        .map(|(wanted, text)| RecordedReply { matches: wanted.map(str::to_owned), text: text.to_string() });
    Arc::new(RecordedClient::new("recorded", replies.collect()))
}

fn task(bench: &Bench) -> RunSpec {
    bench.request(Work::Task(TASK.to_owned()))
}

#[tokio::test]
async fn the_question_of_the_model_suspends_the_run_and_the_answer_goes_into_its_next_prompt() {
    let llm = model(&[(None, asks()), (Some("> June"), plans("June"))]);
    let bench = Bench::with(&[], Some(llm)).await;
    let outcome = bench.app.run(task(&bench)).await;
    assert_waits(&outcome);
    let error = outcome.error().unwrap();
    assert!(error.message().contains("Of which month?"), "{error}");
    assert!(error.help().contains(&format!("luaplan answer {} ask ", outcome.run_id)), "{}", error.help());
    let run_id = outcome.run_id;
    // Resumed without an answer no model is asked again.
    assert_waits(&bench.app.resume(resume_request(&run_id)).await.unwrap());
    let refused = answer(&bench.app, &run_id, "ask", "July", "ann").await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::BadRequest);
    answer(&bench.app, &run_id, "ask", "June", "ann").await.unwrap();
    let done = bench.app.resume(resume_request(&run_id)).await.unwrap();
    assert_eq!(done.result.unwrap().to_json(), "June");
    let events = bench.events(&run_id).await;
    for (name, count) in [("question_asked", 1), ("question_answered", 1), ("llm_request_sent", 2)] {
        assert_eq!(events.iter().filter(|event| **event == name).count(), count, "{name}: {events:?}");
    }
    let request = ReplayRequest { run_id, with: None, cancel: CancellationToken::new() };
    assert!(bench.app.runs().replay(request).await.unwrap().same);
    assert!(bench.app.journal().verify().await.unwrap().ok);
}

/// After three questions the model must plan; where it asks again, the task ends as it did before.
#[tokio::test]
async fn after_three_questions_the_task_ends_with_the_question() {
    let question = |number: usize| json!({ "question": format!("Question {number}?") });
    let replies: Vec<(Option<&str>, Json)> = (1..=5).map(|number| (None, question(number))).collect();
    let bench = Bench::with(&[], Some(model(&replies))).await;
    let mut outcome = bench.app.run(task(&bench)).await;
    let run_id = outcome.run_id.clone();
    for call in ["ask", "ask.2", "ask.3"] {
        assert_waits(&outcome);
        answer(&bench.app, &run_id, call, "because", "ann").await.unwrap();
        outcome = bench.app.resume(resume_request(&run_id)).await.unwrap();
    }
    let error = outcome.error().unwrap();
    assert_eq!(error.code(), ErrorCode::LlmAsked, "{error}");
    assert_eq!(error.details()["question"], "Question 5?");
    let sent = bench.records(&run_id).await;
    assert_eq!(sent.iter().filter(|record| record.event.body.name() == "llm_request_sent").count(), 5);
}

/// Nobody answers a plan that is only wanted, several candidates, or an agent.
#[tokio::test]
async fn where_nobody_can_answer_the_model_is_told_to_plan() {
    let candidates = [("planner.candidates", "2")];
    for settings in [&candidates[..], &[]] {
        let llm = model(&[(None, asks()), (None, asks()), (None, plans("May")), (None, plans("May"))]);
        let bench = Bench::with(settings, Some(llm)).await;
        let source = match settings {
            [] => {
                bench.app.runs().propose(task(&bench)).await.map(|proposal| proposal.plan.source().to_owned())
            }
            _ => bench
                .app
                .run(task(&bench))
                .await
                .result
                .map(|value| value.to_json().to_string())
                .map_err(|why| why.into_error(&RunId::generate())),
        };
        match settings {
            // Asked twice, the question is handed on.
            [] => assert_eq!(source.unwrap_err().code(), ErrorCode::LlmAsked),
            _ => assert_eq!(source.unwrap(), "\"May\""),
        }
    }
    let llm = model(&[(None, asks()), (None, asks())]);
    let settings = [("agents.helper", "{ task = \"Report the sales.\", tools = [] }")];
    let bench = Bench::with(&settings, Some(llm)).await;
    let source = "function run() local got = call_agent('helper') return got.error and got.code or got end";
    let outcome = bench.run(source).await;
    assert_eq!(outcome.result.unwrap().to_json(), "llm_asked");
}

/// An address that the person gave is not one that the model made up.
#[tokio::test]
async fn what_the_person_answers_is_part_of_the_task_for_the_check() {
    let ask = json!({ "question": "Whom shall I write to?" });
    let plan = "function run() local sent = send_email('ann@company.com', 's', 'b') return sent.error and sent.code end";
    let llm = model(&[(None, ask), (Some("ann@company.com"), json!({ "plan": plan, "explanation": "x" }))]);
    let bench = Bench::with(&[], Some(llm)).await;
    let outcome = bench.app.run(task(&bench)).await;
    let run_id = outcome.run_id.clone();
    answer(&bench.app, &run_id, "ask", "ann@company.com", "ann").await.unwrap();
    bench.app.resume(resume_request(&run_id)).await.unwrap();
    let checked = bench.records(&run_id).await.into_iter().find_map(|record| match record.event.body {
        EventBody::PlanChecked { findings, .. } => Some(findings),
        _ => None,
    });
    let codes = checked.unwrap().to_string();
    assert!(!codes.contains("plan_address_written"), "{codes}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_over_http_waits_for_the_answer() {
    let llm = model(&[(None, asks()), (Some("> May"), plans("May"))]);
    let service = Service::with(&[], Some(llm)).await;
    let paused = service.client.post("/v1/tasks?wait=25s", &json!({ "task": TASK })).await.json();
    assert_eq!(paused["error"]["code"], "answer_required", "{paused}");
    let run = paused["run_id"].as_str().unwrap();
    let open = service.client.get("/v1/questions").await.json();
    assert_eq!(
        (&open["questions"][0]["call_id"], &open["questions"][0]["task"]),
        (&json!("ask"), &json!(TASK))
    );
    let answered =
        service.client.post(&format!("/v1/questions/{run}:ask"), &json!({ "answer": "May" })).await;
    assert_eq!(answered.json()["run"], "resumed", "{}", answered.text);
    let ended = until(async || {
        let run = service.client.get(&format!("/v1/runs/{run}")).await.json();
        (run["status"] == "succeeded").then_some(run)
    })
    .await;
    assert_eq!(ended["result"], "May");
}

/// An answer of a model in OpenAI's protocol.
fn reply(text: &Json) -> Answer {
    let choice = json!({ "index": 0, "message": { "role": "assistant", "content": text.to_string() }, "finish_reason": "stop" });
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 });
    let body = json!({ "id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage });
    Answer::text("application/json", &body.to_string())
}

/// The real service, killed while a person thinks about what the model asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_killed_between_question_and_answer_plans_after_its_restart() {
    let llm = Server::start([reply(&asks()), reply(&plans("June"))]).await;
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        "server.listen=127.0.0.1:0".to_owned(),
        "llm.provider=openai".to_owned(),
        "llm.model=m".to_owned(),
        "llm.stream=false".to_owned(),
        format!("llm.base_url={}", llm.base_url()),
    ];
    let serve = async || {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_luaplan"));
        command.current_dir(folder.path()).env_clear().env("HOME", folder.path()).kill_on_drop(true);
        command.env("OPENAI_API_KEY", "key-of-the-model-4711").arg("serve");
        for setting in &settings {
            command.args(["--set", setting]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null());
        super::kills::listening(command).await
    };
    let (mut child, client): (_, Client) = serve().await;
    let paused = client.post("/v1/tasks?wait=25s", &json!({ "task": TASK })).await.json();
    assert_eq!(paused["error"]["code"], "answer_required", "{paused}");
    let run = paused["run_id"].as_str().unwrap().to_owned();
    child.kill().await.unwrap();
    let (_child, client) = serve().await;
    let answered = client.post(&format!("/v1/questions/{run}:ask"), &json!({ "answer": "June" })).await;
    assert_eq!(answered.status, 200, "{}", answered.text);
    let ended = until(async || {
        let run = client.get(&format!("/v1/runs/{run}")).await.json();
        (run["status"] == "succeeded").then_some(run)
    })
    .await;
    assert_eq!(ended["result"], "June");
    let asked = llm.asked();
    assert_eq!(asked.len(), 2, "the question was asked once");
    assert!(asked[1].body.to_string().contains("> June"), "{}", asked[1].body);
    assert!(asked[0].body.to_string().contains("cannot be planned without"), "{}", asked[0].body);
}
