//! CSV (RFC 4180, with line feeds as line ends).

use std::borrow::Cow;

use luaplan_base::{ErrorCode, ToolFailure, Value};

use super::super::escape::neutral;
use super::super::input::text_of;
use super::{Shape, shape};

/// Writes rows with a header; `columns` chooses and orders them.
///
/// A list of tables has a row each; a list of lists has its items as rows, without a header; any
/// other list is one column named `value`; a table is one row.
///
/// # Errors
/// `bad_arguments` for `columns` of an input without columns.
pub(in super::super) fn write(
    input: &Value,
    columns: Option<&[&str]>,
    neutralise_formulas: bool,
) -> Result<String, ToolFailure> {
    let field = |value: &Value| field(value, neutralise_formulas);
    let one_row = match input {
        Value::Object(_) => Some(Value::Array(vec![input.clone()])),
        _ => None,
    };
    let mut lines: Vec<Vec<String>> = Vec::new();
    match (shape(one_row.as_ref().unwrap_or(input)), columns) {
        (Shape::Table(own, rows), asked) => {
            let columns = asked.unwrap_or(&own);
            if let Some(unknown) = columns.iter().find(|column| !own.contains(column)) {
                return Err(bad(format!("there is no column `{unknown}`; there are {}", own.join(", "))));
            }
            lines.push(columns.iter().map(|column| field(&Value::from(*column))).collect());
            for row in rows {
                let cells = columns.iter().map(|column| row.get(column).map(field).unwrap_or_default());
                lines.push(cells.collect());
            }
        }
        (Shape::List([]), Some(columns)) => {
            lines.push(columns.iter().map(|column| field(&Value::from(*column))).collect());
        }
        (Shape::List([]), None) => {}
        (_, Some(_)) => return Err(bad("columns can be chosen only from a list of tables".to_owned())),
        (Shape::List(items), None) if items.iter().all(|item| item.as_array().is_some()) => {
            let rows = items.iter().filter_map(Value::as_array);
            lines.extend(rows.map(|row| row.iter().map(field).collect()));
        }
        (Shape::List(items), None) => {
            lines.push(vec!["value".to_owned()]);
            lines.extend(items.iter().map(|item| vec![field(item)]));
        }
        (Shape::Pairs(_), None) => {}
        (Shape::Scalar(scalar), None) => lines.push(vec![field(scalar)]),
    }
    encode(&lines)
}

fn encode(lines: &[Vec<String>]) -> Result<String, ToolFailure> {
    let failed =
        |error: String| ToolFailure::new(ErrorCode::ToolFailed, format!("CSV could not be written: {error}"));
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    for line in lines {
        writer.write_record(line).map_err(|error| failed(error.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|error| failed(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| failed(error.to_string()))
}

/// Only text can be a formula; a negative number stays one.
fn field(value: &Value, neutralise_formulas: bool) -> String {
    let text = text_of(value);
    if neutralise_formulas && matches!(value, Value::String(_)) {
        return match neutral(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(neutral) => neutral,
        };
    }
    text
}

fn bad(message: String) -> ToolFailure {
    ToolFailure::new(ErrorCode::BadArguments, message)
}
