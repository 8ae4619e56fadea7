//! Judges the history of a run from its records alone.

use std::collections::BTreeMap;

use luaplan::base::ErrorCode;
use luaplan::journal::{EventBody, Record, ResolutionKind};

/// What is known of a call.
#[derive(Default)]
struct Call {
    tool: String,
    /// It was started and its end is not known.
    in_doubt: bool,
    done: bool,
    may_retry: bool,
}

/// What is wrong with the records of one run, oldest first. Each time it is taken up its records bear a
/// trace of their own, so records of an owner that lost the run show.
pub(super) fn faults(records: &[Record], repeatable: impl Fn(&str) -> bool) -> Vec<String> {
    let mut faults = Vec::new();
    let mut calls: BTreeMap<String, Call> = BTreeMap::new();
    let mut owner_trace = None;
    let mut ended_at = None;
    for record in records {
        let (number, event) = (record.sequence, &record.event);
        let mut fault = |what: String| faults.push(format!("record {number}: {what}"));
        if let Some(end) = ended_at {
            fault(format!("{} after the end at {end}", event.body.name()));
        }
        match &event.body {
            EventBody::RunStarted { owner, .. } => {
                if owner_trace.is_some() || owner.is_none() {
                    fault("a second start, or one without an owner".into());
                }
                owner_trace = Some(event.trace_id.clone());
            }
            EventBody::RunResumed { owner, .. } => {
                if owner.is_none() {
                    fault("taken up by nobody".into());
                }
                owner_trace = Some(event.trace_id.clone());
            }
            // Written by the node that claims the run, right before it records the claim.
            EventBody::CallResolved { call_id, resolution, .. } => {
                let call = calls.entry(call_id.to_string()).or_default();
                call.may_retry = *resolution == ResolutionKind::Retry;
                call.in_doubt = false;
                call.done = *resolution == ResolutionKind::Done;
            }
            body => {
                if owner_trace.as_ref() != Some(&event.trace_id) {
                    fault(format!("{} of an owner that had lost the run", body.name()));
                }
                if body.ends_run() && !matches!(body, EventBody::RunPaused { .. }) {
                    ended_at = Some(number);
                }
            }
        }
        match &event.body {
            EventBody::ToolCallStarted { call_id, tool, .. } => {
                let call = calls.entry(call_id.to_string()).or_default();
                if call.done {
                    fault(format!("call {call_id} is made again though it was done"));
                }
                if call.in_doubt && !repeatable(tool) && !call.may_retry {
                    fault(format!("call {call_id} of `{tool}` is made again unasked"));
                }
                call.tool.clone_from(tool);
                (call.in_doubt, call.may_retry) = (true, false);
            }
            EventBody::ToolCallFinished { call_id, tool, ok, code, .. } => {
                let call = calls.entry(call_id.to_string()).or_default();
                if !call.in_doubt || call.tool != *tool {
                    fault(format!("call {call_id} ends without having been begun"));
                }
                call.in_doubt = code.as_deref() == Some(ErrorCode::CallCut.as_str());
                call.done = *ok;
            }
            _ => {}
        }
    }
    faults
}

#[test]
fn bad_histories_are_seen() {
    use luaplan::base::{RunId, SeededRandomness, SpanId, TraceId, Usage};
    use luaplan::journal::Event;
    use serde_json::json;

    let run_id = RunId::generate();
    let record = |number: u64, owner: u64, body: serde_json::Value| {
        let randomness = SeededRandomness::new(owner);
        let body: EventBody = serde_json::from_value(body).unwrap();
        Record {
            sequence: number,
            version: 3,
            previous_hash: String::new(),
            hash: String::new(),
            event: Event {
                run_id: run_id.clone(),
                trace_id: TraceId::generate(&randomness),
                span_id: SpanId::generate(&randomness),
                at: jiff::Timestamp::UNIX_EPOCH,
                candidate: None,
                redacted: Vec::new(),
                body,
            },
        }
    };
    let start = json!({ "event": "run_started", "task": null, "plan_hash": null, "plan_name": null,
        "context": {}, "limits": {}, "version": "0", "owner": "a" });
    let resumed = json!({ "event": "run_resumed", "owner": "b", "version": "0", "calls_recorded": 0 });
    let hash = luaplan::base::ContentHash::of(b"x");
    let begun = |tool: &str| {
        json!({ "event": "tool_call_started", "call_id": "1", "tool": tool, "effect": "send", "arguments": {},
            "arguments_hash": hash, "line": 1, "idempotency_key": "k" })
    };
    let done = json!({ "event": "tool_call_finished", "call_id": "1", "tool": "mark", "ok": true, "code": null,
        "result": {}, "error": null, "result_bytes": 1, "duration_ms": 1 });
    let end = json!({ "event": "run_finished", "stop_reason": "completed", "result": 1,
        "usage": serde_json::to_value(Usage::default()).unwrap() });
    let judged = |history: &[(u64, &serde_json::Value)]| {
        let records: Vec<Record> = history
            .iter()
            .enumerate()
            .map(|(at, (owner, body))| record(at as u64 + 1, *owner, (*body).clone()))
            .collect();
        faults(&records, |tool| tool == "book")
    };
    let (mark, book) = (begun("mark"), begun("book"));
    let good: [&[(u64, &serde_json::Value)]; 2] = [
        &[(1, &start), (1, &mark), (1, &done), (2, &resumed), (2, &end)],
        &[(1, &start), (1, &book), (2, &resumed), (2, &book), (2, &end)],
    ];
    for history in good {
        assert_eq!(judged(history), Vec::<String>::new());
    }
    let bad: [&[(u64, &serde_json::Value)]; 6] = [
        &[(1, &start), (2, &resumed), (1, &mark)],
        &[(1, &start), (1, &mark), (2, &resumed), (2, &mark)],
        &[(1, &start), (1, &mark), (1, &done), (2, &resumed), (2, &mark)],
        &[(1, &start), (1, &end), (2, &resumed)],
        &[(1, &start), (1, &done)],
        &[(1, &start), (1, &start)],
    ];
    for history in bad {
        assert_eq!(judged(history).len(), 1, "{:?}", judged(history));
    }
}
