//! The queries for both databases, and the folds of their rows.

use indexmap::IndexMap;
use jiff::Timestamp;
use sqlx::{ColumnIndex, Database, Decode, Encode, QueryBuilder, Row, Type};

use luaplan_base::{Error, Result, RunId};

use super::{
    ConflictGuard, ContextVersion, Record, RecordFilter, RunFilter, RunState, RunStatus, RunSummary,
};

/// The columns of a [`Record`], in this order; conditions follow.
pub(super) const COLUMNS: &str =
    "SELECT sequence, version, body, previous_hash, hash FROM records WHERE TRUE";

/// The events that a [`RunSummary`] is folded from, besides the number of calls.
const SUMMARY_EVENTS: &str = "('run_started', 'plan_proposed', 'plan_accepted', 'run_resumed', 'run_paused', 'run_sleeping', \
     'run_finished', 'run_failed', 'run_cancelled')";
/// The events that set a run's status; the last one counts.
const STATUS_EVENTS: &str = "('run_started', 'run_resumed', 'run_paused', 'run_sleeping', 'run_finished', 'run_failed', 'run_cancelled')";

/// Runs folded at once, to bound a statement's parameters.
pub(super) const RUNS_AT_ONCE: usize = 500;

/// A time as the column `at` stores it: always with nanoseconds, so that text order is time order.
pub(super) fn stored_time(at: Timestamp) -> String {
    format!("{at:.9}")
}

