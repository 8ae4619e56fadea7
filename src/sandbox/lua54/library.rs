//! Builds a library when a plan first uses it.
//!
//! A VM is used once and often briefly, so its start must be cheap: it gets six empty tables that
//! share one metatable. The first access to one of them fills it and removes the metatable.

use std::sync::Arc;

use mlua::{Function, Lua, MultiValue, Table, Value};

use super::lib_host::{self, LibSupport};
use crate::plan_lib::{CHECKS, LIBRARIES, LibFunction, Library, ROUND, SORTED_ORDER, TOTAL, quoted};

/// Globals the Lua parts use, as the VM has them before the plan runs.
const CORE_GLOBALS: [&str; 7] = ["type", "tostring", "tonumber", "pairs", "ipairs", "next", "select"];

/// Members of `math` the Lua parts use, under the same names.
const CORE_MATH: [&str; 4] = ["floor", "sqrt", "huge", "tointeger"];

/// Sets one global per library. Called once the VM's own globals are in place, before the plan is
/// loaded: the libraries keep the `type`, `pairs` and so on that they find now, so nothing a plan
/// redefines changes how they work.
pub(super) fn install(lua: &Lua, support: &LibSupport) -> mlua::Result<()> {
    if let Value::Table(math) = lua.globals().raw_get::<Value>("math")? {
        math.raw_set(ROUND.name, native_function(lua, support, "math", &ROUND)?)?;
    }
    let libraries = &LIBRARIES;
    let core = core(lua, support)?;
    let mut tables: Vec<(&'static Library, Table)> = Vec::with_capacity(libraries.len());
    for library in libraries {
        let table = lua.create_table()?;
        lua.globals().raw_set(library.name, &table)?;
        tables.push((library, table));
    }
    let handles = tables.iter().map(|(_, table)| table.clone()).collect::<Vec<_>>();
    let support = support.clone();
    let pairs = core.raw_get::<Value>("pairs")?;
    let fill_one = move |lua: &Lua, table: &Table| -> mlua::Result<()> {
        match tables.iter().find(|(_, known)| known == table) {
            Some((library, table)) => fill(lua, &support, &core, library, table),
            None => Ok(()),
        }
    };
    let fill_one = Arc::new(fill_one);
    let metatable = lua.create_table()?;
    let filler = Arc::clone(&fill_one);
    metatable.raw_set(
        "__index",
        lua.create_function(move |lua, (table, key): (Table, Value)| {
            filler(lua, &table)?;
            table.raw_get::<Value>(key)
        })?,
    )?;
    metatable.raw_set(
        "__pairs",
        lua.create_function(move |lua, table: Table| {
            fill_one(lua, &table)?;
            match &pairs {
                Value::Function(pairs) => pairs.call::<MultiValue>(table),
                _ => Ok(MultiValue::new()),
            }
        })?,
    )?;
    metatable.raw_set("__metatable", false)?;
    for table in handles {
        table.set_metatable(Some(metatable.clone()))?;
    }
    Ok(())
}

/// The environment of the Lua parts: the VM's own functions as they were before the plan, and the
/// helpers written in Rust.
fn core(lua: &Lua, support: &LibSupport) -> mlua::Result<Table> {
    let core = lua.create_table()?;
    let globals = lua.globals();
    for name in CORE_GLOBALS {
        core.raw_set(name, globals.raw_get::<Value>(name)?)?;
    }
    if let Value::Table(math) = globals.raw_get::<Value>("math")? {
        for name in CORE_MATH {
            core.raw_set(name, math.raw_get::<Value>(name)?)?;
        }
        core.raw_set("math_type", math.raw_get::<Value>("type")?)?;
    }
    core.raw_set("null", support.null())?;
    Ok(core)
}

/// Adds the helpers of a used library to the environment of the Lua parts.
fn add_helpers(lua: &Lua, support: &LibSupport, core: &Table) -> mlua::Result<()> {
    if core.contains_key("fail")? {
        return Ok(());
    }
    let (failing, lists, objects) = (support.clone(), support.clone(), support.clone());
    core.raw_set(
        "fail",
        lua.create_function(move |_, message: mlua::LuaString| -> mlua::Result<()> {
            Err(failing.fail(message.to_string_lossy()))
        })?,
    )?;
    core.raw_set(
        "as_list",
        lua.create_function(move |_, table: Table| {
            lists.mark_array(&table)?;
            Ok(table)
        })?,
    )?;
    core.raw_set(
        "as_object",
        lua.create_function(move |_, table: Table| {
            objects.mark_object(&table)?;
            Ok(table)
        })?,
    )?;
    core.raw_set(
        "quote",
        lua.create_function(|_, text: mlua::LuaString| Ok(quoted(&text.to_string_lossy())))?,
    )?;
    for pair in support.run_part::<Table>(lua, &CHECKS, core)?.pairs::<Value, Value>() {
        let (name, check) = pair?;
        core.raw_set(name, check)?;
    }
    core.raw_set("total", support.run_part::<Function>(lua, &TOTAL, core)?)?;
    core.raw_set("sorted_order", native_function(lua, support, "list", &SORTED_ORDER)?)?;
    core.raw_set("round", native_function(lua, support, "math", &ROUND)?)
}

/// Fills a library's table. Members that the plan has set stay.
fn fill(
    lua: &Lua,
    support: &LibSupport,
    core: &Table,
    library: &'static Library,
    table: &Table,
) -> mlua::Result<()> {
    table.set_metatable(None)?;
    if let Some(name) = library.null
        && !table.contains_key(name)?
    {
        table.raw_set(name, support.null())?;
    }
    for native in library.natives {
        if !table.contains_key(native.name)? {
            table.raw_set(native.name, native_function(lua, support, library.name, native)?)?;
        }
    }
    for part in library.parts {
        add_helpers(lua, support, core)?;
        for pair in support.run_part::<Table>(lua, part, core)?.pairs::<Value, Value>() {
            let (name, function) = pair?;
            if !table.contains_key(name.clone())? {
                table.raw_set(name, function)?;
            }
        }
    }
    Ok(())
}

/// A library function as a Lua function.
fn native_function(
    lua: &Lua,
    support: &LibSupport,
    library: &'static str,
    native: &'static LibFunction,
) -> mlua::Result<Function> {
    let support = support.clone();
    lua.create_function(move |lua, args: MultiValue| lib_host::call(lua, &support, (library, native), args))
}
