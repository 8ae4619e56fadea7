//! `next`, `pairs` and `ipairs` under the prelude's.

use std::rc::Rc;

use gc_arena::Collect;
use piccolo::meta_ops::{self, MetaResult};
use piccolo::table::NextValue;
use piccolo::{
    BoxSequence, Callback, CallbackReturn, Context, Execution, Sequence, SequencePoll, Stack, Value,
};

use super::callbacks::{CallbackResult, function, present, table_argument, wanted};
use super::fault::{self, Raised};
use super::host::Host;
use super::values::{give, metamethod};

/// Sets the three globals.
pub(super) fn install<'gc>(ctx: Context<'gc>, host: &Rc<Host>) -> Result<(), Raised<'gc>> {
    let next = function(ctx, host, next);
    ctx.set_global("next", next)?;
    let own = host.clone();
    ctx.set_global(
        "pairs",
        Callback::from_fn_with(&ctx, next, move |next, ctx, exec, stack| {
            pairs(&own, ctx, &exec, stack, *next)
        }),
    )?;
    let step = function(ctx, host, ipairs_step);
    let own = host.clone();
    ctx.set_global(
        "ipairs",
        Callback::from_fn_with(&ctx, step, move |step, ctx, exec, mut stack| {
            present(&own, ctx, &exec, &stack, 1, "ipairs")?;
            let list = stack.get(0);
            stack.clear();
            stack.extend([(*step).into(), list, Value::Integer(0)]);
            Ok(CallbackReturn::Return)
        }),
    )?;
    Ok(())
}

fn next<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    mut stack: Stack<'gc, '_>,
) -> CallbackResult<'gc> {
    let table = table_argument(host, ctx, exec, &stack, 0, "next")?;
    // No table has such a key, and piccolo would look for the integer.
    let is_whole = matches!(stack.get(1), Value::Number(float) if float.fract() == 0.0);
    let next = if is_whole { NextValue::NotFound } else { table.next(stack.get(1)) };
    match next {
        NextValue::Found { key, value } => {
            stack.clear();
            stack.extend([key, value]);
            Ok(CallbackReturn::Return)
        }
        NextValue::Last => give(stack, Value::Nil),
        NextValue::NotFound => Err(fault::raise_text(host, ctx, exec, "invalid key to 'next'")),
    }
}

fn pairs<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    mut stack: Stack<'gc, '_>,
    next: Callback<'gc>,
) -> CallbackResult<'gc> {
    present(host, ctx, exec, &stack, 1, "pairs")?;
    let value = stack.get(0);
    let method = metamethod(ctx, value, "__pairs");
    stack.clear();
    if !method.is_nil() {
        stack.push_back(value);
        let function = meta_ops::call(ctx, method)?;
        return Ok(CallbackReturn::Call { function, then: Some(BoxSequence::new(&ctx, Three)) });
    }
    stack.extend([next.into(), value, Value::Nil]);
    Ok(CallbackReturn::Return)
}

/// Exactly three results.
#[derive(Collect)]
#[collect(require_static)]
struct Three;

impl<'gc> Sequence<'gc> for Three {
    fn poll(
        &mut self,
        _: Context<'gc>,
        _: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Raised<'gc>> {
        stack.resize(3);
        Ok(SequencePoll::Return)
    }
}

fn ipairs_step<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    mut stack: Stack<'gc, '_>,
) -> CallbackResult<'gc> {
    let place = match stack.get(1) {
        Value::Integer(place) => place.wrapping_add(1),
        _ => 1,
    };
    let list = stack.get(0);
    if !matches!(list, Value::Table(_)) {
        let message = wanted("table", &stack, 0);
        return Err(fault::bad_argument(host, ctx, exec, 1, "for iterator", &message));
    }
    let found = meta_ops::index(ctx, list, Value::Integer(place))?;
    stack.clear();
    match found {
        MetaResult::Value(Value::Nil) => stack.push_back(Value::Nil),
        MetaResult::Value(value) => stack.extend([Value::Integer(place), value]),
        MetaResult::Call(call) => {
            stack.extend(call.args);
            let then = Some(BoxSequence::new(&ctx, Item(place)));
            return Ok(CallbackReturn::Call { function: call.function, then });
        }
    }
    Ok(CallbackReturn::Return)
}

/// An item that `__index` gives.
#[derive(Collect)]
#[collect(require_static)]
struct Item(i64);

impl<'gc> Sequence<'gc> for Item {
    fn poll(
        &mut self,
        _: Context<'gc>,
        _: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Raised<'gc>> {
        let value = stack.get(0);
        stack.clear();
        if value.is_nil() {
            stack.push_back(Value::Nil);
        } else {
            stack.extend([Value::Integer(self.0), value]);
        }
        Ok(SequencePoll::Return)
    }
}
