//! The journal on real files, with real processes, broken for real.

mod contexts;
mod export_keys;
mod fences;
mod golden;
mod places;
mod postgres;
mod processes;
mod refusals;
mod settle;
mod states;
mod store;
mod tamper;

use std::path::PathBuf;

use jiff::Timestamp;
use luaplan::base::{CallId, ContentHash, Effect, RunId, SeededRandomness, SpanId, TraceId, Usage};
use luaplan::journal::{Durability, Event, EventBody, JournalWrite, SqliteJournal, StopReason};
use serde_json::json;
use sqlx::{Connection as _, SqliteConnection};

/// A journal in a folder of its own.
pub(crate) struct Dir {
    folder: tempfile::TempDir,
}

impl Dir {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("data").join("journal.sqlite")
    }

    pub(crate) async fn open(&self) -> SqliteJournal {
        SqliteJournal::open(&self.path()).await.unwrap()
    }

    /// A connection past all guards, as an attacker with access to the file would have.
    async fn raw(&self) -> SqliteConnection {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(self.path());
        SqliteConnection::connect_with(&options).await.unwrap()
    }
}

fn run_id(number: u8) -> RunId {
    format!("01890a5d-ac96-774b-bcce-b302099a8{number:03}").parse().unwrap()
}

fn event(run: u8, second: i64, body: EventBody) -> Event {
    let randomness = SeededRandomness::new(run.into());
    Event {
        run_id: run_id(run),
        trace_id: TraceId::generate(&randomness),
        span_id: SpanId::generate(&randomness),
        at: Timestamp::from_second(1_700_000_000 + second).unwrap(),
        candidate: None,
        redacted: Vec::new(),
        body,
    }
}

fn started(task: &str) -> EventBody {
    EventBody::RunStarted {
        task: Some(task.to_owned()),
        plan_hash: None,
        plan_name: Some("plan".into()),
        context: json!({"users": [1, 2.5, null, "ü"]}),
        limits: json!({"tool_calls": 20}),
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

fn call(id: u64, tool: &str) -> EventBody {
    EventBody::ToolCallStarted {
        call_id: CallId::single(id),
        tool: tool.into(),
        effect: Effect::Read,
        arguments: json!({"table": "users"}),
        arguments_hash: ContentHash::of(b"arguments"),
        line: Some(3),
        idempotency_key: "key".into(),
        rule: None,
        allowed_by: None,
        planned_arguments_hash: None,
        untrusted_ways: Vec::new(),
        waited_ms: None,
    }
}

fn answered(id: u64, tool: &str, ok: bool) -> EventBody {
    EventBody::ToolCallFinished {
        call_id: CallId::single(id),
        tool: tool.into(),
        ok,
        code: (!ok).then(|| "tool_failed".into()),
        result: ok.then(|| json!([{"name": "user1"}])),
        error: (!ok).then(|| json!({"error": "no", "code": "tool_failed", "retryable": false})),
        result_bytes: 40,
        duration_ms: 7,
    }
}

fn resumed(calls_recorded: u64) -> EventBody {
    EventBody::RunResumed { owner: None, version: "0.1.0".into(), calls_recorded, by: None, os_user: None }
}

fn finished() -> EventBody {
    EventBody::RunFinished {
        mode: None,
        stop_reason: StopReason::Completed.into(),
        result: json!({"n": 1}),
        usage: Usage::default(),
        iterations: None,
    }
}

/// Two runs, ten records, the last one forced.
async fn fill(journal: &dyn JournalWrite) {
    let events = [
        event(1, 0, started("count the users")),
        event(1, 1, call(1, "query_db")),
        event(1, 2, answered(1, "query_db", true)),
        event(2, 3, started("send the summary")),
        event(2, 4, call(1, "send_email")),
        event(1, 5, call(2, "fetch_url")),
        event(1, 6, answered(2, "fetch_url", false)),
        event(2, 7, answered(1, "send_email", true)),
        event(1, 8, finished()),
        event(2, 9, EventBody::Printed { text: "still going".into() }),
    ];
    let last = events.len() - 1;
    for (index, event) in events.into_iter().enumerate() {
        let durability = if index == last { Durability::Forced } else { Durability::Ordered };
        journal.append(event, durability).await.unwrap();
    }
}
