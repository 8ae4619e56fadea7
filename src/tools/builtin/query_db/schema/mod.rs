//! What a database holds: its tables, columns, keys and enumerations, asked of its own catalogue. Never rows.
//!
//! The statements here are constants of this tool, run as a plan's are: in the read-only session, within its time, as
//! the user that is configured, so that what this user may not read is not told.

mod listed;
mod mysql;
mod postgres;
mod sqlite;

use serde::de::DeserializeOwned;

use luaplan_catalog::{DatabaseSchema, TableSchema};

use super::database::Database;
use super::dialect::Dialect;
use super::failure::{Failed, query_failed};
use super::rows::{Caps, Rows};
use super::statement::{Questions, Statement, StatementKind};
use super::template::Rendered;

/// The most that is read of a catalogue: about 3,000 tables of 15 columns.
const CAPS: Caps = Caps { rows_max: 50_000, bytes_max: 32 * 1024 * 1024, limit: None };

/// The schema of `database`, which is configured under `name`.
///
/// # Errors
/// As a query's: `database_unreachable`, `query_failed`, `result_too_large`.
pub(super) async fn read(
    name: &str,
    is_default: bool,
    database: &Database,
) -> Result<DatabaseSchema, Failed> {
    let (product, tables) = match database.dialect() {
        Dialect::Sqlite => sqlite::read(database).await?,
        Dialect::Postgres => postgres::read(database).await?,
        Dialect::Mysql => mysql::read(database).await?,
    };
    let is_writable = database.write_granted();
    Ok(DatabaseSchema { name: name.to_owned(), product, is_default, is_writable, tables })
}

/// The rows of a statement of this tool's own.
async fn ask<T: DeserializeOwned>(database: &Database, sql: &str) -> Result<Vec<T>, Failed> {
    let rendered = Rendered { sql: sql.to_owned(), values: Vec::new() };
    let statement = Statement { rendered, kind: StatementKind::Read, questions: Questions::default() };
    let mut rows = Rows::new(CAPS);
    database.run(&statement, &mut rows).await?;
    serde_json::from_value(rows.into_value().to_json())
        .map_err(|error| query_failed(format!("the database describes itself in an unknown way: {error}")))
}

/// The version as the database writes it.
async fn version(database: &Database) -> Result<String, Failed> {
    let mut rows = Rows::new(CAPS);
    database.ask_version(&mut rows).await?;
    Ok(Database::version_in(&rows.into_value()).unwrap_or_default().to_owned())
}

/// A table of this name, which is added where it is new.
fn table<'t>(tables: &'t mut Vec<TableSchema>, name: &str) -> &'t mut TableSchema {
    // Rows come ordered by table: it is the last, or new.
    if tables.last().is_none_or(|last| last.name != name) {
        tables.push(TableSchema { name: name.to_owned(), ..TableSchema::default() });
    }
    let last = tables.len() - 1;
    &mut tables[last]
}

/// A text that says something.
fn said(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}
