//! The plan library on this engine, built with the VM.

use std::rc::Rc;

use piccolo::{Callback, Context, Executor, Table, Value};

use luaplan_base::{Error, ErrorCode, Result};

use super::engine::{Engine, broken};
use super::fault::Raised;
use super::host::Host;
use super::values::{give, lossy, text};
use super::{fault, lib_host, parts};
use crate::plan_lib::{CHECKS, LIBRARIES, LibFunction, ROUND, SORTED_ORDER, TOTAL, quoted};
use crate::vm::lua_chunk::LuaPart;

/// Globals the Lua parts use, as the VM has them before the plan runs.
const CORE_GLOBALS: [&str; 7] = ["type", "tostring", "tonumber", "pairs", "ipairs", "next", "select"];

/// Members of `math` the Lua parts use: their names there, and to the parts.
const CORE_MATH: [(&str, &str); 5] = [
    ("floor", "floor"),
    ("sqrt", "sqrt"),
    ("huge", "huge"),
    ("tointeger", "tointeger"),
    ("type", "math_type"),
];

/// Sets one global per library. The libraries keep the `type`, `pairs` and so on that they find
/// now, so nothing a plan redefines changes how they work.
///
/// # Errors
/// `internal`, which a test rules out.
pub(super) fn install(engine: &mut Engine, host: &Rc<Host>) -> Result<()> {
    let core = engine
        .lua
        .try_enter(|ctx| core(ctx, host).map(|core| ctx.stash(core)))
        .map_err(|error| broken("the plan library could not be made").with_source(error))?;
    merge(engine, &CHECKS, &core, &core)?;
    let total = parts::load(&TOTAL, engine)?;
    engine.run(
        |ctx| Executor::start(ctx, ctx.fetch(&total), ctx.fetch(&core)),
        |ctx, values| {
            // A new text key in a table from which none was removed.
            let _ = ctx.fetch(&core).set(ctx, "total", values.first().copied().unwrap_or(Value::Nil));
            Ok(())
        },
    )?;
    for library in &LIBRARIES {
        let table = engine
            .lua
            .try_enter(|ctx| {
                let table = Table::new(&ctx);
                if let Some(name) = library.null {
                    table.set(ctx, name, host.null(ctx))?;
                }
                for native in library.natives {
                    table.set(ctx, native.name, function(ctx, host, library.name, native))?;
                }
                ctx.set_global(library.name, table)?;
                Ok(ctx.stash(table))
            })
            .map_err(|error| broken("the plan library could not be made").with_source(error))?;
        for part in library.parts {
            merge(engine, part, &core, &table)?;
        }
    }
    Ok(())
}

/// Runs a part with `core` and adds what it returns to `target`.
fn merge(
    engine: &mut Engine,
    part: &'static LuaPart,
    core: &piccolo::StashedTable,
    target: &piccolo::StashedTable,
) -> Result<()> {
    let chunk = parts::load(part, engine)?;
    engine.run(
        |ctx| Executor::start(ctx, ctx.fetch(&chunk), ctx.fetch(core)),
        |ctx, values| match values.first() {
            Some(Value::Table(functions)) => {
                let target = ctx.fetch(target);
                for (name, function) in functions.iter() {
                    // Text keys, and none was removed.
                    let _ = target.set(ctx, name, function);
                }
                Ok(())
            }
            _ => Err(broken("a part of the plan library gave no table")),
        },
    )
}

/// The environment of the Lua parts: the VM's own functions as they were before the plan, and the
/// helpers written in Rust.
fn core<'gc>(ctx: Context<'gc>, host: &Rc<Host>) -> std::result::Result<Table<'gc>, Raised<'gc>> {
    let core = Table::new(&ctx);
    for name in CORE_GLOBALS {
        core.set(ctx, name, ctx.get_global(name))?;
    }
    if let Value::Table(math) = ctx.get_global("math") {
        math.set(ctx, ROUND.name, function(ctx, host, "math", &ROUND))?;
        for (name, to_parts) in CORE_MATH {
            core.set(ctx, to_parts, math.get(ctx, name))?;
        }
    }
    core.set(ctx, "null", host.null(ctx))?;
    core.set(
        ctx,
        "fail",
        Callback::from_fn(&ctx, |_, _, stack| {
            Err(fault::raise(Error::new(ErrorCode::PlanError, lossy(stack.get(0)))))
        }),
    )?;
    let own = host.clone();
    core.set(
        ctx,
        "as_list",
        Callback::from_fn(&ctx, move |ctx, _, stack| {
            let value = stack.get(0);
            if let Value::Table(table) = value {
                own.codec.mark_array(&own, ctx, table)?;
            }
            give(stack, value)
        }),
    )?;
    let own = host.clone();
    core.set(
        ctx,
        "as_object",
        Callback::from_fn(&ctx, move |ctx, _, stack| {
            let value = stack.get(0);
            if let Value::Table(table) = value {
                own.codec.mark_object(&own, ctx, table)?;
            }
            give(stack, value)
        }),
    )?;
    core.set(
        ctx,
        "quote",
        Callback::from_fn(&ctx, |ctx, _, stack| {
            let shown = quoted(&lossy(stack.get(0)));
            give(stack, text(ctx, shown))
        }),
    )?;
    core.set(ctx, "sorted_order", function(ctx, host, "list", &SORTED_ORDER))?;
    core.set(ctx, "round", function(ctx, host, "math", &ROUND))?;
    Ok(core)
}

/// A library function as a function of the VM.
fn function<'gc>(
    ctx: Context<'gc>,
    host: &Rc<Host>,
    library: &'static str,
    native: &'static LibFunction,
) -> Value<'gc> {
    let host = host.clone();
    Callback::from_fn(&ctx, move |ctx, mut exec, stack| {
        let arguments: Vec<Value<'_>> = stack.into_iter().collect();
        let result = lib_host::call(&host, ctx, &exec, (library, native), &arguments)?;
        host.pause_if_full(&mut exec);
        give(stack, result)
    })
    .into()
}
