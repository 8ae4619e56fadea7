//! Idempotency keys: for each key of an API key, the request, its run and its response. Stored beside the log and
//! not part of it: entries expire.

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value as Json;

use luaplan_base::{ContentHash, Error, ErrorCode, Result, RunId};

use super::select::stored_time;
use super::{Journal, sqlite};

/// The table, for both stores.
pub(super) const TABLE: &str = "
CREATE TABLE IF NOT EXISTS request_keys (
    tenant TEXT NOT NULL,
    key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    run_id TEXT NOT NULL,
    claimed_at TEXT NOT NULL,
    answer TEXT,
    PRIMARY KEY (tenant, key)
);
CREATE INDEX IF NOT EXISTS request_keys_by_time ON request_keys (claimed_at);
";

/// A request with an idempotency key.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyedRequest {
    /// The API key it belongs to: each API key, and so each tenant, has its own idempotency keys.
    pub claimant: String,
    /// The key.
    pub key: String,
    /// Hash of the request: method, path and body.
    pub request_hash: ContentHash,
    /// The id of the run that the request starts, where it starts one.
    pub run_id: RunId,
    /// When it was last claimed.
    pub claimed_at: Timestamp,
    /// The stored response, where there is one.
    pub answer: Option<Json>,
}

/// Stores requests by their idempotency keys.
#[async_trait]
pub trait RequestKeys: Send + Sync {
    /// Claims a key for a request; returns the request that already holds it, where there is one. Requests claimed before
    /// `expired` are deleted first.
    ///
    /// # Errors
    /// The store's own `journal_…` codes, as of all functions here.
    async fn claim(&self, request: &KeyedRequest, expired: Timestamp) -> Result<Option<KeyedRequest>>;

    /// Claims again, at `now`, a request without a response; `false` where another caller did so first.
    async fn claim_again(&self, held: &KeyedRequest, now: Timestamp) -> Result<bool>;

    /// Stores the response of a request that still holds its key.
    async fn answered(&self, request: &KeyedRequest, answer: &Json) -> Result<()>;

    /// Releases the key of a request without effect that still holds it.
    async fn release(&self, request: &KeyedRequest) -> Result<()>;
}

/// The row of a request.
type Row = (String, String, String, Option<String>);

fn from_row(request: &KeyedRequest, row: Row) -> Result<KeyedRequest> {
    let (request_hash, run_id, claimed_at, answer) = row;
    let corrupt = |reason: String| {
        Error::new(ErrorCode::JournalCorrupt, format!("a kept idempotency key cannot be read: {reason}"))
    };
    Ok(KeyedRequest {
        claimant: request.claimant.clone(),
        key: request.key.clone(),
        request_hash: serde_json::from_value(request_hash.into())
            .map_err(|error: serde_json::Error| corrupt(error.to_string()))?,
        run_id: run_id.parse()?,
        claimed_at: claimed_at.parse().map_err(|error: jiff::Error| corrupt(error.to_string()))?,
        answer: answer
            .map(|text| serde_json::from_str(&text))
            .transpose()
            .map_err(|error: serde_json::Error| corrupt(error.to_string()))?,
    })
}

/// The two stores take the same SQL here; only the types of their pools differ.
macro_rules! request_keys_in {
    ($store:ty) => {
        #[async_trait]
        impl RequestKeys for $store {
            async fn claim(
                &self,
                request: &KeyedRequest,
                expired: Timestamp,
            ) -> Result<Option<KeyedRequest>> {
                let writer = self.writer()?;
                sqlx::query("DELETE FROM request_keys WHERE claimed_at < $1")
                    .bind(stored_time(expired))
                    .execute(writer)
                    .await
                    .map_err(|error| self.failed(error))?;
                // The key may be released between the two statements; the next round then claims it.
                loop {
                    let inserted = sqlx::query(
                        "INSERT INTO request_keys (tenant, key, request_hash, run_id, claimed_at) \
                         VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
                    )
                    .bind(&request.claimant)
                    .bind(&request.key)
                    .bind(request.request_hash.as_str())
                    .bind(request.run_id.as_str())
                    .bind(stored_time(request.claimed_at))
                    .execute(writer)
                    .await
                    .map_err(|error| self.failed(error))?;
                    if inserted.rows_affected() == 1 {
                        return Ok(None);
                    }
                    let row: Option<Row> = sqlx::query_as(
                        "SELECT request_hash, run_id, claimed_at, answer FROM request_keys \
                         WHERE tenant = $1 AND key = $2",
                    )
                    .bind(&request.claimant)
                    .bind(&request.key)
                    .fetch_optional(writer)
                    .await
                    .map_err(|error| self.failed(error))?;
                    if let Some(row) = row {
                        return from_row(request, row).map(Some);
                    }
                }
            }

            async fn claim_again(&self, held: &KeyedRequest, now: Timestamp) -> Result<bool> {
                let updated = sqlx::query(
                    "UPDATE request_keys SET claimed_at = $1 \
                     WHERE tenant = $2 AND key = $3 AND claimed_at = $4 AND answer IS NULL",
                )
                .bind(stored_time(now))
                .bind(&held.claimant)
                .bind(&held.key)
                .bind(stored_time(held.claimed_at))
                .execute(self.writer()?)
                .await
                .map_err(|error| self.failed(error))?;
                Ok(updated.rows_affected() == 1)
            }

            async fn answered(&self, request: &KeyedRequest, answer: &Json) -> Result<()> {
                sqlx::query(
                    "UPDATE request_keys SET answer = $1 WHERE tenant = $2 AND key = $3 AND claimed_at = $4",
                )
                .bind(answer.to_string())
                .bind(&request.claimant)
                .bind(&request.key)
                .bind(stored_time(request.claimed_at))
                .execute(self.writer()?)
                .await
                .map(drop)
                .map_err(|error| self.failed(error))
            }

            async fn release(&self, request: &KeyedRequest) -> Result<()> {
                sqlx::query("DELETE FROM request_keys WHERE tenant = $1 AND key = $2 AND claimed_at = $3")
                    .bind(&request.claimant)
                    .bind(&request.key)
                    .bind(stored_time(request.claimed_at))
                    .execute(self.writer()?)
                    .await
                    .map(drop)
                    .map_err(|error| self.failed(error))
            }
        }
    };
}

request_keys_in!(sqlite::SqliteContexts);
#[cfg(feature = "postgres")]
request_keys_in!(crate::PostgresContexts);

impl Journal {
    /// The idempotency keys in the same store.
    #[must_use]
    pub fn request_keys(&self) -> Box<dyn RequestKeys> {
        match self {
            Self::Sqlite(journal) => Box::new(journal.contexts()),
            Self::Postgres(journal) => Box::new(journal.contexts()),
        }
    }
}
