//! Generated programs, on Lua as it comes and on our engines: both must do the same.
//!
//! `LUAPLAN_TEST_PROGRAMS=100000` runs so many, `LUAPLAN_TEST_SEED=17` starts at this seed. What
//! the sandbox does differently on purpose is in LIMITATIONS.md and taken off in [`normal`].

pub(crate) mod bare;
pub(crate) mod chance;
mod generate;
mod normal;
pub(crate) mod ours;
pub(crate) mod outcome;
mod piccolo;
mod planted;
mod program;
mod tables;
mod tools;

use std::collections::BTreeMap;

use generate::Taste;
use luaplan::sandbox::Vm;
use outcome::{End, Outcome};
use program::Program;

/// How many programs a plain `cargo test` runs.
const PROGRAMS: u64 = 300;
/// Differences shown in full; a run continues for the count.
const TOLD_MAX: usize = 25;

fn setting(name: &str) -> Option<u64> {
    std::env::var_os(name).map(|text| text.to_str().unwrap().parse().unwrap())
}

fn taste(seed: u64) -> Taste {
    Taste { size: 4 + usize::try_from(seed % 21).unwrap(), tools: !seed.is_multiple_of(3), closes: true }
}

fn difference(source: &str) -> Option<String> {
    let (lua, (ours, _)) = (normal::lua(bare::run(source)), ours::run::<Vm>(source));
    judge(&lua, &normal::ours(ours, &lua))
}

fn judge(lua: &Outcome, ours: &Outcome) -> Option<String> {
    if let End::Failed(code, _) = &ours.end
        && ours::is_edge(code)
    {
        return None;
    }
    lua.difference(ours)
}

#[derive(Default)]
struct Count {
    ends: BTreeMap<String, u64>,
    seen: BTreeMap<&'static str, u64>,
}

impl Count {
    fn add(&mut self, source: &str, lua: &Outcome) {
        let end = match &lua.end {
            End::Returned(_) => "returned".to_owned(),
            End::Failed(code, _) => code.clone(),
            End::Unjudged(why) => format!("unjudged: {why}"),
        };
        *self.ends.entry(end).or_default() += 1;
        let body = source.split_once("function run(context)").map_or(source, |(_, body)| body);
        for construct in CONSTRUCTS {
            if body.contains(construct) {
                *self.seen.entry(construct).or_default() += 1;
            }
        }
    }
}

/// What a good generator makes often enough; by the text that shows it.
const CONSTRUCTS: &[&str] = &[
    "goto ",
    "::",
    "break",
    "while ",
    "repeat",
    "for ",
    "elseif",
    "<close>",
    "<const>",
    "pcall(",
    "xpcall(",
    "error(",
    "assert(",
    "setmetatable(",
    "__index",
    "__newindex",
    "__add",
    "__eq",
    "__lt",
    "__call",
    "__concat",
    "__close",
    "__pairs",
    "__len",
    "__tostring",
    "coroutine.wrap",
    "coroutine.create",
    "coroutine.yield",
    "coroutine.close",
    "coroutine.status",
    "table.sort",
    "table.insert",
    "table.remove",
    "table.concat",
    "table.unpack",
    "table.pack",
    "table.move",
    "string.format",
    "string.find",
    "string.match",
    "gmatch",
    "gsub",
    "string.pack",
    ":rep(",
    ":sub(",
    ":upper(",
    "string.byte",
    "utf8.",
    "math.",
    "//",
    ">>",
    "<<",
    "select(",
    "...",
    "tostring(",
    "tonumber(",
    "weigh(",
    "label(",
    "shaky(",
    "collect",
    "parallel{",
    "next",
    "rawget",
    "math.mininteger",
    "(0/0)",
    "%b",
    "%f",
];

#[test]
fn generated_programs_do_the_same_as_in_lua() {
    let count = setting("LUAPLAN_TEST_PROGRAMS").unwrap_or(PROGRAMS);
    let first = setting("LUAPLAN_TEST_SEED").unwrap_or(1);
    let mut counts = Count::default();
    let mut told: BTreeMap<String, (u64, String)> = BTreeMap::new();
    let mut differing = 0_u64;
    for seed in first..first + count {
        let program = generate::program(seed, taste(seed));
        let source = program.source();
        let lua = normal::lua(bare::run(&source));
        let ours = normal::ours(ours::run::<Vm>(&source).0, &lua);
        counts.add(&source, &lua);
        if let Some(difference) = judge(&lua, &ours) {
            differing += 1;
            // Each kind of difference is told of once.
            if let Some((times, _)) = told.get_mut(&kind_of(&difference)) {
                *times += 1;
            } else if told.len() < TOLD_MAX {
                told.insert(kind_of(&difference), (1, tell(seed, program)));
            }
        }
    }
    eprintln!("{count} programs from seed {first}: {:?}; {differing} differ", counts.ends);
    if count >= PROGRAMS {
        eprintln!("programs with each construct: {:?}", counts.seen);
        let missing: Vec<_> = CONSTRUCTS.iter().filter(|name| !counts.seen.contains_key(*name)).collect();
        assert!(missing.is_empty(), "no program has {missing:?}");
        let ended_badly: u64 =
            counts.ends.iter().filter(|(end, _)| *end != "returned").map(|(_, count)| count).sum();
        assert!((5..50).contains(&(ended_badly * 100 / count)), "{ended_badly} of {count} ended in errors");
    }
    let told: Vec<String> =
        told.into_values().map(|(times, text)| format!("-- {times} programs\n{text}")).collect();
    assert!(told.is_empty(), "{differing} of {count} programs differ\n\n{}", told.join("\n\n"));
}

/// A difference without what is particular to one program: the words of both messages.
fn kind_of(difference: &str) -> String {
    let words = |line: &str| {
        line.split(|c: char| !c.is_ascii_alphabetic())
            .filter(|word| word.len() > 3)
            .take(9)
            .collect::<Vec<_>>()
            .join(" ")
    };
    difference.lines().map(words).collect::<Vec<_>>().join("/")
}

fn tell(seed: u64, program: Program) -> String {
    let whole = difference(&program.source()).unwrap_or_default();
    // The same aspect must still differ, or the reduction would find another difference.
    let aspect = whole.split(':').next().unwrap_or_default().to_owned();
    let small =
        program.shrink(|program| difference(&program.source()).is_some_and(|text| text.starts_with(&aspect)));
    let source = small.source();
    let found = difference(&source).unwrap_or_default();
    let body = source.split_once("function run(context)").map_or("", |(_, body)| body);
    format!("-- seed {seed}\n{found}\n{body}")
}
