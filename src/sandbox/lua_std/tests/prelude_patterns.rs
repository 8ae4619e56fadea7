//! `string.gmatch` and `string.gsub` as the prelude has them, on top of the natives.

use mlua::{Lua, MultiValue, Table, Value as LuaValue};

use super::compare::{Budget, LuaSide, Outcome, Random, TestValue, each_case, run_native};
use super::pattern_cases::{subject_and_pattern, whole_number};
use crate::lua_std::NATIVES;

/// A Lua whose pattern functions are ours.
fn with_our_patterns() -> Lua {
    let lua = Lua::new();
    let natives = lua.create_table().unwrap();
    let wrap = "local raw = ... return function(...) local r = table.pack(raw(...)) \
                if r[1] then return table.unpack(r, 2, r.n) end error(r[2], 0) end";
    let wrap = lua.load(wrap).into_function().unwrap();
    for native in NATIVES.iter().copied().flatten() {
        let raw = lua.create_function(move |lua, args: MultiValue| {
            let args: Vec<TestValue> = args.iter().map(TestValue::from_lua).collect();
            let mut results = MultiValue::new();
            match run_native(native, native.name, &args, &Budget::new(3_000_000, 1 << 26)) {
                Outcome::Results(found) => {
                    results.push_back(LuaValue::Boolean(true));
                    for value in &found {
                        results.push_back(value.to_lua(lua)?);
                    }
                }
                Outcome::Error(message) => {
                    results.push_back(LuaValue::Boolean(false));
                    results.push_back(LuaValue::String(lua.create_string(message)?));
                }
                Outcome::Dead => {
                    results.push_back(LuaValue::Boolean(false));
                    results.push_back(LuaValue::String(lua.create_string("dead")?));
                }
            }
            Ok(results)
        });
        let wrapped: LuaValue = wrap.call(raw.unwrap()).unwrap();
        natives.raw_set(native.name, wrapped).unwrap();
    }
    // This test needs no other natives.
    if !natives.contains_key("sub").unwrap() {
        let sub: LuaValue = lua.load("return string.sub").eval().unwrap();
        natives.raw_set("sub", sub).unwrap();
    }
    let host = lua.create_table().unwrap();
    host.raw_set("native", natives).unwrap();
    let core: Table = lua.load("return { stock_type = type, concat = table.concat }").eval().unwrap();
    let part = lua.load(include_str!("../../../../lua/prelude/patterns.lua")).set_name("=patterns");
    part.call::<()>((host, core)).unwrap();
    lua
}

fn both(chunk: &str) -> (LuaSide, LuaSide) {
    (LuaSide::new(with_our_patterns(), chunk), LuaSide::new(Lua::new(), chunk))
}

fn same((ours, theirs): &(LuaSide, LuaSide), args: &[TestValue]) {
    let found = ours.call(args);
    if found != Outcome::Error("dead".to_owned()) {
        assert_eq!(found, theirs.call(args), "ours and theirs for {args:?}");
    }
}

const GMATCH: &str = "local out, n = {}, 0 local step = string.gmatch(...) \
    for i = 1, 40 do local r = table.pack(step()) n = n + 1 out[n] = r.n \
    for j = 1, r.n do n = n + 1 out[n] = r[j] end \
    if r.n == 0 and i > 1 and out[n - 1] == 0 then break end end \
    return table.unpack(out, 1, math.min(n, 200))";

#[test]
fn gmatch_gives_what_lua_gives() {
    let sides = both(GMATCH);
    each_case("gmatch", 4_000, |random| {
        let mut args = subject_and_pattern(random);
        if args.len() == 2 && random.one_in(3) {
            args.push(whole_number(random));
        }
        same(&sides, &args);
    });
}

/// What a callback or a table gives back, chosen by the third argument; all it got is recorded.
const GSUB: &str = "local s, p, way, by_table, n = ... local seen, m = {}, 0 \
    local function value(...) local r = table.pack(...) \
    for j = 1, r.n do m = m + 1 seen[m] = r[j] end \
    if way == 1 then return nil elseif way == 2 then return false elseif way == 3 then return m \
    elseif way == 4 then return m / 4 elseif way == 5 then return '<' .. tostring(r[1]) .. '>' \
    elseif way == 6 then if m % 2 == 0 then return 'x' end elseif way == 7 then return m < 4 and '' or {} \
    elseif way == 8 then return m < 3 or 'y' elseif way == 9 then return '%1', 2 \
    elseif way == 10 then return m < 4 and string.gsub(s, p, '[%0]', 2) end return print end \
    local replacement = value \
    if by_table then replacement = setmetatable({ a = 'A', b = 2, [' '] = false }, \
    { __index = function(_, k) return (value(k)) end }) end \
    local r = table.pack(string.gsub(s, p, replacement, n)) \
    for j = 1, r.n do m = m + 1 seen[m] = r[j] end \
    return table.unpack(seen, 1, math.min(m, 200))";

fn gsub_arguments(random: &mut Random) -> Vec<TestValue> {
    let mut args = subject_and_pattern(random);
    args.resize(2, TestValue::Nil);
    args.push(TestValue::Integer(random.below(12) as i64));
    args.push(TestValue::Boolean(random.one_in(2)));
    if random.one_in(4) {
        args.push(whole_number(random));
    }
    args
}

#[test]
fn gsub_with_a_function_or_a_table_gives_what_lua_gives() {
    let sides = both(GSUB);
    each_case("gsub with callbacks", 6_000, |random| same(&sides, &gsub_arguments(random)));
}

#[test]
fn an_invalid_replacement_is_told_at_the_line_of_the_call() {
    for replacement in
        ["function() return {} end", "{ a = print }", "{ a = {} }", "function() return true end"]
    {
        let chunk = format!("local r = string.gsub('a', 'a', {replacement}) return r");
        let (ours, theirs) = both(&chunk);
        let outcome = ours.call(&[]);
        assert!(matches!(&outcome, Outcome::Error(text) if text.starts_with("invalid replacement value")));
        assert_eq!(outcome, theirs.call(&[]));
    }
}

#[test]
fn an_error_of_the_callback_goes_through() {
    same(
        &both("return string.gsub(..., '%w', function(c) error({}) end)"),
        &[TestValue::Text(b"ab".to_vec())],
    );
    same(
        &both("return string.gsub(..., '%w', function(c) error(c, 0) end)"),
        &[TestValue::Text(b"ab".to_vec())],
    );
    same(&both("return pcall(string.gsub, ..., '(', {})"), &[TestValue::Text(b"ab".to_vec())]);
}
