//! The columns of a result, as a database tells of them before a statement is executed.

use serde_json::{Map, Value as Json, json};

use luaplan_base::Value;

use super::rows::unique;
use super::settings::{Decimals, Intervals};

/// A result with more columns is not described: its type would be longer than most plans.
const COLUMNS_MAX: usize = 200;

/// One column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResultColumn {
    pub(super) name: String,
    pub(super) kind: ColumnKind,
}

/// What a column holds where it is not NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Text,
    Boolean,
    Integer,
    Number,
    /// Digits that a call gets as a number or as text.
    Decimal,
    /// A length of time that a call gets as text or in seconds.
    Interval,
    List,
    /// What the database does not tell, or what a document holds.
    Any,
}

impl ColumnKind {
    const NAMED: [(Self, &'static str); 8] = [
        (Self::Text, "text"),
        (Self::Boolean, "boolean"),
        (Self::Integer, "integer"),
        (Self::Number, "number"),
        (Self::Decimal, "decimal"),
        (Self::Interval, "interval"),
        (Self::List, "list"),
        (Self::Any, "any"),
    ];

    fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(kind, _)| *kind == self).map_or("any", |(_, name)| name)
    }

    fn named(name: &str) -> Self {
        Self::NAMED.iter().find(|(_, known)| *known == name).map_or(Self::Any, |(kind, _)| *kind)
    }
}

/// The columns as rows, for a pipe.
pub(super) fn to_rows(columns: &[ResultColumn]) -> Vec<Value> {
    let row = |column: &ResultColumn| {
        Value::Array(vec![Value::from(column.name.as_str()), Value::from(column.kind.name())])
    };
    columns.iter().map(row).collect()
}

/// The columns of [`to_rows`].
pub(super) fn of_rows(rows: &[Value]) -> Vec<ResultColumn> {
    let column = |row: &Value| match row.as_array()? {
        [name, kind] => {
            Some(ResultColumn { name: name.as_str()?.to_owned(), kind: ColumnKind::named(kind.as_str()?) })
        }
        _ => None,
    };
    rows.iter().filter_map(column).collect()
}

/// The result as JSON Schema: a list of tables with exactly these fields. What `decimals` and `intervals` are is not known
/// of every call. `None` for a result without columns, or with very many.
pub(super) fn schema(
    columns: &[ResultColumn],
    decimals: Option<Decimals>,
    intervals: Option<Intervals>,
) -> Option<Json> {
    if columns.is_empty() || columns.len() > COLUMNS_MAX {
        return None;
    }
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let kind = |column: &ResultColumn| match column.kind {
        ColumnKind::Text => json!({ "type": "string" }),
        ColumnKind::Boolean => json!({ "type": "boolean" }),
        ColumnKind::Integer => json!({ "type": "integer" }),
        ColumnKind::Number => json!({ "type": "number" }),
        ColumnKind::Decimal if decimals == Some(Decimals::Number) => json!({ "type": "number" }),
        ColumnKind::Interval if intervals == Some(Intervals::Iso) => json!({ "type": "string" }),
        ColumnKind::Interval if intervals == Some(Intervals::Seconds) => json!({ "type": "number" }),
        ColumnKind::List => json!({ "type": "array" }),
        // Digits as text can be calculated with as numbers can.
        ColumnKind::Decimal | ColumnKind::Interval | ColumnKind::Any => json!({}),
    };
    let unique = unique(&names);
    let fields: Map<String, Json> = unique.iter().cloned().zip(columns.iter().map(kind)).collect();
    let row =
        json!({ "type": "object", "properties": fields, "required": unique, "additionalProperties": false });
    Some(json!({ "type": "array", "items": row }))
}
