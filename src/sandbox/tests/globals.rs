//! What a plan can see, and what it cannot reach.

use luaplan_base::ErrorCode;

use super::harness::{failure, result, run};

/// What Lua itself and the prelude give; the plan library and the tools come on top.
const GLOBALS: [&str; 30] = [
    "_G",
    "_VERSION",
    "assert",
    "coroutine",
    "error",
    "getmetatable",
    "ipairs",
    "math",
    "must",
    "next",
    "null",
    "pairs",
    "parallel",
    "pcall",
    "print",
    "rawequal",
    "rawget",
    "rawlen",
    "rawset",
    "retry",
    "select",
    "setmetatable",
    "step",
    "string",
    "table",
    "tonumber",
    "tostring",
    "type",
    "utf8",
    "xpcall",
];

const LIBRARY: [&str; 6] = ["csv", "date", "json", "list", "stats", "text"];
const TOOLS: [&str; 4] = ["echo", "fail", "nothing", "server"];

#[test]
fn the_globals_are_exactly_those_on_the_list() {
    let names = result(
        "local names = {} for name in pairs(_G) do if name ~= 'run' then names[#names + 1] = name end end return names",
    );
    let names: Vec<String> = serde_json::from_str(&names).unwrap();
    let unknown: Vec<_> = names
        .iter()
        .map(String::as_str)
        .filter(|name| !GLOBALS.contains(name) && !LIBRARY.contains(name) && !TOOLS.contains(name))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    for name in GLOBALS {
        assert!(names.iter().any(|known| known == name), "{name} is missing");
    }
}

#[test]
fn parts_of_libraries_that_would_reach_out_are_gone() {
    let gone = result(
        "return { dump = string.dump, random = math.random, seed = math.randomseed, load = load, \
         loadstring = loadstring, dofile = dofile, loadfile = loadfile, require = require, os = os, io = io, \
         debug = debug, package = package, collectgarbage = collectgarbage, warn = warn }",
    );
    assert_eq!(gone, "[]");
}

#[test]
fn nothing_survives_from_one_run_to_another() {
    let plan =
        "function run() string.leak, _G.leak = 1, 1; local old = seen; seen = 1; return { old == nil } end";
    for _ in 0..2 {
        assert_eq!(run(plan).result.unwrap().to_json().to_string(), "[true]");
    }
    assert_eq!(result("return { string.leak == nil, leak == nil }"), "[true,true]");
}

#[test]
fn a_plan_breaking_its_own_globals_breaks_only_itself() {
    let text = result(
        "local p = pcall; select, rawequal, type, math.min, string.match, error, tostring = nil \
         local x = fail('no') local ok = p(function() return x .. '' end) \
         local co = coroutine.wrap(function() return echo(1) end) return { ok, x.error, co() }",
    );
    assert_eq!(text, r#"[false,"no",1]"#);
}

#[test]
fn the_metatables_of_strings_and_host_tables_are_out_of_reach() {
    assert_eq!(
        result(
            "return { getmetatable('') == false, getmetatable(echo{a=1}) == nil, getmetatable(echo{1}) == nil }"
        ),
        "[true,true,true]"
    );
    assert_eq!(failure("setmetatable({}, {__gc = print})").0, ErrorCode::PlanError);
    assert_eq!(failure("setmetatable({}, {__mode = 'k'})").0, ErrorCode::PlanError);
}

#[test]
fn bytecode_is_refused() {
    let error = run("\u{1b}Lua").result.unwrap_err();
    assert_eq!(error.code(), ErrorCode::PlanSyntax);
}

#[test]
fn no_address_is_visible() {
    let text = result(
        "local t, f = {}, function() end local co = coroutine.create(f) \
         local named = setmetatable({}, {__name = 'Row'}) \
         return { tostring(t), tostring(f), tostring(co), tostring(print), tostring(null), tostring(t), \
         string.format('%s|%10s', t, f), tostring(named) }",
    );
    assert_eq!(
        text,
        r#"["table: 1","function: 2","thread: 3","function: 4","null","table: 1","table: 1|function: 2","Row: 5"]"#
    );
    assert!(failure("return string.format('%p', {})").1.contains("%p"));
    assert_eq!(result("return string.format('%%p %5.1f', 2.25)"), "\"%p   2.2\"");
}

#[test]
fn the_check_and_the_sandbox_know_the_same_names() {
    use luaplan_plan::globals;

    let mut wanted: Vec<String> = globals::all().map(str::to_owned).collect();
    for (library, members) in globals::LIBRARIES {
        wanted.extend(members.iter().map(|member| format!("{library}.{member}")));
    }
    wanted.retain(|name| name != "run" && !TOOLS.contains(&name.as_str()));
    wanted.sort_unstable();
    let found = result(
        "local names = {}
         for name, value in pairs(_G) do
           if name ~= 'run' then names[#names + 1] = name end
           if name == 'coroutine' or name == 'math' or name == 'string' or name == 'table' or name == 'utf8' then
             for member in pairs(value) do names[#names + 1] = name .. '.' .. member end
           end
         end
         return names",
    );
    let mut found: Vec<String> = serde_json::from_str(&found).unwrap();
    found.retain(|name| !TOOLS.contains(&name.as_str()));
    found.sort_unstable();
    assert_eq!(found, wanted);
}
