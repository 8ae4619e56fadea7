//! What a database says of an error, as the plan sees it. Each driver reads its own errors ([`ReadError`]).

use sqlx::error::DatabaseError;

use luaplan_base::ErrorCode;

use super::failure::{Failed, Secrets, query_failed, refused, unreachable};

/// Reads an error that a server sent, which is of the driver's own kind.
pub(super) type ReadError = fn(&dyn DatabaseError) -> ServerError;

/// The cause of a database error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Cause {
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
    #[default]
    Other,
}

/// What a database tells of an error beside its message.
#[derive(Default)]
pub(super) struct ServerError {
    pub(super) cause: Cause,
    pub(super) sqlstate: Option<String>,
    /// What the server advises; PostgreSQL's hints name tables and columns, never values.
    pub(super) hint: Option<String>,
    /// The character of the statement, from 1.
    pub(super) position: Option<usize>,
    /// MySQL's and MariaDB's number of the error, SQLite's extended result code.
    pub(super) number: Option<(&'static str, i64)>,
}

/// Turns the driver's error into a failure. `database` is the configured name; the secrets of
/// its URL are taken out of the message.
pub(super) fn from_sqlx(error: &sqlx::Error, read: ReadError, database: &str, secrets: &Secrets) -> Failed {
    let (said, message) = classify(error, read);
    let message = said.in_words(message);
    let message = secrets.remove(&message).into_owned();
    let failed = match said.cause {
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

fn classify(error: &sqlx::Error, read: ReadError) -> (ServerError, String) {
    let (cause, message) = match error {
        sqlx::Error::Database(inner) => return (read(&**inner), inner.message().to_owned()),
        sqlx::Error::Io(error) => (Cause::Unreachable, format!("the connection broke: {error}")),
        sqlx::Error::Tls(error) => (Cause::Unreachable, format!("the TLS connection failed: {error}")),
        sqlx::Error::Protocol(message) => (Cause::Unreachable, format!("the connection broke: {message}")),
        sqlx::Error::WorkerCrashed => (Cause::Unreachable, "the connection's thread ended".to_owned()),
        sqlx::Error::Configuration(error) => (Cause::Misconfigured, error.to_string()),
        other => (Cause::Other, other.to_string()),
    };
    (ServerError { cause, ..ServerError::default() }, message)
}

impl ServerError {
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
