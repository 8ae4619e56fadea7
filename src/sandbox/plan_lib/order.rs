//! The one order of values: what `list.sort_by`, `list.keys` and the statistics sort by.
//!
//! Numbers by value, text by its bytes, false before true; nil, null and NaN come last, in both directions.
//! Equal values keep their order. Values of two kinds have no order, and tables have none: sorting `9` and
//! `"10"` together is most likely a mistake of the plan. Only keys of a table may be mixed.

use std::cmp::Ordering;

use luaplan_base::{Error, ErrorCode};

use super::call::{Call, LibFunction};
use super::value::{LibError, Result, Text, Value};

enum Key {
    Integer(i64),
    Float(f64),
    Text(Text),
    Bool(bool),
    Last,
}

impl Key {
    fn of(value: &Value<'_>) -> Self {
        match value {
            Value::Integer(number) => Self::Integer(*number),
            Value::Number(number) if !number.is_nan() => Self::Float(*number),
            Value::String(text) => Self::Text(text.clone()),
            Value::Boolean(value) => Self::Bool(*value),
            _ => Self::Last,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Integer(_) | Self::Float(_) => 0,
            Self::Text(_) => 1,
            Self::Bool(_) => 2,
            Self::Last => 3,
        }
    }

    fn compare(&self, other: &Self, descending: bool) -> Ordering {
        let order = match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            (Self::Integer(a), Self::Float(b)) => compare_mixed(*a, *b),
            (Self::Float(a), Self::Integer(b)) => compare_mixed(*b, *a).reverse(),
            (Self::Text(a), Self::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (a, b) => return a.rank().cmp(&b.rank()),
        };
        if descending { order.reverse() } else { order }
    }
}

/// Exact, because an order that is not one (as rounding the integer to a double gives) makes
/// sorting fail.
fn compare_mixed(integer: i64, float: f64) -> Ordering {
    const TWO_63: f64 = 9_223_372_036_854_775_808.0;
    if float >= TWO_63 {
        return Ordering::Less;
    }
    if float < -TWO_63 {
        return Ordering::Greater;
    }
    let whole = float.trunc();
    integer
        .cmp(&(whole as i64))
        .then_with(|| 0.0_f64.partial_cmp(&(float - whole)).unwrap_or(Ordering::Equal))
}

/// What may be sorted together.
#[derive(Clone, Copy)]
enum Sorting {
    /// The keys of one table: numbers come before text, text before booleans.
    AnyKinds,
    /// The values of the plan: all of one kind.
    OneKind,
}

/// The first value that has a kind, and its place.
type FirstSeen = Option<(&'static str, i64)>;

/// `sorted_order(keys, n, descending, name)` → the positions 1..n in sorted order. With `name`, that of the
/// function that sorts, the keys must be of one kind.
pub(crate) static SORTED_ORDER: LibFunction = LibFunction { name: "sorted_order", run: sorted_order };

fn sorted_order<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let keys = call.table(0, "keys")?;
    let count = call.size(1, "n")?;
    let descending = matches!(call.arg(2), Value::Boolean(true));
    let sorting = if call.is_absent(3) { Sorting::AnyKinds } else { Sorting::OneKind };
    let mut first: FirstSeen = None;
    let levels = u64::from(usize::BITS - count.leading_zeros());
    call.charge((count as u64).saturating_mul(levels))?;
    let mut order = Vec::new();
    for index in 1..=i64::try_from(count).unwrap_or(i64::MAX) {
        let value = keys.item(index)?;
        if matches!(sorting, Sorting::OneKind) {
            require_one_kind(call, &value, index, &mut first)?;
        }
        let key = Key::of(&value);
        if let Key::Text(text) = &key {
            call.charge(text.as_bytes().len() as u64 / 4)?;
        }
        order.push((key, index));
    }
    order.sort_by(|(a, _), (b, _)| a.compare(b, descending));
    let list = call.host.table(count, 0)?;
    for (place, (_, index)) in (1..).zip(order) {
        list.set_item(place, Value::Integer(index))?;
    }
    Ok(Value::Table(list))
}

fn require_one_kind<'v>(call: &Call<'v>, value: &Value<'v>, place: i64, first: &mut FirstSeen) -> Result<()> {
    let kind = match value {
        Value::Nil | Value::Null => return Ok(()),
        Value::Integer(_) | Value::Number(_) | Value::String(_) | Value::Boolean(_) => call.describe(value),
        Value::Table(table) => {
            table.refuse_failure()?;
            return Err(cannot_sort(
                call,
                format_args!("item {place} is a table, which has no order; sort by a member"),
            ));
        }
        Value::Other(kind) => {
            return Err(cannot_sort(call, format_args!("item {place} is a {kind}, which has no order")));
        }
    };
    match *first {
        None => *first = Some((kind, place)),
        Some((first_kind, first_place)) if first_kind != kind => {
            return Err(cannot_sort(
                call,
                format_args!(
                    "item {first_place} is a {first_kind} and item {place} a {kind}, which have no order; \
                     make them one kind, as with tonumber or tostring"
                ),
            ));
        }
        Some(_) => {}
    }
    Ok(())
}

/// In the name of the function of the library that sorts.
fn cannot_sort(call: &Call<'_>, what: std::fmt::Arguments<'_>) -> LibError {
    let name = match call.arg(3) {
        Value::String(name) => name.to_string_lossy(),
        _ => String::new(),
    };
    LibError::Raise(Error::new(ErrorCode::PlanError, format!("{name}: {what}")))
}
