//! `<`, `<=`, `>`, `>=`, `==`, with their metamethods, and the counters of numeric loops.

use std::cell::Cell;
use std::cmp::Ordering;
use std::rc::Rc;

use piccolo::{Callback, CallbackReturn, Context, Execution, Stack, Value};

use super::fault::{self, Raised};
use super::host::Host;
use super::numbers::{self, coerced, exact, float};
use super::values::{Take, binary_metamethod, call_metamethod, give, raw_equal};
use crate::lua_std::number::Number;
use crate::vm::meter::Charge as _;

/// The helper of that name, if it is one of these.
pub(super) fn helper<'gc>(ctx: Context<'gc>, host: &Rc<Host>, name: &str) -> Option<Value<'gc>> {
    let host = host.clone();
    let callback = match name {
        "lt" => {
            Callback::from_fn(&ctx, move |ctx, exec, stack| compare(&host, ctx, &exec, stack, false, false))
        }
        "le" => {
            Callback::from_fn(&ctx, move |ctx, exec, stack| compare(&host, ctx, &exec, stack, true, false))
        }
        "gt" => {
            Callback::from_fn(&ctx, move |ctx, exec, stack| compare(&host, ctx, &exec, stack, false, true))
        }
        "ge" => {
            Callback::from_fn(&ctx, move |ctx, exec, stack| compare(&host, ctx, &exec, stack, true, true))
        }
        "eq" => Callback::from_fn(&ctx, move |ctx, exec, stack| equal(&host, ctx, &exec, stack)),
        "range" => Callback::from_fn(&ctx, move |ctx, exec, stack| range(&host, ctx, &exec, stack)),
        _ => return None,
    };
    Some(callback.into())
}

fn compare<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: Stack<'gc, '_>,
    or_equal: bool,
    swapped: bool,
) -> Result<CallbackReturn<'gc>, Raised<'gc>> {
    let (mut left, mut right) = (stack.get(0), stack.get(1));
    if swapped {
        std::mem::swap(&mut left, &mut right);
    }
    let fits = |order: Option<Ordering>| match order {
        Some(Ordering::Less) => true,
        Some(Ordering::Equal) => or_equal,
        _ => false,
    };
    if let Some(order) = plain_order(host, left, right)? {
        return give(stack, Value::Boolean(fits(order)));
    }
    let event = if or_equal { "__le" } else { "__lt" };
    let method = binary_metamethod(ctx, left, right, event);
    if !method.is_nil() {
        host.note_line(exec);
        return call_metamethod(ctx, stack, method, &[left, right], Take::Truth);
    }
    Err(not_comparable(host, ctx, exec, left, right))
}

fn equal<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: Stack<'gc, '_>,
) -> Result<CallbackReturn<'gc>, Raised<'gc>> {
    let (left, right) = (stack.get(0), stack.get(1));
    let is_same = raw_equal(left, right);
    if !is_same && let (Value::Table(_), Value::Table(_)) = (left, right) {
        let method = binary_metamethod(ctx, left, right, "__eq");
        if !method.is_nil() {
            host.note_line(exec);
            return call_metamethod(ctx, stack, method, &[left, right], Take::Truth);
        }
    }
    give(stack, Value::Boolean(is_same))
}

/// The order of two numbers (none where one is not a number) or of two texts; nothing for other values.
fn plain_order<'gc>(
    host: &Host,
    left: Value<'gc>,
    right: Value<'gc>,
) -> Result<Option<Option<Ordering>>, Raised<'gc>> {
    if let (Value::String(left), Value::String(right)) = (left, right) {
        let bytes = left.as_bytes().len().min(right.as_bytes().len()) as u64;
        host.charge(bytes / crate::vm::meter::BYTES_PER_INSTRUCTION).map_err(fault::dead)?;
        return Ok(Some(Some(left.as_bytes().cmp(right.as_bytes()))));
    }
    Ok(match (exact(left), exact(right)) {
        (Some(left), Some(right)) => Some(numbers::compare(left, right)),
        _ => None,
    })
}

