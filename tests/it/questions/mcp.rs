//! A person at the client of an assistant is asked, over both forms of the protocol; else the assistant passes the
//! person's answer on.

use serde_json::json;

use super::ASKS;
use crate::approvals::POLICY;
use crate::mcp::asks::{Desk, Person, says};
use crate::mcp::{done, refused, rests};

#[tokio::test(flavor = "multi_thread")]
async fn the_person_is_asked_and_the_call_is_answered_with_the_end() {
    for modern in [false, true] {
        let desk = Desk::of(vec![says(json!({ "answer": "June" }))], modern).await;
        let outcome = done(desk.call("run_lua", json!({ "program": ASKS })).await);
        assert_eq!(outcome["result"], json!({ "month": "June" }), "{modern}: {outcome}");
        let questions = desk.questions();
        assert_eq!(questions.len(), 1, "{modern}");
        let (message, form) = &questions[0];
        assert!(message.contains("Which month?"), "{modern}: {message}");
        assert_eq!(form["properties"]["answer"]["enum"], json!(["May", "June"]), "{form}");
        let audit = done(desk.call("audit", json!({ "event": "question_answered" })).await);
        assert_eq!(
            (&audit["records"][0]["answer"], &audit["records"][0]["by"]),
            (&json!("June"), &json!("local"))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_answer_leaves_the_run_waiting_and_the_answer_can_come_by_a_tool() {
    let useless = says(json!({ "answer": "July" }));
    let desk = Desk::of(vec![useless], false).await;
    let (code, data) = rests(desk.call("run_lua", json!({ "program": ASKS })).await);
    assert_eq!(code, "answer_required", "{data}");
    assert!(data["error"]["help"].as_str().unwrap().contains("`answer_question`"), "{data}");
    let run_id = data["run_id"].clone();
    let status = done(desk.call("run_status", json!({ "run_id": run_id })).await);
    assert_eq!(status["paused"]["questions"][0]["question"], "Which month?", "{status}");
    let (code, _) = refused(desk.call("resume_run", json!({ "run_id": run_id })).await);
    assert_eq!(code, "answer_required");
    let wrong = json!({ "run_id": run_id, "answer": "July" });
    assert_eq!(refused(desk.call("answer_question", wrong).await).0, "bad_request");
    let wrong = json!({ "run_id": run_id, "call_id": "2", "answer": "May" });
    assert_eq!(refused(desk.call("answer_question", wrong).await).0, "not_found");
    let right = json!({ "run_id": run_id, "answer": "May" });
    let outcome = done(desk.call("answer_question", right.clone()).await);
    assert_eq!(outcome["result"], json!({ "month": "May" }), "{outcome}");
    assert_eq!(refused(desk.call("answer_question", right).await).0, "answer_stale");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_shows_no_forms_is_told_what_to_do() {
    let desk = Desk::with(Person::default(), POLICY, false).await;
    let (code, data) = rests(desk.call("run_lua", json!({ "program": ASKS })).await);
    assert_eq!(code, "answer_required", "{data}");
    assert!(desk.questions().is_empty());
}
