//! Every way a query can fail, as the plan sees it.

use std::borrow::Cow;

use luaplan_base::{ErrorCode, ToolFailure, Value};

/// A failure on its way up; boxed because it is rare and large.
#[derive(Debug)]
pub(super) struct Failed(Box<ToolFailure>);

impl Failed {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(Box::new(ToolFailure::new(code, message)))
    }

    pub(super) fn retryable(mut self) -> Self {
        self.0.retryable = true;
        self
    }

    pub(super) fn with_detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.details.insert(name.to_owned(), value.into());
        self
    }

    pub(super) fn with_limit(self, limit: u64, observed: u64) -> Self {
        let integer = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        self.with_detail("limit", integer(limit)).with_detail("observed", integer(observed))
    }

    pub(super) fn with_help(self, help: impl Into<String>) -> Self {
        self.with_detail("help", help.into())
    }

    pub(super) fn into_tool_failure(self) -> ToolFailure {
        *self.0
    }

    pub(super) fn tool_failure(&self) -> &ToolFailure {
        &self.0
    }
}

impl From<ToolFailure> for Failed {
    fn from(failure: ToolFailure) -> Self {
        Self(Box::new(failure))
    }
}

/// The query is not allowed.
pub(super) fn refused(message: impl Into<String>) -> Failed {
    Failed::new(ErrorCode::QueryRefused, message)
}

/// The arguments do not make sense together.
pub(super) fn bad_arguments(message: impl Into<String>) -> Failed {
    Failed::new(ErrorCode::BadArguments, message)
}

/// The database refused the query.
pub(super) fn query_failed(message: impl Into<String>) -> Failed {
    Failed::new(ErrorCode::QueryFailed, message)
}

/// The database could not be opened or reached.
pub(super) fn unreachable(database: &str, reason: &str) -> Failed {
    Failed::new(ErrorCode::DatabaseUnreachable, format!("database `{database}` cannot be used: {reason}"))
}

/// Secrets that must never be printed: the password of a database URL in both its spellings.
#[derive(Clone, Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    pub(super) fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut kept: Vec<String> = secrets.into_iter().filter(|secret| !secret.is_empty()).collect();
        // Longest first, so that no part of a longer secret remains.
        kept.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(kept)
    }

    pub(super) fn remove<'m>(&self, message: &'m str) -> Cow<'m, str> {
        let mut message = Cow::Borrowed(message);
        for secret in &self.0 {
            if message.contains(secret.as_str()) {
                message = Cow::Owned(message.replace(secret.as_str(), "***"));
            }
        }
        message
    }
}
