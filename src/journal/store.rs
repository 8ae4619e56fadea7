//! What a journal store can do. Reading and writing are apart.

use async_trait::async_trait;
use jiff::Timestamp;
use serde::Serialize;

use luaplan_base::{CallId, Result, RunId};

use super::{Event, RunState, RunStatus, RunSummary};

/// How far a record must have come before the writer goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// Handed over, in order; a killed process may lose it together with everything after it. A
    /// [`RunLog`](super::RunLog) does not wait for it and reports a failure later; a store keeps it as
    /// [`Durability::Ordered`].
    Queued,
    /// In the log, in order; a power cut may lose it together with everything after it.
    Ordered,
    /// On the disk, and with it everything before it.
    Forced,
}

/// A kept event with its place in the chain.
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

/// Which records are wanted. Every field narrows.
#[derive(Debug, Clone, Default)]
pub struct RecordFilter {
    /// Of this run.
    pub run_id: Option<RunId>,
    /// Of runs of this tenant.
    pub tenant: Option<String>,
    /// About this tool.
    pub tool: Option<String>,
    /// Event names.
    pub events: Vec<String>,
    /// `Some(true)`: only what went well; `Some(false)`: only what failed.
    pub ok: Option<bool>,
    /// Not before.
    pub since: Option<Timestamp>,
    /// Before.
    pub until: Option<Timestamp>,
    /// Only after this sequence number.
    pub after_sequence: Option<u64>,
    /// At most so many.
    pub limit: Option<u32>,
    /// Newest first instead of oldest first.
    pub newest_first: bool,
}

/// Which runs are wanted, newest first. Every field narrows.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// At most so many.
    pub limit: Option<u32>,
    /// Only of this tenant.
    pub tenant: Option<String>,
    /// Only with this status.
    pub status: Option<RunStatus>,
    /// Only runs that started before this one: the last id of the page before.
    pub before: Option<RunId>,
}

/// What, on record after a certain place, makes it too late to settle something about a call.
#[derive(Debug, Clone)]
pub struct ConflictGuard {
    /// The run.
    pub run_id: RunId,
    /// The call; events of the run that are about no call count as well.
    pub call_id: CallId,
    /// Only records after this one count.
    pub after_sequence: u64,
    /// The events that make it too late, by name.
    pub by_events: &'static [&'static str],
}

impl ConflictGuard {
    /// Whether `record` makes it too late.
    #[must_use]
    pub fn is_by(&self, record: &Record) -> bool {
        let event = &record.event;
        record.sequence > self.after_sequence
            && event.run_id == self.run_id
            && event.body.call_id().is_none_or(|call_id| *call_id == self.call_id)
            && self.by_events.contains(&event.body.name())
    }
}

/// What came of [`JournalWrite::settle`].
#[derive(Debug, Clone)]
pub enum Settled {
    /// The events are on the disk.
    Written(Vec<Record>),
    /// Somebody was first; nothing was written.
    Conflict(Box<Record>),
}

/// The writing half.
#[async_trait]
pub trait JournalWrite: Send + Sync {
    /// Appends one event and returns its record once `durability` is reached.
    ///
    /// # Errors
    /// `journal_unavailable`, `journal_disk_full` or `journal_corrupt`; the event is then not kept
    /// and what it announces must not be done.
    async fn append(&self, event: Event, durability: Durability) -> Result<Record>;

    /// Appends several events in this order and returns their records in the same order, once the
    /// strongest durability among them is reached.
    ///
    /// # Errors
    /// As [`JournalWrite::append`]. A store that cannot keep them together may have kept the first ones.
    async fn append_all(&self, events: Vec<(Event, Durability)>) -> Result<Vec<Record>> {
        let mut records = Vec::with_capacity(events.len());
        for (event, durability) in events {
            records.push(self.append(event, durability).await?);
        }
        Ok(records)
    }

    /// Appends all of `events`, forced to the disk, unless a record says that it is too late. Looking and
    /// writing are one transaction, so of several that settle the same thing one does, in whatever process.
    ///
    /// # Errors
    /// As [`JournalWrite::append`]; none of the events is then kept.
    async fn settle(&self, events: Vec<Event>, unless: ConflictGuard) -> Result<Settled>;

    /// Whether an effect whose intent is on record may go out now. A process that was stopped for a while
    /// after it wrote may have lost its run to another node; one that cannot lose it always may.
    ///
    /// # Errors
    /// `run_taken_over`, or `journal_unavailable` where that cannot be told.
    async fn check_fence(&self) -> Result<()> {
        Ok(())
    }

    /// Lets other nodes go on with the run that is written here. Where there are none it does nothing.
    ///
    /// # Errors
    /// `journal_unavailable`.
    async fn release_lease(&self) -> Result<()> {
        Ok(())
    }
}

/// The reading half.
#[async_trait]
pub trait JournalRead: Send + Sync {
    /// The records that fit.
    ///
    /// # Errors
    /// `journal_unavailable`, or `journal_corrupt` where a record cannot be decoded.
    async fn records(&self, filter: RecordFilter) -> Result<Vec<Record>>;

    /// The runs that fit, newest first, each folded from its records.
    ///
    /// # Errors
    /// As [`JournalRead::records`].
    async fn runs(&self, filter: RunFilter) -> Result<Vec<RunSummary>>;

    /// One run, folded from all its records; `None` where there is no such run.
    ///
    /// # Errors
    /// As [`JournalRead::records`].
    async fn run_state(&self, run_id: &RunId) -> Result<Option<RunState>> {
        let filter = RecordFilter { run_id: Some(run_id.clone()), ..RecordFilter::default() };
        Ok(RunState::fold(&self.records(filter).await?))
    }

    /// One run in short; `None` where there is no such run.
    ///
    /// # Errors
    /// As [`JournalRead::records`].
    async fn run_summary(&self, run_id: &RunId) -> Result<Option<RunSummary>> {
        Ok(self.run_state(run_id).await?.map(|state| state.summary()))
    }
}
