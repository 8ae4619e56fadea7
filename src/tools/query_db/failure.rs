//! Every way a query can fail, as the plan will see it.

use std::borrow::Cow;

use crate::base::{ErrorCode, ToolFailure, Value};

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

/// The database would not do it.
pub(super) fn query_failed(message: impl Into<String>) -> Failed {
    Failed::new(ErrorCode::QueryFailed, message)
}

/// What the database says about itself when something goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// Out of time on the database's own clock.
    Timeout,
    /// The connection or the server is going away, or is full.
    Unreachable,
    /// Wrong password, no such database, not a database file: trying again does not help.
    Misconfigured,
    /// The read-only session refused a write.
    ReadOnly,
    /// Locks, deadlocks, serialisation: trying again may help.
    Contention,
    Other,
}

/// Turns the driver's error into a failure. `database` is the configured name; the secrets of
/// its URL are taken out of the message.
pub(super) fn from_sqlx(error: &sqlx::Error, database: &str, secrets: &Secrets) -> Failed {
    let (cause, message) = classify(error);
    let message = secrets.remove(&message).into_owned();
    let failed = match cause {
        Cause::Timeout => {
            Failed::new(ErrorCode::ToolTimeout, format!("database `{database}` stopped the query: {message}"))
                .retryable()
        }
        Cause::Unreachable => unreachable(database, &message).retryable(),
        Cause::Misconfigured => unreachable(database, &message),
        Cause::ReadOnly => refused(format!("database `{database}` is open for reading only: {message}")),
        Cause::Contention => query_failed(format!("database `{database}`: {message}")).retryable(),
        Cause::Other => query_failed(format!("database `{database}`: {message}")),
    };
    failed.with_detail("database", database)
}

/// The database could not be opened or reached.
pub(super) fn unreachable(database: &str, reason: &str) -> Failed {
    Failed::new(ErrorCode::DatabaseUnreachable, format!("database `{database}` cannot be used: {reason}"))
}

fn classify(error: &sqlx::Error) -> (Cause, String) {
    match error {
        sqlx::Error::Database(inner) => {
            let code = inner.code().unwrap_or_default();
            let mysql = inner.try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>();
            let cause = if let Some(mysql) = mysql {
                mysql_cause(mysql.number())
            } else if inner.try_downcast_ref::<sqlx::postgres::PgDatabaseError>().is_some() {
                postgres_cause(&code)
            } else {
                sqlite_cause(code.parse().unwrap_or_default())
            };
            (cause, inner.message().to_owned())
        }
        sqlx::Error::Io(error) => (Cause::Unreachable, format!("the connection broke: {error}")),
        sqlx::Error::Tls(error) => (Cause::Unreachable, format!("the TLS connection failed: {error}")),
        sqlx::Error::Protocol(message) => (Cause::Unreachable, format!("the connection broke: {message}")),
        sqlx::Error::WorkerCrashed => (Cause::Unreachable, "the connection's thread ended".to_owned()),
        sqlx::Error::Configuration(error) => (Cause::Misconfigured, error.to_string()),
        other => (Cause::Other, other.to_string()),
    }
}

/// By SQLSTATE, PostgreSQL manual appendix A.
fn postgres_cause(state: &str) -> Cause {
    match state {
        "57014" => Cause::Timeout,
        "57P01" | "57P02" | "57P03" | "57P05" | "53300" => Cause::Unreachable,
        "25006" => Cause::ReadOnly,
        "40001" | "40P01" | "55P03" => Cause::Contention,
        "3D000" => Cause::Misconfigured,
        state if state.starts_with("08") => Cause::Unreachable,
        state if state.starts_with("28") => Cause::Misconfigured,
        _ => Cause::Other,
    }
}

/// By error number, MySQL and MariaDB.
fn mysql_cause(number: u16) -> Cause {
    match number {
        1969 | 3024 => Cause::Timeout,
        1040 | 1053 | 1158..=1161 | 1203 | 1317 | 1927 | 2006 | 2013 => Cause::Unreachable,
        1792 | 1290 => Cause::ReadOnly,
        1205 | 1213 => Cause::Contention,
        1044 | 1045 | 1049 | 1698 => Cause::Misconfigured,
        _ => Cause::Other,
    }
}

/// By result code; the low byte is the primary one.
fn sqlite_cause(code: u32) -> Cause {
    match code & 0xff {
        5 | 6 => Cause::Contention,
        8 => Cause::ReadOnly,
        9 => Cause::Timeout,
        11 | 14 | 26 => Cause::Misconfigured,
        _ => Cause::Other,
    }
}

/// What must never be printed: the password of a database URL in both its spellings.
#[derive(Clone, Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    pub(super) fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut kept: Vec<String> = secrets.into_iter().filter(|secret| !secret.is_empty()).collect();
        // Longest first, so that no part of a longer secret stays behind.
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
