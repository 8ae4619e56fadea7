//! The tables, and who may open them.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Executor as _, Row as _};

use luaplan_base::{Error, ErrorCode, Result};

use super::errors::{is_busy, journal_error, newer};
use crate::request_keys;

/// Version of the tables, kept in `PRAGMA user_version`.
pub(super) const SCHEMA_VERSION: i64 = 1;

/// `PRAGMA application_id` of a journal: "luap".
const APPLICATION_ID: i64 = 0x6c75_6170;

/// Everything in the file. `STRICT` makes SQLite hold each column to its type.
pub(super) const SCHEMA: &str = "
CREATE TABLE records (
    sequence INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    at TEXT NOT NULL,
    event TEXT NOT NULL,
    tool TEXT,
    call_id TEXT,
    ok INTEGER,
    body TEXT NOT NULL,
    previous_hash TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
CREATE INDEX records_by_run ON records (run_id, event);
CREATE INDEX records_by_tool ON records (tool) WHERE tool IS NOT NULL;
CREATE INDEX records_by_time ON records (at);
CREATE INDEX records_by_event ON records (event);
CREATE TRIGGER records_no_update BEFORE UPDATE ON records
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER records_no_delete BEFORE DELETE ON records
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TABLE contexts (
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    body TEXT NOT NULL,
    hash TEXT NOT NULL,
    created_at TEXT NOT NULL,
    run_id TEXT,
    PRIMARY KEY (name, version)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER contexts_no_update BEFORE UPDATE ON contexts
BEGIN SELECT RAISE(ABORT, 'contexts are append-only'); END;
CREATE TRIGGER contexts_no_delete BEFORE DELETE ON contexts
BEGIN SELECT RAISE(ABORT, 'contexts are append-only'); END;
";

/// The triggers of [`SCHEMA`]: the name of each, and its statement as [`one_line`] writes it.
pub(super) fn triggers() -> Vec<(&'static str, String)> {
    const CREATE: &str = "CREATE TRIGGER ";
    let statements = SCHEMA.split(CREATE).skip(1).filter_map(|rest| rest.split_once("END;"));
    let named = statements.filter_map(|(statement, _)| {
        let name = statement.split_whitespace().next()?;
        Some((name, one_line(&format!("{CREATE}{statement}END"))))
    });
    named.collect()
}

/// A statement with single blanks, as line breaks and indentation carry no meaning.
pub(super) fn one_line(statement: &str) -> String {
    statement.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The content of an opened file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileContent {
    /// It is empty.
    Empty,
    /// It is a journal that this program can use.
    Journal,
}

/// Inspects the file without changing it; refuses one of a newer program or of another kind.
pub(super) async fn look(connection: &mut SqliteConnection, path: &Path) -> Result<FileContent> {
    let row = sqlx::query(
        "SELECT (SELECT user_version FROM pragma_user_version), \
                (SELECT application_id FROM pragma_application_id), \
                (SELECT count(*) FROM sqlite_schema)",
    )
    .fetch_one(connection)
    .await
    .map_err(|error| journal_error(path, error))?;
    let (version, application, objects): (i64, i64, i64) = (row.get(0), row.get(1), row.get(2));
    if objects == 0 && version == 0 && application == 0 {
        return Ok(FileContent::Empty);
    }
    if application != APPLICATION_ID {
        return Err(Error::new(
            ErrorCode::JournalCorrupt,
            format!("`{}` is a database of something else, not a journal", path.display()),
        )
        .with_help("set `data_dir` to a folder of luaplan's own; nothing was changed"));
    }
    if version > SCHEMA_VERSION {
        return Err(newer(path, "schema", SCHEMA_VERSION, version));
    }
    Ok(FileContent::Journal)
}

/// Makes an empty file a journal, and switches it to write-ahead mode. Several
/// processes may do this at once.
pub(super) async fn prepare(connection: &mut SqliteConnection, path: &Path) -> Result<()> {
    let found = look(connection, path).await?;
    switch_to_wal(connection, path).await?;
    let failed = |error| journal_error(path, error);
    if found == FileContent::Journal {
        // Older journals lack it, and older programs do not need it.
        return connection.execute(sqlx::raw_sql(request_keys::TABLE)).await.map(drop).map_err(failed);
    }
    connection.execute("BEGIN IMMEDIATE").await.map_err(failed)?;
    let made = create(connection, path).await;
    let end = if made.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = connection.execute(end).await.map_err(failed);
    made.and(ended.map(drop))
}

/// Called inside the transaction: another process may have created it first.
async fn create(connection: &mut SqliteConnection, path: &Path) -> Result<()> {
    if look(connection, path).await? == FileContent::Journal {
        return Ok(());
    }
    let sql = format!(
        "{SCHEMA} {} PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION};",
        request_keys::TABLE
    );
    // The text consists of constants of this file.
    connection
        .execute(sqlx::raw_sql(AssertSqlSafe(sql)))
        .await
        .map_err(|error| journal_error(path, error))?;
    Ok(())
}

/// SQLite does not wait for locks when it changes the mode, so this function does.
async fn switch_to_wal(connection: &mut SqliteConnection, path: &Path) -> Result<()> {
    const TRIES: u32 = 100;
    const PAUSE: Duration = Duration::from_millis(20);
    let mut tries = 0;
    loop {
        match connection.execute("PRAGMA journal_mode = WAL").await {
            Ok(_) => return Ok(()),
            Err(error) if is_busy(&error) && tries < TRIES => {
                tries += 1;
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => return Err(journal_error(path, error)),
        }
    }
}
