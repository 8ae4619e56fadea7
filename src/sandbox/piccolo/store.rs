//! Sets keys in a plan's tables.
//!
//! piccolo panics where a key needs a place in the hash part that does not exist yet: when its array part grows
//! for a key outside the array, and when a part grows that holds removed text keys. So a place is reserved
//! before each key is set, and a list that outgrows its array part gets a larger one.

use piccolo::table::{NextValue, RawTable};
use piccolo::{CallbackReturn, Context, Execution, Stack, Table, Value};

use super::cycles;
use super::fault::{self, Raised};
use super::host::Host;
use super::values::give;
use crate::vm::meter::Charge as _;

/// Keys moved for the price of an instruction, when a table is made anew.
const KEYS_PER_INSTRUCTION: u64 = 4;

/// A list up to this length grows by piccolo's own rule, which is safe while it has no holes.
const SHORT_LIST: i64 = 4;

/// Every so many keys, more than one place is reserved, so that a table whose keys come and go is not
/// cleared of removed keys for each of them.
const KEYS_PER_LARGER_ROOM: u64 = 64;
const LARGER_ROOM: usize = 16;

/// Sets a member without metamethods. All changes of a plan's tables pass here, except constructors and
/// globals by name.
///
/// # Errors
/// Where the key is nil or not a number, and the end of the run.
pub(super) fn store<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    table: Table<'gc>,
    key: Value<'gc>,
    mut value: Value<'gc>,
) -> Result<(), Raised<'gc>> {
    if value.is_nil() {
        table.set_value(&ctx, key, value)?;
        return Ok(());
    }
    if is_numbered(key) {
        number_of(host, ctx, key)?;
    }
    // A removed text key is compared by address: it must be set again as the same text, or it would hide the new one.
    let key = match key {
        Value::String(text) if table.get_value(key).is_nil() => Value::String(ctx.intern(text.as_bytes())),
        other => other,
    };
    if let (Value::String(name), Value::Table(next)) = (key, value)
        && name == b"__index"
    {
        value = cycles::link(host, ctx, table, next);
    }
    if let Some(place) = place_of(key) {
        if place <= SHORT_LIST && (1..place).all(|place| !table.get_value(Value::Integer(place)).is_nil()) {
            table.set_value(&ctx, key, value)?;
            return Ok(());
        }
        if is_outgrown(table, place) {
            grow(host, ctx, table, place)?;
        }
    }
    let room = room(host, ctx, table);
    let mut state = table.into_inner().borrow_mut(&ctx);
    state.raw_table.reserve_map(room);
    state.raw_table.set(key, value)?;
    Ok(())
}

/// Sets a member of a table of ours, or of one that is not the plan's yet.
///
/// # Errors
/// Where the key is nil or not a number.
pub(super) fn store_ours<'gc>(
    ctx: Context<'gc>,
    table: Table<'gc>,
    key: Value<'gc>,
    value: Value<'gc>,
) -> Result<(), Raised<'gc>> {
    let mut state = table.into_inner().borrow_mut(&ctx);
    state.raw_table.reserve_map(1);
    state.raw_table.set(key, value)?;
    Ok(())
}

/// Places to keep free. Globals that the source names are set by the engine itself, so all of them have one.
fn room<'gc>(host: &Host, ctx: Context<'gc>, table: Table<'gc>) -> usize {
    let set = host.keys.set.get().wrapping_add(1);
    host.keys.set.set(set);
    let room = if set.is_multiple_of(KEYS_PER_LARGER_ROOM) { LARGER_ROOM } else { 1 };
    if table == ctx.globals() { room + host.keys.globals.get() } else { room }
}

/// The place of a list that a key is.
fn place_of(key: Value<'_>) -> Option<i64> {
    let place = match key {
        Value::Integer(place) => place,
        Value::Number(float) if float.fract() == 0.0 && float.abs() < 1e15 => float as i64,
        _ => return None,
    };
    (place > 0).then_some(place)
}

/// Whether a list without holes has filled a power of two, and its array part is no larger than that.
fn is_outgrown(table: Table<'_>, place: i64) -> bool {
    let before = place - 1;
    let at = |place: i64| table.get_value(Value::Integer(place));
    u64::try_from(before).is_ok_and(u64::is_power_of_two)
        && at(place).is_nil()
        && !at(before).is_nil()
        && before.checked_mul(2).is_some_and(|last| {
            // A place inside the array part is known even where it is empty.
            matches!(table.next(Value::Integer(last)), NextValue::NotFound)
        })
        && (1..before).all(|place| !at(place).is_nil())
}

/// Rebuilds a list with an array part of twice the size.
fn grow<'gc>(host: &Host, ctx: Context<'gc>, table: Table<'gc>, place: i64) -> Result<(), Raised<'gc>> {
    let count = place - 1;
    let rest: Vec<(Value<'gc>, Value<'gc>)> = table
        .iter()
        .filter(|(key, _)| !matches!(key, Value::Integer(place) if (1..=count).contains(place)))
        .collect();
    let moved = (count as u64).saturating_add(rest.len() as u64);
    host.charge(moved / KEYS_PER_INSTRUCTION).map_err(fault::dead)?;
    let mut fresh = RawTable::new(&ctx);
    fresh.reserve_array(usize::try_from(count).unwrap_or(0).saturating_mul(2));
    for place in 1..=count {
        fresh.set(Value::Integer(place), table.get_value(Value::Integer(place)))?;
    }
    replace(host, ctx, table, fresh, rest)
}

