//! `pcall` and `xpcall` under the prelude's, which are those that plans see.

use gc_arena::Collect;
use piccolo::{
    BoxSequence, Callback, CallbackReturn, Context, Execution, Function, Sequence, SequencePoll, Stack,
    Value, meta_ops,
};

use super::fault::{self, Raised, RaisedKind};
use super::values::text;
use crate::vm::meter::Dead;

/// The raised error as the value for a plan's handler; the end of the run passes through.
pub(super) fn caught<'gc>(ctx: Context<'gc>, error: &Raised<'gc>) -> Result<Value<'gc>, Raised<'gc>> {
    match fault::kind(error) {
        RaisedKind::Dead => Err(fault::dead(Dead)),
        _ => Ok(error.to_value(ctx)),
    }
}

/// `pcall(f, …)`
pub(super) fn pcall<'gc>(ctx: Context<'gc>) -> Value<'gc> {
    Callback::from_fn(&ctx, |ctx, _, mut stack| {
        if stack.is_empty() {
            return Err(Raised::from(text(ctx, "bad argument #1 to 'pcall' (value expected)")));
        }
        let called = stack.get(0);
        stack.pop_front();
        start(ctx, stack, called, Protected { handler: None, is_handled: false })
    })
    .into()
}

/// `xpcall(f, handler, …)`; the handler runs after unwinding.
pub(super) fn xpcall<'gc>(ctx: Context<'gc>) -> Value<'gc> {
    Callback::from_fn(&ctx, |ctx, _, mut stack| {
        let (called, handler) = (stack.get(0), stack.get(1));
        let Value::Function(handler) = handler else {
            return Err(Raised::from(text(ctx, "bad argument #2 to 'xpcall' (function expected)")));
        };
        stack.drain(..2);
        start(ctx, stack, called, Protected { handler: Some(handler), is_handled: false })
    })
    .into()
}

fn start<'gc>(
    ctx: Context<'gc>,
    mut stack: Stack<'gc, '_>,
    called: Value<'gc>,
    protected: Protected<'gc>,
) -> Result<CallbackReturn<'gc>, Raised<'gc>> {
    match meta_ops::call(ctx, called) {
        Ok(function) => Ok(CallbackReturn::Call { function, then: Some(BoxSequence::new(&ctx, protected)) }),
        Err(_) => {
            let message = format!("attempt to call a {} value", called.type_name());
            stack.clear();
            stack.extend([Value::Boolean(false), text(ctx, message)]);
            Ok(CallbackReturn::Return)
        }
    }
}

/// A protected call under way.
#[derive(Collect)]
#[collect(no_drop)]
struct Protected<'gc> {
    handler: Option<Function<'gc>>,
    is_handled: bool,
}

impl<'gc> Sequence<'gc> for Protected<'gc> {
    fn poll(
        &mut self,
        _: Context<'gc>,
        _: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Raised<'gc>> {
        stack.push_front(Value::Boolean(!self.is_handled));
        Ok(SequencePoll::Return)
    }

    fn error(
        &mut self,
        ctx: Context<'gc>,
        _: Execution<'gc, '_>,
        error: Raised<'gc>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Raised<'gc>> {
        let reason = caught(ctx, &error)?;
        stack.clear();
        if let Some(function) = self.handler.take() {
            self.is_handled = true;
            stack.push_back(reason);
            return Ok(SequencePoll::Call { function, is_tail: false });
        }
        stack.extend([Value::Boolean(false), reason]);
        Ok(SequencePoll::Return)
    }
}
