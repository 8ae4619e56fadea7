//! Functions of ours as values of the VM, and their arguments.

use std::rc::Rc;

use piccolo::{Callback, CallbackReturn, Context, Execution, Stack, Table, Value};

use super::fault::{self, Raised};
use super::host::Host;

/// How a function of ours ends.
pub(super) type CallbackResult<'gc> = Result<CallbackReturn<'gc>, Raised<'gc>>;

/// A function of ours, on the stack of its call.
pub(super) type Basic =
    for<'gc> fn(&Host, Context<'gc>, &Execution<'gc, '_>, Stack<'gc, '_>) -> CallbackResult<'gc>;

/// A function of ours as a value of the VM.
pub(super) fn function<'gc>(ctx: Context<'gc>, host: &Rc<Host>, run: Basic) -> Callback<'gc> {
    let host = host.clone();
    Callback::from_fn(&ctx, move |ctx, exec, stack| run(&host, ctx, &exec, stack))
}

/// The message for an argument of the wrong type: `table expected, got nil`.
pub(super) fn wanted(expected: &str, stack: &Stack<'_, '_>, place: usize) -> String {
    let got = if place < stack.len() { stack.get(place).type_name() } else { "no value" };
    format!("{expected} expected, got {got}")
}

/// The argument at `place`, counted from 0, as a table.
pub(super) fn table_argument<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: &Stack<'gc, '_>,
    place: usize,
    name: &str,
) -> Result<Table<'gc>, Raised<'gc>> {
    match stack.get(place) {
        Value::Table(table) => Ok(table),
        _ => Err(fault::bad_argument(host, ctx, exec, place + 1, name, &wanted("table", stack, place))),
    }
}

/// Refuses a call that left out one of its first `count` arguments.
pub(super) fn present<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: &Stack<'gc, '_>,
    count: usize,
    name: &str,
) -> Result<(), Raised<'gc>> {
    if stack.len() < count {
        return Err(fault::bad_argument(host, ctx, exec, stack.len() + 1, name, "value expected"));
    }
    Ok(())
}
