//! The base of the prelude's table library: raw access, without metamethods.
//!
//! The prelude has checked the arguments of the natives.

use std::rc::Rc;

use piccolo::{CallbackReturn, Context, Execution, Stack, Table, Value};

use super::callbacks::{CallbackResult, function, table_argument};
use super::fault::{self, Raised};
use super::host::Host;
use super::numbers::exact;
use super::store::store;
use super::values::{give, text, to_arg};
use crate::lua_std::sort::{Comparisons, sort};
use crate::lua_std::{Arg, concat};
use crate::vm::meter::Charge as _;

/// Items handled between two checks of the meter, and how many cost one instruction.
const ITEMS_PER_CHARGE: u64 = 1024;
const ITEMS_PER_INSTRUCTION: u64 = 4;

/// Sets the global `table`, and adds to the natives.
pub(super) fn install<'gc>(
    ctx: Context<'gc>,
    host: &Rc<Host>,
    natives: Table<'gc>,
) -> Result<(), Raised<'gc>> {
    let library = Table::new(&ctx);
    library.set(ctx, "pack", function(ctx, host, pack))?;
    library.set(ctx, "unpack", function(ctx, host, unpack))?;
    // The prelude itself uses these two before it makes those that plans see.
    library.set(ctx, "concat", function(ctx, host, join))?;
    library.set(ctx, "sort", function(ctx, host, sort_items))?;
    ctx.set_global("table", library)?;
    natives.set(ctx, "table_sort", function(ctx, host, sort_items))?;
    natives.set(ctx, "table_concat", function(ctx, host, join))?;
    natives.set(ctx, "table_move", function(ctx, host, move_items))?;
    Ok(())
}

fn integer(stack: &Stack<'_, '_>, place: usize) -> i64 {
    match stack.get(place) {
        Value::Integer(integer) => integer,
        _ => 0,
    }
}

fn charge<'gc>(host: &Host, items: u64) -> Result<(), Raised<'gc>> {
    host.charge(items / ITEMS_PER_INSTRUCTION).map_err(fault::dead)
}

fn pack<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    _: &Execution<'gc, '_>,
    stack: Stack<'gc, '_>,
) -> CallbackResult<'gc> {
    charge(host, stack.len() as u64)?;
    let packed = Table::new(&ctx);
    for place in 0..stack.len() {
        store(host, ctx, packed, Value::Integer(place as i64 + 1), stack.get(place))?;
    }
    store(host, ctx, packed, text(ctx, "n"), Value::Integer(stack.len() as i64))?;
    give(stack, Value::Table(packed))
}

/// `unpack(list, first, last)`, with the bounds given and checked; without them, the whole list.
fn unpack<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    mut stack: Stack<'gc, '_>,
) -> CallbackResult<'gc> {
    let table = table_argument(host, ctx, exec, &stack, 0, "unpack")?;
    let first = if stack.get(1).is_nil() { 1 } else { integer(&stack, 1) };
    let last = if stack.get(2).is_nil() { table.length() } else { integer(&stack, 2) };
    stack.clear();
    if first <= last {
        charge(host, last.wrapping_sub(first) as u64)?;
        stack.extend((first..=last).map(|place| table.get_value(Value::Integer(place))));
    }
    Ok(CallbackReturn::Return)
}

/// `table_move(source, first, last, to, target)`
fn move_items<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    mut stack: Stack<'gc, '_>,
) -> CallbackResult<'gc> {
    let source = table_argument(host, ctx, exec, &stack, 0, "move")?;
    let target = table_argument(host, ctx, exec, &stack, 4, "move")?;
    let (first, last, to) = (integer(&stack, 1), integer(&stack, 2), integer(&stack, 3));
    let upward = to > last || to <= first || source != target;
    let count = (last.wrapping_sub(first) as u64).saturating_add(1);
    for done in 0..count {
        if done.is_multiple_of(ITEMS_PER_CHARGE) {
            charge(host, ITEMS_PER_CHARGE.min(count - done))?;
        }
        let step = if upward { done } else { count - 1 - done } as i64;
        let value = source.get_value(Value::Integer(first.wrapping_add(step)));
        store(host, ctx, target, Value::Integer(to.wrapping_add(step)), value)?;
    }
    stack.clear();
    Ok(CallbackReturn::Return)
}

/// `table_concat(list, separator, first, last)`
fn join<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: Stack<'gc, '_>,
) -> CallbackResult<'gc> {
    let table = table_argument(host, ctx, exec, &stack, 0, "concat")?;
    let mut separator = Vec::new();
    match (stack.get(1), exact(stack.get(1))) {
        (Value::String(text), _) => separator.extend_from_slice(text.as_bytes()),
        (_, Some(number)) => crate::lua_std::number::write_number(&mut separator, number),
        _ => {}
    }
    let first = if stack.get(2).is_nil() { 1 } else { integer(&stack, 2) };
    let last = if stack.get(3).is_nil() { table.length() } else { integer(&stack, 3) };
    let mut items: Vec<Arg<'gc>> = Vec::new();
    let mut place = first;
    while place <= last {
        if (items.len() as u64).is_multiple_of(ITEMS_PER_CHARGE) {
            charge(host, ITEMS_PER_CHARGE)?;
        }
        let item = to_arg(table.get_value(Value::Integer(place)));
        items.push(item);
        if place == last || !matches!(item, Arg::Text(_) | Arg::Integer(_) | Arg::Number(_)) {
            break;
        }
        place += 1;
    }
    let mut joined = Vec::new();
    match concat::join(&items, &separator, first, host, &mut joined) {
        Ok(()) => give(stack, text(ctx, joined)),
        Err(error) => Err(fault::of_native(host, ctx, exec, "concat", error)),
    }
}

/// `table_sort(list, count)`: sorts a list of numbers alone or of strings alone, and says whether
/// it was one.
fn sort_items<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: Stack<'gc, '_>,
) -> CallbackResult<'gc> {
    let table = table_argument(host, ctx, exec, &stack, 0, "sort")?;
    let count = if stack.get(1).is_nil() { table.length() } else { integer(&stack, 1) };
    charge(host, u64::try_from(count).unwrap_or(0).saturating_mul(2))?;
    let mut items: Vec<Value<'gc>> =
        (1..=count).map(|place| table.get_value(Value::Integer(place))).collect();
    let is_texts = items.iter().all(|item| matches!(item, Value::String(_)));
    if !is_texts && !items.iter().all(|item| exact(*item).is_some()) {
        return give(stack, Value::Boolean(false));
    }
    let mut comparisons = Comparisons::charged_to(host);
    let sorted = sort(&mut items, |left, right| match (left, right, exact(*left).zip(exact(*right))) {
        (Value::String(left), Value::String(right), _) => {
            comparisons.text_less(left.as_bytes(), right.as_bytes())
        }
        (.., Some((left, right))) => comparisons.number_less(left, right),
        _ => Ok(false),
    });
    sorted.and_then(|()| comparisons.settle()).map_err(fault::dead)?;
    for (place, item) in (1..).zip(items) {
        store(host, ctx, table, Value::Integer(place), item)?;
    }
    give(stack, Value::Boolean(true))
}
