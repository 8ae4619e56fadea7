//! The keys of a table in a deterministic order, at a deterministic price.

use std::cmp::Ordering;
use std::rc::Rc;

use piccolo::{CallbackReturn, Context, Execution, Stack, Table, Value};

use super::callbacks::table_argument;
use super::fault::{self, Raised};
use super::host::Host;
use super::store::number_of;
use crate::vm::meter::Charge as _;

/// `ordered_keys(table)`: the keys as a list, and how many. For a table from outside its known keys
/// come first, in their order; then integers, floats, strings, `false` and `true`; then the rest in
/// the order in which they first became keys.
pub(super) fn ordered_keys<'gc>(
    host: &Rc<Host>,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    mut stack: Stack<'gc, '_>,
) -> Result<CallbackReturn<'gc>, Raised<'gc>> {
    let table = table_argument(host, ctx, exec, &stack, 0, "for iterator")?;
    let mut keys: Vec<Value<'gc>> = table.iter().map(|(key, _)| key).collect();
    let count = keys.len() as u64;
    let levels = u64::from(u64::BITS - count.leading_zeros());
    host.charge(count.saturating_mul(levels)).map_err(fault::dead)?;
    let known = host.codec.known_keys(host, ctx, table);
    let mut ordered: Vec<Value<'gc>> = Vec::with_capacity(keys.len());
    if let Some(names) = known {
        let set = known_set(names);
        keys.retain(|key| !matches!(key, Value::String(name) if set.contains(name.as_bytes())));
        let names = (1..=names.length()).map(|place| names.get_value(Value::Integer(place)));
        ordered.extend(names.filter(|name| !table.get_value(*name).is_nil()));
    }
    let others = keys.extract_if(.., |key| rank(*key) == LAST_RANK).collect::<Vec<_>>();
    keys.sort_by(|left, right| compare(*left, *right));
    ordered.extend(keys);
    let mut numbered = Vec::with_capacity(others.len());
    for key in others {
        numbered.push((number_of(host, ctx, key)?, key));
    }
    numbered.sort_by_key(|(number, _)| *number);
    ordered.extend(numbered.into_iter().map(|(_, key)| key));
    let list = Table::new(&ctx);
    for (place, key) in (1_i64..).zip(&ordered) {
        list.set(ctx, place, *key)?;
    }
    stack.clear();
    stack.extend([Value::Table(list), Value::Integer(ordered.len() as i64)]);
    Ok(CallbackReturn::Return)
}

fn known_set(names: Table<'_>) -> std::collections::HashSet<&[u8]> {
    (1..=names.length())
        .filter_map(|place| match names.get_value(Value::Integer(place)) {
            Value::String(name) => Some(name.as_bytes()),
            _ => None,
        })
        .collect()
}

/// Tables, functions, coroutines.
const LAST_RANK: u8 = 5;

fn rank(key: Value<'_>) -> u8 {
    match key {
        Value::Integer(_) => 0,
        Value::Number(_) => 1,
        Value::String(_) => 2,
        Value::Boolean(false) => 3,
        Value::Boolean(true) => 4,
        _ => LAST_RANK,
    }
}

fn compare<'gc>(left: Value<'gc>, right: Value<'gc>) -> Ordering {
    match (left, right) {
        (Value::Integer(left), Value::Integer(right)) => left.cmp(&right),
        (Value::Number(left), Value::Number(right)) => left.total_cmp(&right),
        (Value::String(left), Value::String(right)) => left.as_bytes().cmp(right.as_bytes()),
        (left, right) => rank(left).cmp(&rank(right)),
    }
}
