//! Rows → text.

use csv::{QuoteStyle, Terminator, WriterBuilder};
use indexmap::IndexSet;

use luaplan_base::Value;

use super::super::call::Call;
use super::super::value::{Result, Table, Value as Lua};
use super::{flag, names, option, separator};

pub(super) fn encode<'v>(call: &Call<'v>) -> Result<Lua<'v>> {
    let known = ["columns", "header", "separator", "newline", "escape_formulas"];
    let options = call.options(1, &known)?;
    let options = options.as_ref();
    let header = flag(call, options, "header", true)?;
    let guard = flag(call, options, "escape_formulas", false)?;
    let mut columns = columns(call, options)?;
    let terminator = match option(options, "newline")? {
        Lua::Nil => Terminator::Any(b'\n'),
        Lua::String(text) if text.as_bytes() == b"\n" => Terminator::Any(b'\n'),
        Lua::String(text) if text.as_bytes() == b"\r\n" => Terminator::CRLF,
        _ => return Err(call.fail("option newline must be \"\\n\" or \"\\r\\n\"")),
    };
    let rows = match call.host.to_value(&call.argument_name(0), &Lua::Table(call.table(0, "rows")?))? {
        Value::Array(rows) => rows,
        Value::Object(members) if members.is_empty() => Vec::new(),
        _ => return Err(call.fail("argument 1 (rows) must be a list of rows")),
    };
    if columns.is_none() && rows.iter().any(|row| matches!(row, Value::Object(_))) {
        columns = Some(names_of(&rows));
    }
    let mut writer = WriterBuilder::new()
        .flexible(true)
        .delimiter(separator(call, options)?.unwrap_or(b','))
        .quote_style(QuoteStyle::Necessary)
        .terminator(terminator)
        .from_writer(Vec::new());
    let named =
        columns.as_ref().filter(|_| header).map(|names| names.iter().map(|name| name.as_bytes().to_vec()));
    let written = |error: csv::Error| call.fail(error);
    if let Some(names) = named {
        writer.write_record(names.map(|name| guarded(name, guard))).map_err(written)?;
    }
    for (index, row) in rows.iter().enumerate() {
        let cells: Vec<Vec<u8>> = match (row, &columns) {
            (Value::Array(cells), _) => cells.iter().map(|cell| cell_bytes(cell, guard)).collect(),
            (Value::Object(members), Some(names)) => names
                .iter()
                .map(|name| members.get(name).map_or_else(Vec::new, |cell| cell_bytes(cell, guard)))
                .collect(),
            (other, _) => {
                return Err(call.fail(format_args!(
                    "row {} must be a table of named values or a list, got {}",
                    index + 1,
                    other.kind()
                )));
            }
        };
        call.charge_bytes(cells.iter().map(|cell| cell.len() + 16).sum())?;
        writer.write_record(cells).map_err(written)?;
    }
    let text = writer.into_inner().map_err(|error| call.fail(error))?;
    call.give(text)
}

/// The columns asked for.
fn columns<'v>(call: &Call<'v>, options: Option<&Table<'v>>) -> Result<Option<IndexSet<String>>> {
    let Some(names) = names(call, options, "columns")? else { return Ok(None) };
    if names.is_empty() {
        return Err(call.fail("option columns must name at least one column"));
    }
    Ok(Some(names))
}

/// The names of all rows, in order of first occurrence.
fn names_of(rows: &[Value]) -> IndexSet<String> {
    rows.iter().filter_map(Value::as_object).flat_map(|members| members.keys().cloned()).collect()
}

fn cell_bytes(value: &Value, guard: bool) -> Vec<u8> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) => guarded(text.as_bytes().to_vec(), guard),
        Value::Bytes(bytes) => guarded(bytes.to_vec(), guard),
        Value::Float(number) => {
            let text = number.to_string();
            // As Lua prints it, so that a float stays one.
            if text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) {
                format!("{text}.0").into_bytes()
            } else {
                text.into_bytes()
            }
        }
        other => other.to_json().to_string().into_bytes(),
    }
}

/// A spreadsheet runs a cell that starts with one of these as a formula; an apostrophe before it
/// makes it text.
fn guarded(text: Vec<u8>, guard: bool) -> Vec<u8> {
    match text.first() {
        Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r') if guard => [b"'", &text[..]].concat(),
        _ => text,
    }
}
