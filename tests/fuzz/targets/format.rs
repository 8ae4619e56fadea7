//! `string.format`, `pack` and `unpack`, `tonumber`: ours give what Lua's give.
#![no_main]

use std::cell::RefCell;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use luaplan::sandbox::fuzzing::{Failed, Plain, native};
use luaplan::support::{agree, stock};

#[derive(Debug, Arbitrary)]
enum Argument {
    Nil,
    Boolean(bool),
    Integer(i64),
    Small(i8),
    Number(f64),
    Text(Vec<u8>),
}

#[derive(Debug, Arbitrary)]
enum Case {
    Format(Vec<u8>, Vec<Argument>),
    Pack(Vec<u8>, Vec<Argument>),
    Unpack(Vec<u8>, Vec<u8>, Option<i8>),
}

/// Values that Lua's `unpack` has room for when it raises.
const UNPACK_FAILING_MAX: usize = 14;

thread_local! {
    static LUA: RefCell<mlua::Lua> = RefCell::new(mlua::Lua::new());
}

fn plain(argument: Argument) -> Plain {
    match argument {
        Argument::Nil => Plain::Nil,
        Argument::Boolean(value) => Plain::Boolean(value),
        Argument::Integer(value) => Plain::Integer(value),
        Argument::Small(value) => Plain::Integer(value.into()),
        Argument::Number(value) => Plain::Number(value),
        Argument::Text(bytes) => Plain::Text(bytes),
    }
}

fuzz_target!(|case: Case| {
    let (name, arguments) = match case {
        Case::Format(format, arguments) => {
            let mut all = vec![Plain::Text(format)];
            all.extend(arguments.into_iter().map(plain));
            ("format", all)
        }
        Case::Pack(format, arguments) => {
            let mut all = vec![Plain::Text(format)];
            all.extend(arguments.into_iter().map(plain));
            ("pack", all)
        }
        Case::Unpack(format, data, from) => {
            let from = from.map_or(Plain::Nil, |from| Plain::Integer(from.into()));
            ("unpack", vec![Plain::Text(format), Plain::Text(data), from])
        }
    };
    // An address is refused on purpose.
    let Some(Plain::Text(format)) = arguments.first() else { return };
    if name == "format" && format.contains(&b'p') {
        let _ = native(name, &arguments, 1_000_000, 1 << 20);
        return;
    }
    let Some(ours) = native(name, &arguments, 10_000_000, 1 << 20) else { return };
    // What takes too long here could take for ever there.
    if ours == Err(Failed::Dead) {
        return;
    }
    // A failing `unpack` of Lua itself pushes more than it asked room for once it has read some 17 values, which
    // a build with checks of the C API stops at. Values come one for each letter of the format at most.
    if name == "unpack" && ours.is_err() && format.len() > UNPACK_FAILING_MAX {
        return;
    }
    let lua = LUA.with_borrow(|lua| stock(lua, &format!("string.{name}"), &arguments));
    assert!(agree(&ours, &lua), "{name}({arguments:?})\nours {ours:?}\nLua  {lua:?}");
});
