//! The failure of a tool call: a value that the plan can inspect, not an exception.

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::{Error, ErrorCode, Result, Value};

/// The result of one tool call.
pub type CallOutcome = std::result::Result<Value, ToolFailure>;

/// The approximate size of an outcome in bytes, as counted against limits.
#[must_use]
pub fn outcome_bytes(outcome: &CallOutcome) -> u64 {
    match outcome {
        Ok(value) => value.approximate_bytes(),
        Err(failure) => {
            let details: u64 = failure.details.values().map(Value::approximate_bytes).sum();
            failure.message.len() as u64 + details
        }
    }
}

/// A failed call, as the plan sees it: `{error, code, retryable, …details}`.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolFailure {
    /// A stable code; built-in tools use [`ErrorCode`], other tools may have their own.
    pub code: String,
    /// What happened, in words.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// Further facts, for example `status` or `retry_after_ms`.
    pub details: IndexMap<String, Value>,
}

impl ToolFailure {
    /// A failure that a retry cannot cure.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code: code.as_str().to_owned(),
            message: message.into(),
            retryable: false,
            details: IndexMap::new(),
        }
    }

    /// Marks the failure as one that a retry may cure.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// Adds a named fact.
    #[must_use]
    pub fn with_detail(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.details.insert(name.into(), value.into());
        self
    }
}

impl ToolFailure {
    /// Reads `{error, code, retryable, …details}`, the form of a failure in plans and in the journal.
    ///
    /// # Errors
    /// `value_integer_out_of_range` for integers beyond 64 signed bits; `journal_corrupt` for
    /// anything that is not such an object.
    pub fn from_seen(json: Json) -> Result<Self> {
        let not_one = || Error::new(ErrorCode::JournalCorrupt, "a recorded failure is not a failure");
        let Value::Object(mut members) = Value::from_json(json)? else { return Err(not_one()) };
        let mut take = |name: &str| members.shift_remove(name);
        let (Some(Value::String(message)), Some(Value::String(code)), Some(Value::Bool(retryable))) =
            (take("error"), take("code"), take("retryable"))
        else {
            return Err(not_one());
        };
        Ok(Self { code, message, retryable, details: members })
    }
}

impl From<Error> for ToolFailure {
    /// Keeps code, message, limit, observed value and details.
    fn from(error: Error) -> Self {
        let mut failure = Self::new(error.code(), error.message());
        let limits = [("limit", error.limit()), ("observed", error.observed())];
        for (name, value) in limits {
            if let Some(value) = value.and_then(|value| Value::from_json(value.clone()).ok()) {
                failure.details.insert(name.to_owned(), value);
            }
        }
        for (name, value) in error.details() {
            if let Ok(value) = Value::from_json(value.clone()) {
                failure.details.insert(name.clone(), value);
            }
        }
        failure
    }
}
