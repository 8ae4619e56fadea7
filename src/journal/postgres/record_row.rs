//! The row of a record.

use sqlx::Row as _;
use sqlx::postgres::PgRow;

use luaplan_base::Result;

use super::errors::{journal_error, newer_record, undecodable};
use crate::{RECORD_VERSION, Record};

/// A record from its row, columns as [`crate::select::COLUMNS`] has them.
pub(super) fn decode(shown: &str, row: &PgRow) -> Result<Record> {
    let sequence = row.try_get::<i64, _>(0).map_err(|error| journal_error(shown, error))?.unsigned_abs();
    let unreadable = |error: sqlx::Error| undecodable(shown, sequence, &error);
    let stored: i64 = row.try_get(1).map_err(unreadable)?;
    let version = u32::try_from(stored)
        .ok()
        .filter(|version| *version <= RECORD_VERSION)
        .ok_or_else(|| newer_record(shown, stored))?;
    let body: &str = row.try_get(2).map_err(unreadable)?;
    Ok(Record {
        sequence,
        version,
        previous_hash: row.try_get(3).map_err(unreadable)?,
        hash: row.try_get(4).map_err(unreadable)?,
        event: serde_json::from_str(body).map_err(|error| undecodable(shown, sequence, &error))?,
    })
}
