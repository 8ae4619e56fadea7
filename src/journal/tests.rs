//! The pure parts: chain, fold, neutral text, export, memory stores.

use jiff::Timestamp;
use serde_json::json;

use luaplan_base::{
    CallId, ContentHash, Effect, ErrorCode, RunId, SeededRandomness, SpanId, TraceId, Usage, Value,
};

use super::*;

fn run_id(last_digit: u8) -> RunId {
    format!("01890a5d-ac96-774b-bcce-b302099a805{last_digit}").parse().unwrap()
}

fn event(run: u8, second: i64, body: EventBody) -> Event {
    let randomness = SeededRandomness::new(1);
    Event {
        run_id: run_id(run),
        trace_id: TraceId::generate(&randomness),
        span_id: SpanId::generate(&randomness),
        at: Timestamp::from_second(second).unwrap(),
        candidate: None,
        redacted: Vec::new(),
        body,
    }
}

fn started(task: &str) -> EventBody {
    EventBody::RunStarted {
        task: Some(task.into()),
        plan_hash: None,
        plan_name: None,
        context: json!({"a": 1}),
        limits: json!({}),
        version: "0.1.0".into(),
        mocked: false,
        engine: None,
        isolation: None,
        context_name: None,
        owner: None,
        tenant: None,
        mode: None,
        parent_run_id: None,
        parent_call_id: None,
        agent: None,
        starts_over: None,
        follows: None,
        approve: false,
        plan_only: false,
        planning: None,
        by: None,
        os_user: None,
    }
}

fn call(id: u64) -> EventBody {
    EventBody::ToolCallStarted {
        call_id: CallId::single(id),
        tool: "query_db".into(),
        effect: Effect::Read,
        arguments: json!({"table": "users"}),
        arguments_hash: ContentHash::of(b""),
        line: Some(3),
        idempotency_key: "k".into(),
        rule: None,
        allowed_by: None,
        planned_arguments_hash: None,
        untrusted_ways: Vec::new(),
        waited_ms: None,
    }
}

fn answered(id: u64) -> EventBody {
    EventBody::ToolCallFinished {
        call_id: CallId::single(id),
        tool: "query_db".into(),
        ok: true,
        code: None,
        result: Some(json!([1])),
        error: None,
        result_bytes: 24,
        duration_ms: 5,
    }
}

fn finished() -> EventBody {
    EventBody::RunFinished {
        mode: None,
        stop_reason: StopReason::Completed.into(),
        result: json!(1),
        usage: Usage { tool_calls: 1, ..Usage::default() },
        iterations: None,
    }
}

async fn memory(events: Vec<Event>) -> MemoryJournal {
    let journal = MemoryJournal::default();
    for event in events {
        journal.append(event, Durability::Ordered).await.unwrap();
    }
    journal
}

#[test]
fn the_hash_depends_on_every_field_and_on_where_each_ends() {
    let base = record_hash(GENESIS_HASH, 1, 1, b"body");
    assert_eq!(base.len(), 64);
    for other in [
        record_hash(&"1".repeat(64), 1, 1, b"body"),
        record_hash(GENESIS_HASH, 2, 1, b"body"),
        record_hash(GENESIS_HASH, 1, 2, b"body"),
        record_hash(GENESIS_HASH, 1, 1, b"bodY"),
        record_hash(&GENESIS_HASH[1..], 1, 1, b"body"),
    ] {
        assert_ne!(base, other);
    }
}

#[tokio::test]
async fn a_run_is_folded_from_its_records() {
    let journal = memory(vec![
        event(1, 10, started("count users")),
        event(
            1,
            11,
            EventBody::PlanProposed {
                round: 0,
                source: "function run() end".into(),
                plan_hash: ContentHash::of(b"p"),
                explanation: None,
                influenced_by: vec![ContentHash::of(b"s")],
            },
        ),
        event(1, 12, call(1)),
        event(2, 12, started("other")),
        event(1, 13, answered(1)),
        event(1, 14, call(2)),
        event(1, 14, EventBody::Printed { text: "a".into() }),
        event(1, 14, EventBody::Printed { text: "b".into() }),
    ])
    .await;
    let run = journal.run_state(&run_id(1)).await.unwrap().unwrap();
    assert_eq!(run.status, RunStatus::Running);
    assert_eq!(run.source.as_deref(), Some("function run() end"));
    assert_eq!(run.influenced_by, [ContentHash::of(b"s")]);
    assert_eq!(run.plan_hash, Some(ContentHash::of(b"p")));
    assert_eq!(run.printed, "ab");
    assert_eq!(run.calls.len(), 2);
    assert_eq!(run.calls[0].end.as_ref().unwrap().result, Some(json!([1])));
    assert_eq!(run.calls_in_doubt().map(|call| call.call_id.as_str()).collect::<Vec<_>>(), ["2"]);

    journal.append(event(1, 20, finished()), Durability::Forced).await.unwrap();
    let run = journal.run_summary(&run_id(1)).await.unwrap().unwrap();
    assert_eq!((run.status, run.tool_calls), (RunStatus::Succeeded, 2));
    assert_eq!(run.ended_at, Some(Timestamp::from_second(20).unwrap()));
    assert_eq!(journal.run_summary(&run_id(9)).await.unwrap(), None);
}

