//! The same rules outside of events: values of plans, failures they see, errors of edges.

use bytes::Bytes;
use indexmap::IndexMap;

use luaplan_base::{CallOutcome, Error, ToolFailure, Value};

use super::{Marks, Position, REDACTED, RedactionScope, Redactor};

impl Redactor {
    /// A value, redacted as a result is.
    #[must_use]
    pub fn value(&self, value: Value) -> Value {
        self.value_in(value, RedactionScope::Exact)
    }

    /// A failure as it is recorded. The plan sees this form too, so that a replay shows it the same.
    #[must_use]
    pub fn failure(&self, failure: ToolFailure) -> ToolFailure {
        self.failure_in(failure, RedactionScope::Text)
    }

    /// An outcome, result or failure, redacted as a result is.
    pub fn outcome(&self, outcome: CallOutcome) -> CallOutcome {
        match outcome {
            Ok(value) => Ok(self.value(value)),
            Err(failure) => Err(self.failure_in(failure, RedactionScope::Exact)),
        }
    }

    /// An error as an edge may send it.
    #[must_use]
    pub fn error(&self, error: Error) -> Error {
        error.rewritten(
            |text| self.text(text),
            |json| self.json(json, RedactionScope::Text, &Position::Top, &mut Marks::default()),
        )
    }

    fn failure_in(&self, mut failure: ToolFailure, scope: RedactionScope) -> ToolFailure {
        failure.message = self.text_in(failure.message, scope);
        failure.details = self.members_in(failure.details, scope);
        failure
    }

    fn value_in(&self, value: Value, scope: RedactionScope) -> Value {
        match value {
            Value::String(text) => Value::String(self.text_in(text, scope)),
            Value::Bytes(bytes) => Value::from_lua_bytes(self.bytes(bytes)),
            Value::Array(items) => {
                Value::Array(items.into_iter().map(|item| self.value_in(item, scope)).collect())
            }
            Value::Object(members) => Value::Object(self.members_in(members, scope)),
            Value::Failure(failure) => Value::Failure(Box::new(self.failure_in(*failure, scope))),
            Value::Integer(number) if self.is_secret_number(&number) => Value::from(REDACTED),
            Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) => value,
        }
    }

    fn members_in(&self, members: IndexMap<String, Value>, scope: RedactionScope) -> IndexMap<String, Value> {
        let mut safe = IndexMap::with_capacity(members.len());
        for (name, value) in members {
            let mut name = self.text_in(name, RedactionScope::Exact);
            // Two names that differ only in a secret must stay two.
            while safe.contains_key(&name) {
                name.push('\'');
            }
            safe.insert(name, self.value_in(value, scope));
        }
        safe
    }

    fn text_in(&self, text: String, scope: RedactionScope) -> String {
        self.replaced(&text, scope).unwrap_or(text)
    }

    /// Bytes that are not text.
    fn bytes(&self, bytes: Bytes) -> Bytes {
        let mut safe = Vec::new();
        let mut kept = 0;
        for (start, end) in self.known.ranges(&bytes) {
            safe.extend_from_slice(bytes.get(kept..start).unwrap_or_default());
            safe.extend_from_slice(REDACTED.as_bytes());
            kept = end;
        }
        if kept == 0 {
            return bytes;
        }
        safe.extend_from_slice(bytes.get(kept..).unwrap_or_default());
        safe.into()
    }
}
