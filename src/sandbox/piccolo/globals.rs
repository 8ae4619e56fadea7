//! The basic functions under the prelude's.

use std::rc::Rc;

use gc_arena::Collect;
use piccolo::{BoxSequence, CallbackReturn, Context, Execution, Sequence, SequencePoll, Stack, Value};

use super::callbacks::{Basic, CallbackResult, function, present, table_argument, wanted};
use super::fault::{self, Raised};
use super::host::Host;
use super::numbers::{coerced, exact, integer};
use super::store::store;
use super::values::{Take, call_metamethod, give, metamethod, raw_equal, text};
use super::{iterate, protect};
use crate::lua_std::number;

const BASIC: [(&str, Basic); 11] = [
    ("type", type_of),
    ("tostring", tostring),
    ("select", select),
    ("error", error),
    ("assert", assert),
    ("rawget", rawget),
    ("rawset", rawset),
    ("rawlen", rawlen),
    ("rawequal", rawequal),
    ("getmetatable", getmetatable),
    ("setmetatable", setmetatable),
];

/// Sets the basic globals.
pub(super) fn install<'gc>(ctx: Context<'gc>, host: &Rc<Host>) -> Result<(), Raised<'gc>> {
    for (name, run) in BASIC {
        ctx.set_global(name, function(ctx, host, run))?;
    }
    ctx.set_global("_G", ctx.globals())?;
    ctx.set_global("_VERSION", "Lua 5.4")?;
    ctx.set_global("pcall", protect::pcall(ctx))?;
    ctx.set_global("xpcall", protect::xpcall(ctx))?;
    iterate::install(ctx, host)
}

fn type_of<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: Stack<'gc, '_>,
) -> CallbackResult<'gc> {
    present(host, ctx, exec, &stack, 1, "type")?;
    let name = ctx.intern_static(stack.get(0).type_name().as_bytes());
    give(stack, Value::String(name))
}

/// Where `tostring` of Lua shows an address, this shows none.
fn tostring<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: Stack<'gc, '_>,
) -> CallbackResult<'gc> {
    present(host, ctx, exec, &stack, 1, "tostring")?;
    let value = stack.get(0);
    let method = metamethod(ctx, value, "__tostring");
    if !method.is_nil() {
        let called = call_metamethod(ctx, stack, method, &[value], Take::First)?;
        return Ok(match called {
            CallbackReturn::Call { function, .. } => {
                CallbackReturn::Call { function, then: Some(BoxSequence::new(&ctx, Printed)) }
            }
            other => other,
        });
    }
    let printed = match value {
        Value::String(_) => value,
        Value::Nil => text(ctx, "nil"),
        Value::Boolean(value) => text(ctx, if value { "true" } else { "false" }),
        Value::Integer(_) | Value::Number(_) => number_text(ctx, value),
        other => {
            let named = metamethod(ctx, other, "__name");
            match named {
                Value::String(name) => text(ctx, [name.as_bytes(), b": 0x0"].concat()),
                _ => text(ctx, format!("{}: 0x0", other.type_name())),
            }
        }
    };
    give(stack, printed)
}

fn number_text<'gc>(ctx: Context<'gc>, value: Value<'gc>) -> Value<'gc> {
    let mut bytes = Vec::new();
    if let Some(number) = exact(value) {
        number::write_number(&mut bytes, number);
    }
    text(ctx, bytes)
}

/// What `__tostring` gives must be text.
#[derive(Collect)]
#[collect(require_static)]
struct Printed;

impl<'gc> Sequence<'gc> for Printed {
    fn poll(
        &mut self,
        ctx: Context<'gc>,
        _: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Raised<'gc>> {
        let printed = stack.get(0);
        stack.clear();
        match printed {
            Value::String(_) => stack.push_back(printed),
            Value::Integer(_) | Value::Number(_) => stack.push_back(number_text(ctx, printed)),
            _ => return Err(Raised::from(text(ctx, "'__tostring' must return a string"))),
        }
        Ok(SequencePoll::Return)
    }
}

fn select<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    mut stack: Stack<'gc, '_>,
) -> CallbackResult<'gc> {
    let count = stack.len().saturating_sub(1);
    let chosen = stack.get(0);
    if matches!(chosen, Value::String(sign) if sign == b"#") {
        return give(stack, Value::Integer(count as i64));
    }
    let Some(place) = coerced(chosen).and_then(integer) else {
        return Err(fault::bad_argument(host, ctx, exec, 1, "select", &wanted("number", &stack, 0)));
    };
    let first = if place < 0 {
        usize::try_from(place.unsigned_abs()).ok().and_then(|back| count.checked_sub(back))
    } else {
        usize::try_from(place).ok().and_then(|place| place.checked_sub(1))
    };
    let Some(first) = first else {
        return Err(fault::bad_argument(host, ctx, exec, 1, "select", "index out of range"));
    };
    stack.drain(..=first.min(count));
    Ok(CallbackReturn::Return)
}