/// A later version may know more kinds of decisions and resolutions; none of them may make this version call a tool.
#[tokio::test]
async fn words_of_a_later_version_allow_nothing() {
    let said = |resolution| EventBody::CallResolved {
        call_id: CallId::single(1),
        resolution,
        result: None,
        message: None,
        by: None,
        os_user: None,
    };
    for (resolution, in_doubt) in
        [(Word::Unknown("waive".to_owned()), 1), (Word::Known(ResolutionKind::Retry), 0)]
    {
        let journal = memory(vec![
            event(1, 10, started("count users")),
            event(1, 12, call(1)),
            event(1, 13, said(resolution.clone())),
        ])
        .await;
        let run = journal.run_state(&run_id(1)).await.unwrap().unwrap();
        assert_eq!(run.calls_in_doubt().count(), in_doubt, "{resolution:?}");
    }
    let decided = |decision| ApprovalDecision {
        decision,
        by: "local".to_owned(),
        at: Timestamp::UNIX_EPOCH,
        arguments: None,
        reason: None,
        grant_id: None,
    };
    assert!(decided(Word::Known(DecisionKind::Once)).is_allowance());
    assert!(!decided(Word::Known(DecisionKind::Deny)).is_allowance());
    assert!(!decided(Word::Unknown("once_later".to_owned())).is_allowance());
}

#[test]
fn text_for_people_cannot_command_a_terminal() {
    assert_eq!(neutralize("a\n\tb é 漢 👩\u{200d}💻"), "a\n\tb é 漢 👩\u{200d}💻");
    assert_eq!(neutralize("\u{1b}[2J\r\u{7}\u{9b}1m"), "\\u{1b}[2J\\r\\u{7}\\u{9b}1m");
    assert_eq!(neutralize("a\u{202e}b\u{2066}\u{2028}\u{feff}"), "a\\u{202e}b\\u{2066}\\u{2028}\\u{feff}");
    assert_eq!(neutralize("\u{e0041}\u{0}"), "\\u{e0041}\\u{0}");
}

#[tokio::test]
async fn the_csv_has_the_main_columns_and_no_formula() {
    let journal =
        memory(vec![event(1, 10, started("=1+1\u{1b}[0m, \"x\"")), event(1, 11, answered(7))]).await;
    let mut written = Vec::new();
    write_csv(&journal.records(RecordFilter::default()).await.unwrap(), &mut written).unwrap();
    let mut csv = csv::Reader::from_reader(&*written);
    assert_eq!(csv.headers().unwrap(), &CSV_COLUMNS[..]);
    let rows: Vec<_> = csv.records().map(Result::unwrap).collect();
    assert_eq!(&rows[0][9], "'=1+1\\u{1b}[0m, \"x\"");
    assert_eq!(
        rows[1].iter().collect::<Vec<_>>()[2..9],
        [run_id(1).as_str(), "tool_call_finished", "query_db", "7", "true", "", "5"]
    );
}

#[tokio::test]
async fn runs_are_listed_newest_first_in_pages_and_by_status() {
    let journal = memory(vec![
        event(1, 10, started("one")),
        event(2, 11, started("two")),
        event(3, 12, started("three")),
        event(2, 13, finished()),
    ])
    .await;
    let tasks = async |filter: RunFilter| -> Vec<String> {
        journal.runs(filter).await.unwrap().into_iter().filter_map(|run| run.task).collect()
    };
    assert_eq!(tasks(RunFilter::default()).await, ["three", "two", "one"]);
    let page = RunFilter { limit: Some(1), before: Some(run_id(3)), ..RunFilter::default() };
    assert_eq!(tasks(page).await, ["two"]);
    let running = RunFilter { status: Some(RunStatus::Running), ..RunFilter::default() };
    assert_eq!(tasks(running).await, ["three", "one"]);
}

#[tokio::test]
async fn contexts_in_memory_keep_versions_and_refuse_late_saves() {
    let contexts = MemoryContexts::default();
    let new = |value: i64, expected: Option<u64>| NewContext {
        name: "daily".into(),
        context: Value::from(value),
        run_id: None,
        at: Timestamp::UNIX_EPOCH,
        expected_version: expected,
    };
    assert_eq!(contexts.save(new(1, Some(0))).await.unwrap().version, 1);
    assert_eq!(contexts.save(new(2, None)).await.unwrap().version, 2);
    let late = contexts.save(new(3, Some(1))).await.unwrap_err();
    assert_eq!(late.code(), ErrorCode::ContextConflict);
    assert_eq!(contexts.load("daily", Some(1)).await.unwrap().unwrap().context, Value::from(1));
    assert_eq!(contexts.load("daily", None).await.unwrap().unwrap().context, Value::from(2));
    assert_eq!(contexts.load("daily", Some(9)).await.unwrap(), None);
    assert_eq!(contexts.list().await.unwrap().len(), 1);
    for name in ["", "a b", "../x", &"a".repeat(65)] {
        assert_eq!(check_context_name(name).unwrap_err().code(), ErrorCode::BadRequest, "{name}");
    }
}

#[test]
fn the_names_of_kept_events_are_those_that_can_be_read() {
    let refused = serde_json::from_str::<EventBody>(r#"{"event": "no such event"}"#).unwrap_err().to_string();
    let known: Vec<&str> = refused.split('`').skip(3).step_by(2).filter(|name| *name != "llm_text").collect();
    assert_eq!(known, EventBody::KEPT, "{refused}");
}
