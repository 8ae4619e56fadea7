//! The coroutine library under the prelude's.

use std::rc::Rc;

use gc_arena::Collect;
use piccolo::{
    BoxSequence, Callback, CallbackReturn, Context, Execution, Sequence, SequencePoll, Stack, Table, Thread,
    ThreadMode, Value,
};

use super::callbacks::wanted;
use super::fault::{self, Raised};
use super::host::Host;
use super::protect::caught;
use super::values::{give, text};

/// How many coroutines may resume one another, about as many as in Lua.
const NESTED_MAX: usize = 190;

/// Sets the global `coroutine`.
pub(super) fn install<'gc>(ctx: Context<'gc>, host: &Rc<Host>) -> Result<(), Raised<'gc>> {
    let library = Table::new(&ctx);
    let own = host.clone();
    library.set(
        ctx,
        "create",
        Callback::from_fn(&ctx, move |ctx, exec, stack| create(&own, ctx, &exec, stack)),
    )?;
    let own = host.clone();
    library.set(
        ctx,
        "resume",
        Callback::from_fn(&ctx, move |ctx, exec, stack| resume(&own, ctx, &exec, stack)),
    )?;
    let own = host.clone();
    library.set(
        ctx,
        "status",
        Callback::from_fn(&ctx, move |ctx, exec, stack| {
            let thread = thread(&own, ctx, &exec, &stack, "status")?;
            let status = status(&exec, thread);
            give(stack, text(ctx, status))
        }),
    )?;
    let own = host.clone();
    library.set(
        ctx,
        "close",
        Callback::from_fn(&ctx, move |ctx, exec, stack| {
            let thread = thread(&own, ctx, &exec, &stack, "close")?;
            match status(&exec, thread) {
                "suspended" | "dead" => {
                    thread.reset(&ctx)?;
                    give(stack, Value::Boolean(true))
                }
                other => {
                    let message = format!("cannot close a {other} coroutine");
                    Err(fault::raise_text(&own, ctx, &exec, &message))
                }
            }
        }),
    )?;
    library.set(
        ctx,
        "yield",
        Callback::from_fn(&ctx, |_, _, _| Ok(CallbackReturn::Yield { to_thread: None, then: None })),
    )?;
    library.set(
        ctx,
        "running",
        Callback::from_fn(&ctx, |_, exec, mut stack| {
            let current = exec.current_thread();
            stack.clear();
            stack.extend([Value::Thread(current.thread), Value::Boolean(current.is_main)]);
            Ok(CallbackReturn::Return)
        }),
    )?;
    // On this engine every caller can yield.
    let of = host.clone();
    library.set(
        ctx,
        "isyieldable",
        Callback::from_fn(&ctx, move |ctx, exec, stack| {
            if !stack.is_empty() {
                thread(&of, ctx, &exec, &stack, "isyieldable")?;
            }
            give(stack, Value::Boolean(true))
        }),
    )?;
    ctx.set_global("coroutine", library)?;
    Ok(())
}

fn thread<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: &Stack<'gc, '_>,
    name: &str,
) -> Result<Thread<'gc>, Raised<'gc>> {
    match stack.get(0) {
        Value::Thread(thread) => Ok(thread),
        _ => Err(fault::bad_argument(host, ctx, exec, 1, name, "coroutine expected")),
    }
}

fn status(exec: &Execution<'_, '_>, thread: Thread<'_>) -> &'static str {
    if std::ptr::addr_eq(
        gc_arena::Gc::as_ptr(exec.current_thread().thread.into_inner()),
        gc_arena::Gc::as_ptr(thread.into_inner()),
    ) {
        return "running";
    }
    match thread.mode() {
        ThreadMode::Suspended => "suspended",
        ThreadMode::Stopped | ThreadMode::Result => "dead",
        ThreadMode::Normal | ThreadMode::Waiting | ThreadMode::Running => "normal",
    }
}

fn create<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: Stack<'gc, '_>,
) -> Result<CallbackReturn<'gc>, Raised<'gc>> {
    let Value::Function(function) = stack.get(0) else {
        return Err(fault::bad_argument(host, ctx, exec, 1, "create", &wanted("function", &stack, 0)));
    };
    let thread = Thread::new(ctx);
    thread.start_suspended(&ctx, function)?;
    give(stack, Value::Thread(thread))
}

fn resume<'gc>(
    host: &Rc<Host>,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    mut stack: Stack<'gc, '_>,
) -> Result<CallbackReturn<'gc>, Raised<'gc>> {
    let thread = thread(host, ctx, exec, &stack, "resume")?;
    let status = status(exec, thread);
    if status != "suspended" {
        let which = if status == "dead" { "dead" } else { "non-suspended" };
        stack.clear();
        stack.extend([Value::Boolean(false), text(ctx, format!("cannot resume {which} coroutine"))]);
        return Ok(CallbackReturn::Return);
    }
    if host.active.borrow().len() >= NESTED_MAX {
        stack.clear();
        stack.extend([Value::Boolean(false), text(ctx, "C stack overflow")]);
        return Ok(CallbackReturn::Return);
    }
    stack.pop_front();
    host.active.borrow_mut().push(ctx.stash(thread));
    Ok(CallbackReturn::Resume { thread, then: Some(BoxSequence::new(&ctx, Resumed(host.clone()))) })
}

/// A coroutine that another waits for.
#[derive(Collect)]
#[collect(require_static)]
struct Resumed(Rc<Host>);

impl<'gc> Sequence<'gc> for Resumed {
    fn poll(
        &mut self,
        _: Context<'gc>,
        _: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Raised<'gc>> {
        self.0.active.borrow_mut().pop();
        stack.push_front(Value::Boolean(true));
        Ok(SequencePoll::Return)
    }

    fn error(
        &mut self,
        ctx: Context<'gc>,
        _: Execution<'gc, '_>,
        error: Raised<'gc>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Raised<'gc>> {
        self.0.active.borrow_mut().pop();
        let reason = caught(ctx, &error)?;
        stack.clear();
        stack.extend([Value::Boolean(false), reason]);
        Ok(SequencePoll::Return)
    }
}
