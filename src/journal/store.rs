//! The traits of a journal store. Reading and writing are separate.

use async_trait::async_trait;
use jiff::Timestamp;

use luaplan_base::{CallId, Result, RunId};

use super::{Event, Record, RunState, RunStatus, RunSummary};

/// What must have happened to a record before its append returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// Queued, in order; a killed process may lose it together with everything after it. A
    /// [`RunLog`](super::RunLog) does not wait for it and reports a failure later; a store treats it as
    /// [`Durability::Ordered`].
    Queued,
    /// In the log, in order; a power cut may lose it together with everything after it.
    Ordered,
    /// On the disk, together with everything before it.
    Forced,
}

/// A filter for records. Every field narrows.
#[derive(Debug, Clone, Default)]
pub struct RecordFilter {
    /// Only of this run.
    pub run_id: Option<RunId>,
    /// Only of runs of this tenant.
    pub tenant: Option<String>,
    /// Only about this tool.
    pub tool: Option<String>,
    /// Only events of these names.
    pub events: Vec<String>,
    /// `Some(true)`: only successes; `Some(false)`: only failures.
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

/// A filter for runs, newest first. Every field narrows.
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

/// The records that conflict with settling a matter of a call: certain events after a certain place.
#[derive(Debug, Clone)]
pub struct ConflictGuard {
    /// The run.
    pub run_id: RunId,
    /// The call; events of the run that concern no call count as well.
    pub call_id: CallId,
    /// Only records after this one count.
    pub after_sequence: u64,
    /// The names of the conflicting events.
    pub by_events: &'static [&'static str],
}

impl ConflictGuard {
    /// Whether `record` conflicts.
    #[must_use]
    pub fn is_by(&self, record: &Record) -> bool {
        let event = &record.event;
        record.sequence > self.after_sequence
            && event.run_id == self.run_id
            && event.body.call_id().is_none_or(|call_id| *call_id == self.call_id)
            && self.by_events.contains(&event.body.name())
    }
}

/// The result of [`JournalWrite::settle`].
#[derive(Debug, Clone)]
pub enum Settled {
    /// The events are on the disk.
    Written(Vec<Record>),
    /// A conflicting record came first; nothing was written.
    Conflict(Box<Record>),
}

/// The writing half.
#[async_trait]
pub trait JournalWrite: Send + Sync {
    /// Appends one event and returns its record once `durability` is reached.
    ///
    /// # Errors
    /// `journal_unavailable`, `journal_disk_full` or `journal_corrupt`; the event is then not recorded
    /// and the caller must not do what it announces.
    async fn append(&self, event: Event, durability: Durability) -> Result<Record>;

    /// Appends several events in this order and returns their records in the same order, once the
    /// strongest durability among them is reached.
    ///
    /// # Errors
    /// As [`JournalWrite::append`]. A store without transactions may have recorded the first ones.
    async fn append_all(&self, events: Vec<(Event, Durability)>) -> Result<Vec<Record>> {
        let mut records = Vec::with_capacity(events.len());
        for (event, durability) in events {
            records.push(self.append(event, durability).await?);
        }
        Ok(records)
    }

    /// Appends all of `events`, forced to the disk, unless a record conflicts. The look and the write are one
    /// transaction, so of several callers that settle the same matter only one succeeds, in whatever process.
    ///
    /// # Errors
    /// As [`JournalWrite::append`]; none of the events is then recorded.
    async fn settle(&self, events: Vec<Event>, unless: ConflictGuard) -> Result<Settled>;

    /// Checks that an effect whose intent is on record may be made now. A process that stalled after the
    /// write may have lost its run to another node; a store without leases always allows it.
    ///
    /// # Errors
    /// `run_taken_over`, or `journal_unavailable` where the owner cannot be determined.
    async fn check_fence(&self) -> Result<()> {
        Ok(())
    }

    /// Lets other nodes resume the run that this writer serves. A store without leases does nothing.
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
    /// The records that pass the filter.
    ///
    /// # Errors
    /// `journal_unavailable`, or `journal_corrupt` where a record cannot be decoded.
    async fn records(&self, filter: RecordFilter) -> Result<Vec<Record>>;

    /// The runs that pass the filter, newest first, each folded from its records.
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

    /// The summary of one run; `None` where there is no such run.
    ///
    /// # Errors
    /// As [`JournalRead::records`].
    async fn run_summary(&self, run_id: &RunId) -> Result<Option<RunSummary>> {
        Ok(self.run_state(run_id).await?.map(|state| state.summary()))
    }
}