/// Adds the keys outside the list, and replaces the table's content.
fn replace<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    table: Table<'gc>,
    mut fresh: RawTable<'gc>,
    rest: Vec<(Value<'gc>, Value<'gc>)>,
) -> Result<(), Raised<'gc>> {
    if !rest.is_empty() {
        fresh.reserve_map(rest.len() + room(host, ctx, table));
        for (key, value) in rest {
            fresh.set(key, value)?;
        }
    }
    table.into_inner().borrow_mut(&ctx).raw_table = fresh;
    Ok(())
}

fn is_numbered(key: Value<'_>) -> bool {
    matches!(key, Value::Table(_) | Value::Function(_) | Value::Thread(_) | Value::UserData(_))
}

/// The number of a key that has no order of its own, given out when it is first a key.
pub(super) fn number_of<'gc>(host: &Host, ctx: Context<'gc>, key: Value<'gc>) -> Result<i64, Raised<'gc>> {
    let numbers = ctx.fetch(host.keys.numbers.get_or_init(|| ctx.stash(Table::new(&ctx))));
    if let Value::Integer(number) = numbers.get_value(key) {
        return Ok(number);
    }
    let Value::Integer(last) = numbers.get_value(Value::Boolean(true)) else {
        numbers.set_value(&ctx, Value::Boolean(true), Value::Integer(1))?;
        numbers.set_value(&ctx, key, Value::Integer(1))?;
        return Ok(1);
    };
    numbers.set_value(&ctx, Value::Boolean(true), Value::Integer(last + 1))?;
    numbers.set_value(&ctx, key, Value::Integer(last + 1))?;
    Ok(last + 1)
}

/// `build(shape, …)`: a table from the members that follow. The shape has a letter for each:
/// `i` an item, `f` a key and its value.
pub(super) fn build<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: Stack<'gc, '_>,
) -> Result<CallbackReturn<'gc>, Raised<'gc>> {
    let Value::String(shape) = stack.get(0) else { return give(stack, Value::Nil) };
    let table = Table::new(&ctx);
    // Lua sets the items behind the members with keys, whichever come first.
    let (mut next, mut items) = (1, Vec::new());
    for letter in shape.as_bytes() {
        if *letter == b'f' {
            let (key, value) = (stack.get(next), stack.get(next + 1));
            if let Err(message) = check_key(key) {
                return Err(fault::raise_text(host, ctx, exec, message));
            }
            store(host, ctx, table, key, value)?;
            next += 2;
        } else {
            items.push(stack.get(next));
            next += 1;
        }
    }
    set_items(host, ctx, table, 0, &items)?;
    give(stack, Value::Table(table))
}

/// `more(table, count, …)`: the table with more items behind the first `count`.
pub(super) fn more<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    stack: Stack<'gc, '_>,
) -> Result<CallbackReturn<'gc>, Raised<'gc>> {
    let (Value::Table(table), Value::Integer(count)) = (stack.get(0), stack.get(1)) else {
        return give(stack, Value::Nil);
    };
    let items: Vec<Value<'gc>> = (2..stack.len()).map(|given| stack.get(given)).collect();
    set_items(host, ctx, table, count, &items)?;
    give(stack, Value::Table(table))
}

/// Sets items behind the first `count` of a new table, all in its array part: there a list with holes has the
/// length that it has in Lua.
fn set_items<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    table: Table<'gc>,
    count: i64,
    items: &[Value<'gc>],
) -> Result<(), Raised<'gc>> {
    let total = count.saturating_add(i64::try_from(items.len()).unwrap_or(i64::MAX));
    host.charge(total.unsigned_abs() / KEYS_PER_INSTRUCTION).map_err(fault::dead)?;
    if total == 0 {
        return Ok(());
    }
    let rest: Vec<(Value<'gc>, Value<'gc>)> = table
        .iter()
        .filter(|(key, _)| !matches!(key, Value::Integer(place) if (1..=total).contains(place)))
        .collect();
    let mut fresh = RawTable::new(&ctx);
    fresh.reserve_array(usize::try_from(total).unwrap_or(0));
    // The first key of all gives the array part its size.
    fresh.set(Value::Integer(1), Value::Boolean(true))?;
    for place in 1..=count {
        fresh.set(Value::Integer(place), table.get_value(Value::Integer(place)))?;
    }
    for (place, item) in (count + 1..).zip(items) {
        fresh.set(Value::Integer(place), *item)?;
    }
    replace(host, ctx, table, fresh, rest)
}

/// Lua's message for an invalid key.
pub(super) fn check_key(key: Value<'_>) -> Result<(), &'static str> {
    match key {
        Value::Nil => Err("table index is nil"),
        Value::Number(key) if key.is_nan() => Err("table index is NaN"),
        _ => Ok(()),
    }
}
