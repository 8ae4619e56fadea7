//! Helpers for values of piccolo.

use gc_arena::Collect;
use piccolo::{
    BoxSequence, CallbackReturn, Context, Execution, Function, Sequence, SequencePoll, Stack, Table, Value,
    meta_ops,
};

use super::fault::Raised;
use crate::lua_std::Arg;

/// What the plan sees as `null`.
pub(super) struct Null;

/// Whether a value is the plan's `null`.
pub(super) fn is_null(value: Value<'_>) -> bool {
    matches!(value, Value::UserData(data) if data.is_static::<Null>())
}

/// A value as natives see it.
pub(super) fn to_arg(value: Value<'_>) -> Arg<'_> {
    match value {
        Value::Nil => Arg::Nil,
        Value::Boolean(value) => Arg::Boolean(value),
        Value::Integer(value) => Arg::Integer(value),
        Value::Number(value) => Arg::Number(value),
        Value::String(text) => Arg::Text(text.as_bytes()),
        other => Arg::Other(other.type_name()),
    }
}

/// A string of the VM.
pub(super) fn text<'gc>(ctx: Context<'gc>, bytes: impl AsRef<[u8]>) -> Value<'gc> {
    Value::String(piccolo::String::from_slice(&ctx, bytes))
}

/// Text of a value that is text.
pub(super) fn lossy(value: Value<'_>) -> String {
    match value {
        Value::String(text) => text.to_str_lossy().into_owned(),
        _ => String::new(),
    }
}

/// The metamethod of a value for `event`: nil where there is none.
pub(super) fn metamethod<'gc>(ctx: Context<'gc>, value: Value<'gc>, event: &'static str) -> Value<'gc> {
    match value {
        Value::Table(table) => table.metatable().map_or(Value::Nil, |metatable| metatable.get(ctx, event)),
        _ => Value::Nil,
    }
}

/// The metamethod of the left operand for `event`, or else that of the right.
pub(super) fn binary_metamethod<'gc>(
    ctx: Context<'gc>,
    left: Value<'gc>,
    right: Value<'gc>,
    event: &'static str,
) -> Value<'gc> {
    let method = metamethod(ctx, left, event);
    if method.is_nil() { metamethod(ctx, right, event) } else { method }
}

/// The same value: neither conversion nor `__eq`.
pub(super) fn raw_equal<'gc>(left: Value<'gc>, right: Value<'gc>) -> bool {
    match (left, right) {
        (Value::Table(left), Value::Table(right)) => left == right,
        (Value::UserData(left), Value::UserData(right)) => left == right,
        (Value::Function(left), Value::Function(right)) => left == right,
        (Value::Thread(left), Value::Thread(right)) => left == right,
        (Value::String(left), Value::String(right)) => left == right,
        (Value::Nil, Value::Nil) => true,
        (Value::Boolean(left), Value::Boolean(right)) => left == right,
        _ => super::numbers::equal(left, right),
    }
}

/// The address of a table, to tell tables apart. Never shown to plans.
pub(super) fn address(table: Table<'_>) -> usize {
    gc_arena::Gc::as_ptr(table.into_inner()) as usize
}

/// Which results of a metamethod are used.
#[derive(Debug, Clone, Copy, Collect)]
#[collect(require_static)]
pub(super) enum Take {
    /// The first.
    First,
    /// Whether the first is true.
    Truth,
}

impl<'gc> Sequence<'gc> for Take {
    fn poll(
        &mut self,
        _: Context<'gc>,
        _: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Raised<'gc>> {
        let first = stack.get(0);
        stack.clear();
        stack.push_back(match self {
            Self::First => first,
            Self::Truth => Value::Boolean(first.to_bool()),
        });
        Ok(SequencePoll::Return)
    }
}

/// Calls a metamethod and returns the results to use.
pub(super) fn call_metamethod<'gc>(
    ctx: Context<'gc>,
    mut stack: Stack<'gc, '_>,
    method: Value<'gc>,
    arguments: &[Value<'gc>],
    take: Take,
) -> Result<CallbackReturn<'gc>, Raised<'gc>> {
    let function: Function<'gc> = meta_ops::call(ctx, method)?;
    stack.clear();
    stack.extend(arguments.iter().copied());
    Ok(CallbackReturn::Call { function, then: Some(BoxSequence::new(&ctx, take)) })
}

/// One value as the only result.
pub(super) fn give<'gc>(
    mut stack: Stack<'gc, '_>,
    value: Value<'gc>,
) -> Result<CallbackReturn<'gc>, Raised<'gc>> {
    stack.clear();
    stack.push_back(value);
    Ok(CallbackReturn::Return)
}
