//! Dates, units and distances as arguments.

use jiff::tz::Offset;

use super::super::call::{Call, quoted};
use super::super::value::{Result, Table, Value};
use super::arithmetic::{Distance, Unit};
use super::stamp::{Stamp, parse_offset};

/// What reading or writing one date costs.
pub(super) const DATE_INSTRUCTIONS: u64 = 20;

/// A result whose failure is this call's error.
pub(super) fn pass<T>(call: &Call<'_>, result: Result<T, String>) -> Result<T> {
    result.map_err(|message| call.fail(message))
}

/// A date as a result.
pub(super) fn give<'v>(call: &Call<'v>, result: Result<Stamp, String>) -> Result<Value<'v>> {
    call.give(pass(call, result)?.to_string())
}

/// A date as an argument.
pub(super) fn stamp(call: &Call<'_>, index: usize, name: &str) -> Result<Stamp> {
    call.charge(DATE_INSTRUCTIONS)?;
    let text = call.utf8(index, name)?;
    Stamp::parse(&text)
        .map_err(|message| call.fail(format_args!("argument {} ({name}): {message}", index + 1)))
}

/// A unit as an argument.
pub(super) fn unit(call: &Call<'_>, index: usize) -> Result<Unit> {
    let name = call.utf8(index, "unit")?;
    Unit::parse(&name).ok_or_else(|| {
        call.fail(format_args!(
            "argument {} (unit) must be {}, got {}",
            index + 1,
            Unit::NAMES,
            quoted(&name)
        ))
    })
}

/// An offset as an argument.
pub(super) fn offset(call: &Call<'_>, index: usize) -> Result<(Offset, bool)> {
    let text = call.utf8(index, "offset")?;
    parse_offset(&text).ok_or_else(|| {
        call.fail(format_args!(
            "argument {} (offset) must be Z or like +02:00, got {}",
            index + 1,
            quoted(&text)
        ))
    })
}

/// A distance: `{months = 1, days = -2}`, or a number (of days) with a unit after it, or a unit's
/// name alone for one of it.
pub(super) fn distance(call: &Call<'_>, index: usize, unit_index: usize) -> Result<Distance> {
    match call.arg(index) {
        Value::Table(table) => by_units(call, &table),
        Value::String(name) if Unit::parse(&name.to_string_lossy()).is_some() => {
            pass(call, Distance::default().with(1, unit(call, index)?))
        }
        _ => {
            let count = call.integer(index, "amount")?;
            let unit = if call.is_absent(unit_index) { Unit::Days } else { unit(call, unit_index)? };
            pass(call, Distance::default().with(count, unit))
        }
    }
}

fn by_units<'v>(call: &Call<'v>, table: &Table<'v>) -> Result<Distance> {
    let mut distance = Distance::default();
    let mut faults = Vec::new();
    for (name, count) in table.entries()? {
        call.charge(4)?;
        let text = match &name {
            Value::String(text) => text.to_string_lossy(),
            other => format!("a {} key", call.describe(other)),
        };
        match (Unit::parse(&text), call.as_integer(&count)) {
            (None, _) => faults.push(format!("unknown unit {text}; known: {}", Unit::NAMES)),
            (_, None) => {
                faults.push(format!("{text} must be a whole number, got {}", call.describe(&count)));
            }
            (Some(unit), Some(count)) => distance = pass(call, distance.with(count, unit))?,
        }
    }
    // Hash order must not decide which of several faults is reported.
    match faults.into_iter().min() {
        None => Ok(distance),
        Some(fault) => Err(call.fail(fault)),
    }
}
