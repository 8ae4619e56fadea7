//! The row of a record.

use std::path::Path;

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use luaplan_base::Result;

use super::errors::{journal_error, newer, undecodable};
use crate::{RECORD_VERSION, Record};

/// A record from its row, columns as [`crate::select::COLUMNS`] has them.
pub(super) fn decode(path: &Path, row: &SqliteRow) -> Result<Record> {
    let sequence = row.try_get::<i64, _>(0).map_err(|error| journal_error(path, error))?;
    let sequence = sequence.unsigned_abs();
    let unreadable = |error: sqlx::Error| undecodable(path, sequence, &error.to_string());
    let version: u32 = row.try_get(1).map_err(unreadable)?;
    if version > RECORD_VERSION {
        return Err(newer(path, "record", RECORD_VERSION.into(), version.into()));
    }
    let body: &str = row.try_get(2).map_err(unreadable)?;
    Ok(Record {
        sequence,
        version,
        previous_hash: row.try_get(3).map_err(unreadable)?,
        hash: row.try_get(4).map_err(unreadable)?,
        event: serde_json::from_str(body).map_err(|error| undecodable(path, sequence, &error.to_string()))?,
    })
}