/// The records that pass the filter.
pub(super) fn select_records<DB: Database>(filter: &RecordFilter) -> QueryBuilder<DB>
where
    String: for<'t> Encode<'t, DB> + Type<DB>,
    i64: for<'t> Encode<'t, DB> + Type<DB>,
    bool: for<'t> Encode<'t, DB> + Type<DB>,
{
    let mut query = QueryBuilder::new(COLUMNS);
    if let Some(run_id) = &filter.run_id {
        query.push(" AND run_id = ").push_bind(run_id.as_str().to_owned());
    }
    if let Some(tenant) = &filter.tenant {
        query
            .push(" AND EXISTS (SELECT 1 FROM records AS began WHERE began.run_id = records.run_id AND began.event = 'run_started' AND ")
            .push(tenant_of::<DB>("began"))
            .push(" = ")
            .push_bind(tenant.clone())
            .push(")");
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

/// The tenant of a `run_started` record; runs of older versions belong to the command line.
fn tenant_of<DB: Database>(table: &str) -> String {
    match DB::NAME {
        "PostgreSQL" => format!("coalesce({table}.body::json ->> 'tenant', 'local')"),
        _ => format!("coalesce(json_extract({table}.body, '$.tenant'), 'local')"),
    }
}

/// The first conflicting record.
pub(super) fn select_precluding<DB: Database>(unless: &ConflictGuard) -> QueryBuilder<DB>
where
    String: for<'t> Encode<'t, DB> + Type<DB>,
    i64: for<'t> Encode<'t, DB> + Type<DB>,
{
    let mut query = QueryBuilder::new(COLUMNS);
    query.push(" AND run_id = ").push_bind(unless.run_id.as_str().to_owned());
    query.push(" AND sequence > ").push_bind(i64::try_from(unless.after_sequence).unwrap_or(i64::MAX));
    query.push(" AND (call_id IS NULL OR call_id = ").push_bind(unless.call_id.as_str().to_owned());
    query.push(") AND event IN (");
    let mut names = query.separated(", ");
    for name in unless.by_events {
        names.push_bind((*name).to_owned());
    }
    query.push(") ORDER BY sequence LIMIT 1");
    query
}

/// The ids of the runs that pass the filter, newest first.
pub(super) fn select_runs<DB: Database>(filter: &RunFilter) -> QueryBuilder<DB>
where
    String: for<'t> Encode<'t, DB> + Type<DB>,
    i64: for<'t> Encode<'t, DB> + Type<DB>,
{
    let mut query = QueryBuilder::new("SELECT run_id FROM records AS start WHERE event = 'run_started'");
    if let Some(before) = &filter.before {
        query
            .push(" AND sequence < (SELECT min(sequence) FROM records WHERE event = 'run_started' AND run_id = ")
            .push_bind(before.as_str().to_owned())
            .push(")");
    }
    if let Some(tenant) = &filter.tenant {
        query.push(" AND ").push(tenant_of::<DB>("start")).push(" = ").push_bind(tenant.clone());
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

/// The records that summaries of the runs `ids` are folded from.
pub(super) fn select_for_summaries<DB: Database>(ids: &[String]) -> QueryBuilder<DB>
where
    String: for<'t> Encode<'t, DB> + Type<DB>,
{
    let mut query = QueryBuilder::new(COLUMNS);
    query.push(" AND event IN ").push(SUMMARY_EVENTS);
    push_ids(&mut query, ids);
    query.push(" ORDER BY sequence");
    query
}

/// The number of calls of each of the runs `ids`; a repeated call counts once.
pub(super) fn select_call_counts<DB: Database>(ids: &[String]) -> QueryBuilder<DB>
where
    String: for<'t> Encode<'t, DB> + Type<DB>,
{
    let mut query = QueryBuilder::new(
        "SELECT run_id, count(DISTINCT call_id) FROM records WHERE event = 'tool_call_started'",
    );
    push_ids(&mut query, ids);
    query.push(" GROUP BY run_id");
    query
}

fn push_ids<DB: Database>(query: &mut QueryBuilder<DB>, ids: &[String])
where
    String: for<'t> Encode<'t, DB> + Type<DB>,
{
    query.push(" AND run_id IN (");
    let mut separated = query.separated(", ");
    for id in ids {
        separated.push_bind(id.clone());
    }
    query.push(")");
}

/// The runs `ids`, in that order, from the results of the two selections above; ids without records are
/// omitted.
pub(super) fn summaries(ids: &[String], records: Vec<Record>, counts: Vec<(String, i64)>) -> Vec<RunSummary> {
    let mut by_run: IndexMap<RunId, Vec<Record>> = IndexMap::new();
    for record in records {
        by_run.entry(record.event.run_id.clone()).or_default().push(record);
    }
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
    ids.iter().filter_map(|id| summaries.swap_remove(id)).collect()
}

/// A saved context from its row: name, version, hash, size, time and run, in this order. `failed` makes the error for
/// a row that cannot be read, `corrupt` that for a fault of the named context.
pub(super) fn context_version<R: Row>(
    row: &R,
    failed: impl Fn(sqlx::Error) -> Error,
    corrupt: impl Fn(&str, &str) -> Error,
) -> Result<ContextVersion>
where
    usize: ColumnIndex<R>,
    for<'r> String: Decode<'r, R::Database> + Type<R::Database>,
    for<'r> Option<String>: Decode<'r, R::Database> + Type<R::Database>,
    for<'r> i64: Decode<'r, R::Database> + Type<R::Database>,
{
    let name: String = row.try_get(0).map_err(failed)?;
    let unreadable = |error: sqlx::Error| corrupt(&name, &error.to_string());
    let hash: String = row.try_get(2).map_err(unreadable)?;
    let at: String = row.try_get(4).map_err(unreadable)?;
    let run_id: Option<String> = row.try_get(5).map_err(unreadable)?;
    Ok(ContextVersion {
        version: row.try_get::<i64, _>(1).map_err(unreadable)?.unsigned_abs(),
        hash: serde_json::from_value(hash.into()).map_err(|error| corrupt(&name, &error.to_string()))?,
        size_bytes: row.try_get::<i64, _>(3).map_err(unreadable)?.unsigned_abs(),
        at: at.parse().map_err(|error: jiff::Error| corrupt(&name, &error.to_string()))?,
        run_id: run_id.map(|id| id.parse()).transpose()?,
        name,
    })
}
