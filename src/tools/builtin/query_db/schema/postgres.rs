//! PostgreSQL: `pg_catalog`, whose rows about other users' tables anyone may read; so privileges are asked for.

use serde::Deserialize;

use luaplan_catalog::{ColumnSchema, Reference, TableSchema};

use super::super::database::Database;
use super::super::dialect::Dialect;
use super::super::failure::Failed;
use super::listed::listed_values;
use super::{ask, said, table, version};

/// Partitions are left out: their table stands for them. Names are quoted by the server, and have their schema where
/// the search path does not find them.
const COLUMNS: &str = "\
SELECT CASE WHEN pg_table_is_visible(c.oid) THEN '' ELSE quote_ident(n.nspname) || '.' END || quote_ident(c.relname) AS table_name, \
       (c.relkind IN ('v', 'm'))::int AS is_view, obj_description(c.oid, 'pg_class') AS table_comment, \
       c.reltuples::bigint AS table_rows, quote_ident(a.attname) AS name, format_type(a.atttypid, a.atttypmod) AS type_name, \
       (NOT a.attnotnull)::int AS is_nullable, col_description(c.oid, a.attnum) AS comment, \
       (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder)::text FROM pg_enum AS e WHERE e.enumtypid = a.atttypid) AS labels \
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_attribute AS a ON a.attrelid = c.oid \
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped \
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_' \
  AND has_schema_privilege(n.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT') \
ORDER BY n.nspname, c.relname, a.attnum";

const CONSTRAINTS: &str = "\
SELECT CASE WHEN pg_table_is_visible(c.oid) THEN '' ELSE quote_ident(n.nspname) || '.' END || quote_ident(c.relname) AS table_name, \
       k.contype::text AS kind, pg_get_constraintdef(k.oid) AS definition, \
       (SELECT json_agg(quote_ident(a.attname) ORDER BY p.place)::text FROM unnest(k.conkey) WITH ORDINALITY AS p(attnum, place) \
        JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = p.attnum) AS names, \
       CASE WHEN pg_table_is_visible(t.oid) THEN '' ELSE quote_ident(tn.nspname) || '.' END || quote_ident(t.relname) AS target_table, \
       (SELECT json_agg(quote_ident(a.attname) ORDER BY p.place)::text FROM unnest(k.confkey) WITH ORDINALITY AS p(attnum, place) \
        JOIN pg_attribute AS a ON a.attrelid = k.confrelid AND a.attnum = p.attnum) AS target_names \
FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace \
LEFT JOIN pg_class AS t ON t.oid = k.confrelid LEFT JOIN pg_namespace AS tn ON tn.oid = t.relnamespace \
WHERE k.contype IN ('p', 'f', 'c') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_' \
ORDER BY k.conname";

#[derive(Deserialize)]
struct ColumnRow {
    table_name: String,
    is_view: i64,
    table_comment: Option<String>,
    table_rows: i64,
    name: String,
    type_name: String,
    is_nullable: i64,
    comment: Option<String>,
    labels: Option<String>,
}

#[derive(Deserialize)]
struct Constraint {
    table_name: String,
    kind: String,
    definition: String,
    names: Option<String>,
    target_table: Option<String>,
    target_names: Option<String>,
}

pub(super) async fn read(database: &Database) -> Result<(String, Vec<TableSchema>), Failed> {
    let version = version(database).await?;
    let version = version.split(' ').next().unwrap_or_default();
    let mut tables = Vec::new();
    for row in ask::<ColumnRow>(database, COLUMNS).await? {
        let table = table(&mut tables, &row.table_name);
        table.is_view = row.is_view != 0;
        table.comment = said(row.table_comment);
        // Below zero: the table was never analysed.
        table.rows_estimate = u64::try_from(row.table_rows).ok().filter(|_| row.is_view == 0);
        table.columns.push(ColumnSchema {
            name: row.name,
            type_name: row.type_name,
            is_nullable: row.is_nullable != 0,
            values: names(row.labels.as_deref()),
            comment: said(row.comment),
        });
    }
    for constraint in ask::<Constraint>(database, CONSTRAINTS).await? {
        let Some(table) = tables.iter_mut().find(|table| table.name == constraint.table_name) else {
            continue;
        };
        let columns = names(constraint.names.as_deref());
        // A column that this user may not read is not named by a constraint either.
        if !columns.iter().all(|name| table.columns.iter().any(|column| column.name == *name)) {
            continue;
        }
        match (constraint.kind.as_str(), constraint.target_table) {
            ("p", _) => table.primary_key = columns,
            ("f", Some(target)) => {
                let target_columns = names(constraint.target_names.as_deref());
                table.references.push(Reference { columns, table: target, target_columns });
            }
            _ => {
                let found = listed_values(Dialect::Postgres, &constraint.definition);
                let (Some((_, values)), [name]) = (found.into_iter().next(), columns.as_slice()) else {
                    continue;
                };
                if let Some(column) = table.columns.iter_mut().find(|column| column.name == *name) {
                    column.values = values;
                }
            }
        }
    }
    Ok((format!("PostgreSQL {version}"), tables))
}

fn names(json: Option<&str>) -> Vec<String> {
    json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
}
