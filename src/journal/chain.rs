//! The chain of records: the hash that ties each to its predecessor, and the place of new events in it.
//!
//! A record's hash is BLAKE3 (32 bytes, written as 64 lowercase hexadecimal digits) over four
//! fields, in this order, each preceded by its length in bytes as a 64-bit little-endian number:
//!
//! | field | bytes |
//! |---|---|
//! | `previous_hash` | the 64 ASCII digits of the record before; 64 times `0` for the first |
//! | `sequence` | 8: the position in the log, from 1, as a 64-bit little-endian number |
//! | `version` | 4: the record's version as a 32-bit little-endian number |
//! | `body` | the UTF-8 bytes of the column `body`, exactly as stored |
//!
//! The lengths make the framing unambiguous: no byte can move from one field to the next without
//! changing the hash. Everything else in a row repeats part of the body and is compared with it.

use blake3::Hasher;

use luaplan_base::{Error, ErrorCode, Result};

use super::{Event, Record};

/// Version of the records this program writes. A higher one in a file means a newer program.
pub const RECORD_VERSION: u32 = 5;

/// From this version on, records name where a secret was removed.
pub(super) const MARKED_SINCE: u32 = 5;

/// The predecessor hash of the first record.
pub const GENESIS_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The hash of a record, as the module's table describes it.
#[must_use]
pub fn record_hash(previous_hash: &str, sequence: u64, version: u32, body: &[u8]) -> String {
    let mut hasher = Hasher::new();
    let fields: [&[u8]; 4] =
        [previous_hash.as_bytes(), &sequence.to_le_bytes(), &version.to_le_bytes(), body];
    for field in fields {
        hasher.update(&(field.len() as u64).to_le_bytes());
        hasher.update(field);
    }
    hasher.finalize().to_hex().to_string()
}

/// One event.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) event: Event,
    /// The event's stored form.
    pub(super) body: String,
}

impl Row {
    pub(super) fn of(event: Event) -> Result<Self> {
        let body = serde_json::to_string(&event).map_err(|error| {
            Error::new(ErrorCode::Internal, format!("an event has no JSON form: {error}"))
        })?;
        Ok(Self { event, body })
    }
}

/// The newest record of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) sequence: u64,
    pub(super) hash: String,
}

impl Head {
    /// The head of an empty log.
    pub(super) fn genesis() -> Self {
        Self { sequence: 0, hash: GENESIS_HASH.to_owned() }
    }
}

/// An event with its place in the chain.
#[derive(Debug, Clone)]
pub(super) struct ChainedRow {
    pub(super) sequence: u64,
    pub(super) previous_hash: String,
    pub(super) hash: String,
    pub(super) row: Row,
}

impl ChainedRow {
    pub(super) fn into_record(self) -> Record {
        Record {
            sequence: self.sequence,
            version: RECORD_VERSION,
            previous_hash: self.previous_hash,
            hash: self.hash,
            event: self.row.event,
        }
    }
}

/// Places `rows` after `head`.
pub(super) fn place(mut head: Head, rows: impl IntoIterator<Item = Row>) -> Vec<ChainedRow> {
    rows.into_iter()
        .map(|row| {
            let sequence = head.sequence + 1;
            let hash = record_hash(&head.hash, sequence, RECORD_VERSION, row.body.as_bytes());
            let previous_hash = std::mem::replace(&mut head, Head { sequence, hash: hash.clone() }).hash;
            ChainedRow { sequence, previous_hash, hash, row }
        })
        .collect()
}
