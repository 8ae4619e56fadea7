//! Every way a query can fail, as the plan sees it.

use std::borrow::Cow;

use luaplan_base::{ErrorCode, ToolFailure, Value};

use super::{mysql, postgres};

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

/// The cause of a database error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// Out of time on the database's own clock.
    Timeout,
    /// The connection or the server is going away, or is full.
    Unreachable,
    /// Wrong password, no such database, not a database file: a retry does not help.
    Misconfigured,
    /// The read-only session refused a write.
    ReadOnly,
    /// Locks, deadlocks, serialisation: a retry may help.
    Contention,
    Other,
}

/// Turns the driver's error into a failure. `database` is the configured name; the secrets of
/// its URL are taken out of the message.
pub(super) fn from_sqlx(error: &sqlx::Error, database: &str, secrets: &Secrets) -> Failed {
    let (cause, message) = classify(error);
    let said = ServerSaid::of(error);
    let message = said.in_words(message);
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
    said.into_details(failed.with_detail("database", database), secrets)
}

/// What a database tells of an error beside its message.
#[derive(Default)]
pub(super) struct ServerSaid {
    pub(super) sqlstate: Option<String>,
    /// What the server advises; PostgreSQL's hints name tables and columns, never values.
    pub(super) hint: Option<String>,
    /// The character of the statement, from 1.
    pub(super) position: Option<usize>,
    /// MySQL's and MariaDB's number of the error, SQLite's extended result code.
    pub(super) number: Option<(&'static str, i64)>,
}

impl ServerSaid {
    fn of(error: &sqlx::Error) -> Self {
        let sqlx::Error::Database(inner) = error else { return Self::default() };
        if let Some(said) = postgres::said(&**inner) {
            return said;
        }
        let code = inner.code();
        if let Some(number) = mysql::error_number(&**inner) {
            let number = Some(("errno", i64::from(number)));
            return Self { sqlstate: code.map(Cow::into_owned), number, ..Self::default() };
        }
        let extended = code.and_then(|code| code.parse().ok());
        Self { number: extended.map(|code| ("sqlite_code", code)), ..Self::default() }
    }

    /// The message with what helps a reader: `… (at character 8, SQLSTATE 42703; hint: …)`.
    fn in_words(&self, message: String) -> String {
        let position = self.position.map(|position| format!("at character {position}"));
        let number = self.number.and_then(|(name, number)| match (name, number) {
            ("errno", _) => Some(format!("error {number}")),
            // SQLite's plain "error" says nothing beside the message.
            (_, 1) => None,
            _ => Some(format!("SQLite code {number}")),
        });
        let state = self.sqlstate.as_ref().map(|state| format!("SQLSTATE {state}"));
        let codes = [position, number, state].into_iter().flatten().collect::<Vec<_>>().join(", ");
        let hint = self.hint.as_ref().map(|hint| format!("hint: {hint}"));
        let codes = Some(codes).filter(|codes| !codes.is_empty());
        let told = [codes, hint].into_iter().flatten().collect::<Vec<_>>().join("; ");
        if told.is_empty() { message } else { format!("{message} ({told})") }
    }

    fn into_details(self, mut failed: Failed, secrets: &Secrets) -> Failed {
        if let Some(state) = self.sqlstate {
            failed = failed.with_detail("sqlstate", state);
        }
        if let Some((name, number)) = self.number {
            failed = failed.with_detail(name, number);
        }
        if let Some(position) = self.position.and_then(|position| i64::try_from(position).ok()) {
            failed = failed.with_detail("position", position);
        }
        if let Some(hint) = self.hint {
            failed = failed.with_detail("hint", secrets.remove(&hint).into_owned());
        }
        failed
    }
}

/// The database could not be opened or reached.
pub(super) fn unreachable(database: &str, reason: &str) -> Failed {
    Failed::new(ErrorCode::DatabaseUnreachable, format!("database `{database}` cannot be used: {reason}"))
}

fn classify(error: &sqlx::Error) -> (Cause, String) {
    match error {
        sqlx::Error::Database(inner) => {
            let code = inner.code().unwrap_or_default();
            let cause = if let Some(number) = mysql::error_number(&**inner) {
                mysql_cause(number)
            } else if postgres::said(&**inner).is_some() {
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
