//! Text → rows.

use std::collections::{HashMap, HashSet};

use csv::{ByteRecord, ReaderBuilder};
use indexmap::IndexSet;

use super::super::call::{Call, quoted};
use super::super::value::{Result, Value};
use super::{flag, names, separator};

/// What one cell costs beside its bytes.
const CELL_INSTRUCTIONS: u64 = 4;
/// The most columns that a message names.
const SHOWN_MAX: usize = 20;

pub(super) fn parse<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let text = call.text(0, "text")?;
    let options = call.options(1, &["header", "separator", "numbers", "require"])?;
    let options = options.as_ref();
    let header = flag(call, options, "header", true)?;
    let numbers = flag(call, options, "numbers", false)?;
    let required = names(call, options, "require")?.unwrap_or_default();
    if !header && !required.is_empty() {
        return Err(call.fail("option require names columns, and with header = false they have no names"));
    }
    let bytes = text.as_bytes();
    let separator = match separator(call, options)? {
        Some(separator) => separator,
        None => recognised(call, bytes)?,
    };
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).delimiter(separator).from_reader(bytes);
    let mut record = ByteRecord::new();
    let mut names: Option<Vec<Vec<u8>>> = None;
    let rows = call.host.table(0, 0)?;
    let mut rows_read = 0;
    while reader.read_byte_record(&mut record).map_err(|error| call.fail(error))? {
        let line = record.position().map_or(0, csv::Position::line);
        if header && names.is_none() {
            let found = column_names(&record);
            check_columns(call, &required, &found)?;
            names = Some(found);
            continue;
        }
        let row = call.host.table(0, 0)?;
        for (index, cell) in record.iter().enumerate() {
            call.charge(CELL_INSTRUCTIONS)?;
            let value = cell_value(call, cell, numbers)?;
            match &names {
                None => row.set_item(index as i64 + 1, value)?,
                Some(names) => match names.get(index) {
                    Some(name) => row.set(name, value)?,
                    None => {
                        return Err(call.fail(format_args!(
                            "line {line} has {} fields, the header has {}",
                            record.len(),
                            names.len()
                        )));
                    }
                },
            }
        }
        if names.is_none() {
            row.mark_array()?;
        }
        rows_read += 1;
        rows.set_item(rows_read, Value::Table(row))?;
    }
    if names.is_none() {
        check_columns(call, &required, &[])?;
    }
    rows.mark_array()?;
    Ok(Value::Table(rows))
}

/// # Errors
/// Where a required column is not there: what is missing and what there is.
fn check_columns(call: &Call<'_>, required: &IndexSet<String>, found: &[Vec<u8>]) -> Result<()> {
    let is_missing = |name: &&String| !found.iter().any(|known| known == name.as_bytes());
    let missing: Vec<String> = required.iter().filter(is_missing).map(|name| quoted(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let shown = found.iter().take(SHOWN_MAX).map(|name| quoted(&String::from_utf8_lossy(name)));
    let known = match (shown.collect::<Vec<_>>().join(", "), found.len()) {
        (_, 0) => "there is no first line".to_owned(),
        (shown, count) if count > SHOWN_MAX => {
            format!("the columns are {shown} and {} more", count - SHOWN_MAX)
        }
        (shown, _) => format!("the columns are {shown}"),
    };
    Err(call.fail(format_args!("there is no column {}; {known}", missing.join(", "))))
}

/// The separator where the call names none: a comma, or, where the first line has none, the semicolon or tab that
/// the first two lines have equally often.
///
/// # Errors
/// Where the first line has semicolons or tabs and the second line does not confirm it: reading the table as one
/// column would silently lose it.
fn recognised<'v>(call: &Call<'v>, bytes: &[u8]) -> Result<u8> {
    if fields(call, bytes, b',')?.0 != 1 {
        return Ok(b',');
    }
    let mut seen = Vec::new();
    for (separator, name) in [(b';', "\";\""), (b'\t', "\"\\t\"")] {
        let (first, second) = fields(call, bytes, separator)?;
        if first > 1 {
            seen.push((separator, name, second.is_none_or(|second| second == first)));
        }
    }
    match seen[..] {
        [] => Ok(b','),
        [(separator, _, true)] => Ok(separator),
        _ => {
            let names: Vec<&str> = seen.iter().map(|(_, name, _)| *name).collect();
            Err(call.fail(format_args!(
                "the first line has no comma, but {}; say what separates the fields with {{separator = {}}}, or {{separator = \",\"}} for one column",
                names.join(" and "),
                names[0],
            )))
        }
    }
}

/// How many fields the first two lines have with a separator; 1 for a text without lines.
fn fields<'v>(call: &Call<'v>, bytes: &[u8], separator: u8) -> Result<(usize, Option<usize>)> {
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).delimiter(separator).from_reader(bytes);
    let mut record = ByteRecord::new();
    let mut count = || -> Result<Option<usize>> {
        let is_there = reader.read_byte_record(&mut record).map_err(|error| call.fail(error))?;
        call.charge_bytes(record.as_slice().len())?;
        Ok(is_there.then(|| record.len()))
    };
    let first = count()?.unwrap_or(1);
    Ok((first, count()?))
}

/// The names of the columns: blanks around them cut, an empty one named by its place, a repeated
/// one numbered, so that no column hides another.
fn column_names(record: &ByteRecord) -> Vec<Vec<u8>> {
    let mut seen = HashSet::new();
    // The last number of each repeated name: counting from the first again would take the square of their count.
    let mut numbers: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut names = Vec::with_capacity(record.len());
    for (index, cell) in record.iter().enumerate() {
        let base = match cell.trim_ascii() {
            [] => format!("column_{}", index + 1).into_bytes(),
            name => name.to_vec(),
        };
        let mut name = base.clone();
        while !seen.insert(name.clone()) {
            let number = numbers.entry(base.clone()).or_insert(1);
            *number += 1;
            name = [&base[..], format!("_{number}").as_bytes()].concat();
        }
        names.push(name);
    }
    names
}

fn cell_value<'v>(call: &Call<'v>, cell: &[u8], numbers: bool) -> Result<Value<'v>> {
    if numbers && let Some(number) = std::str::from_utf8(cell).ok().and_then(read_number) {
        return Ok(number);
    }
    call.give(cell)
}

/// A number only where the conversion loses nothing: `007` and `+49` are codes, not counts.
fn read_number<'v>(text: &str) -> Option<Value<'v>> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) =
        digits.split_once('.').map_or((digits, None), |(whole, part)| (whole, Some(part)));
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !plain(whole) || (whole.len() > 1 && whole.starts_with('0')) || text == "-0" {
        return None;
    }
    match fraction {
        None => text.parse().ok().map(Value::Integer),
        Some(fraction) if plain(fraction) => text.parse().ok().map(Value::Number),
        Some(_) => None,
    }
}
