//! Method calls, and assignments to members with their metamethods.

use std::rc::Rc;

use gc_arena::Collect;
use piccolo::meta_ops::{self, MetaResult};
use piccolo::{
    BoxSequence, Callback, CallbackReturn, Context, Execution, Sequence, SequencePoll, Stack, Value,
};

use super::cycles::LINKS_MAX;
use super::fault::{self, Raised};
use super::host::Host;
use super::store::{build, check_key, more, store};
use super::values::metamethod;

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
        "build" => Callback::from_fn(&ctx, move |ctx, exec, stack| build(&host, ctx, &exec, stack)),
        "more" => Callback::from_fn(&ctx, move |ctx, _, stack| more(&host, ctx, stack)),
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
    let (mut object, key, value) = (stack.get(0), stack.get(1), stack.get(2));
    stack.clear();
    for _ in 0..LINKS_MAX {
        let Value::Table(table) = object else {
            let message = format!("attempt to index a {} value", object.type_name());
            return Err(fault::raise_text(host, ctx, exec, &message));
        };
        let setter = match table.get_value(key) {
            Value::Nil => metamethod(ctx, object, "__newindex"),
            _ => Value::Nil,
        };
        match setter {
            Value::Nil => {
                if let Err(message) = check_key(key) {
                    return Err(fault::raise_text(host, ctx, exec, message));
                }
                store(host, ctx, table, key, value)?;
                return Ok(CallbackReturn::Return);
            }
            Value::Function(function) => {
                host.note_line(exec);
                stack.extend([object, key, value]);
                return Ok(CallbackReturn::Call { function, then: None });
            }
            next => object = next,
        }
    }
    Err(fault::raise_text(host, ctx, exec, "'__newindex' chain too long; possible loop"))
}
