//! Every column type at its bounds and NULL, from case files, on the three real databases.

use std::fmt::Write as _;

use luaplan::base::Value;
use serde::Deserialize;
use serde_json::json;

use super::{Fixture, Kind, call};

#[derive(Deserialize)]
struct Cases {
    column: Vec<ColumnCase>,
}

/// One column: the SQL of its values beside NULL, and what a plan sees of each.
#[derive(Deserialize)]
struct ColumnCase {
    /// What must stand before the table: `CREATE TYPE …`.
    #[serde(default)]
    before: String,
    declared: String,
    /// The kind all values of the column have.
    lua: String,
    values: Vec<(String, String)>,
    /// The values with `exact = true`, where they are others.
    exact: Option<Vec<String>>,
}

#[tokio::test]
async fn every_column_type_has_one_kind_of_value_from_bound_to_bound() {
    let files = [
        (Kind::Sqlite, include_str!("../../cases/query_db/types/sqlite.toml")),
        (Kind::Postgres, include_str!("../../cases/query_db/types/postgres.toml")),
        (Kind::Mysql, include_str!("../../cases/query_db/types/mariadb.toml")),
    ];
    let mut wrong = String::new();
    for (kind, file) in files {
        let Some(fixture) = Fixture::new(kind, "").await else { continue };
        let cases: Cases = toml::from_str(file).unwrap();
        for (number, case) in cases.column.iter().enumerate() {
            let table = format!("t{number}");
            let rows: String =
                case.values.iter().zip(1..).map(|((sql, _), id)| format!(", ({id}, {sql})")).collect();
            let setup = format!(
                "{} CREATE TABLE {table} (id INTEGER, v {}); INSERT INTO {table} VALUES (0, NULL){rows};",
                case.before, case.declared
            );
            fixture.execute(&setup).await;
            let as_numbers: Vec<_> = case.values.iter().map(|(_, seen)| seen.clone()).collect();
            let exact = case.exact.clone().unwrap_or_else(|| as_numbers.clone());
            let kinds = [
                (false, case.lua.as_str(), as_numbers),
                (true, if case.exact.is_some() { "string" } else { &case.lua }, exact),
            ];
            for (exact, lua, expected) in kinds {
                let asked = json!({"table": table, "columns": ["v"], "order_by": "id", "exact": exact});
                let found = match call(&fixture.tool(), asked).await {
                    Ok(found) => found,
                    Err(failure) => {
                        let _ = writeln!(wrong, "{} {}: {}", kind.name(), case.declared, failure.message);
                        continue;
                    }
                };
                let values: Vec<_> =
                    found.as_array().unwrap().iter().map(|row| row.get("v").unwrap()).collect();
                let (null, values) = values.split_first().unwrap();
                let seen: Vec<_> = values.iter().map(|value| value.to_json().to_string()).collect();
                let kinds: Vec<_> = values.iter().map(|value| lua_kind(value)).collect();
                if **null != Value::Null || seen != expected || kinds.iter().any(|kind| *kind != lua) {
                    let _ = writeln!(
                        wrong,
                        "{} {} exact={exact}: {kinds:?} {seen:?}, not {lua} {expected:?}",
                        kind.name(),
                        case.declared
                    );
                }
            }
        }
        fixture.close().await;
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn lua_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nil",
        Value::Bool(_) => "boolean",
        Value::Integer(_) | Value::Float(_) => "number",
        Value::String(_) | Value::Bytes(_) => "string",
        _ => "table",
    }
}
