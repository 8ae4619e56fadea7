//! SQLite: `sqlite_schema` and the table-valued pragmas.

use std::collections::HashMap;

use serde::Deserialize;

use luaplan_catalog::{ColumnSchema, Reference, TableSchema};

use super::super::database::Database;
use super::super::dialect::Dialect;
use super::super::failure::Failed;
use super::listed::listed_values;
use super::{ask, table, version};

/// Hidden columns of virtual tables are left out, generated ones are not.
const COLUMNS: &str = "\
SELECT m.name AS table_name, m.type = 'view' AS is_view, c.name, c.type AS type_name, \
       c.\"notnull\" = 0 AND c.pk = 0 AS is_nullable, c.pk AS key_place \
FROM sqlite_schema AS m JOIN pragma_table_xinfo(m.name) AS c \
WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND c.hidden <> 1 \
ORDER BY m.rowid, c.cid";

const REFERENCES: &str = "\
SELECT m.name AS table_name, f.id, f.\"from\" AS name, f.\"table\" AS target_table, \
       coalesce(f.\"to\", '') AS target_name \
FROM sqlite_schema AS m JOIN pragma_foreign_key_list(m.name) AS f \
WHERE m.type = 'table' ORDER BY m.rowid, f.id DESC, f.seq";

const DEFINITIONS: &str =
    "SELECT name AS table_name, sql FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%check%'";

#[derive(Deserialize)]
struct ColumnRow {
    table_name: String,
    is_view: i64,
    name: String,
    type_name: String,
    is_nullable: i64,
    key_place: i64,
}

#[derive(Deserialize)]
struct ReferenceRow {
    table_name: String,
    id: i64,
    name: String,
    target_table: String,
    target_name: String,
}

#[derive(Deserialize)]
struct Definition {
    table_name: String,
    sql: String,
}

pub(super) async fn read(database: &Database) -> Result<(String, Vec<TableSchema>), Failed> {
    let version = version(database).await?;
    let mut tables = Vec::new();
    let mut key_places: HashMap<String, Vec<(i64, String)>> = HashMap::new();
    for row in ask::<ColumnRow>(database, COLUMNS).await? {
        if row.key_place > 0 {
            key_places.entry(row.table_name.clone()).or_default().push((row.key_place, row.name.clone()));
        }
        let table = table(&mut tables, &row.table_name);
        table.is_view = row.is_view != 0;
        table.columns.push(ColumnSchema {
            name: row.name,
            type_name: if row.type_name.is_empty() { "any".to_owned() } else { row.type_name.to_lowercase() },
            is_nullable: row.is_nullable != 0,
            ..ColumnSchema::default()
        });
    }
    let references: Vec<ReferenceRow> = ask(database, REFERENCES).await?;
    let definitions: Vec<Definition> = ask(database, DEFINITIONS).await?;
    for table in &mut tables {
        let mut key = key_places.remove(&table.name).unwrap_or_default();
        key.sort_unstable();
        table.primary_key = key.into_iter().map(|(_, name)| name).collect();
        let own = definitions.iter().filter(|definition| definition.table_name == table.name);
        for (column, values) in own.flat_map(|definition| listed_values(Dialect::Sqlite, &definition.sql)) {
            let column = table.columns.iter_mut().find(|other| other.name.eq_ignore_ascii_case(&column));
            if let Some(column) = column {
                column.values = values;
            }
        }
    }
    let keys: HashMap<String, Vec<String>> =
        tables.iter().map(|table| (table.name.clone(), table.primary_key.clone())).collect();
    for table in &mut tables {
        let mut last = None;
        for row in references.iter().filter(|row| row.table_name == table.name) {
            if last.replace(row.id) != Some(row.id) {
                let (target, columns) = (row.target_table.clone(), Vec::new());
                table.references.push(Reference { columns, table: target, target_columns: Vec::new() });
            }
            if let Some(reference) = table.references.last_mut() {
                reference.columns.push(row.name.clone());
                reference.target_columns.push(row.target_name.clone());
            }
        }
        // A reference that names no columns means the other table's key.
        for reference in &mut table.references {
            if reference.target_columns.iter().all(String::is_empty) {
                reference.target_columns = keys.get(&reference.table).cloned().unwrap_or_default();
            }
        }
        spell(table);
    }
    Ok((format!("SQLite {version}"), tables))
}

/// Puts names into quotes where a statement must.
fn spell(table: &mut TableSchema) {
    let spell = |name: &mut String| *name = Dialect::Sqlite.spelled(name);
    spell(&mut table.name);
    table.columns.iter_mut().for_each(|column| spell(&mut column.name));
    table.primary_key.iter_mut().for_each(spell);
    for reference in &mut table.references {
        spell(&mut reference.table);
        reference.columns.iter_mut().for_each(spell);
        reference.target_columns.iter_mut().for_each(spell);
    }
}
