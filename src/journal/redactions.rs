//! Where secrets were removed from a record, and whether its run can still be resumed without them.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value as Json;

use luaplan_base::{ContentHash, ErrorCode};

use super::chain::MARKED_SINCE;
use super::redact::is_marked;
use super::{Event, EventBody, REDACTED, Record};

/// Where secrets were removed from a record, as JSON pointers into its event. Records older than the marks name the
/// fields that hold the replacement text, which there cannot be told from the same text written by a plan.
pub(super) fn places(record: &Record) -> Cow<'_, [String]> {
    if record.version >= MARKED_SINCE {
        return Cow::Borrowed(&record.event.redacted);
    }
    let fields: Vec<(&str, Option<&Json>)> = match &record.event.body {
        EventBody::RunStarted { context, planning, .. } => {
            vec![("/context", Some(context)), ("/planning", planning.as_deref())]
        }
        EventBody::ToolCallStarted { arguments, .. } => vec![("/arguments", Some(arguments))],
        EventBody::ToolCallRefused { arguments, error, .. } => {
            vec![("/arguments", Some(arguments)), ("/error", Some(error))]
        }
        EventBody::ToolCallFinished { result, error, .. } => {
            vec![("/result", result.as_ref()), ("/error", error.as_ref())]
        }
        EventBody::CallResolved { result, .. } => vec![("/result", result.as_ref())],
        EventBody::RunFinished { result, .. } => vec![("/result", Some(result))],
        EventBody::RunFailed { error, .. } => vec![("/error", Some(error))],
        _ => Vec::new(),
    };
    let held = fields.into_iter().filter(|(_, json)| json.is_some_and(holds_text));
    Cow::Owned(held.map(|(field, _)| field.to_owned()).collect())
}

fn holds_text(json: &Json) -> bool {
    match json {
        Json::String(text) => text.contains(REDACTED),
        Json::Array(items) => items.iter().any(holds_text),
        Json::Object(members) => {
            members.iter().any(|(name, value)| name.contains(REDACTED) || holds_text(value))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}

/// Tracks what was removed from a run's events, to find out whether the run can still be resumed.
#[derive(Clone, Default)]
pub(super) struct RedactionTracker(Arc<Mutex<Tracked>>);

#[derive(Default)]
struct Tracked {
    reason: Option<String>,
    /// Plans that held a secret. Only the accepted one counts.
    plans: Vec<ContentHash>,
    /// Calls that mocks answer are not on record, so such a run cannot be resumed anyway.
    is_mocked: bool,
}

impl RedactionTracker {
    /// Why the run can be neither resumed nor replayed; `None` where no removed secret prevents it.
    pub(super) fn reason(&self) -> Option<String> {
        self.lock().reason.clone()
    }

    /// The event to record after `event`, where `event` is the first that makes the run impossible to resume.
    pub(super) fn after(&self, event: &Event) -> Option<EventBody> {
        let is_plan = matches!(&event.body, EventBody::PlanAccepted { .. });
        let is_mocked = matches!(&event.body, EventBody::RunStarted { mocked: true, .. });
        if event.redacted.is_empty() && !is_plan && !is_mocked {
            return None;
        }
        let mut tracked = self.lock();
        tracked.is_mocked |= is_mocked;
        let marked = |field: &str| is_marked(&event.redacted, field);
        let reason = match &event.body {
            EventBody::RunStarted { .. } if marked("/context") => {
                "a secret stood in the context it began with".to_owned()
            }
            EventBody::PlanProposed { plan_hash, .. } if marked("/source") => {
                tracked.plans.push(plan_hash.clone());
                return None;
            }
            EventBody::PlanAccepted { plan_hash, .. } if tracked.plans.contains(plan_hash) => {
                "a secret stands in its plan".to_owned()
            }
            EventBody::ToolCallFinished { call_id, tool, .. } if marked("/result") => {
                format!("the result of call {call_id} of `{tool}` held a secret")
            }
            EventBody::CallResolved { call_id, .. } if marked("/result") => {
                format!("the result given for call {call_id} held a secret")
            }
            _ => return None,
        };
        if tracked.is_mocked || tracked.reason.is_some() {
            return None;
        }
        let reason = format!("{reason}, which is not in the journal");
        tracked.reason = Some(reason.clone());
        let code = ErrorCode::RunNotResumable.into();
        Some(EventBody::RunNotResumable { code, reason, call_id: event.body.call_id().cloned() })
    }

    fn lock(&self) -> MutexGuard<'_, Tracked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
