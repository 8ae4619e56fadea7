//! Events with their place in the chain, before a store writes them.

use luaplan_base::{Error, ErrorCode, Result};

use super::{Event, GENESIS_HASH, RECORD_VERSION, Record, record_hash};

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
