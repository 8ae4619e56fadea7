//! Rings of tables that name one another as `__index`.
//!
//! Lua gives up after two thousand tables, with an error that a plan may catch; piccolo loops until the
//! run is over. So where the plan sets the last link of such a ring, a function that raises Lua's error
//! replaces it: it visits each table of the ring once.

use std::rc::Rc;

use piccolo::{Callback, CallbackReturn, Context, Table, Value};

use super::fault::{self, Raised};
use super::host::Host;
use super::values::{give, text};

/// How many `__index` tables Lua follows for a member.
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

/// The function that replaces `next` as the `__index` of `metatable`: it visits the ring once.
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
