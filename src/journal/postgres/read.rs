//! Reading records back.

use async_trait::async_trait;
use futures::TryStreamExt as _;
use sqlx::QueryBuilder;
use sqlx::postgres::Postgres;

use luaplan_base::{Result, RunId};

use super::PostgresJournal;
use super::errors::journal_error;
use super::record_row::decode;
use crate::select::{
    RUNS_AT_ONCE, select_call_counts, select_for_summaries, select_records, select_runs, summaries,
};
use crate::{JournalRead, Record, RecordFilter, RunFilter, RunSummary};

#[async_trait]
impl JournalRead for PostgresJournal {
    async fn records(&self, filter: RecordFilter) -> Result<Vec<Record>> {
        self.select(select_records(&filter)).await
    }

    async fn runs(&self, filter: RunFilter) -> Result<Vec<RunSummary>> {
        let ids: Vec<String> = select_runs::<Postgres>(&filter)
            .build_query_scalar()
            .fetch_all(&self.readers)
            .await
            .map_err(|error| journal_error(&self.shown, error))?;
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

impl PostgresJournal {
    async fn select(&self, mut query: QueryBuilder<Postgres>) -> Result<Vec<Record>> {
        let mut rows = query.build().fetch(&self.readers);
        let mut records = Vec::new();
        while let Some(row) = rows.try_next().await.map_err(|error| journal_error(&self.shown, error))? {
            records.push(decode(&self.shown, &row)?);
        }
        Ok(records)
    }

    /// The runs `ids`, in that order; ids without records are omitted.
    async fn summaries(&self, ids: &[String]) -> Result<Vec<RunSummary>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let records = self.select(select_for_summaries(ids)).await?;
        let counts: Vec<(String, i64)> = select_call_counts::<Postgres>(ids)
            .build_query_as()
            .fetch_all(&self.readers)
            .await
            .map_err(|error| journal_error(&self.shown, error))?;
        Ok(summaries(ids, records, counts))
    }
}
