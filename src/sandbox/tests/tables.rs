//! The table library of plans against the original, on generated calls.

use luaplan_base::Value;

use super::harness::{limits, run_with};
use crate::VmLimits;

const GENERATED: &str = include_str!("tables.lua");

/// Cases told by one run.
const CASES_A_RUN: u64 = 500;

fn generous() -> VmLimits {
    VmLimits { instructions: u64::MAX / 2, memory_bytes: 1 << 30, output_bytes: 1 << 30, ..limits() }
}

fn ours(seed: i64) -> String {
    let source = format!(
        "local function told(...) {} end\nfunction run() return told({CASES_A_RUN}, {seed}) end",
        GENERATED.trim_end()
    );
    match run_with(&source, &Value::Null, generous()).result.unwrap() {
        Value::String(text) => text.to_string(),
        other => panic!("{other:?}"),
    }
}

fn theirs(seed: i64) -> String {
    let source = format!("local function told(...) {} end\nreturn (told(...))", GENERATED.trim_end());
    let lua = mlua::Lua::new();
    let told: mlua::LuaString = lua.load(source).set_name("=plan.lua").call((CASES_A_RUN, seed)).unwrap();
    told.to_string_lossy()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "tests have no configuration but the environment")]
#[expect(clippy::print_stderr, reason = "the seed of a long run is told")]
fn table_functions_do_what_the_originals_do() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let cases = number("LUAPLAN_TEST_CASES").unwrap_or(20_000);
    let seed = number("LUAPLAN_TEST_SEED").unwrap_or(1);
    eprintln!("{cases} cases, LUAPLAN_TEST_SEED={seed}");
    let mut told = Vec::new();
    for round in 0..cases.div_ceil(CASES_A_RUN) {
        let seed = (seed ^ round.rotate_left(40)).cast_signed();
        let (ours, theirs) = (ours(seed), theirs(seed));
        if ours != theirs {
            let differing = ours.lines().zip(theirs.lines()).filter(|(ours, theirs)| ours != theirs);
            told.push(format!("seed {seed}:"));
            told.extend(differing.take(4).map(|(ours, theirs)| format!("  ours {ours}\ntheirs {theirs}")));
        }
    }
    assert!(told.is_empty(), "{}", told[..told.len().min(40)].join("\n"));
}
