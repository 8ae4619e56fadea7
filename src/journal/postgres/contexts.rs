//! Named contexts in the journal's database.

use std::sync::Arc;

use async_trait::async_trait;
use sqlx::Row as _;
use sqlx::postgres::{PgPool, PgRow};

use luaplan_base::{ContentHash, Error, ErrorCode, Result, RunId, Value};

use super::errors::{journal_error, unavailable};
use crate::contexts::{check_stored_name, conflict};
use crate::select::{context_version, stored_time};
use crate::{ContextStore, ContextVersion, NewContext, SavedContext};

const COLUMNS: &str = "name, version, hash, octet_length(body)::bigint, created_at, run_id";

/// How often a save that lost to another is retried.
const TRIES: u32 = 20;

/// The named contexts of a [`super::PostgresJournal`].
#[derive(Clone)]
pub struct PostgresContexts {
    pub(super) shown: Arc<str>,
    pub(super) readers: PgPool,
    pub(super) writers: Option<PgPool>,
}

impl PostgresContexts {
    pub(crate) fn failed(&self, error: sqlx::Error) -> Error {
        journal_error(&self.shown, error)
    }

    pub(crate) fn writer(&self) -> Result<&PgPool> {
        self.writers.as_ref().ok_or_else(|| unavailable(&self.shown, "it is open only to read"))
    }

    fn corrupt(&self, name: &str, reason: &str) -> Error {
        Error::new(
            ErrorCode::JournalCorrupt,
            format!("the context `{name}` in `{}` cannot be read: {reason}", self.shown),
        )
    }

    fn info(&self, row: &PgRow) -> Result<ContextVersion> {
        context_version(row, |error| self.failed(error), |name, reason| self.corrupt(name, reason))
    }
}

#[async_trait]
impl ContextStore for PostgresContexts {
    async fn save(&self, new: NewContext) -> Result<ContextVersion> {
        check_stored_name(&new.name)?;
        let writers = self.writer()?;
        let body = new.context.to_exact_json().to_string();
        let mut info = ContextVersion {
            name: new.name,
            version: 0,
            hash: ContentHash::of(body.as_bytes()),
            size_bytes: body.len() as u64,
            at: new.at,
            run_id: new.run_id,
        };
        for _ in 0..TRIES {
            let (newest,): (i64,) =
                sqlx::query_as("SELECT coalesce(max(version), 0) FROM contexts WHERE name = $1")
                    .bind(&info.name)
                    .fetch_one(writers)
                    .await
                    .map_err(|error| self.failed(error))?;
            let newest = newest.unsigned_abs();
            if let Some(expected) = new.expected_version.filter(|expected| *expected != newest) {
                return Err(conflict(&info.name, expected, newest));
            }
            info.version = newest + 1;
            // Name and version are the key, so of concurrent saves of one version only one succeeds.
            let inserted = sqlx::query(
                "INSERT INTO contexts (name, version, body, hash, created_at, run_id) \
                 VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
            )
            .bind(&info.name)
            .bind(info.version.cast_signed())
            .bind(&body)
            .bind(info.hash.as_str())
            .bind(stored_time(info.at))
            .bind(info.run_id.as_ref().map(RunId::as_str))
            .execute(writers)
            .await
            .map_err(|error| self.failed(error))?;
            if inserted.rows_affected() == 1 {
                return Ok(info);
            }
        }
        Err(unavailable(&self.shown, "others saved the same context again and again"))
    }

    async fn load(&self, name: &str, version: Option<u64>) -> Result<Option<SavedContext>> {
        check_stored_name(name)?;
        let row = sqlx::query(sqlx::AssertSqlSafe(format!(
            "SELECT {COLUMNS}, body FROM contexts WHERE name = $1 AND ($2::bigint IS NULL OR version = $2) \
             ORDER BY version DESC LIMIT 1"
        )))
        .bind(name)
        .bind(version.map(u64::cast_signed))
        .fetch_optional(&self.readers)
        .await
        .map_err(|error| self.failed(error))?;
        let Some(row) = row else { return Ok(None) };
        let info = self.info(&row)?;
        let body: &str = row.try_get(6).map_err(|error| self.corrupt(name, &error.to_string()))?;
        if ContentHash::of(body.as_bytes()) != info.hash {
            return Err(self.corrupt(name, "its content does not match its hash"));
        }
        let json = serde_json::from_str(body).map_err(|error| self.corrupt(name, &error.to_string()))?;
        Ok(Some(SavedContext { info, context: Value::from_exact_json(json)? }))
    }

    async fn list(&self) -> Result<Vec<ContextVersion>> {
        let rows = sqlx::query(sqlx::AssertSqlSafe(format!(
            "SELECT {COLUMNS} FROM contexts AS newest WHERE version = \
             (SELECT max(version) FROM contexts WHERE name = newest.name) ORDER BY name"
        )))
        .fetch_all(&self.readers)
        .await
        .map_err(|error| self.failed(error))?;
        rows.iter().map(|row| self.info(row)).collect()
    }
}
