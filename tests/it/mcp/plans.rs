//! An assistant's task whose plan a person at its client confirms.

use std::sync::{Arc, Mutex};

use rmcp::model::{ElicitResult, ElicitationAction};
use serde_json::json;

use super::asks::{Desk, Person, says};
use super::{done, refused, rests};
use crate::cli::model_answer;
use crate::confirmation::plan;
use crate::llm::server::Server;

async fn desk(plans: &[String], answers: Vec<ElicitResult>, modern: bool, can_ask: bool) -> (Desk, Server) {
    let server = Server::start(plans.iter().map(|plan| model_answer(plan))).await;
    let base_url = format!("llm.base_url={}", server.base_url());
    let settings = ["llm.provider=openai".to_owned(), "llm.model=m".to_owned(), base_url];
    let person = Person { can_ask, answers: Arc::new(Mutex::new(answers)), ..Person::default() };
    (Desk::serving(person, "version = 1\n", modern, &settings).await, server)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_person_at_the_client_confirms_a_plan_or_has_it_planned_anew() {
    for modern in [false, true] {
        let answers = vec![
            says(json!({ "decision": "deny", "reason": "two, please" })),
            says(json!({ "decision": "once" })),
        ];
        let (desk, _server) = desk(&[plan(1), plan(2)], answers, modern, true).await;
        let mut outcome = desk.call("task", json!({ "task": "Answer.", "approve": true })).await;
        if outcome.is_error == Some(true) {
            // A client that calls again with its answers is asked once for each call.
            let (code, data) = refused(outcome);
            assert_eq!((code.as_str(), modern), ("approval_required", true), "{data}");
            outcome = desk.call("resume_run", json!({ "run_id": data["run_id"] })).await;
        }
        let outcome = done(outcome);
        assert_eq!(outcome["result"], json!({ "answer": 2 }), "{modern}: {outcome}");
        let questions = desk.questions();
        assert_eq!(questions.len(), 2, "{modern}");
        let (message, form) = &questions[0];
        for part in
            ["May this program run?", "Task: Answer.", "not checked", "What it would do", "answer = 1"]
        {
            assert!(message.contains(part), "{modern} {part}: {message}");
        }
        assert_eq!(form["properties"]["decision"]["enum"], json!(["once", "deny"]), "{form}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_nobody_was_asked_about_waits_and_a_run_is_followed() {
    let uses = "function run(context)\n  return { answer = context.a }\nend".to_owned();
    let declined = ElicitResult::new(ElicitationAction::Decline);
    let (desk, _server) = desk(&[plan(1), plan(1), uses], vec![declined], false, true).await;
    let (code, data) = rests(desk.call("task", json!({ "task": "Answer.", "approve": true })).await);
    assert_eq!((code.as_str(), &data["status"]), ("approval_required", &json!("paused")), "{data}");
    let waits = done(desk.call("list_approvals", json!({ "run_id": data["run_id"] })).await);
    let request = &waits["approvals"][0];
    assert_eq!(
        (&request["call_id"], &request["arguments"]["plan"]),
        (&json!("plan"), &json!(plan(1))),
        "{waits}"
    );
    let first = done(desk.call("task", json!({ "task": "Answer.", "context": { "a": 7 } })).await);
    let followed = json!({ "task": "Answer with a.", "follow": first["run_id"] });
    let followed = done(desk.call("task", followed).await);
    assert_eq!(followed["result"], json!({ "answer": 7 }), "{followed}");
    let absent = json!({ "task": "x", "follow": "0192b1c4-0000-7000-8000-000000000000" });
    assert_eq!(refused(desk.call("task", absent).await).0, "not_found");
}
