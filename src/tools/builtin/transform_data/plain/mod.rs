//! Results without a template: a table for a list of tables, a list for a list, pairs for a table.

mod csv;
mod html;
mod markdown;
mod text;

use std::borrow::Cow;

use indexmap::IndexSet;

use luaplan_base::{ToolFailure, Value};

use super::format::Format;

pub(super) use csv::write as csv;

/// Writes the input in this format.
///
/// # Errors
/// `tool_failed` where CSV cannot be written.
pub(super) fn write(input: &Value, format: Format, neutralise_formulas: bool) -> Result<String, ToolFailure> {
    Ok(match format {
        Format::Html => html::write(input),
        Format::Markdown => markdown::write(input),
        Format::Text => text::write(input),
        Format::Json => format!("{:#}", input.to_json()),
        Format::Csv => csv(input, None, neutralise_formulas)?,
    })
}

/// What an input looks like to a reader.
enum Shape<'a> {
    /// A list of tables: the columns in order of first sight, and the rows.
    Table(Vec<&'a str>, Vec<&'a Value>),
    /// Any other list.
    List(&'a [Value]),
    /// One table.
    Pairs(Vec<(&'a str, &'a Value)>),
    /// Anything else.
    Scalar(&'a Value),
}

fn shape(input: &Value) -> Shape<'_> {
    match input {
        Value::Array(items) if !items.is_empty() && items.iter().all(|item| item.as_object().is_some()) => {
            let columns: IndexSet<&str> = items
                .iter()
                .filter_map(Value::as_object)
                .flat_map(|row| row.keys().map(String::as_str))
                .collect();
            Shape::Table(columns.into_iter().collect(), items.iter().collect())
        }
        Value::Array(items) => Shape::List(items),
        Value::Object(members) => {
            Shape::Pairs(members.iter().map(|(name, member)| (name.as_str(), member)).collect())
        }
        scalar => Shape::Scalar(scalar),
    }
}

/// A table's cell as text; a missing one is empty.
fn cell(row: &Value, column: &str) -> String {
    row.get(column).map(super::input::text_of).unwrap_or_default()
}

/// Text on one line.
fn on_one_line(text: &str) -> Cow<'_, str> {
    if text.contains(['\n', '\r']) {
        Cow::Owned(text.split(['\n', '\r']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" "))
    } else {
        Cow::Borrowed(text)
    }
}
