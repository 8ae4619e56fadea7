//! What was taken out of a run is marked on its record. Data that merely holds the text that stands for a secret is
//! data; a run that did hold a secret says so at that moment, and ends where it would have to be woken.

use std::sync::Arc;

use luaplan::app::{ActiveRuns, ApprovalAnswer, ReplayRequest};
use luaplan::base::{ErrorCode, RunId, SpanId, SystemRandomness, TraceId};
use luaplan::journal::{Durability, Event, EventBody, JournalWrite as _, RunStatus};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::resume_request;
use crate::approvals::{Governed, POLICY};
use crate::support::value;

/// Reads a word, does what takes the run off its VM, and gives the word back.
fn plan(word: &str, then: &str) -> String {
    format!(
        "function run(context)\n  local rows = query_db{{ sql = \"select {word} as word\" }}\n  {then}\n  \
         return {{ word = rows[1].word, note = context.note }}\nend"
    )
}

const SECRET: &str = "hush-hush-9f3a";
const SECRET_IN_PARTS: &str = "'hush' || '-hush-9f3a'";
const MAIL: &str =
    "local sent = send_email('admin@company.com', 's', 'x') if sent.error then error(sent.error) end";

async fn run(governed: &Governed, source: &str, context: Json) -> luaplan::engine::RunOutcome {
    governed.bench.run_with(source, Some(value(context)), governed.bench.limits()).await
}

#[tokio::test]
async fn a_run_whose_data_holds_the_text_resumes_sleeps_and_replays() {
    let governed = Governed::with_secret(POLICY, SECRET).await;
    let app = &governed.bench.app;
    for then in [MAIL, "sleep(4)"] {
        let context = json!({ "note": "a page says [redacted]" });
        let mut outcome = run(&governed, &plan("'[redacted]'", then), context).await;
        let run_id = outcome.run_id.clone();
        if then == MAIL {
            assert_eq!(outcome.status(), RunStatus::Paused, "{outcome:?}");
            governed.decide(&run_id, ApprovalAnswer::Once).await;
            outcome = governed.resume(&run_id).await;
        }
        assert_eq!(outcome.not_resumable, None);
        let result = outcome.result.unwrap().to_json();
        assert_eq!(result, json!({ "word": "[redacted]", "note": "a page says [redacted]" }));
        let events = governed.bench.events(&run_id).await;
        assert!(!events.contains(&"run_not_resumable"), "{events:?}");
        let request = ReplayRequest { run_id, with: None, cancel: CancellationToken::new() };
        let report = app.runs().replay(request).await.unwrap();
        assert!(report.same, "{report:?}");
    }
}

#[tokio::test]
async fn a_run_that_held_a_secret_says_so_at_that_moment() {
    let governed = Governed::with_secret(POLICY, SECRET).await;
    let app = &governed.bench.app;
    let why = |what: &str| format!("{what}, which is not in the journal");
    let held = why("the result of call 1 of `query_db` held a secret");
    let began = why("a secret stood in the context it began with");
    let stands = why("a secret stands in its plan");
    let in_source = plan("'x'", &format!("local key = '{SECRET}' print(#key)"));
    for (source, note, reason, after) in [
        (plan(SECRET_IN_PARTS, ""), "n", held, "tool_call_finished"),
        (plan("'x'", ""), SECRET, began, "run_started"),
        (in_source, "n", stands, "plan_accepted"),
    ] {
        let outcome = run(&governed, &source, json!({ "note": note })).await;
        assert_eq!(outcome.not_resumable.as_deref(), Some(reason.as_str()), "{outcome:?}");
        let json = outcome.to_json();
        assert_eq!(json["status"], "succeeded", "{json}");
        assert_eq!(json["not_resumable"], json!({ "code": "run_not_resumable", "reason": reason }));
        let events = governed.bench.events(&outcome.run_id).await;
        let place = events.iter().position(|name| *name == "run_not_resumable").unwrap();
        assert_eq!(events[place - 1], after, "{events:?}");
        assert_eq!(events.iter().filter(|name| **name == "run_not_resumable").count(), 1);
        let state = governed.state(&outcome.run_id).await;
        assert_eq!(state.not_resumable, Some(reason));
        let request = ReplayRequest { run_id: outcome.run_id, with: None, cancel: CancellationToken::new() };
        assert_eq!(app.runs().replay(request).await.unwrap_err().code(), ErrorCode::RunNotResumable);
    }
}

#[tokio::test]
async fn a_run_that_held_a_secret_ends_where_it_would_sleep() {
    let governed = Governed::with_secret(POLICY, SECRET).await;
    let outcome = run(&governed, &plan(SECRET_IN_PARTS, "sleep(3600)"), json!({})).await;
    let error = outcome.error().unwrap();
    assert_eq!((outcome.status(), error.code()), (RunStatus::Failed, ErrorCode::RunNotResumable));
    assert!(
        error.message().contains("cannot sleep") && error.message().contains("call 1 of `query_db`"),
        "{error}"
    );
    assert!(error.help().contains(&format!("luaplan show {}", outcome.run_id)), "{}", error.help());
    let state = governed.state(&outcome.run_id).await;
    assert_eq!((state.status, state.code), (RunStatus::Failed, Some(ErrorCode::RunNotResumable.into())));
}

/// A run that fell asleep under a program that let it.
async fn asleep(governed: &Governed) -> RunId {
    let run_id = RunId::generate();
    let wake_at = governed.bench.app.history().now();
    let bodies = [
        json!({ "event": "run_started", "task": null, "plan_hash": null, "plan_name": "p", "version": "0",
            "context": { "note": "[redacted]" }, "limits": {}, "tenant": "local" }),
        json!({ "event": "run_sleeping", "wake_at": wake_at }),
    ];
    for body in bodies {
        let body: EventBody = serde_json::from_value(body).unwrap();
        let redacted = match &body {
            EventBody::RunStarted { .. } => vec!["/context/note".to_owned()],
            _ => Vec::new(),
        };
        let event = Event {
            run_id: run_id.clone(),
            trace_id: TraceId::generate(&SystemRandomness),
            span_id: SpanId::generate(&SystemRandomness),
            at: wake_at,
            candidate: None,
            redacted,
            body,
        };
        governed.bench.app.journal().append(event, Durability::Forced).await.unwrap();
    }
    run_id
}

#[tokio::test]
async fn a_sleeping_run_that_cannot_go_on_ends_with_its_reason() {
    let governed = Governed::with_secret(POLICY, SECRET).await;
    let resumed = asleep(&governed).await;
    let refused = governed.bench.app.resume(resume_request(&resumed)).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::RunNotResumable);
    let woken = asleep(&governed).await;
    let runs = Arc::new(ActiveRuns::new(Arc::new(governed.bench.app.clone())));
    assert_eq!(runs.wake_recorded().await.unwrap(), 1);
    for run_id in [resumed, woken] {
        let mut state = governed.state(&run_id).await;
        for _ in 0..500 {
            if state.ended_at.is_some() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            state = governed.state(&run_id).await;
        }
        assert_eq!((state.status, state.code), (RunStatus::Failed, Some(ErrorCode::RunNotResumable.into())));
        let said = state.error.unwrap()["message"].as_str().unwrap().to_owned();
        assert!(
            said.contains("it slept and cannot be woken") && said.contains("secret in its context"),
            "{said}"
        );
    }
}
