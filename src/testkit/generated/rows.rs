//! Rows for a query of a database: its columns, its conditions, its limit.
//!
//! Simple parts of the query are followed; for the rest the names of columns decide.

use serde_json::{Map, Value as Json, json};

use super::draw::Draw;
use super::{sql, words};

const ROWS_MAX: usize = 6;

/// Columns of an unknown table.
const COLUMNS: [&str; 8] = ["id", "name", "email", "age", "city", "status", "amount", "created_at"];

/// The rows, or how many were changed where the statement changes some.
pub(super) fn answer(arguments: &Json, draw: &mut Draw) -> Json {
    let query = sql::Query::read(arguments);
    if query.is_writing {
        return json!({"rows_affected": draw.between(0, 5)});
    }
    let columns: Vec<String> = match query.columns.is_empty() {
        false => query.columns.clone(),
        true => {
            let mentioned = query.conditions.iter().map(|condition| condition.column.clone());
            let mut columns: Vec<String> = COLUMNS.iter().map(|&name| name.to_owned()).collect();
            columns.extend(mentioned.filter(|name| !COLUMNS.contains(&name.as_str())));
            columns
        }
    };
    let count = match query.gives_one_row {
        true => 1,
        false if draw.once_in(7) => 0,
        false => 1 + draw.below(ROWS_MAX),
    };
    let count = query.limit.map_or(count, |limit| count.min(limit));
    (0..count).map(|place| row(place, &columns, &query, draw)).collect()
}

fn row(place: usize, columns: &[String], query: &sql::Query, draw: &mut Draw) -> Json {
    let mut row = Map::new();
    for column in columns {
        let condition =
            query.conditions.iter().find(|condition| condition.column.eq_ignore_ascii_case(column));
        let value = match condition.and_then(|condition| meeting(condition, draw)) {
            Some(value) => value,
            None if query.totals.contains(column) => json!(words::integer("count", draw)),
            None if column.eq_ignore_ascii_case("id") => json!(place + 1),
            None if !column.to_ascii_lowercase().ends_with("id") && draw.once_in(12) => Json::Null,
            None => words::by_name(column, draw),
        };
        row.insert(column.clone(), value);
    }
    Json::Object(row)
}

/// A value that meets the condition, where it is simple to find.
fn meeting(condition: &sql::Condition, draw: &mut Draw) -> Option<Json> {
    let more = draw.between(1, 20);
    match (condition.operator.as_str(), &condition.value) {
        ("=", Json::Array(any)) => draw.pick(any).cloned(),
        ("=" | "==" | ">=" | "<=", value) => Some(value.clone()),
        (">", Json::Number(number)) if number.is_i64() => Some(json!(number.as_i64()?.checked_add(more)?)),
        ("<", Json::Number(number)) if number.is_i64() => Some(json!(number.as_i64()?.checked_sub(more)?)),
        #[expect(clippy::cast_precision_loss, reason = "small by construction")]
        (">", Json::Number(number)) => Some(json!(number.as_f64()? + more as f64)),
        #[expect(clippy::cast_precision_loss, reason = "small by construction")]
        ("<", Json::Number(number)) => Some(json!(number.as_f64()? - more as f64)),
        _ => None,
    }
}
