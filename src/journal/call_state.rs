//! The calls of a run, folded from its records.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value as Json;

use luaplan_base::{CallId, ContentHash, Effect, ErrorCode, RunId};

use super::{EventBody, ResolutionKind, Word, is_marked};

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallEnd {
    /// When.
    pub at: Timestamp,
    /// Whether it succeeded.
    pub ok: bool,
    /// The failure's code.
    pub code: Option<String>,
    /// The result, in exact form, where it succeeded.
    pub result: Option<Json>,
    /// The failure as the plan sees it.
    pub error: Option<Json>,
    /// Size of the result.
    pub result_bytes: u64,
    /// How long the tool took.
    pub duration_ms: u64,
}

/// The call that started the run of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ParentCall {
    /// The run that called the agent.
    pub run_id: RunId,
    /// The call.
    pub call_id: CallId,
    /// The agent's name.
    pub agent: String,
}

/// How a person resolved a call in doubt.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "resolution")]
pub enum Resolved {
    /// Repeat it.
    Retry,
    /// It took effect.
    Done {
        /// The result it is assumed to have had, in exact form.
        result: Json,
    },
    /// It did not take effect and is not repeated.
    Failed {
        /// Why, for the plan to see.
        message: String,
    },
}

/// One call of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallState {
    /// The call's position in the program.
    pub call_id: CallId,
    /// The tool.
    pub tool: String,
    /// What the tool does to the world; absent where the call was refused.
    pub effect: Option<Effect>,
    /// The arguments as recorded.
    pub arguments: Json,
    /// Hash of the arguments as recorded; absent where the call was refused.
    pub arguments_hash: Option<ContentHash>,
    /// Hash of the arguments the plan wrote, where a person edited them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_arguments_hash: Option<ContentHash>,
    /// The rule of the policy file that decided, where there was a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The permission it was made with: `approval:ID` or `grant:ID`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_by: Option<String>,
    /// The same for every repetition of this call; absent where the call was refused.
    pub idempotency_key: Option<String>,
    /// Line of the plan.
    pub line: Option<u32>,
    /// When it was allowed or refused.
    pub started_at: Timestamp,
    /// When it wakes its run, where it is a sleep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake_at: Option<Timestamp>,
    /// Whether it asked a person.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asks_person: bool,
    /// The run of the agent it called, where it called one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child_run_id: Option<RunId>,
    /// How often it was started: more than once where the run was resumed during it.
    pub attempts: u32,
    /// Whether it was refused: the tool was never called.
    pub refused: bool,
    /// How it ended. A call that was allowed and has no end is in doubt.
    pub end: Option<CallEnd>,
    /// Where secrets were removed from it, as JSON pointers (`/arguments`, `/result`, `/error`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
    /// How a person resolved it, where it was in doubt.
    pub resolved: Option<Resolved>,
}

impl CallState {
    /// Whether a secret was removed from its result, so that a replay cannot give the plan the same result.
    #[must_use]
    pub fn result_held_secret(&self) -> bool {
        is_marked(&self.redacted, "/result")
    }

    /// Hash of the plan's own arguments, in the form in which the journal records them; also for a call that
    /// was refused, or whose arguments a person edited.
    #[must_use]
    pub fn recorded_hash(&self) -> ContentHash {
        let planned = self.planned_arguments_hash.clone().or_else(|| self.arguments_hash.clone());
        planned.unwrap_or_else(|| ContentHash::of_json(&self.arguments))
    }

    /// Whether the call was started and its outcome is unknown: its process died, or the run was
    /// ended during the call.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        self.is_open() && !self.is_suspended()
    }

    /// Whether it is suspended: until its wake time, a person's answer, or the end of an agent's run. Its outcome is then
    /// not in doubt.
    #[must_use]
    pub fn is_suspended(&self) -> bool {
        self.is_open() && (self.wake_at.is_some() || self.asks_person || self.child_run_id.is_some())
    }

    /// Whether it was started and has no outcome; a call that was cut off (`call_cut`) has none.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.refused
            && self.resolved.is_none()
            && self.end.as_ref().is_none_or(|end| end.code.as_deref() == Some(ErrorCode::CallCut.as_str()))
    }
}

