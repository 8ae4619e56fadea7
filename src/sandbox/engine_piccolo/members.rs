//! Method calls and assignments to members.
//!
//! piccolo marks a removed text key as dead and panics when a table with dead keys grows. So a key
//! is removed by making the table's inside anew without it, which costs as much as the table is
//! large, and is charged.

use std::rc::Rc;

use gc_arena::Collect;
use piccolo::meta_ops::{self, MetaResult};
use piccolo::table::{NextValue, RawTable};
use piccolo::{
    BoxSequence, Callback, CallbackReturn, Context, Execution, Sequence, SequencePoll, Stack, Table, Value,
};

use super::fault::{self, Raised};
use super::host::Host;
use super::values::metamethod;
use crate::sandbox::native::Charge as _;

/// Keys moved for the price of an instruction.
const KEYS_PER_INSTRUCTION: u64 = 4;

/// The helper of that name, if it is one of these.
pub(super) fn helper<'gc>(ctx: Context<'gc>, host: &Rc<Host>, name: &str) -> Option<Value<'gc>> {
    let host = host.clone();
    let callback = match name {
        "method" => Callback::from_fn(&ctx, move |ctx, exec, stack| method(&host, ctx, &exec, stack)),
        "one" => Callback::from_fn(&ctx, |_, _, mut stack| {
            stack.resize(1);
            Ok(CallbackReturn::Return)
        }),
        "rest" => Callback::from_fn(&ctx, |_, _, mut stack| {
            // The number of values to leave out comes first.
            let left_out = match stack.get(0) {
                Value::Integer(count) => usize::try_from(count).unwrap_or(0),
                _ => 0,
            };
            let gone = left_out.saturating_add(1).min(stack.len());
            stack.drain(..gone);
            Ok(CallbackReturn::Return)
        }),
        "set" => Callback::from_fn(&ctx, move |ctx, exec, stack| assign(&host, ctx, &exec, stack)),
        _ => return None,
    };
    Some(callback.into())
}

/// `method(object, name, …)`: a string's methods are those of the string library.
fn method<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    mut stack: Stack<'gc, '_>,
) -> Result<CallbackReturn<'gc>, Raised<'gc>> {
    let (object, name) = (stack.get(0), stack.get(1));
    let found = match object {
        Value::String(_) => MetaResult::Value(host.string_library(ctx).get_value(name)),
        Value::Table(_) => meta_ops::index(ctx, object, name)?,
        other => {
            let message = format!("attempt to index a {} value", other.type_name());
            return Err(fault::raise_text(host, ctx, exec, &message));
        }
    };
    stack.drain(1..2);
    match found {
        MetaResult::Value(function) => match meta_ops::call(ctx, function) {
            Ok(function) => Ok(CallbackReturn::Call { function, then: None }),
            Err(_) => {
                let kind = function.type_name();
                let message = format!("attempt to call a {kind} value (method '{name}')");
                Err(fault::raise_text(host, ctx, exec, &message))
            }
        },
        MetaResult::Call(call) => {
            host.note_line(exec);
            let then = Found { arguments: stack.drain(..).collect() };
            stack.extend(call.args);
            Ok(CallbackReturn::Call { function: call.function, then: Some(BoxSequence::new(&ctx, then)) })
        }
    }
}

/// A method call that waits for `__index`.
#[derive(Collect)]
#[collect(no_drop)]
struct Found<'gc> {
    arguments: Vec<Value<'gc>>,
}

impl<'gc> Sequence<'gc> for Found<'gc> {
    fn poll(
        &mut self,
        ctx: Context<'gc>,
        _: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Raised<'gc>> {
        let function = meta_ops::call(ctx, stack.get(0))?;
        stack.clear();
        stack.extend(self.arguments.drain(..));
        Ok(SequencePoll::Call { function, is_tail: true })
    }
}

/// `set(table, key, value)`
fn assign<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    mut stack: Stack<'gc, '_>,
) -> Result<CallbackReturn<'gc>, Raised<'gc>> {
    let (object, key, value) = (stack.get(0), stack.get(1), stack.get(2));
    stack.clear();
    let Value::Table(table) = object else {
        let message = format!("attempt to index a {} value", object.type_name());
        return Err(fault::raise_text(host, ctx, exec, &message));
    };
    let is_new = table.get_value(key).is_nil();
    if is_new && !metamethod(ctx, object, "__newindex").is_nil() {
        host.note_line(exec);
        if let Some(call) = meta_ops::new_index(ctx, object, key, value)? {
            stack.extend(call.args);
            return Ok(CallbackReturn::Call { function: call.function, then: None });
        }
        return Ok(CallbackReturn::Return);
    }
    if let Err(message) = check_key(key) {
        return Err(fault::raise_text(host, ctx, exec, message));
    }
    set_raw(host, ctx, table, key, value)?;
    Ok(CallbackReturn::Return)
}

fn check_key(key: Value<'_>) -> Result<(), &'static str> {
    match key {
        Value::Nil => Err("index is nil"),
        Value::Number(key) if key.is_nan() => Err("index is NaN"),
        _ => Ok(()),
    }
}

/// Sets a member without metamethods. The one way to set what may be nil.
pub(super) fn set_raw<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    table: Table<'gc>,
    key: Value<'gc>,
    value: Value<'gc>,
) -> Result<(), Raised<'gc>> {
    let can_die = !matches!(key, Value::Integer(_) | Value::Number(_) | Value::Boolean(_) | Value::Nil);
    if value.is_nil() && can_die {
        if !table.get_value(key).is_nil() {
            remove(host, ctx, table, key)?;
        }
        return Ok(());
    }
    table.set_value(&ctx, key, value)?;
    Ok(())
}

fn remove<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    table: Table<'gc>,
    gone: Value<'gc>,
) -> Result<(), Raised<'gc>> {
    let mut kept = Vec::new();
    let mut key = Value::Nil;
    while let NextValue::Found { key: next, value } = table.next(key) {
        key = next;
        if !super::values::raw_equal(key, gone) {
            kept.push((key, value));
        }
    }
    host.charge(kept.len() as u64 / KEYS_PER_INSTRUCTION).map_err(fault::dead)?;
    let mut fresh = RawTable::new(&ctx);
    for (key, value) in kept {
        fresh.set(key, value)?;
    }
    table.into_inner().borrow_mut(&ctx).raw_table = fresh;
    Ok(())
}
