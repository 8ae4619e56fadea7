//! Tables that give one another as `__index`.
//!
//! Lua gives up after two thousand of them, with an error that a plan may catch; piccolo goes round until the
//! run is over. So where the last link of such a ring is set, a function that raises Lua's error takes its
//! place: it looks once at each table of the ring.

use std::rc::Rc;

use piccolo::{Callback, CallbackReturn, Context, Table, Value};

use super::fault::{self, Raised};
use super::host::Host;
use super::values::{give, text};

/// How many tables Lua asks for a member, one after the other.
pub(super) const LINKS_MAX: usize = 2000;

/// Whether `next` as the `__index` of `metatable` makes a ring.
fn closes<'gc>(ctx: Context<'gc>, metatable: Table<'gc>, next: Table<'gc>) -> bool {
    let mut table = next;
    for _ in 0..LINKS_MAX {
        match table.metatable() {
            None => return false,
            Some(own) if own == metatable => return true,
            Some(own) => match own.get(ctx, "__index") {
                Value::Table(next) => table = next,
                _ => return false,
            },
        }
    }
    false
}

/// Lets the links raise with the plan's line.
pub(super) fn install(host: &Rc<Host>) {
    let _ = host.keys.host.set(Rc::downgrade(host));
}

/// What is set in place of `next` as the `__index` of `metatable`: a function that goes once round the ring.
pub(super) fn link<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    metatable: Table<'gc>,
    next: Table<'gc>,
) -> Value<'gc> {
    if !closes(ctx, metatable, next) {
        return Value::Table(next);
    }
    let of = host.keys.host.get().cloned().unwrap_or_default();
    let ring = (metatable, next);
    Callback::from_fn_with(&ctx, ring, move |(metatable, next), ctx, exec, mut stack| {
        let (key, mut table) = (stack.get(1), *next);
        for _ in 0..LINKS_MAX {
            let value = table.get_value(key);
            if !value.is_nil() {
                return give(stack, value);
            }
            let Some(own) = table.metatable() else { return give(stack, Value::Nil) };
            match own.get(ctx, "__index") {
                Value::Table(next) => table = next,
                Value::Nil => return give(stack, Value::Nil),
                Value::Function(function) if own != *metatable => {
                    stack.clear();
                    stack.extend([Value::Table(table), key]);
                    return Ok(CallbackReturn::Call { function, then: None });
                }
                _ => break,
            }
        }
        let message = "'__index' chain too long; possible loop";
        Err(match of.upgrade() {
            Some(host) => fault::raise_text(&host, ctx, &exec, message),
            None => Raised::from(text(ctx, message)),
        })
    })
    .into()
}
