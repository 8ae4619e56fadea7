//! Reading records back.

use std::path::Path;

use async_trait::async_trait;
use futures::TryStreamExt as _;
use indexmap::IndexMap;
use jiff::Timestamp;
use sqlx::sqlite::{Sqlite, SqliteRow};
use sqlx::{QueryBuilder, Row as _};

use super::SqliteJournal;
use super::errors::{journal_error, newer, undecodable};
use crate::base::{Result, RunId};
use crate::journal::{
    JournalRead, RECORD_VERSION, Record, RecordFilter, RunFilter, RunState, RunStatus, RunSummary,
};

pub(super) const COLUMNS: &str = "SELECT sequence, version, body, previous_hash, hash FROM records WHERE 1";

/// The events a [`RunSummary`] is folded from, besides the number of calls.
const SUMMARY_EVENTS: &str = "('run_started', 'plan_proposed', 'plan_accepted', 'run_resumed', 'run_paused', 'run_sleeping', \
     'run_finished', 'run_failed', 'run_cancelled')";
/// The events that decide how a run stands: the last of them.
const STATUS_EVENTS: &str = "('run_started', 'run_resumed', 'run_paused', 'run_sleeping', 'run_finished', 'run_failed', 'run_cancelled')";

/// Runs folded at once, to bound a statement's parameters.
const RUNS_AT_ONCE: usize = 500;

/// A time as the column `at` has it: always nanoseconds, so that text order is time order.
pub(super) fn stored_time(at: Timestamp) -> String {
    format!("{at:.9}")
}

/// A record from its row, columns as [`COLUMNS`] has them.
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

#[async_trait]
impl JournalRead for SqliteJournal {
    async fn records(&self, filter: RecordFilter) -> Result<Vec<Record>> {
        self.select(select_records(&filter)).await
    }

    async fn runs(&self, filter: RunFilter) -> Result<Vec<RunSummary>> {
        let ids: Vec<String> = select_runs(&filter)
            .build_query_scalar()
            .fetch_all(&self.readers)
            .await
            .map_err(|error| journal_error(&self.path, error))?;
        let mut runs = Vec::with_capacity(ids.len());
        for some in ids.chunks(RUNS_AT_ONCE) {
            runs.extend(self.summaries(some).await?);
        }
        Ok(runs)
    }

    async fn run_summary(&self, run_id: &RunId) -> Result<Option<RunSummary>> {
        Ok(self.summaries(&[run_id.as_str().to_owned()]).await?.pop())
    }
}

impl SqliteJournal {
    async fn select(&self, mut query: QueryBuilder<Sqlite>) -> Result<Vec<Record>> {
        let mut rows = query.build().fetch(&self.readers);
        let mut records = Vec::new();
        while let Some(row) = rows.try_next().await.map_err(|error| journal_error(&self.path, error))? {
            records.push(decode(&self.path, &row)?);
        }
        Ok(records)
    }

    /// The runs `ids`, in that order; an id without records is left out.
    async fn summaries(&self, ids: &[String]) -> Result<Vec<RunSummary>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut query = QueryBuilder::new(COLUMNS);
        query.push(" AND event IN ").push(SUMMARY_EVENTS);
        push_ids(&mut query, ids);
        query.push(" ORDER BY sequence");
        let mut by_run: IndexMap<RunId, Vec<Record>> = IndexMap::new();
        for record in self.select(query).await? {
            by_run.entry(record.event.run_id.clone()).or_default().push(record);
        }

        let mut query =
            QueryBuilder::new("SELECT run_id, count(*) FROM records WHERE event = 'tool_call_started'");
        push_ids(&mut query, ids);
        query.push(" GROUP BY run_id");
        let counts: Vec<(String, i64)> = query
            .build_query_as()
            .fetch_all(&self.readers)
            .await
            .map_err(|error| journal_error(&self.path, error))?;

        let mut summaries: IndexMap<String, RunSummary> = by_run
            .values()
            .filter_map(RunState::fold)
            .map(|run| (run.run_id.to_string(), run.summary()))
            .collect();
        for (id, calls) in counts {
            if let Some(summary) = summaries.get_mut(&id) {
                summary.tool_calls = calls.unsigned_abs();
            }
        }
        Ok(ids.iter().filter_map(|id| summaries.swap_remove(id)).collect())
    }
}

fn push_ids(query: &mut QueryBuilder<Sqlite>, ids: &[String]) {
    query.push(" AND run_id IN (");
    let mut separated = query.separated(", ");
    for id in ids {
        separated.push_bind(id.clone());
    }
    query.push(")");
}

fn select_records(filter: &RecordFilter) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(COLUMNS);
    if let Some(run_id) = &filter.run_id {
        query.push(" AND run_id = ").push_bind(run_id.as_str().to_owned());
    }
    if let Some(tool) = &filter.tool {
        query.push(" AND tool = ").push_bind(tool.clone());
    }
    if !filter.events.is_empty() {
        query.push(" AND event IN (");
        let mut separated = query.separated(", ");
        for event in &filter.events {
            separated.push_bind(event.clone());
        }
        query.push(")");
    }
    if let Some(ok) = filter.ok {
        query.push(" AND ok = ").push_bind(ok);
    }
    if let Some(since) = filter.since {
        query.push(" AND at >= ").push_bind(stored_time(since));
    }
    if let Some(until) = filter.until {
        query.push(" AND at < ").push_bind(stored_time(until));
    }
    if let Some(after) = filter.after_sequence {
        query.push(" AND sequence > ").push_bind(i64::try_from(after).unwrap_or(i64::MAX));
    }
    query.push(" ORDER BY sequence");
    if filter.newest_first {
        query.push(" DESC");
    }
    if let Some(limit) = filter.limit {
        query.push(" LIMIT ").push_bind(i64::from(limit));
    }
    query
}

fn select_runs(filter: &RunFilter) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new("SELECT run_id FROM records AS start WHERE event = 'run_started'");
    if let Some(before) = &filter.before {
        query
            .push(" AND sequence < (SELECT min(sequence) FROM records WHERE event = 'run_started' AND run_id = ")
            .push_bind(before.as_str().to_owned())
            .push(")");
    }
    if let Some(status) = filter.status {
        let last = match status {
            RunStatus::Running => "IN ('run_started', 'run_resumed')",
            RunStatus::Sleeping => "= 'run_sleeping'",
            RunStatus::Paused => "= 'run_paused'",
            RunStatus::Succeeded => "= 'run_finished'",
            RunStatus::Failed => "= 'run_failed'",
            RunStatus::Cancelled => "= 'run_cancelled'",
        };
        query
            .push(" AND (SELECT event FROM records AS state WHERE state.run_id = start.run_id AND state.event IN ")
            .push(STATUS_EVENTS)
            .push(" ORDER BY sequence DESC LIMIT 1) ")
            .push(last);
    }
    query.push(" ORDER BY sequence DESC");
    if let Some(limit) = filter.limit {
        query.push(" LIMIT ").push_bind(i64::from(limit));
    }
    query
}
