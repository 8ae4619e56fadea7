//! The one order of values: what `list.sort_by`, `list.keys` and the statistics sort by.
//!
//! Numbers by value, then text by its bytes, then false and true; whatever cannot be compared
//! (nil, null, NaN, tables) comes last, in both directions. Equal values keep their order.

use std::cmp::Ordering;

use super::call::{Call, Native};
use super::value::{Result, Text, Value};

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

/// `sorted_order(keys, n, descending)` → the positions 1..n in sorted order.
pub(in crate::sandbox) static SORTED_ORDER: Native = Native { name: "sorted_order", run: sorted_order };

fn sorted_order<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let keys = call.table(0, "keys")?;
    let count = call.size(1, "n")?;
    let descending = matches!(call.arg(2), Value::Boolean(true));
    let levels = u64::from(usize::BITS - count.leading_zeros());
    call.charge((count as u64).saturating_mul(levels))?;
    let mut order = Vec::new();
    for index in 1..=i64::try_from(count).unwrap_or(i64::MAX) {
        let key = Key::of(&keys.item(index)?);
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
