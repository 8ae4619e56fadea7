//! The one order of values: what `list.sort_by`, `list.keys` and the statistics sort by.
//!
//! Numbers by value, then text by its bytes, then false and true; whatever cannot be compared
//! (nil, null, NaN, tables) comes last, in both directions. Equal values keep their order.

use std::cmp::Ordering;

use mlua::{Function, Lua, Table, Value};

use crate::sandbox::support::Support;

enum Key {
    Integer(i64),
    Float(f64),
    Text(Vec<u8>),
    Bool(bool),
    Last,
}

impl Key {
    fn of(value: &Value) -> Self {
        match value {
            Value::Integer(number) => Self::Integer(*number),
            Value::Number(number) if !number.is_nan() => Self::Float(*number),
            Value::String(text) => Self::Text(text.as_bytes().to_vec()),
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
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
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
pub(super) fn function(lua: &Lua, support: &Support) -> mlua::Result<Function> {
    let support = support.clone();
    lua.create_function(move |lua, (keys, count, descending): (Table, usize, bool)| {
        let levels = u64::from(usize::BITS - count.leading_zeros());
        support.charge((count as u64).saturating_mul(levels))?;
        let mut order = Vec::new();
        for index in 1..=count {
            let key = Key::of(&keys.raw_get::<Value>(index)?);
            if let Key::Text(text) = &key {
                support.charge(text.len() as u64 / 4)?;
            }
            order.push((key, index));
        }
        order.sort_by(|(a, _), (b, _)| a.compare(b, descending));
        lua.create_sequence_from(order.into_iter().map(|(_, index)| index))
    })
}
