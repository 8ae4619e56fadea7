//! How calls and runs end when things go wrong.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use luaplan::base::ErrorCode;
use luaplan::journal::SqliteJournal;

use super::tools::{Does, Probe, spec};
use super::*;

#[tokio::test]
async fn a_tool_that_does_not_answer_is_stopped_at_its_timeout() {
    let looking = Probe::new(spec("look", "effect = \"read\"\ntimeout = \"30ms\""), Does::Hang);
    let seen = Arc::clone(&looking.seen);
    let world = World::new()
        .await
        .with(looking)
        .with(Probe::new(spec("post", "effect = \"send\"\ntimeout = \"30ms\""), Does::Hang))
        .with(Probe::new(
            spec("put", "effect = \"write\"\nidempotent = true\ntimeout = \"30ms\""),
            Does::Hang,
        ));
    let calls = vec![call(1, "look", vec![]), call(2, "post", vec![]), call(3, "put", vec![])];
    let outcomes = world.answer(calls).await.unwrap();
    let failures: Vec<_> = outcomes.iter().map(|outcome| outcome.as_ref().unwrap_err()).collect();
    assert!(failures.iter().all(|failure| failure.code == "tool_timeout"));
    assert!(failures[0].message.contains("30 ms"), "{}", failures[0].message);
    assert_eq!(failures.iter().map(|failure| failure.retryable).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(seen.stopped.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_tool_that_panics_is_a_failed_call_and_nothing_more() {
    let world = World::new()
        .await
        .with(Probe::new(spec("breaks", "effect = \"read\""), Does::Panic))
        .with(Probe::new(spec("echo", "effect = \"read\""), Does::Echo));
    let calls = vec![call(1, "breaks", vec![]), call(2, "echo", vec![60.into()])];
    let outcomes = world.answer(calls).await.unwrap();
    assert_eq!(code(&outcomes[0]), "tool_failed");
    assert_eq!(outcomes[1].as_ref().unwrap(), &Value::from(60));
    assert!(world.story().await.contains(&"tool_call_finished 1 tool_failed".to_owned()));
}

#[tokio::test]
async fn a_result_over_the_cap_is_a_failure_with_both_numbers_and_is_not_kept() {
    let world = World::new().await.with(Probe::new(spec("big", "effect = \"read\""), Does::Bytes(2 << 20)));
    let outcomes = world.answer(vec![call(1, "big", vec![])]).await.unwrap();
    assert_eq!(code(&outcomes[0]), "result_too_large");
    let details = &outcomes[0].as_ref().unwrap_err().details;
    assert_eq!(details["limit"], Value::from(1 << 20));
    assert_eq!(details["observed"], Value::from((2 << 20) + 8));
    world.journal.close().await;
    assert!(std::fs::metadata(world.dir.path()).unwrap().len() < 1 << 20);
}

#[tokio::test]
async fn results_over_the_runs_budget_end_the_run() {
    let world = World::new()
        .await
        .with(Probe::new(spec("big", "effect = \"read\""), Does::Bytes(600)))
        .with(Probe::new(spec("hang", "effect = \"read\""), Does::Hang))
        .limit(LimitName::ResultBytes, "1000");
    let bus = world.bus();
    bus.answer(vec![call(1, "big", vec![])]).await.unwrap();
    let error = bus.answer(vec![call(2, "hang", vec![]), call(3, "big", vec![])]).await.unwrap_err();
    let error = error.failure().unwrap();
    assert_eq!(error.code(), ErrorCode::LimitResultBytes);
    assert_eq!((error.limit(), error.observed()), (Some(&1000.into()), Some(&1216.into())));
    let story = world.story().await;
    assert_eq!(story[4..], ["tool_call_finished 3", "tool_call_finished 2 call_cut"]);
}

#[tokio::test]
async fn a_limit_a_tool_ran_into_ends_the_run_whatever_the_tool_answers() {
    let world = World::new()
        .await
        .with(Probe::new(spec("ask", "effect = \"spend\""), Does::SpendTokens(60)))
        .limit(LimitName::LlmTokens, "100");
    let bus = world.bus();
    assert_eq!(bus.answer(vec![call(1, "ask", vec![])]).await.unwrap(), [Ok(true.into())]);
    let error = bus.answer(vec![call(2, "ask", vec![])]).await.unwrap_err();
    let error = error.failure().unwrap();
    assert_eq!(error.code(), ErrorCode::LimitLlmTokens);
    assert_eq!((error.limit(), error.observed()), (Some(&100.into()), Some(&120.into())));
    assert_eq!(world.story().await.last().unwrap(), "tool_call_finished 2");
}

#[tokio::test]
async fn more_calls_than_the_budget_has_end_the_run_before_any_is_made() {
    let echo = Probe::new(spec("echo", "effect = \"read\""), Does::Echo);
    let seen = Arc::clone(&echo.seen);
    let world = World::new().await.with(echo).limit(LimitName::ToolCalls, "3");
    let error = world.answer(batch("echo", 4)).await.unwrap_err();
    let error = error.failure().unwrap();
    assert_eq!(error.code(), ErrorCode::LimitToolCalls);
    assert_eq!((error.limit(), error.observed()), (Some(&3.into()), Some(&4.into())));
    assert_eq!(seen.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_cancelled_run_stops_its_calls_and_journals_that_they_were_cut() {
    let hang = Probe::new(spec("hang", "effect = \"send\"\nconcurrency = 2"), Does::Hang);
    let seen = Arc::clone(&hang.seen);
    let world = World::new().await.with(hang);
    let cancellation = world.cancellation.clone();
    let answered = tokio::join!(world.answer(batch("hang", 3)), async {
        while seen.calls.load(Ordering::SeqCst) < 2 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        cancellation.cancel();
    });
    assert_eq!(answered.0.unwrap_err().code(), ErrorCode::Cancelled);
    assert_eq!(seen.stopped.load(Ordering::SeqCst), 2);
    let mut story = world.story().await;
    story[2..].sort();
    assert_eq!(
        story,
        [
            "tool_call_started 1.1",
            "tool_call_started 1.2",
            "tool_call_finished 1.1 call_cut",
            "tool_call_finished 1.2 call_cut"
        ]
    );
    let late = world.answer(vec![call(9, "hang", vec![])]).await.unwrap_err();
    assert_eq!(late.code(), ErrorCode::Cancelled);
    assert_eq!(seen.calls.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_journal_that_fails_ends_the_run_before_anything_changes_the_world() {
    let world = World::new().await;
    let closes = Probe::new(
        spec("close", "effect = \"read\"\nconcurrency = 1"),
        Does::CloseJournal(Arc::clone(&world.journal)),
    );
    let echo = Probe::new(spec("echo", "effect = \"send\""), Does::Echo);
    let seen = Arc::clone(&echo.seen);
    let world = world.with(closes).with(echo);
    let bus = world.bus();
    // Nobody waits for the record of a read, so its loss shows at the next that is waited for.
    bus.answer(vec![call(1, "close", vec![])]).await.unwrap();
    for sequence in 2..4 {
        let error = bus.answer(vec![call(sequence, "echo", vec![])]).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::JournalUnavailable);
    }
    assert_eq!(seen.calls.load(Ordering::SeqCst), 0);
    let journal = SqliteJournal::open_read_only(&world.dir.path()).await.unwrap();
    assert!(journal.verify().await.unwrap().ok);
    assert!(journal.records(RecordFilter::default()).await.unwrap().len() <= 1);
}
