//! No record, and no event, has the same key twice in one object: readers of JSON keep either of them.

use std::collections::HashSet;
use std::fmt;

use luaplan::journal::{EventBody, JournalRead, RecordFilter, SqliteJournal};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::*;

/// JSON read strictly: a key that stands twice in an object is an error.
struct Strict;

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(format!("the key `{key}` stands there twice")));
            }
            map.next_value::<Self>()?;
        }
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }
}

/// One of each event, with a value in every field.
fn one_of_each() -> Vec<EventBody> {
    let usage = json!({ "instructions": 1, "memory_peak_bytes": 2, "wall_ms": 3, "tool_calls": 4, "result_bytes": 5,
        "llm_tokens": 6, "llm_cost_micro_usd": 7, "rate_wait_ms": 8 });
    let id = "01890a5d-ac96-774b-bcce-b302099a8057";
    let hash = "a".repeat(64);
    let by = json!({ "by": "ann", "os_user": "ann" });
    let fields = [
        (
            "run_started",
            json!({ "task": "t", "plan_hash": hash, "plan_name": "p", "context": {}, "limits": {}, "version": "1",
            "mocked": true, "engine": "mlua", "isolation": "process", "context_name": "c", "owner": "o", "tenant": "t",
            "mode": "structured", "parent_run_id": id, "parent_call_id": "1", "agent": "a", "starts_over": id,
            "follows": id, "approve": true, "planning": {} }),
        ),
        (
            "plan_accepted",
            json!({ "plan_hash": hash, "calls_before": 0, "steps": [{ "name": "s", "line": 3, "depends_on": ["r"] }] }),
        ),
        ("run_resumed", json!({ "owner": "o", "version": "1", "calls_recorded": 1 })),
        ("run_not_resumable", json!({ "code": "run_not_resumable", "reason": "r", "call_id": "1" })),
        (
            "run_paused",
            json!({ "reason": "r", "calls_in_doubt": ["1"], "approvals": ["a"], "questions": ["q"],
            "answer_by": "2026-01-01T00:00:00Z" }),
        ),
        ("sleep_begun", json!({ "call_id": "1", "tool": "sleep", "wake_at": "2026-01-01T00:00:00Z" })),
        ("run_sleeping", json!({ "wake_at": "2026-01-01T00:00:00Z" })),
        ("agent_started", json!({ "call_id": "1", "agent": "a", "child_run_id": id })),
        (
            "iteration",
            json!({ "iteration": 1, "iterations_max": 2, "plan_hash": hash, "done": true, "observation": "o" }),
        ),
        ("mode_changed", json!({ "mode": "autonomous", "max_iterations": 2, "by": "ann", "os_user": "a" })),
        ("call_resolved", json!({ "call_id": "1", "resolution": "done", "result": {}, "message": "m" })),
        (
            "approval_requested",
            json!({ "approval_id": "a", "call_id": "1", "tool": "t", "effect": "send", "line": 1,
            "arguments": {}, "arguments_hash": hash, "plan_hash": hash, "tier": "prompt", "rules": [], "reason": "r",
            "origins": {}, "tool_hash": hash }),
        ),
        (
            "plan_approval_requested",
            json!({ "approval_id": "a", "call_id": "plan", "plan_hash": hash, "context_hash": hash, "effect": "send",
            "effects": "e", "explanation": "e" }),
        ),
        (
            "approval_resolved",
            json!({ "approval_id": "a", "call_id": "1", "tool": "t", "plan_hash": hash,
            "arguments_hash": hash, "decision": "edit", "by": "ann", "arguments": {}, "reason": "r", "grant_id": "g" }),
        ),
        (
            "question_asked",
            json!({ "call_id": "1", "question": "q", "choices": ["a"], "default": "a",
            "answer_by": "2026-01-01T00:00:00Z" }),
        ),
        ("question_answered", json!({ "call_id": "1", "answer": "a", "goes_on": true })),
        (
            "grant_issued",
            json!({ "grant_id": "g", "approval_id": "a", "tool": "t", "rules": [], "tenant": "t", "by": "ann",
            "expires_at": "2026-01-01T00:00:00Z", "tier": "prompt", "tool_hash": hash }),
        ),
        ("grant_revoked", json!({ "grant_id": "g", "tool": "t", "by": "ann" })),
        (
            "prompt_budget_computed",
            json!({ "budget_tokens": 1, "used_tokens": 1, "parts": {}, "trimmed": ["a"],
            "tools_left_out": ["b"] }),
        ),
        ("sample_shared", json!({ "from": "f", "data_hash": hash, "bytes": 1 })),
        ("prompt_composed", json!({ "prompt_hash": hash, "bytes": 1 })),
        ("llm_request_sent", json!({ "provider": "p", "model": "m", "purpose": "plan", "attempt": 1 })),
        (
            "llm_response_received",
            json!({ "provider": "p", "model": "m", "text": "t", "input_tokens": 1, "output_tokens": 1,
            "cost_micro_usd": 1, "duration_ms": 1, "recorded": true }),
        ),
        ("llm_retry_scheduled", json!({ "attempt": 1, "wait_ms": 1, "code": "c", "message": "m" })),
        ("llm_request_failed", json!({ "provider": "p", "model": "m", "code": "c", "message": "m" })),
        ("model_fallback", json!({ "from": "a", "to": "b", "code": "c" })),
        (
            "plan_proposed",
            json!({ "round": 0, "source": "s", "plan_hash": hash, "explanation": "e", "influenced_by": [hash] }),
        ),
        ("plan_checked", json!({ "plan_hash": hash, "ok": true, "findings": [] })),
        ("repair_round", json!({ "round": 1, "rounds_max": 2, "code": "c", "message": "m" })),
        (
            "replan_round",
            json!({ "attempt": 1, "attempts_max": 2, "code": "c", "message": "m", "line": 1, "calls": 1 }),
        ),
        (
            "candidate_judged",
            json!({ "plan_hash": hash, "tests": {}, "errors": 1, "warnings": 1, "mock_run": "m",
            "reviewer": "r", "code": "c", "rank": 1, "chosen": true, "reason": "r" }),
        ),
        (
            "tool_call_started",
            json!({ "call_id": "1", "tool": "t", "effect": "read", "arguments": {}, "arguments_hash": hash,
            "line": 1, "idempotency_key": "k", "rule": "r", "allowed_by": "a", "planned_arguments_hash": hash,
            "waited_ms": 1 }),
        ),
        (
            "tool_call_finished",
            json!({ "call_id": "1", "tool": "t", "ok": true, "code": "c", "result": {}, "error": {},
            "result_bytes": 1, "duration_ms": 1 }),
        ),
        (
            "tool_call_refused",
            json!({ "call_id": "1", "tool": "t", "code": "c", "error": {}, "arguments": {} }),
        ),
        ("step_started", json!({ "step": "s", "depends_on": ["r"], "line": 3, "attempts_max": 2 })),
        (
            "step_finished",
            json!({ "step": "s", "state": "failed", "attempts": 2, "code": "c", "message": "m" }),
        ),
        ("step_retry_scheduled", json!({ "attempt": 1, "attempts_max": 2, "message": "m" })),
        ("limit_hit", json!({ "code": "c", "limit": 1, "observed": 2 })),
        ("sandbox_violation", json!({ "message": "m" })),
        ("printed", json!({ "text": "t" })),
        ("signal_received", json!({ "signal": "s" })),
        ("graceful_shutdown_started", json!({ "running": 1 })),
        (
            "run_finished",
            json!({ "stop_reason": "completed", "result": {}, "usage": usage, "iterations": 1 }),
        ),
        (
            "run_failed",
            json!({ "code": "c", "message": "m", "recoverable": true, "error": {}, "usage": usage }),
        ),
        ("run_cancelled", json!({ "reason": "r", "usage": usage })),
        ("context_saved", json!({ "name": "n", "version": 3, "context_hash": hash })),
    ];
    let mut bodies = Vec::new();
    for name in EventBody::KEPT {
        let known =
            fields.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("add {name} here"));
        let mut body = known.1.as_object().unwrap().clone();
        body.insert("event".into(), (*name).into());
        for (field, value) in by.as_object().unwrap() {
            body.entry(field.clone()).or_insert_with(|| value.clone());
        }
        bodies.push(serde_json::from_value(body.into()).unwrap());
    }
    bodies
}

#[tokio::test]
async fn no_key_stands_twice_in_a_record_or_an_event() {
    let dir = Dir::new();
    let journal: SqliteJournal = dir.open().await;
    for body in one_of_each() {
        let mut event = event(1, 1, body);
        event.candidate = Some("c1".into());
        event.redacted = vec!["/context".into()];
        serde_json::from_str::<Strict>(&serde_json::to_string(&event).unwrap()).unwrap();
        journal.append(event, Durability::Ordered).await.unwrap();
    }
    for record in journal.records(RecordFilter::default()).await.unwrap() {
        let line = serde_json::to_string(&record).unwrap();
        serde_json::from_str::<Strict>(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(serde_json::to_value(&record).unwrap()["record_version"], 5);
    }
    serde_json::from_str::<Strict>(r#"{"a": [{"b": 1, "b": 2}]}"#).err().expect("it is strict");
}
