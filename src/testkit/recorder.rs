//! What a plan under test called.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::{CallOutcome, ErrorCode, Result, Value};
use crate::catalog::CallRequest;

/// One call of a plan under test.
#[derive(Debug, Clone)]
pub(super) struct CallRecord {
    id: String,
    tool: String,
    line: Option<u32>,
    arguments: Value,
    outcome: Option<CallOutcome>,
}

impl CallRecord {
    fn new(call: &CallRequest, arguments: Value, outcome: Option<CallOutcome>) -> Self {
        let id = call.id.as_str().to_owned();
        Self { id, tool: call.tool.clone(), line: call.line, arguments, outcome }
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
pub(super) struct Recorder(Mutex<Vec<CallRecord>>);

impl Recorder {
    /// Notes a call that waits for its answer, and gives its place.
    pub(super) fn began(&self, call: &CallRequest, arguments: Value) -> usize {
        let mut records = self.lock();
        records.push(CallRecord::new(call, arguments, None));
        records.len() - 1
    }

    /// Notes the answer of the call at `place`.
    pub(super) fn set_outcome(&self, place: usize, outcome: &CallOutcome) {
        if let Some(record) = self.lock().get_mut(place) {
            record.outcome = Some(outcome.clone());
        }
    }

    /// Notes a call that has its answer already, and gives that back.
    pub(super) fn ended(&self, call: &CallRequest, arguments: Value, outcome: CallOutcome) -> CallOutcome {
        self.lock().push(CallRecord::new(call, arguments, Some(outcome.clone())));
        outcome
    }

    pub(super) fn calls(&self) -> Vec<CallRecord> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<CallRecord>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
