//! The table of states in the guide is what records come to.

use luaplan::base::ErrorCode;
use luaplan::journal::{JournalRead as _, MemoryJournal, RunStatus};

use super::*;

const GUIDE: &str = include_str!("../../../docs/run-states.md");

fn named(name: &str) -> EventBody {
    let usage = Usage::default();
    match name {
        "run_started" => started("x"),
        "run_paused" => EventBody::RunPaused {
            reason: "r".into(),
            calls_in_doubt: Vec::new(),
            approvals: Vec::new(),
            questions: Vec::new(),
            answer_by: None,
            by: None,
            os_user: None,
        },
        "run_sleeping" => EventBody::RunSleeping { wake_at: Timestamp::from_second(1_700_003_600).unwrap() },
        "run_resumed" => resumed(0),
        "run_finished" => finished(),
        "run_failed" => EventBody::RunFailed {
            code: ErrorCode::Interrupted.into(),
            message: "m".into(),
            recoverable: true,
            error: json!({"code": "interrupted"}),
            usage,
        },
        "run_cancelled" => EventBody::RunCancelled { reason: "r".into(), usage, by: None, os_user: None },
        other => panic!("{other}"),
    }
}

/// The shortest way to each state.
fn way_to(state: &str) -> Vec<&'static str> {
    match state {
        "(nothing)" => Vec::new(),
        "running" => vec!["run_started"],
        "paused" => vec!["run_started", "run_paused"],
        "sleeping" => vec!["run_started", "run_sleeping"],
        "failed" => vec!["run_started", "run_failed"],
        other => panic!("{other}"),
    }
}

async fn status_after(events: &[&str]) -> RunStatus {
    let journal = MemoryJournal::default();
    for (second, name) in events.iter().enumerate() {
        let event = event(1, i64::try_from(second).unwrap(), named(name));
        journal.append(event, Durability::Ordered).await.unwrap();
    }
    let listed = journal.runs(luaplan::journal::RunFilter::default()).await.unwrap();
    let state = journal.run_state(&run_id(1)).await.unwrap().unwrap();
    assert_eq!(listed[0].status, state.status);
    state.status
}

#[tokio::test]
async fn each_transition_of_the_guide_is_what_the_records_come_to() {
    let mut rows = 0;
    for line in GUIDE.lines().filter(|line| line.starts_with("| ") && line.contains("| `run_")) {
        let cells: Vec<&str> = line.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let [_, from, event, to, _] = cells[..] else { panic!("{line}") };
        let mut events = way_to(from);
        events.push(event);
        assert_eq!(status_after(&events).await.as_str(), to, "{line}");
        rows += 1;
    }
    assert_eq!(rows, 12);
}

#[tokio::test]
async fn a_call_that_is_begun_again_counts_once() {
    for place in super::places::places("calls begun again").await {
        let journal = place.open().await;
        let bodies =
            [started("x"), call(1, "fetch_url"), resumed(0), call(1, "fetch_url"), call(2, "fetch_url")];
        for body in bodies {
            journal.append(event(1, 0, body), Durability::Ordered).await.unwrap();
        }
        let listed = journal.runs(luaplan::journal::RunFilter::default()).await.unwrap();
        let state = journal.run_state(&run_id(1)).await.unwrap().unwrap();
        assert_eq!((listed[0].tool_calls, state.summary().tool_calls), (2, 2));
        assert_eq!(state.calls[0].attempts, 2);
        journal.close().await;
    }
}