/// The order of two numbers or two texts.
///
/// # Errors
/// Lua's, where they are something else or a text and a number.
pub(super) fn ordered<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    left: Value<'gc>,
    right: Value<'gc>,
) -> Result<Option<Ordering>, Raised<'gc>> {
    plain_order(host, left, right)?.ok_or_else(|| not_comparable(host, ctx, exec, left, right))
}

fn not_comparable<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    left: Value<'gc>,
    right: Value<'gc>,
) -> Raised<'gc> {
    let (left, right) = (left.type_name(), right.type_name());
    let message = if left == right {
        format!("attempt to compare two {left} values")
    } else {
        format!("attempt to compare {left} with {right}")
    };
    fault::raise_text(host, ctx, exec, &message)
}

/// `range(from, to [, step])`: what walks a numeric loop.
fn range<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: Stack<'gc, '_>,
) -> Result<CallbackReturn<'gc>, Raised<'gc>> {
    let step = if stack.len() < 3 { Value::Integer(1) } else { stack.get(2) };
    let walk = match (stack.get(0), step) {
        (Value::Integer(from), Value::Integer(step)) => integer_walk(ctx, from, stack.get(1), step),
        (from, step) => float_walk(ctx, from, stack.get(1), step),
    };
    match walk {
        Ok(walk) => give(stack, walk),
        Err(message) => Err(fault::raise_text(host, ctx, exec, &message)),
    }
}

fn wanted(what: &str, value: Value<'_>) -> String {
    format!("bad 'for' {what} (number expected, got {})", value.type_name())
}

fn integer_walk<'gc>(
    ctx: Context<'gc>,
    from: i64,
    limit: Value<'gc>,
    step: i64,
) -> Result<Value<'gc>, String> {
    if step == 0 {
        return Err("'for' step is zero".to_owned());
    }
    let limit = coerced(limit).ok_or_else(|| wanted("limit", limit))?;
    let order = numbers::compare(Number::Integer(from), limit);
    let runs = match order {
        None => false,
        Some(Ordering::Equal) => true,
        Some(Ordering::Less) => step > 0,
        Some(Ordering::Greater) => step < 0,
    };
    // A limit beyond the integers equals the last of them.
    let last = match limit {
        Number::Integer(limit) => limit,
        Number::Float(limit) if step > 0 => limit.floor() as i64,
        Number::Float(limit) => limit.ceil() as i64,
    };
    let distance = if step > 0 { last.wrapping_sub(from) } else { from.wrapping_sub(last) } as u64;
    let left = Cell::new(if runs { Some(distance / step.unsigned_abs()) } else { None });
    let next = Cell::new(from);
    Ok(Callback::from_fn(&ctx, move |_, _, stack| {
        let Some(rounds) = left.get() else { return give(stack, Value::Nil) };
        left.set(rounds.checked_sub(1));
        let value = next.get();
        next.set(value.wrapping_add(step));
        give(stack, Value::Integer(value))
    })
    .into())
}

fn float_walk<'gc>(
    ctx: Context<'gc>,
    from: Value<'gc>,
    limit: Value<'gc>,
    step: Value<'gc>,
) -> Result<Value<'gc>, String> {
    let limit = float(coerced(limit).ok_or_else(|| wanted("limit", limit))?);
    let step = float(coerced(step).ok_or_else(|| wanted("step", step))?);
    let from = float(coerced(from).ok_or_else(|| wanted("initial value", from))?);
    if step == 0.0 {
        return Err("'for' step is zero".to_owned());
    }
    let next = Cell::new(from);
    Ok(Callback::from_fn(&ctx, move |_, _, stack| {
        let value = next.get();
        let runs = if step > 0.0 { value <= limit } else { limit <= value };
        next.set(value + step);
        give(stack, if runs { Value::Number(value) } else { Value::Nil })
    })
    .into())
}
