//! The tables, and who may use them.

use sqlx::postgres::PgConnection;
use sqlx::{Connection as _, Executor as _};

use luaplan_base::{Result, RunId};

use super::errors::{journal_error, newer};
use crate::request_keys;

/// The database schema that holds all tables.
pub(super) const SCHEMA: &str = "luaplan";

/// Version of the tables, kept in `about`.
pub(super) const SCHEMA_VERSION: i64 = 1;

/// The advisory lock under which concurrent processes create the tables in turn.
const MAKING_LOCK: i64 = 0x6c75_6170_6c61_6e01;

/// The log as in a SQLite file (texts compare by bytes there as well), its newest record in `head`, and
/// the owners of runs: `nodes` and `runs` change as nodes come and go, and are not part of the record.
const TABLES: &str = "
CREATE TABLE about (
    schema_version BIGINT NOT NULL,
    journal_id TEXT NOT NULL
);
CREATE TABLE records (
    sequence BIGINT PRIMARY KEY,
    version BIGINT NOT NULL,
    run_id TEXT COLLATE \"C\" NOT NULL,
    at TEXT COLLATE \"C\" NOT NULL,
    event TEXT COLLATE \"C\" NOT NULL,
    tool TEXT COLLATE \"C\",
    call_id TEXT COLLATE \"C\",
    ok BOOLEAN,
    body TEXT NOT NULL,
    previous_hash TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE INDEX records_by_run ON records (run_id, event);
CREATE INDEX records_by_tool ON records (tool) WHERE tool IS NOT NULL;
CREATE INDEX records_by_time ON records (at);
CREATE INDEX records_by_event ON records (event);
CREATE TABLE head (
    sequence BIGINT NOT NULL,
    hash TEXT NOT NULL,
    version BIGINT NOT NULL
) WITH (fillfactor = 10);
INSERT INTO head VALUES (0, repeat('0', 64), 0);
CREATE TABLE contexts (
    name TEXT COLLATE \"C\" NOT NULL,
    version BIGINT NOT NULL,
    body TEXT NOT NULL,
    hash TEXT NOT NULL,
    created_at TEXT NOT NULL,
    run_id TEXT,
    PRIMARY KEY (name, version)
);
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the journal is append-only'; END $$;
CREATE TRIGGER records_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON records
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER contexts_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON contexts
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TABLE nodes (
    node TEXT PRIMARY KEY,
    expires_at TIMESTAMPTZ NOT NULL
);
CREATE TABLE runs (
    run_id TEXT COLLATE \"C\" PRIMARY KEY,
    status TEXT NOT NULL CHECK (status IN ('open', 'sleeping', 'paused', 'ended', 'left')),
    wake_at TIMESTAMPTZ,
    node TEXT,
    fence BIGINT NOT NULL,
    cancel BOOLEAN NOT NULL DEFAULT FALSE,
    cancel_by TEXT,
    created_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX runs_open ON runs (created_at) WHERE status = 'open';
CREATE INDEX runs_sleeping ON runs (wake_at) WHERE status = 'sleeping';
";

/// The triggers of [`TABLES`].
pub(super) const TRIGGERS: [&str; 2] = ["records_no_change", "contexts_no_change"];

/// Their `pg_trigger.tgtype`: before each statement that updates, deletes or truncates.
pub(super) const TRIGGER_TYPE: i32 = 2 | 8 | 16 | 32;

/// The source of their function, as in `pg_proc.prosrc`.
pub(super) fn trigger_function() -> &'static str {
    TABLES.split("$$").nth(1).unwrap_or_default()
}

/// The id of the journal in this database; `None` where there is none. A newer one is refused.
pub(super) async fn look(connection: &mut PgConnection, shown: &str) -> Result<Option<String>> {
    let failed = |error| journal_error(shown, error);
    // Read from the catalogue's tables: `to_regclass` may answer with the state before a lock was waited for.
    let tables: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM pg_catalog.pg_class AS tables JOIN pg_catalog.pg_namespace AS schemas \
         ON schemas.oid = tables.relnamespace WHERE schemas.nspname = $1 AND tables.relname = 'about'",
    )
    .bind(SCHEMA)
    .fetch_one(&mut *connection)
    .await
    .map_err(failed)?;
    if tables == 0 {
        return Ok(None);
    }
    let (version, id): (i64, String) = sqlx::query_as("SELECT schema_version, journal_id FROM luaplan.about")
        .fetch_one(connection)
        .await
        .map_err(failed)?;
    if version > SCHEMA_VERSION {
        return Err(newer(shown, "schema", SCHEMA_VERSION, version));
    }
    Ok(Some(id))
}

/// Older journals lack this table and this column, and older programs do not need them. Concurrent processes add
/// them in turn.
async fn add_missing(connection: &mut PgConnection) -> sqlx::Result<()> {
    let is_there: bool = sqlx::query_scalar(
        "SELECT to_regclass('luaplan.request_keys') IS NOT NULL AND EXISTS (SELECT 1 FROM pg_catalog.pg_attribute \
         WHERE attrelid = to_regclass('luaplan.runs') AND attname = 'cancel_by')",
    )
    .fetch_one(&mut *connection)
    .await?;
    if is_there {
        return Ok(());
    }
    let mut transaction = connection.begin().await?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(MAKING_LOCK).execute(&mut *transaction).await?;
    transaction.execute(sqlx::raw_sql(request_keys::TABLE)).await?;
    transaction.execute("ALTER TABLE luaplan.runs ADD COLUMN IF NOT EXISTS cancel_by TEXT").await?;
    transaction.commit().await
}

/// The id of the journal in this database, created where there is none. Several processes may do this
/// at once.
pub(super) async fn prepare(connection: &mut PgConnection, shown: &str) -> Result<String> {
    let failed = |error| journal_error(shown, error);
    if let Some(id) = look(connection, shown).await? {
        return add_missing(connection).await.map(|()| id).map_err(failed);
    }
    let mut transaction = connection.begin().await.map_err(failed)?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(MAKING_LOCK)
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
    // Another process may have come first.
    if let Some(id) = look(&mut transaction, shown).await? {
        return Ok(id);
    }
    transaction.execute("CREATE SCHEMA IF NOT EXISTS luaplan").await.map_err(failed)?;
    transaction.execute(sqlx::raw_sql(TABLES)).await.map_err(failed)?;
    transaction.execute(sqlx::raw_sql(request_keys::TABLE)).await.map_err(failed)?;
    let id = RunId::generate().to_string();
    sqlx::query("INSERT INTO about (schema_version, journal_id) VALUES ($1, $2)")
        .bind(SCHEMA_VERSION)
        .bind(&id)
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
    transaction.commit().await.map_err(failed)?;
    Ok(id)
}
