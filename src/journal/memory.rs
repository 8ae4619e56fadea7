//! A journal in memory, for plan tests, replays and trials of candidates.

use std::sync::Mutex;

use async_trait::async_trait;
use indexmap::IndexMap;

use luaplan_base::{Result, RunId};

use super::{
    ConflictGuard, Durability, Event, EventBody, JournalRead, JournalWrite, RECORD_VERSION, Record,
    RecordFilter, RunFilter, RunState, RunSummary, Settled,
};

/// Keeps records in memory, in order. Its chain is not hashed: there is nothing to tamper with.
#[derive(Default)]
pub struct MemoryJournal(Mutex<Vec<Record>>);

impl MemoryJournal {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Record>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn push(records: &mut Vec<Record>, event: Event) -> Record {
    let record = Record {
        sequence: records.len() as u64 + 1,
        version: RECORD_VERSION,
        previous_hash: String::new(),
        hash: String::new(),
        event,
    };
    records.push(record.clone());
    record
}

#[async_trait]
impl JournalWrite for MemoryJournal {
    async fn append(&self, event: Event, _durability: Durability) -> Result<Record> {
        Ok(push(&mut self.lock(), event))
    }

    async fn settle(&self, events: Vec<Event>, unless: ConflictGuard) -> Result<Settled> {
        let mut records = self.lock();
        if let Some(first) = records.iter().find(|record| unless.is_by(record)) {
            return Ok(Settled::Conflict(Box::new(first.clone())));
        }
        Ok(Settled::Written(events.into_iter().map(|event| push(&mut records, event)).collect()))
    }
}

#[async_trait]
impl JournalRead for MemoryJournal {
    async fn records(&self, filter: RecordFilter) -> Result<Vec<Record>> {
        Ok(filter.apply(self.lock().clone()))
    }

    async fn runs(&self, filter: RunFilter) -> Result<Vec<RunSummary>> {
        let mut by_run: IndexMap<RunId, Vec<Record>> = IndexMap::new();
        let records = RecordFilter { tenant: filter.tenant.clone(), ..RecordFilter::default() };
        for record in &records.apply(self.lock().clone()) {
            by_run.entry(record.event.run_id.clone()).or_default().push(record.clone());
        }
        let mut runs: Vec<RunSummary> =
            by_run.values().filter_map(RunState::fold).map(|run| run.summary()).collect();
        runs.reverse();
        if let Some(before) = &filter.before {
            let position = runs.iter().position(|run| run.run_id == *before).map_or(runs.len(), |at| at + 1);
            runs.drain(..position);
        }
        runs.retain(|run| filter.status.is_none_or(|status| run.status == status));
        runs.truncate(filter.limit.map_or(usize::MAX, |limit| limit as usize));
        Ok(runs)
    }
}

/// Whether a record starts a run of this tenant.
fn began_for(record: &Record, wanted: &str) -> bool {
    match &record.event.body {
        EventBody::RunStarted { tenant, .. } => tenant.as_deref().unwrap_or("local") == wanted,
        _ => false,
    }
}

impl RecordFilter {
    /// Whether a record passes the filter.
    #[must_use]
    pub fn apply(&self, mut records: Vec<Record>) -> Vec<Record> {
        if let Some(tenant) = &self.tenant {
            let of_tenant: Vec<RunId> = records
                .iter()
                .filter(|record| began_for(record, tenant))
                .map(|record| record.event.run_id.clone())
                .collect();
            records.retain(|record| of_tenant.contains(&record.event.run_id));
        }
        records.retain(|record| self.fits(record));
        if self.newest_first {
            records.reverse();
        }
        if let Some(limit) = self.limit {
            records.truncate(limit as usize);
        }
        records
    }

    fn fits(&self, record: &Record) -> bool {
        let event = &record.event;
        self.run_id.as_ref().is_none_or(|id| *id == event.run_id)
            && self.tool.as_deref().is_none_or(|tool| event.body.tool() == Some(tool))
            && (self.events.is_empty() || self.events.iter().any(|name| name == event.body.name()))
            && self.ok.is_none_or(|ok| event.body.ok() == Some(ok))
            && self.since.is_none_or(|since| event.at >= since)
            && self.until.is_none_or(|until| event.at < until)
            && self.after_sequence.is_none_or(|after| record.sequence > after)
    }
}
