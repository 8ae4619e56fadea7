//! SQLite's errors as codes of luaplan.

use std::path::Path;

use luaplan_base::{Error, ErrorCode};

// Primary result codes, https://www.sqlite.org/rescode.html
const PERM: i32 = 3;
const BUSY: i32 = 5;
const LOCKED: i32 = 6;
const READONLY: i32 = 8;
const CORRUPT: i32 = 11;
const FULL: i32 = 13;
const CANTOPEN: i32 = 14;
const NOTADB: i32 = 26;

// An extended code: no space for the shared-memory file of the locks.
const IOERR_SHMSIZE: i32 = 4874;

/// The error for a failed step on the journal at `path`.
pub(super) fn journal_error(path: &Path, error: sqlx::Error) -> Error {
    let shown = path.display();
    let mapped = match primary_code(&error) {
        Some(FULL) => disk_full(path),
        _ if extended_code(&error) == Some(IOERR_SHMSIZE) => disk_full(path),
        Some(CORRUPT | NOTADB) => Error::new(
            ErrorCode::JournalCorrupt,
            format!("`{shown}` is not a readable journal: {}", text(&error)),
        )
        .with_help(
            "keep the file as evidence, move it and its companions (-wal, -shm, .head) away and start a new \
             one; nothing was changed",
        ),
        Some(BUSY | LOCKED) => Error::new(
            ErrorCode::JournalUnavailable,
            format!("another process kept the journal `{shown}` locked for too long"),
        )
        .with_help("end the process that holds it, or give this one a data folder of its own"),
        Some(READONLY | CANTOPEN | PERM) => unwritable(path, &text(&error)),
        _ => Error::new(
            ErrorCode::JournalUnavailable,
            format!("the journal `{shown}` cannot be used: {}", text(&error)),
        ),
    };
    mapped.with_detail("path", shown.to_string()).with_source(error)
}

fn disk_full(path: &Path) -> Error {
    let shown = path.display();
    Error::new(ErrorCode::JournalDiskFull, format!("there is no room left for the journal `{shown}`"))
}

/// The error where the system refuses the log or a file beside it.
pub(super) fn file_error(path: &Path, error: std::io::Error) -> Error {
    let mapped = match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => disk_full(path),
        _ => unwritable(path, &error.to_string()),
    };
    mapped.with_source(error)
}

/// The error for a file or folder that may not be written or opened.
pub(super) fn unwritable(path: &Path, reason: &str) -> Error {
    let shown = path.display();
    Error::new(ErrorCode::JournalUnavailable, format!("the journal `{shown}` cannot be opened: {reason}"))
        .with_help(format!(
            "make `{shown}` and its folder writable for this user, or set `data_dir` to a folder that is"
        ))
}

/// The error for a journal of a newer program.
pub(super) fn newer(path: &Path, what: &str, known: i64, found: i64) -> Error {
    let shown = path.display();
    Error::new(
        ErrorCode::JournalNewerVersion,
        format!("the journal `{shown}` was written by a newer luaplan; nothing was changed"),
    )
    .with_limit(known, found)
    .with_detail("version_of", what)
    .with_detail("path", shown.to_string())
}

/// The error for a record or column with unexpected content.
pub(super) fn undecodable(path: &Path, sequence: u64, reason: &str) -> Error {
    Error::new(
        ErrorCode::JournalCorrupt,
        format!("record {sequence} of the journal `{}` cannot be read: {reason}", path.display()),
    )
    .with_detail("sequence", sequence)
}

/// Whether SQLite lacked permission to open or write its files.
pub(super) fn is_unwritable(error: &sqlx::Error) -> bool {
    matches!(primary_code(error), Some(READONLY | CANTOPEN | PERM))
}

/// Whether another connection held a lock for too long.
pub(super) fn is_busy(error: &sqlx::Error) -> bool {
    matches!(primary_code(error), Some(BUSY | LOCKED))
}

fn primary_code(error: &sqlx::Error) -> Option<i32> {
    extended_code(error).map(|code| code & 0xff)
}

fn extended_code(error: &sqlx::Error) -> Option<i32> {
    error.as_database_error()?.code()?.parse().ok()
}

fn text(error: &sqlx::Error) -> String {
    error.as_database_error().map_or_else(|| error.to_string(), |inner| inner.message().to_owned())
}
