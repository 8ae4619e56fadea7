//! Named contexts in the journal's file.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use sqlx::sqlite::{SqliteConnection, SqlitePool, SqliteRow};
use sqlx::{Connection as _, Row as _};

use luaplan_base::{ContentHash, Error, ErrorCode, Result, RunId, Value};

use super::errors::{journal_error, unwritable};
use crate::contexts::{check_stored_name, conflict};
use crate::select::{context_version, stored_time};
use crate::{ContextStore, ContextVersion, NewContext, SavedContext};

const COLUMNS: &str = "name, version, hash, length(CAST(body AS BLOB)), created_at, run_id";

/// The named contexts of a [`super::SqliteJournal`].
#[derive(Clone)]
pub struct SqliteContexts {
    path: Arc<Path>,
    readers: SqlitePool,
    writer: Option<SqlitePool>,
}

impl SqliteContexts {
    pub(super) fn new(path: Arc<Path>, readers: SqlitePool, writer: Option<SqlitePool>) -> Self {
        Self { path, readers, writer }
    }

    pub(crate) fn failed(&self, error: sqlx::Error) -> Error {
        journal_error(&self.path, error)
    }

    pub(crate) fn writer(&self) -> Result<&SqlitePool> {
        self.writer.as_ref().ok_or_else(|| unwritable(&self.path, "it is open only to read"))
    }

    fn corrupt(&self, name: &str, reason: &str) -> Error {
        Error::new(
            ErrorCode::JournalCorrupt,
            format!("the context `{name}` in `{}` cannot be read: {reason}", self.path.display()),
        )
    }

    fn info(&self, row: &SqliteRow) -> Result<ContextVersion> {
        context_version(row, |error| self.failed(error), |name, reason| self.corrupt(name, reason))
    }
}

#[async_trait]
impl ContextStore for SqliteContexts {
    async fn save(&self, new: NewContext) -> Result<ContextVersion> {
        check_stored_name(&new.name)?;
        let writer = self.writer()?;
        let body = new.context.to_exact_json().to_string();
        let mut info = ContextVersion {
            name: new.name,
            version: 0,
            hash: ContentHash::of(body.as_bytes()),
            size_bytes: body.len() as u64,
            at: new.at,
            run_id: new.run_id,
        };
        let mut connection = writer.acquire().await.map_err(|error| self.failed(error))?;
        let mut transaction =
            connection.begin_with("BEGIN IMMEDIATE").await.map_err(|error| self.failed(error))?;
        let newest = newest(&mut transaction, &info.name).await.map_err(|error| self.failed(error))?;
        if let Some(expected) = new.expected_version.filter(|expected| *expected != newest) {
            return Err(conflict(&info.name, expected, newest));
        }
        info.version = newest + 1;
        sqlx::query(
            "INSERT INTO contexts (name, version, body, hash, created_at, run_id) VALUES (?, ?, ?, ?, ?, ?)",
        )
        .bind(&info.name)
        .bind(info.version.cast_signed())
        .bind(body)
        .bind(info.hash.as_str())
        .bind(stored_time(info.at))
        .bind(info.run_id.as_ref().map(RunId::as_str))
        .execute(&mut *transaction)
        .await
        .map_err(|error| self.failed(error))?;
        transaction.commit().await.map_err(|error| self.failed(error))?;
        Ok(info)
    }

    async fn load(&self, name: &str, version: Option<u64>) -> Result<Option<SavedContext>> {
        check_stored_name(name)?;
        let row = sqlx::query(sqlx::AssertSqlSafe(format!(
            "SELECT {COLUMNS}, body FROM contexts WHERE name = ? AND (? IS NULL OR version = ?) \
             ORDER BY version DESC LIMIT 1"
        )))
        .bind(name)
        .bind(version.map(u64::cast_signed))
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

async fn newest(connection: &mut SqliteConnection, name: &str) -> Result<u64, sqlx::Error> {
    let (version,): (i64,) = sqlx::query_as("SELECT coalesce(max(version), 0) FROM contexts WHERE name = ?")
        .bind(name)
        .fetch_one(connection)
        .await?;
    Ok(version.unsigned_abs())
}
