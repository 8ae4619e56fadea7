//! MySQL and MariaDB: `information_schema`, which shows a user only what the user may use.

use std::collections::HashMap;

use serde::Deserialize;

use luaplan_catalog::{ColumnSchema, Reference, TableSchema};

use super::super::database::Database;
use super::super::dialect::Dialect;
use super::super::failure::Failed;
use super::listed::{enum_values, listed_values};
use super::{ask, said, table, version};

const COLUMNS: &str = "\
SELECT t.table_name AS table_name, t.table_type = 'VIEW' AS is_view, t.table_comment AS table_comment, t.table_rows AS table_rows, \
       c.column_name AS name, c.column_type AS type_name, c.is_nullable = 'YES' AS is_nullable, c.column_comment AS comment \
FROM information_schema.tables AS t \
JOIN information_schema.columns AS c ON c.table_schema = t.table_schema AND c.table_name = t.table_name \
WHERE t.table_schema = database() ORDER BY t.table_name, c.ordinal_position";

const KEYS: &str = "\
SELECT table_name AS table_name, constraint_name AS constraint_name, column_name AS name, \
       referenced_table_name AS target_table, referenced_column_name AS target_name, \
       nullif(referenced_table_schema, database()) AS target_schema \
FROM information_schema.key_column_usage \
WHERE table_schema = database() AND (constraint_name = 'PRIMARY' OR referenced_table_name IS NOT NULL) \
ORDER BY table_name, constraint_name, ordinal_position";

/// Of MariaDB alone: MySQL's view does not name the table.
const CHECKS: &str = "\
SELECT table_name AS table_name, check_clause AS clause FROM information_schema.check_constraints \
WHERE constraint_schema = database() ORDER BY table_name, constraint_name";

#[derive(Deserialize)]
struct ColumnRow {
    table_name: String,
    is_view: i64,
    table_comment: Option<String>,
    table_rows: Option<u64>,
    name: String,
    type_name: String,
    is_nullable: i64,
    comment: Option<String>,
}

#[derive(Deserialize)]
struct KeyRow {
    table_name: String,
    constraint_name: String,
    name: String,
    target_table: Option<String>,
    target_name: Option<String>,
    target_schema: Option<String>,
}

#[derive(Deserialize)]
struct CheckRow {
    table_name: String,
    clause: String,
}

pub(super) async fn read(database: &Database) -> Result<(String, Vec<TableSchema>), Failed> {
    let version = version(database).await?;
    let is_mariadb = version.contains("MariaDB");
    let checks: Vec<CheckRow> = if is_mariadb { ask(database, CHECKS).await? } else { Vec::new() };
    let mut listed: HashMap<(String, String), Vec<String>> = HashMap::new();
    for check in checks {
        let found = listed_values(Dialect::Mysql, &format!("CHECK ({})", check.clause));
        listed.extend(found.into_iter().map(|(column, values)| ((check.table_name.clone(), column), values)));
    }
    let spelled = |name: &str| Dialect::Mysql.spelled(name);
    let mut tables = Vec::new();
    for row in ask::<ColumnRow>(database, COLUMNS).await? {
        let mut values = enum_values(&row.type_name);
        if values.is_empty() {
            values = listed.remove(&(row.table_name.clone(), row.name.clone())).unwrap_or_default();
        }
        let table = table(&mut tables, &spelled(&row.table_name));
        table.is_view = row.is_view != 0;
        // The comment of a view is the word VIEW.
        table.comment = said(row.table_comment).filter(|_| row.is_view == 0);
        table.rows_estimate = row.table_rows.filter(|_| row.is_view == 0);
        table.columns.push(ColumnSchema {
            name: spelled(&row.name),
            type_name: row.type_name,
            is_nullable: row.is_nullable != 0,
            values,
            comment: said(row.comment),
        });
    }
    let mut last = None;
    for row in ask::<KeyRow>(database, KEYS).await? {
        let name = spelled(&row.table_name);
        let Some(table) = tables.iter_mut().find(|table| table.name == name) else { continue };
        let (Some(target), Some(target_column)) = (row.target_table, row.target_name) else {
            table.primary_key.push(spelled(&row.name));
            continue;
        };
        let schema = row.target_schema.map(|schema| format!("{}.", spelled(&schema))).unwrap_or_default();
        let constraint = Some((name, row.constraint_name));
        if last != constraint {
            let target = format!("{schema}{}", spelled(&target));
            let (columns, target_columns) = (Vec::new(), Vec::new());
            table.references.push(Reference { columns, table: target, target_columns });
            last = constraint;
        }
        if let Some(reference) = table.references.last_mut() {
            reference.columns.push(spelled(&row.name));
            reference.target_columns.push(spelled(&target_column));
        }
    }
    let product = if is_mariadb { "MariaDB" } else { "MySQL" };
    let number = version.split('-').next().unwrap_or_default();
    Ok((format!("{product} {number}"), tables))
}
