//! An event, and its place in the record.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use luaplan_base::{RunId, SpanId, TraceId};

use super::EventBody;

/// One thing that happened, with where and when.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Event {
    /// The run it belongs to.
    pub run_id: RunId,
    /// The run's trace.
    pub trace_id: TraceId,
    /// The span inside the trace: one per call and per model request, one for the run itself.
    pub span_id: SpanId,
    /// When it happened.
    pub at: Timestamp,
    /// The candidate it is about, where several plans were requested: `c1`, `c2`, … Written only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate: Option<String>,
    /// Where a secret was removed, as JSON pointers into this event; many places in one field are written as that field.
    /// Written only where there are any; records before version 5 have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
    /// What happened.
    #[serde(flatten)]
    pub body: EventBody,
}

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
