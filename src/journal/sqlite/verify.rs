//! Verifies the log.

use futures::TryStreamExt as _;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{Sqlite, SqliteRow};
use sqlx::{Executor as _, Row as _};

use luaplan_base::Result;

use super::errors::journal_error;
use super::{SqliteJournal, schema};
use crate::anchor;
use crate::verify::{LogCheck, ProblemKind, StoredRow, VerifyReport};

impl SqliteJournal {
    /// Checks every record, their order, the end against the anchor, the file's own integrity and
    /// the named contexts. Problems are in the report, not an error.
    ///
    /// # Errors
    /// `journal_unavailable` or `journal_corrupt` where the file cannot be read at all.
    pub async fn verify(&self) -> Result<VerifyReport> {
        let mut check = LogCheck::new();
        // Read before the log: records written in between can only make the log longer.
        self.read_anchor(&mut check);
        let mut connection =
            self.readers.acquire().await.map_err(|error| journal_error(&self.path, error))?;
        connection.execute("BEGIN").await.map_err(|error| journal_error(&self.path, error))?;
        look(&mut check, &mut connection).await;
        // Nothing was written; a connection that cannot roll back is discarded.
        if connection.execute("ROLLBACK").await.is_err() {
            drop(connection.detach());
        }
        Ok(check.finish())
    }

    fn read_anchor(&self, check: &mut LogCheck) {
        let file = anchor::anchor_path(&self.path);
        match anchor::read(&self.path) {
            Ok(Some(anchor)) => check.expect(anchor),
            Ok(None) => check.found(
                None,
                ProblemKind::AnchorUnusable,
                format!("the anchor `{}` is missing: a cut-off end cannot be seen", file.display()),
            ),
            Err(error) => check.found(
                None,
                ProblemKind::AnchorUnusable,
                format!("the anchor `{}` cannot be used: {error}", file.display()),
            ),
        }
    }
}

async fn look(check: &mut LogCheck, connection: &mut PoolConnection<Sqlite>) {
    if let Err(error) = look_at_file(check, connection).await {
        check.found(None, ProblemKind::Unreadable, format!("the file cannot be checked: {error}"));
    }
    if let Err(error) = look_at_records(check, connection).await {
        let next = check.next_sequence();
        check.found(Some(next), ProblemKind::Unreadable, format!("reading stopped here: {error}"));
    }
    if let Err(error) = look_at_contexts(check, connection).await {
        check.found(None, ProblemKind::Unreadable, format!("the contexts cannot be read: {error}"));
    }
}

async fn look_at_file(check: &mut LogCheck, connection: &mut PoolConnection<Sqlite>) -> sqlx::Result<()> {
    let found: Vec<(String, Option<String>)> =
        sqlx::query_as("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
            .fetch_all(&mut **connection)
            .await?;
    let expected = schema::triggers();
    for (trigger, statement) in &expected {
        let there = found.iter().find(|(name, _)| name == trigger);
        let what = match there {
            None => "is missing",
            // A trigger of the same name may never fire, or do nothing.
            Some((_, sql)) if schema::one_line(sql.as_deref().unwrap_or_default()) != *statement => {
                "is not the one the journal was made with"
            }
            Some(_) => continue,
        };
        let message = format!("the trigger `{trigger}`, which refuses changes, {what}");
        check.found(None, ProblemKind::Unprotected, message);
    }
    for (name, _) in found.iter().filter(|(name, _)| expected.iter().all(|(known, _)| known != name)) {
        let message = format!("the trigger `{name}` is none of the journal's");
        check.found(None, ProblemKind::Unprotected, message);
    }
    let complaints: Vec<String> =
        sqlx::query_scalar("PRAGMA integrity_check(20)").fetch_all(&mut **connection).await?;
    for complaint in complaints.iter().filter(|complaint| *complaint != "ok") {
        check.found(None, ProblemKind::Database, complaint.clone());
    }
    Ok(())
}

async fn look_at_records(check: &mut LogCheck, connection: &mut PoolConnection<Sqlite>) -> sqlx::Result<()> {
    // The unary plus keeps SQLite from answering from an index, which may differ from the table.
    let mut rows = sqlx::query(
        "SELECT sequence, version, +run_id, +at, +event, +tool, call_id, ok, body, previous_hash, hash \
         FROM records NOT INDEXED ORDER BY sequence",
    )
    .fetch(&mut **connection);
    while let Some(row) = rows.try_next().await? {
        let Some(sequence) = check.look_at_sequence(row.try_get(0)?) else { continue };
        match stored(sequence, &row) {
            Ok(row) => check.look_at_record(&row),
            Err(error) => check.found(Some(sequence), ProblemKind::Unreadable, error.to_string()),
        }
    }
    Ok(())
}

fn stored(sequence: u64, row: &SqliteRow) -> sqlx::Result<StoredRow> {
    Ok(StoredRow {
        sequence,
        version: row.try_get(1)?,
        run_id: row.try_get(2)?,
        at: row.try_get(3)?,
        event: row.try_get(4)?,
        tool: row.try_get(5)?,
        call_id: row.try_get(6)?,
        ok: match row.try_get(7)? {
            None => None,
            Some(0_i64) => Some(false),
            Some(1) => Some(true),
            Some(other) => return Err(sqlx::Error::Protocol(format!("the column `ok` holds {other}"))),
        },
        body: row.try_get(8)?,
        previous_hash: row.try_get(9)?,
        hash: row.try_get(10)?,
    })
}

async fn look_at_contexts(check: &mut LogCheck, connection: &mut PoolConnection<Sqlite>) -> sqlx::Result<()> {
    let mut rows = sqlx::query("SELECT name, version, body, hash FROM contexts ORDER BY name, version")
        .fetch(&mut **connection);
    while let Some(row) = rows.try_next().await? {
        check.look_at_context(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
    }
    Ok(())
}
