//! What happens before what.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use luaplan::base::ErrorCode;
use luaplan::journal::{RunState, neutralize};

use super::tools::{Does, Probe, spec};
use super::*;

#[tokio::test]
async fn the_intent_is_in_the_file_before_the_tool_runs() {
    let world = World::new().await;
    let path = world.dir.path();
    let world = world
        .with(Probe::new(spec("put", "effect = \"write\""), Does::ReadJournal(path.clone())))
        .with(Probe::new(spec("post", "effect = \"send\""), Does::ReadJournal(path)));
    let bus = world.bus();
    let one = bus.answer(vec![call(1, "put", vec![])]).await.unwrap();
    let two = bus.answer(vec![call(2, "post", vec![])]).await.unwrap();
    let (one, two) = (one[0].as_ref().unwrap(), two[0].as_ref().unwrap());
    assert_ne!(one, two, "each call has its own idempotency key");
    assert_eq!(
        world.story().await,
        ["tool_call_started 1", "tool_call_finished 1", "tool_call_started 2", "tool_call_finished 2"]
    );
}

#[tokio::test]
async fn sixty_four_calls_run_at_once_and_keep_their_ids_and_their_order() {
    let echo = Probe::new(spec("echo", "effect = \"read\"\nconcurrency = 64"), Does::Echo);
    let seen = Arc::clone(&echo.seen);
    let world = World::new().await.with(echo);
    let outcomes = world.answer(batch("echo", 64)).await.unwrap();
    for (outcome, number) in outcomes.into_iter().zip(1i64..) {
        assert_eq!(outcome.unwrap(), Value::from(number));
    }
    assert!(seen.most_at_once.load(Ordering::SeqCst) > 8);
    let started: Vec<String> = world
        .events()
        .await
        .iter()
        .filter(|body| body.name() == "tool_call_started")
        .map(|body| body.call_id().unwrap().to_string())
        .collect();
    assert_eq!(started, (1..=64).map(|number| format!("1.{number}")).collect::<Vec<_>>());
    let records = world.journal.records(RecordFilter::default()).await.unwrap();
    let state = RunState::fold(&records).unwrap();
    assert_eq!(state.calls.len(), 64);
    assert_eq!(state.calls_in_doubt().count(), 0);
    for (call, number) in state.calls.iter().zip(1i64..) {
        assert_eq!(call.end.as_ref().unwrap().result, Some(number.into()));
        assert_eq!(call.line, Some(7));
    }
}

#[tokio::test]
async fn a_batch_larger_than_a_tools_slots_waits_for_itself() {
    let echo = Probe::new(spec("echo", "effect = \"read\"\nconcurrency = 3"), Does::Echo);
    let seen = Arc::clone(&echo.seen);
    let mut world = World::new().await.with(echo);
    world.limiter.max_wait = Some(Duration::ZERO);
    let outcomes = world.answer(batch("echo", 12)).await.unwrap();
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(seen.most_at_once.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn refused_calls_are_journaled_with_their_reason_and_never_reach_the_tool() {
    let tools = [("look", "read"), ("post", "send")].map(|(name, effect)| {
        let mut spec = spec(name, &format!("effect = \"{effect}\""));
        (spec.rate, spec.burst) = ("1/h".parse().unwrap(), 1);
        Probe::new(spec, Does::Echo)
    });
    let seen = tools.each_ref().map(|tool| Arc::clone(&tool.seen));
    let [look, post] = tools;
    let mut world = World::new().await.with(look).with(post);
    world.policy = Policy::read_only();
    let calls = vec![
        call(1, "lok", vec![]),
        call(2, "look", vec![true.into()]),
        call(3, "post", vec![1.into()]),
        call(4, "look", vec![70.into()]),
        call(5, "look", vec![70.into()]),
    ];
    let outcomes = world.answer(calls).await.unwrap();
    assert_eq!(outcomes[3].as_ref().unwrap(), &Value::from(70));
    let codes: Vec<_> = [0, 1, 2, 4].iter().map(|at| code(&outcomes[*at])).collect();
    assert_eq!(codes, ["tool_unknown", "bad_arguments", "permission_denied", "rate_limited"]);
    let [look, post] = seen.map(|seen| seen.calls.load(Ordering::SeqCst));
    assert_eq!((look, post), (1, 0));
    let refused: Vec<String> =
        world.story().await.into_iter().filter(|line| line.starts_with("tool_call_refused")).collect();
    assert_eq!(
        refused,
        [
            "tool_call_refused 1 tool_unknown",
            "tool_call_refused 2 bad_arguments",
            "tool_call_refused 3 permission_denied",
            "tool_call_refused 5 rate_limited"
        ]
    );
    for body in world.events().await {
        if let EventBody::ToolCallRefused { error, .. } = body {
            let text = error["error"].as_str().unwrap();
            assert_eq!(neutralize(text), text);
            assert!(error["retryable"].is_boolean());
        }
    }
}

#[tokio::test]
async fn secrets_reach_the_tool_and_neither_journal_nor_its_file() {
    let mut world = World::new()
        .await
        .with(Probe::new(spec("echo", "effect = \"read\""), Does::Echo))
        .with(Probe::new(spec("fail", "effect = \"read\""), Does::Fail("no: smtp://u:hunter2@h".into())));
    world.secrets = vec!["key-123456".into()];
    let named = Value::from_iter([("n", "key-123456"), ("password", "open sesame")]);
    let outcomes = world.answer(vec![call(1, "echo", vec![named]), call(2, "fail", vec![])]).await.unwrap();
    assert_eq!(outcomes[0].as_ref().unwrap(), &Value::from("key-123456"));
    assert_eq!(code(&outcomes[1]), ErrorCode::ToolFailed.as_str());
    for body in world.events().await {
        if let EventBody::ToolCallStarted { arguments, arguments_hash, .. } = body {
            let hash = luaplan::base::ContentHash::of(arguments.to_string().as_bytes());
            assert_eq!(arguments_hash, hash, "the hash is of what is recorded");
        }
    }
    world.journal.close().await;
    let file = std::fs::read(world.dir.path()).unwrap();
    let text = String::from_utf8_lossy(&file);
    for secret in ["key-123456", "open sesame", "hunter2"] {
        assert!(!text.contains(secret), "{secret}");
    }
    assert!(text.contains("[redacted]"));
}