/// Adds the plan's line to a text where the caller is the plan, and the level is the usual one.
#[expect(clippy::needless_pass_by_value, reason = "one signature for all basic functions")]
fn error<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: Stack<'gc, '_>,
) -> CallbackResult<'gc> {
    let level = match stack.get(1) {
        Value::Nil => Some(1),
        value => {
            let number = coerced(value).ok_or_else(|| {
                fault::bad_argument(host, ctx, exec, 2, "error", &wanted("number", &stack, 1))
            })?;
            integer(number)
        }
    };
    let Some(level) = level else {
        let message = "number has no integer representation";
        return Err(fault::bad_argument(host, ctx, exec, 2, "error", message));
    };
    let is_here = level == 1;
    match (stack.get(0), host.line_of_caller(exec)) {
        (Value::String(message), Some(line)) if is_here => {
            let mut positioned = format!("{}:{line}: ", host.plan_name()).into_bytes();
            positioned.extend_from_slice(message.as_bytes());
            Err(Raised::from(text(ctx, positioned)))
        }
        (reason, _) => Err(Raised::from(reason)),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "one signature for all basic functions")]
fn assert<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: Stack<'gc, '_>,
) -> CallbackResult<'gc> {
    present(host, ctx, exec, &stack, 1, "assert")?;
    if stack.get(0).to_bool() {
        return Ok(CallbackReturn::Return);
    }
    Err(Raised::from(if stack.len() > 1 { stack.get(1) } else { text(ctx, "assertion failed!") }))
}

fn rawget<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: Stack<'gc, '_>,
) -> CallbackResult<'gc> {
    let table = table_argument(host, ctx, exec, &stack, 0, "rawget")?;
    present(host, ctx, exec, &stack, 2, "rawget")?;
    let value = table.get_value(stack.get(1));
    give(stack, value)
}

fn rawset<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: Stack<'gc, '_>,
) -> CallbackResult<'gc> {
    let table = table_argument(host, ctx, exec, &stack, 0, "rawset")?;
    present(host, ctx, exec, &stack, 3, "rawset")?;
    store(host, ctx, table, stack.get(1), stack.get(2))?;
    give(stack, Value::Table(table))
}

fn rawlen<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: Stack<'gc, '_>,
) -> CallbackResult<'gc> {
    let length = match stack.get(0) {
        Value::Table(table) => table.length(),
        Value::String(text) => text.len(),
        _ => return Err(fault::bad_argument(host, ctx, exec, 1, "rawlen", "table or string expected")),
    };
    give(stack, Value::Integer(length))
}

fn rawequal<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: Stack<'gc, '_>,
) -> CallbackResult<'gc> {
    present(host, ctx, exec, &stack, 2, "rawequal")?;
    let equal = raw_equal(stack.get(0), stack.get(1));
    give(stack, Value::Boolean(equal))
}

fn getmetatable<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: Stack<'gc, '_>,
) -> CallbackResult<'gc> {
    present(host, ctx, exec, &stack, 1, "getmetatable")?;
    let metatable = match stack.get(0) {
        Value::Table(table) => table.metatable(),
        Value::String(_) => Some(host.string_metatable(ctx)),
        _ => None,
    };
    let shown = match metatable {
        None => Value::Nil,
        Some(metatable) => match metatable.get(ctx, "__metatable") {
            Value::Nil => Value::Table(metatable),
            protected => protected,
        },
    };
    give(stack, shown)
}

fn setmetatable<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: Stack<'gc, '_>,
) -> CallbackResult<'gc> {
    let table = table_argument(host, ctx, exec, &stack, 0, "setmetatable")?;
    let metatable = match stack.get(1) {
        Value::Nil if stack.len() > 1 => None,
        Value::Table(metatable) => Some(metatable),
        _ => {
            let message = wanted("nil or table", &stack, 1);
            return Err(fault::bad_argument(host, ctx, exec, 2, "setmetatable", &message));
        }
    };
    if !metamethod(ctx, Value::Table(table), "__metatable").is_nil() {
        return Err(fault::raise_text(host, ctx, exec, "cannot change a protected metatable"));
    }
    if let Some(metatable) = metatable {
        table.set_metatable(&ctx, Some(metatable));
        // The ring may be closed by this very link.
        let key = text(ctx, "__index");
        if let next @ Value::Table(_) = metatable.get_value(key) {
            store(host, ctx, metatable, key, next)?;
        }
    } else {
        table.set_metatable(&ctx, None);
    }
    give(stack, Value::Table(table))
}
