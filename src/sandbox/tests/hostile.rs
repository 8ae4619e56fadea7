//! Plans that try to crash or confuse the host end like any other: with a value or a coded error.

use luaplan_base::{ErrorCode, Value};

use super::harness::{limits, run_with};
use crate::VmLimits;

#[test]
fn hostile_plans_end_with_a_value_or_a_coded_error() {
    let bodies = [
        "local function f() pcall(f) end f() return 1",
        "local function f() return xpcall(f, f) end f() return 1",
        "local function f() return coroutine.wrap(f)() end return f()",
        "local function f() return parallel{ f } end return f()",
        "local function f() return retry(2, f) end return f()",
        "local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k] end return t.x",
        "local t = {} for i = 1, 100 do t = setmetatable({}, { __index = t, __newindex = t }) end return t.x",
        "local t = setmetatable({}, { __eq = function() error(setmetatable({}, { __tostring = error })) end }) return t == {}",
        "error(setmetatable({}, { __index = function() error('deep') end }))",
        "error(nil)",
        "error(coroutine.create(print))",
        "local t = {} for i = 1, 200000 do t[i] = {} end echo(table.unpack(t)) return 1",
        "local t = {} for i = 1, 200000 do t[i] = i end echo(table.unpack(t)) return 1",
        "local t = {} for i = 1, 100000 do t[i] = i end print(table.unpack(t)) return 1",
        "return select('#', string.byte(string.rep('x', 1000000), 1, -1))",
        "coroutine.close(coroutine.running())",
        "coroutine.resume(coroutine.running())",
        "local co co = coroutine.create(function() coroutine.close(co) end) coroutine.resume(co) return 1",
        "local co co = coroutine.wrap(function() return co() end) return co()",
        "return coroutine.wrap(function() return pcall(coroutine.wrap(function() error({}) end)) end)()",
        "local x <close> = setmetatable({}, { __close = function() echo(1) end }) return 1",
        "local co = coroutine.create(function() local x <close> = setmetatable({}, { __close = function() echo(1) end }) \
         coroutine.yield() end) coroutine.resume(co) return coroutine.close(co)",
        "string.gsub(string.rep('a', 1000), '.', function() error('x') end)",
        "return (string.gsub('abc', '%w', { a = {} }))",
        "_G.run = nil _ENV = nil return 1",
        "setmetatable(_G, { __index = function(t, k) return k end, __newindex = error }) x = 1 return y",
        "for k in pairs(_G) do _G[k] = nil end return 1",
        "string.format, string.rep, table.concat = nil return { 1 }",
        "return pcall(pcall)",
        "return pcall(xpcall, 1, 2)",
        "return { pcall(coroutine.wrap(function() return coroutine.yield() end)) }",
        "return type()",
        "return setmetatable({}, 1)",
        "return next({}, 'missing')",
        "return table.concat({ {}, 1 })",
        "return ('x'):rep(1 << 62, 'y')",
        "return #table.pack(table.unpack({}, 1, 1 << 24))",
        "return utf8.char(table.unpack({ 1 << 40 }))",
        "return string.pack('i16', 1)",
        "return ('%5'):format(1)",
        "return math.tointeger('x') .. nil",
        "goto done do local x end ::done:: return 1",
        "return null.x",
        "return null .. ''",
        "local s = 'x' while true do s = s .. s end",
        "local t = {} while true do t[#t + 1] = coroutine.create(print) end",
        "local t = {} while true do t = { t } end",
        "local t = {} for i = 1, 1e6 do t['k' .. i] = i end",
        "while true do pcall(error, setmetatable({}, { __tostring = error })) end",
        "while true do pcall(string.rep, 'x', 1 << 20) end",
        "parallel(setmetatable({}, { __index = function() return print end, __len = function() return 1e9 end }))",
    ];
    for body in bodies {
        for wrapped in [body.to_owned(), format!("return coroutine.wrap(function() {body} end)()")] {
            let plan = format!("function run(context) {wrapped} end");
            let tight = VmLimits { instructions: 2_000_000, memory_bytes: 8 << 20, ..limits() };
            let stopped = run_with(&plan, &Value::Null, tight);
            if let Err(error) = stopped.result {
                assert_ne!(error.code(), ErrorCode::Internal, "{body}: {error:?}");
                assert_ne!(error.code(), ErrorCode::PlanSyntax, "{body}: {error:?}");
                assert!(!error.message().contains("luaplan:"), "{body}: {error:?}");
                assert!(!error.message().contains("0x"), "{body}: {error:?}");
            }
        }
    }
}

#[test]
fn hostile_sources_are_refused_or_run() {
    for source in [
        String::new(),
        "\0".to_owned(),
        "#!/usr/bin/lua\nfunction run() end".to_owned(),
        "(".repeat(5_000),
        format!("function run() return {}1{} end", "{".repeat(190), "}".repeat(190)),
        format!("return {}", "not ".repeat(3_000)),
        format!("local x = 1{}", " .. 1".repeat(2_000)),
        "local run = 1 function _G.run() end".to_owned(),
        "run = 1".to_owned(),
        "run = setmetatable({}, { __call = function() return 1 end })".to_owned(),
        "error('at once')".to_owned(),
        "while true do end".to_owned(),
        "return 1".to_owned(),
    ] {
        let tight = VmLimits { instructions: 200_000, memory_bytes: 8 << 20, ..limits() };
        if let Err(error) = run_with(&source, &Value::Null, tight).result {
            assert_ne!(error.code(), ErrorCode::Internal, "{error:?}");
        }
    }
}

/// The handler that closes a variable when a limit stops its frame is metered itself.
#[test]
fn a_close_handler_without_end_is_stopped_by_the_limit_that_calls_it() {
    let handler =
        "local mt = {} local x = setmetatable({}, mt) mt.__close = function() while true do end end";
    let bodies = [
        "local function f() local y <close> = x while true do end end f() return 1",
        "local function f() local y <close> = x while true do end end pcall(f) return 1",
        "local function f() local y <close> = x while true do end end coroutine.wrap(f)() return 1",
        "local function f() local y <close> = x while true do end end parallel{ f, f } return 1",
        "local function f() local y <close> = x local z <close> = x while true do end end f() return 1",
        "for _ in function() return 1 end, nil, nil, x do while true do end end return 1",
        "string.gsub('a', '.', function() local y <close> = x while true do end end) return 1",
        "local y <close> = x local function down(n) return 1 + down(n + 1) end return down(1)",
        "local y <close> = x return string.rep('x', 1e9)",
    ];
    for body in bodies {
        let plan = format!("function run() {handler} {body} end");
        let stopped = run_with(&plan, &Value::Null, VmLimits { instructions: 200_000, ..limits() });
        let code = stopped.result.unwrap_err().code();
        let expected = [ErrorCode::LimitInstructions, ErrorCode::LimitCallDepth, ErrorCode::LimitMemory];
        assert!(expected.contains(&code), "{code} from {body}");
    }
}