/// Adds a call, or counts another attempt at a known one.
fn put(calls: &mut Vec<CallState>, call: CallState) {
    match calls.iter_mut().rev().find(|known| known.call_id == call.call_id) {
        Some(known) => {
            let (attempts, wake_at) = (known.attempts.saturating_add(1), known.wake_at);
            *known = CallState { attempts, wake_at, asks_person: known.asks_person, ..call };
        }
        None => calls.push(call),
    }
}

/// Applies an event to the calls known so far. `places` says where secrets were removed.
pub(super) fn apply(calls: &mut Vec<CallState>, body: &EventBody, at: Timestamp, places: &[String]) {
    match body {
        EventBody::ToolCallStarted {
            call_id,
            tool,
            effect,
            arguments,
            arguments_hash,
            line,
            idempotency_key,
            rule,
            allowed_by,
            planned_arguments_hash,
            untrusted_ways: _,
            waited_ms: _,
        } => {
            let call = CallState {
                call_id: call_id.clone(),
                tool: tool.clone(),
                effect: Some(*effect),
                arguments: arguments.clone(),
                arguments_hash: Some(arguments_hash.clone()),
                planned_arguments_hash: planned_arguments_hash.clone(),
                rule: rule.clone(),
                allowed_by: allowed_by.clone(),
                idempotency_key: Some(idempotency_key.clone()),
                line: *line,
                started_at: at,
                wake_at: None,
                asks_person: false,
                child_run_id: None,
                attempts: 1,
                refused: false,
                end: None,
                redacted: places.to_vec(),
                resolved: None,
            };
            put(calls, call);
        }
        EventBody::ToolCallRefused { call_id, tool, code, error, arguments, line } => {
            let end = CallEnd {
                at,
                ok: false,
                code: Some(code.clone()),
                result: None,
                error: Some(error.clone()),
                result_bytes: 0,
                duration_ms: 0,
            };
            let call = CallState {
                call_id: call_id.clone(),
                tool: tool.clone(),
                effect: None,
                arguments: arguments.clone(),
                arguments_hash: None,
                planned_arguments_hash: None,
                rule: None,
                allowed_by: None,
                idempotency_key: None,
                line: *line,
                started_at: at,
                wake_at: None,
                asks_person: false,
                child_run_id: None,
                attempts: 1,
                refused: true,
                end: Some(end),
                redacted: places.to_vec(),
                resolved: None,
            };
            put(calls, call);
        }
        EventBody::ToolCallFinished {
            call_id, ok, code, result, error, result_bytes, duration_ms, ..
        } => {
            let open = calls.iter_mut().rev().find(|call| call.call_id == *call_id && call.end.is_none());
            if let Some(call) = open {
                call.redacted.extend_from_slice(places);
                call.end = Some(CallEnd {
                    at,
                    ok: *ok,
                    code: code.clone(),
                    result: result.clone(),
                    error: error.clone(),
                    result_bytes: *result_bytes,
                    duration_ms: *duration_ms,
                });
            }
        }
        EventBody::SleepBegun { call_id, wake_at, .. } => {
            if let Some(call) = calls.iter_mut().rev().find(|call| call.call_id == *call_id) {
                call.wake_at = Some(*wake_at);
            }
        }
        EventBody::QuestionAsked { call_id, .. } => {
            if let Some(call) = calls.iter_mut().rev().find(|call| call.call_id == *call_id) {
                call.asks_person = true;
            }
        }
        EventBody::AgentStarted { call_id, child_run_id, .. } => {
            if let Some(call) = calls.iter_mut().rev().find(|call| call.call_id == *call_id) {
                call.child_run_id = Some(child_run_id.clone());
            }
        }
        EventBody::CallResolved { call_id, resolution, result, message, .. } => {
            if let Some(call) = calls.iter_mut().rev().find(|call| call.call_id == *call_id) {
                call.redacted.extend_from_slice(places);
                call.resolved = match resolution {
                    Word::Known(ResolutionKind::Done) => {
                        Some(Resolved::Done { result: result.clone().unwrap_or_default() })
                    }
                    Word::Known(ResolutionKind::Failed) => {
                        Some(Resolved::Failed { message: message.clone().unwrap_or_default() })
                    }
                    Word::Known(ResolutionKind::Retry) => Some(Resolved::Retry),
                    // A resolution that only a later version knows leaves the call in doubt here.
                    Word::Unknown(_) => None,
                };
            }
        }
        _ => {}
    }
}
