//! `json`: text in and out through the VM's own conversion, so a document means the same here as in
//! a context.

mod read;

use serde::Serialize as _;
use serde_json::Value as Json;

use luaplan_base as base;

use super::call::{Call, LibFunction};
use super::value::{Result, Value};

/// The widest indentation of one level.
const INDENT_MAX: usize = 16;

pub(super) static NATIVES: &[LibFunction] = &[
    LibFunction { name: "decode", run: decode },
    LibFunction { name: "encode", run: encode },
    LibFunction { name: "array", run: array },
    LibFunction { name: "object", run: object },
    LibFunction { name: "is_null", run: is_null },
];

fn decode<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let text = call.utf8(0, "text")?;
    let value = read::read(&text).map_err(|message| call.fail(message))?;
    // Inside a list null is a value; alone it is nil, as in an object.
    if value == base::Value::Null {
        return Ok(Value::Nil);
    }
    call.host.from_value(&value)
}

fn encode<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let mut indent = 0;
    let mut sort = false;
    if let Some(options) = call.options(1, &["indent", "sort"])? {
        let width = options.get("indent")?;
        if !width.is_nil() {
            indent = call
                .as_integer(&width)
                .and_then(|width| usize::try_from(width).ok())
                .filter(|width| *width <= INDENT_MAX)
                .ok_or_else(|| {
                    call.fail(format_args!("option indent must be a whole number from 0 to {INDENT_MAX}"))
                })?;
        }
        sort = matches!(options.get("sort")?, Value::Boolean(true));
    }
    let value = call.host.to_value(&call.argument_name(0), &call.arg(0))?;
    call.charge_bytes(usize::try_from(value.approximate_bytes()).unwrap_or(usize::MAX))?;
    let limit = call.host.meter().limits().memory_bytes;
    let mut text = Bounded { bytes: Vec::new(), limit: usize::try_from(limit).unwrap_or(usize::MAX) };
    // Only the bound can make writing to memory fail.
    let written = if sort {
        let mut json = value.to_json();
        json.sort_all_objects();
        write(&json, indent, &mut text).is_ok()
    } else {
        value.write_json_text(&mut text, indent).is_ok()
    };
    let room = written.then_some(text.bytes.len());
    call.reserve(room)?;
    call.give(text.bytes)
}

fn write(json: &Json, indent: usize, text: &mut Bounded) -> serde_json::Result<()> {
    if indent == 0 {
        return serde_json::to_writer(text, json);
    }
    let spaces = " ".repeat(indent);
    let formatter = serde_json::ser::PrettyFormatter::with_indent(spaces.as_bytes());
    json.serialize(&mut serde_json::Serializer::with_formatter(text, formatter))
}

/// Text that must not outgrow the VM: indentation alone can make a small value huge.
struct Bounded {
    bytes: Vec<u8>,
    limit: usize,
}

impl std::io::Write for Bounded {
    fn write(&mut self, part: &[u8]) -> std::io::Result<usize> {
        if self.bytes.len() + part.len() > self.limit {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn array<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let table = if call.is_absent(0) { call.host.table(0, 0)? } else { call.table(0, "t")? };
    table.mark_array()?;
    Ok(Value::Table(table))
}

fn object<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let table = if call.is_absent(0) { call.host.table(0, 0)? } else { call.table(0, "t")? };
    table.mark_object()?;
    Ok(Value::Table(table))
}

fn is_null<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    Ok(Value::Boolean(matches!(call.arg(0), Value::Nil | Value::Null)))
}
