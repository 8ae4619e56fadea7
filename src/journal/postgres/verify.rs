//! Verifies the log.

use futures::TryStreamExt as _;
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{Executor as _, Row as _};

use luaplan_base::Result;

use super::errors::journal_error;
use super::{PostgresJournal, schema};
use crate::anchor::{self, Anchor};
use crate::verify::{LogCheck, ProblemKind, StoredRow, VerifyReport};

impl PostgresJournal {
    /// Checks every record, their order, the end against the database's `head` and this node's anchor, and the
    /// named contexts. Problems are in the report, not an error.
    ///
    /// # Errors
    /// `journal_unavailable` where the database cannot be read at all.
    pub async fn verify(&self) -> Result<VerifyReport> {
        let mut check = LogCheck::new();
        // Read before the log: records written in between can only make the log longer.
        self.read_anchor(&mut check);
        let failed = |error| journal_error(&self.shown, error);
        let mut connection = self.readers.acquire().await.map_err(failed)?;
        connection
            .execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0")
            .await
            .map_err(failed)?;
        look(&mut check, &mut connection).await;
        // Nothing was written; a connection that cannot roll back is discarded.
        if connection.execute("ROLLBACK").await.is_err() {
            drop(connection.detach());
        }
        Ok(check.finish())
    }

    fn read_anchor(&self, check: &mut LogCheck) {
        let Some(path) = &self.anchor else { return };
        match anchor::read(path) {
            Ok(Some(anchor)) => check.expect(anchor),
            // A node that never wrote has no anchor.
            Ok(None) => {}
            Err(error) => check.found(
                None,
                ProblemKind::AnchorUnusable,
                format!("the anchor `{}` cannot be used: {error}", anchor::anchor_path(path).display()),
            ),
        }
    }
}

async fn look(check: &mut LogCheck, connection: &mut PgConnection) {
    if let Err(error) = look_at_database(check, connection).await {
        check.found(None, ProblemKind::Unreadable, format!("the tables cannot be checked: {error}"));
    }
    if let Err(error) = look_at_records(check, connection).await {
        let next = check.next_sequence();
        check.found(Some(next), ProblemKind::Unreadable, format!("reading stopped here: {error}"));
    }
    if let Err(error) = look_at_contexts(check, connection).await {
        check.found(None, ProblemKind::Unreadable, format!("the contexts cannot be read: {error}"));
    }
}

async fn look_at_database(check: &mut LogCheck, connection: &mut PgConnection) -> sqlx::Result<()> {
    // Whether it is enabled, on which changes it fires, and what it does.
    let found: Vec<(String, bool, bool, String)> = sqlx::query_as(
        "SELECT tgname::text, tgenabled IN ('O', 'A'), \
         tgtype::int = $1 AND tgqual IS NULL AND tgattr::text = '' AND lanname = 'plpgsql', prosrc \
         FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid JOIN pg_language ON pg_language.oid = prolang \
         WHERE NOT tgisinternal AND tgrelid IN ('luaplan.records'::regclass, 'luaplan.contexts'::regclass)",
    )
    .bind(schema::TRIGGER_TYPE)
    .fetch_all(&mut *connection)
    .await?;
    for trigger in schema::TRIGGERS {
        let what = match found.iter().find(|(name, ..)| name == trigger) {
            None => "is missing",
            Some((_, false, ..)) => "is switched off",
            Some((_, _, true, function)) if function == schema::trigger_function() => continue,
            Some(_) => "is not the one the journal was made with",
        };
        let message = format!("the trigger `{trigger}`, which refuses changes, {what}");
        check.found(None, ProblemKind::Unprotected, message);
    }
    for (name, ..) in found.iter().filter(|(name, ..)| !schema::TRIGGERS.contains(&name.as_str())) {
        let message = format!("the trigger `{name}` is none of the journal's");
        check.found(None, ProblemKind::Unprotected, message);
    }
    let heads: Vec<(i64, String)> =
        sqlx::query_as("SELECT sequence, hash FROM head").fetch_all(&mut *connection).await?;
    match heads.as_slice() {
        [(0, _)] => {}
        [(sequence, hash)] => check.expect(Anchor { sequence: sequence.unsigned_abs(), hash: hash.clone() }),
        _ => {
            let message = "the table `head`, which names the newest record, does not have one row";
            check.found(None, ProblemKind::AnchorUnusable, message);
        }
    }
    Ok(())
}

async fn look_at_records(check: &mut LogCheck, connection: &mut PgConnection) -> sqlx::Result<()> {
    let mut rows = sqlx::query(
        "SELECT sequence, version, run_id, at, event, tool, call_id, ok, body, previous_hash, hash \
         FROM records ORDER BY sequence",
    )
    .fetch(connection);
    while let Some(row) = rows.try_next().await? {
        let Some(sequence) = check.look_at_sequence(row.try_get(0)?) else { continue };
        match stored(sequence, &row) {
            Ok(row) => check.look_at_record(&row),
            Err(error) => check.found(Some(sequence), ProblemKind::Unreadable, error.to_string()),
        }
    }
    Ok(())
}

fn stored(sequence: u64, row: &PgRow) -> sqlx::Result<StoredRow> {
    Ok(StoredRow {
        sequence,
        version: row.try_get(1)?,
        run_id: row.try_get(2)?,
        at: row.try_get(3)?,
        event: row.try_get(4)?,
        tool: row.try_get(5)?,
        call_id: row.try_get(6)?,
        ok: row.try_get(7)?,
        body: row.try_get(8)?,
        previous_hash: row.try_get(9)?,
        hash: row.try_get(10)?,
    })
}

async fn look_at_contexts(check: &mut LogCheck, connection: &mut PgConnection) -> sqlx::Result<()> {
    let mut rows = sqlx::query("SELECT name, version, body, hash FROM contexts ORDER BY name, version")
        .fetch(connection);
    while let Some(row) = rows.try_next().await? {
        check.look_at_context(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
    }
    Ok(())
}
