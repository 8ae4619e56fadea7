//! `..`, over all its operands at once, with `__concat`.

use std::rc::Rc;

use gc_arena::Collect;
use piccolo::{
    BoxSequence, Callback, CallbackReturn, Context, Execution, Function, Sequence, SequencePoll, Stack,
    Value, meta_ops,
};

use super::fault::{self, Raised};
use super::host::Host;
use super::numbers::exact;
use super::values::binary_metamethod;
use crate::lua_std::number;
use crate::vm::meter::Charge as _;

/// The longest text of a number.
const NUMBER_BYTES: u64 = 32;

/// The helper `concat`.
pub(super) fn helper<'gc>(ctx: Context<'gc>, host: &Rc<Host>) -> Value<'gc> {
    let host = host.clone();
    Callback::from_fn(&ctx, move |ctx, exec, mut stack| join(&host, ctx, &exec, &mut stack)).into()
}

/// The result of joining.
enum Joined<'gc> {
    Whole(Value<'gc>),
    Meta(Value<'gc>, Value<'gc>, Value<'gc>),
}

fn is_text(value: Value<'_>) -> bool {
    matches!(value, Value::String(_) | Value::Integer(_) | Value::Number(_))
}

/// Joins from the right until one value is left or a metamethod is needed.
fn work<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    items: &mut Vec<Value<'gc>>,
) -> Result<Joined<'gc>, Raised<'gc>> {
    loop {
        let Some(right) = items.pop() else { return Ok(Joined::Whole(Value::Nil)) };
        let Some(left) = items.last().copied() else { return Ok(Joined::Whole(right)) };
        if is_text(left) && is_text(right) {
            items.push(right);
            let first = items.iter().rposition(|item| !is_text(*item)).map_or(0, |place| place + 1);
            let joined = join_texts(host, ctx, items.get(first..).unwrap_or_default())?;
            items.truncate(first);
            items.push(joined);
            continue;
        }
        let method = binary_metamethod(ctx, left, right, "__concat");
        if !method.is_nil() {
            items.pop();
            host.note_line(exec);
            return Ok(Joined::Meta(method, left, right));
        }
        let culprit = if is_text(left) { right } else { left };
        let message = format!("attempt to concatenate a {} value", culprit.type_name());
        return Err(fault::raise_text(host, ctx, exec, &message));
    }
}

fn join_texts<'gc>(host: &Host, ctx: Context<'gc>, items: &[Value<'gc>]) -> Result<Value<'gc>, Raised<'gc>> {
    let bytes = items.iter().map(|item| match item {
        Value::String(text) => text.as_bytes().len() as u64,
        _ => NUMBER_BYTES,
    });
    let most = bytes.fold(0_u64, u64::saturating_add);
    host.reserve(most).map_err(fault::dead)?;
    let mut joined = Vec::with_capacity(usize::try_from(most).unwrap_or(0));
    for item in items {
        match (item, exact(*item)) {
            (Value::String(text), _) => joined.extend_from_slice(text.as_bytes()),
            (_, Some(number)) => number::write_number(&mut joined, number),
            _ => {}
        }
    }
    Ok(super::values::text(ctx, joined))
}

fn join<'gc>(
    host: &Rc<Host>,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: &mut Stack<'gc, '_>,
) -> Result<CallbackReturn<'gc>, Raised<'gc>> {
    let mut items: Vec<Value<'gc>> = stack.drain(..).collect();
    match work(host, ctx, exec, &mut items)? {
        Joined::Whole(value) => {
            stack.push_back(value);
            Ok(CallbackReturn::Return)
        }
        Joined::Meta(method, left, right) => {
            let function: Function<'gc> = meta_ops::call(ctx, method)?;
            stack.extend([left, right]);
            let then = Joining { items, host: HostHandle(host.clone()) };
            Ok(CallbackReturn::Call { function, then: Some(BoxSequence::new(&ctx, then)) })
        }
    }
}

/// A host among values of the VM, of which it holds none.
#[derive(Collect)]
#[collect(require_static)]
struct HostHandle(Rc<Host>);

/// A chain of `..` that waits for a metamethod.
#[derive(Collect)]
#[collect(no_drop)]
struct Joining<'gc> {
    items: Vec<Value<'gc>>,
    host: HostHandle,
}

impl<'gc> Sequence<'gc> for Joining<'gc> {
    fn poll(
        &mut self,
        ctx: Context<'gc>,
        exec: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Raised<'gc>> {
        self.items.push(stack.get(0));
        stack.clear();
        match work(&self.host.0, ctx, &exec, &mut self.items)? {
            Joined::Whole(value) => {
                stack.push_back(value);
                Ok(SequencePoll::Return)
            }
            Joined::Meta(method, left, right) => {
                stack.extend([left, right]);
                Ok(SequencePoll::Call { function: meta_ops::call(ctx, method)?, is_tail: false })
            }
        }
    }
}
