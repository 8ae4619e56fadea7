//! A recorded event.

use std::sync::Arc;

use serde::Serialize;

use super::Event;

/// A recorded event with its place in the chain.
#[derive(Debug, Clone, Serialize)]
pub struct Record {
    /// Position in the whole log, from 1, without gaps.
    pub sequence: u64,
    /// Version of the record's form. Events have a `version` of their own.
    #[serde(rename = "record_version")]
    pub version: u32,
    /// BLAKE3 of the record before, hexadecimal; 64 zeros for the first.
    pub previous_hash: String,
    /// BLAKE3 over `previous_hash`, `sequence`, `version` and the event's stored bytes; framed as
    /// [`super::record_hash`] says.
    pub hash: String,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// Receives every event of a run as it happens: recorded ones with their record, transient ones without.
pub type EventListener = Arc<dyn Fn(&Event, Option<&Record>) + Send + Sync>;
