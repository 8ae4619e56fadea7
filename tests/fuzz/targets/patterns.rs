//! Patterns: our matcher gives what Lua's gives, for any pattern and any text.
#![no_main]

use std::cell::RefCell;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use luaplan::sandbox::fuzzing::{Failed, Plain, native};
use luaplan::support::{agree, stock};

#[derive(Debug, Arbitrary)]
enum Function {
    Find { init: Option<i8>, plain: bool },
    Match { init: Option<i8> },
    Replace { with: Vec<u8>, most: Option<u8> },
}

#[derive(Debug, Arbitrary)]
struct Case {
    function: Function,
    pattern: Vec<u8>,
    text: Vec<u8>,
}

thread_local! {
    static LUA: RefCell<mlua::Lua> = RefCell::new(mlua::Lua::new());
}

/// Lua's matcher cannot be stopped: patterns that backtrack much are kept short.
const TEXT_MAX: usize = 32;
const REPEATS_MAX: usize = 6;

fuzz_target!(|case: Case| {
    let Case { function, pattern, mut text } = case;
    let repeats = pattern.iter().filter(|byte| b"*+-?".contains(byte)).count();
    let brackets = pattern.iter().filter(|byte| **byte == b'(').count();
    if repeats > REPEATS_MAX || pattern.len() > 200 || brackets > 40 {
        // Still must end, within its budget.
        let arguments = [Plain::Text(text), Plain::Text(pattern)];
        let _ = native("find", &arguments, 1_000_000, 1 << 20);
        return;
    }
    text.truncate(TEXT_MAX);
    let mut arguments = vec![Plain::Text(text), Plain::Text(pattern)];
    let mut optional = |value: Option<i64>| arguments.push(value.map_or(Plain::Nil, Plain::Integer));
    let name = match function {
        Function::Find { init, plain } => {
            optional(init.map(i64::from));
            arguments.push(Plain::Boolean(plain));
            "find"
        }
        Function::Match { init } => {
            optional(init.map(i64::from));
            "match"
        }
        Function::Replace { with, most } => {
            arguments.push(Plain::Text(with));
            arguments.push(most.map_or(Plain::Nil, |most| Plain::Integer(most.into())));
            "gsub"
        }
    };
    let Some(ours) = native(name, &arguments, 50_000_000, 1 << 24) else { return };
    // What takes too long here could take for ever there.
    if ours == Err(Failed::Dead) {
        return;
    }
    let lua = LUA.with_borrow(|lua| stock(lua, &format!("string.{name}"), &arguments));
    assert!(agree(&ours, &lua), "{name}({arguments:?})\nours {ours:?}\nLua  {lua:?}");
});
