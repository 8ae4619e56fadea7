//! `csv`: rows from text and text from rows, quoted as in RFC 4180.

mod read;
mod write;

use indexmap::IndexSet;

use super::call::{Call, LibFunction};
use super::value::{Result, Table, Value};

pub(super) static NATIVES: &[LibFunction] =
    &[LibFunction { name: "parse", run: read::parse }, LibFunction { name: "encode", run: write::encode }];

/// An option that is true or false.
fn flag<'v>(call: &Call<'v>, options: Option<&Table<'v>>, name: &str, default: bool) -> Result<bool> {
    match option(options, name)? {
        Value::Nil => Ok(default),
        Value::Boolean(value) => Ok(value),
        other => {
            Err(call.fail(format_args!("option {name} must be true or false, got {}", call.describe(&other))))
        }
    }
}

/// The separator asked for: one ASCII character that no quoting or line end needs.
fn separator<'v>(call: &Call<'v>, options: Option<&Table<'v>>) -> Result<Option<u8>> {
    match option(options, "separator")? {
        Value::Nil => Ok(None),
        Value::String(text) => match *text.as_bytes() {
            [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n' | 0) => Ok(Some(byte)),
            _ => Err(call.fail(
                "option separator must be one ASCII character other than a quote or a line end, for example \";\" or \"\\t\"",
            )),
        },
        other => Err(call.fail(format_args!(
            "option separator must be text of one character, got {}",
            call.describe(&other)
        ))),
    }
}

fn option<'v>(options: Option<&Table<'v>>, name: &str) -> Result<Value<'v>> {
    options.map_or(Ok(Value::Nil), |options| options.get(name))
}

/// An option that is a list of column names.
fn names<'v>(call: &Call<'v>, options: Option<&Table<'v>>, name: &str) -> Result<Option<IndexSet<String>>> {
    let refuse = |value: &Value<'v>| {
        call.fail(format_args!("option {name} must be a list of names, got {}", call.describe(value)))
    };
    let list = match option(options, name)? {
        Value::Nil => return Ok(None),
        Value::Table(list) => list,
        other => return Err(refuse(&other)),
    };
    let mut names = IndexSet::new();
    for place in 1.. {
        call.charge(4)?;
        match list.item(place)? {
            Value::Nil => break,
            Value::String(name) => names.insert(name.to_string_lossy()),
            other => return Err(refuse(&other)),
        };
    }
    Ok(Some(names))
}
