//! PostgreSQL's errors as codes of luaplan.

use std::fmt::Display;

use luaplan_base::{Error, ErrorCode};

use crate::RECORD_VERSION;

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const DISK_FULL: &str = "53100";
const LOCK_NOT_AVAILABLE: &str = "55P03";
const DATA_CORRUPTED: &str = "XX001";
const INDEX_CORRUPTED: &str = "XX002";

/// The error for a failed step on the journal in the database `shown`.
pub(super) fn journal_error(shown: &str, error: sqlx::Error) -> Error {
    let mapped = match code(&error).as_deref() {
        Some(DISK_FULL) => {
            Error::new(ErrorCode::JournalDiskFull, format!("there is no room left for the journal `{shown}`"))
                .with_help("make room on the database server's disk and try again")
        }
        Some(DATA_CORRUPTED | INDEX_CORRUPTED) => Error::new(
            ErrorCode::JournalCorrupt,
            format!("the database of the journal `{shown}` is damaged: {}", text(&error)),
        )
        .with_help("keep a copy of the server's data as evidence and restore it from a backup"),
        _ => unavailable(shown, &text(&error)),
    };
    mapped.with_source(error)
}

/// The error for a database that does not answer as expected.
pub(super) fn unavailable(shown: &str, reason: &str) -> Error {
    Error::new(ErrorCode::JournalUnavailable, format!("the journal `{shown}` cannot be used: {reason}"))
        .with_help(
            "see whether the database server runs and `journal.url` is right; `luaplan doctor` tries it",
        )
}

/// The error for a journal of a newer program.
pub(super) fn newer(shown: &str, what: &str, known: i64, found: i64) -> Error {
    Error::new(
        ErrorCode::JournalNewerVersion,
        format!("the journal `{shown}` was written by a newer luaplan; nothing was changed"),
    )
    .with_limit(known, found)
    .with_detail("version_of", what)
}

/// The error for a record of a newer program.
pub(super) fn newer_record(shown: &str, found: i64) -> Error {
    newer(shown, "record", RECORD_VERSION.into(), found)
}

/// The error for a record or column with unexpected content.
pub(super) fn undecodable(shown: &str, sequence: u64, reason: &dyn Display) -> Error {
    Error::new(
        ErrorCode::JournalCorrupt,
        format!("record {sequence} of the journal `{shown}` cannot be read: {reason}"),
    )
    .with_detail("sequence", sequence)
}

/// Whether a retry over a new connection may succeed: the connection was cut, the server
/// stops or starts, or another node held the log for too long.
pub(super) fn is_transient(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::PoolTimedOut => true,
        sqlx::Error::Database(_) => code(error).is_some_and(|code| {
            // Connection exceptions, too many connections, shutdown and startup, an idle transaction that was ended.
            code.starts_with("08")
                || code.starts_with("57P")
                || code == "53300"
                || code == "25P03"
                || code == LOCK_NOT_AVAILABLE
        }),
        _ => false,
    }
}

fn code(error: &sqlx::Error) -> Option<String> {
    Some(error.as_database_error()?.code()?.into_owned())
}

fn text(error: &sqlx::Error) -> String {
    error.as_database_error().map_or_else(|| error.to_string(), |inner| inner.message().to_owned())
}
