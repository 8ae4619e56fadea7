//! What a plan under test called.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use luaplan_base::{CallOutcome, CallRequest, ErrorCode, Result, Value};

/// One call of a plan under test.
#[derive(Debug, Clone)]
pub(super) struct CallRecord {
    id: String,
    tool: String,
    line: Option<u32>,
    arguments: Value,
    outcome: Option<CallOutcome>,
    /// Calls of one round were requested together.
    round: usize,
}

impl CallRecord {
    fn new(call: &CallRequest, arguments: Value, outcome: Option<CallOutcome>, round: usize) -> Self {
        let id = call.id.as_str().to_owned();
        Self { id, tool: call.tool.clone(), line: call.line, arguments, outcome, round }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn tool(&self) -> &str {
        &self.tool
    }

    pub(super) fn line(&self) -> Option<u32> {
        self.line
    }

    pub(super) fn round(&self) -> usize {
        self.round
    }

    /// Whether it repeats `other`.
    pub(super) fn repeats(&self, other: &Self) -> bool {
        self.tool == other.tool && self.arguments == other.arguments
    }

    /// Whether it has failed.
    pub(super) fn has_failed(&self) -> bool {
        matches!(self.outcome, Some(Err(_)))
    }

    /// The call as a test sees it: `{id, tool, line, arguments, ok, result | code, error}`.
    ///
    /// Error values inside are plain tables here: a test need not look at each.
    pub(super) fn to_value(&self) -> Result<Value> {
        let plain = |value: &Value| Value::from_json(value.to_json());
        let mut members = vec![
            ("id", Value::from(self.id.as_str())),
            ("tool", Value::from(self.tool.as_str())),
            ("arguments", plain(&self.arguments)?),
            ("line", self.line.map_or(Value::Null, |line| Value::Integer(line.into()))),
            ("ok", Value::Bool(matches!(self.outcome, Some(Ok(_))))),
        ];
        match &self.outcome {
            Some(Ok(result)) => members.push(("result", plain(result)?)),
            Some(Err(failure)) => {
                members.push(("code", Value::from(failure.code.as_str())));
                members.push(("error", Value::from(failure.message.as_str())));
            }
            None => {
                members.push(("code", Value::from(ErrorCode::CallCut.as_str())));
                members.push(("error", Value::from(ErrorCode::CallCut.meaning())));
            }
        }
        Ok(Value::from_iter(members))
    }
}

/// Keeps call records in program order.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    records: Mutex<Vec<CallRecord>>,
    rounds: AtomicUsize,
}

impl Recorder {
    /// Starts a new round: later calls were requested after the earlier ones.
    pub(super) fn begin_round(&self) {
        self.rounds.fetch_add(1, Ordering::Relaxed);
    }

    fn round(&self) -> usize {
        self.rounds.load(Ordering::Relaxed)
    }

    /// Notes a pending call, and returns its place.
    pub(super) fn began(&self, call: &CallRequest, arguments: Value) -> usize {
        let mut records = self.lock();
        records.push(CallRecord::new(call, arguments, None, self.round()));
        records.len() - 1
    }

    /// Notes the answer of the call at `place`.
    pub(super) fn set_outcome(&self, place: usize, outcome: &CallOutcome) {
        if let Some(record) = self.lock().get_mut(place) {
            record.outcome = Some(outcome.clone());
        }
    }

    /// Notes a call with its answer, and returns the answer.
    pub(super) fn ended(&self, call: &CallRequest, arguments: Value, outcome: CallOutcome) -> CallOutcome {
        let record = CallRecord::new(call, arguments, Some(outcome.clone()), self.round());
        self.lock().push(record);
        outcome
    }

    pub(super) fn calls(&self) -> Vec<CallRecord> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<CallRecord>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
