//! Reading records back.

use std::path::Path;

use async_trait::async_trait;
use futures::TryStreamExt as _;
use sqlx::sqlite::{Sqlite, SqliteRow};
use sqlx::{QueryBuilder, Row as _};

use luaplan_base::{Result, RunId};

use super::SqliteJournal;
use super::errors::{journal_error, newer, undecodable};
use crate::select::{
    RUNS_AT_ONCE, select_call_counts, select_for_summaries, select_records, select_runs, summaries,
};
use crate::{JournalRead, RECORD_VERSION, Record, RecordFilter, RunFilter, RunSummary};

/// A record from its row, columns as [`crate::select::COLUMNS`] has them.
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
        let ids: Vec<String> = select_runs::<Sqlite>(&filter)
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
        let records = self.select(select_for_summaries(ids)).await?;
        let counts: Vec<(String, i64)> = select_call_counts::<Sqlite>(ids)
            .build_query_as()
            .fetch_all(&self.readers)
            .await
            .map_err(|error| journal_error(&self.path, error))?;
        Ok(summaries(ids, records, counts))
    }
}
