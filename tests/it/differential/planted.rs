//! Does the comparison see anything? A library with a mistake in it must be found out.

use luaplan::sandbox::Vm;

use super::{bare, generate, judge, normal, ours, taste};

/// Programs tried until a mistake must have shown.
const PROGRAMS: u64 = 300;

/// Each changes one function as a careless rewrite might. All on one line: lines must stay.
const MISTAKES: &[(&str, &str)] = &[
    (
        "rep forgets the separator",
        "local stock_rep = string.rep string.rep = function(s, n) return stock_rep(s, n) end",
    ),
    (
        "sub takes -1 for the end as it is",
        "local stock_sub = string.sub string.sub = function(s, i, j) return stock_sub(s, i, j == -1 and #s - 1 or j) end",
    ),
    (
        "gsub does not count",
        "local stock_gsub = string.gsub string.gsub = function(...) return (stock_gsub(...)), 0 end",
    ),
    (
        "find begins one late",
        "local stock_find = string.find string.find = function(s, p, i, ...) return stock_find(s, p, i and i > 2 and i + 1 or i, ...) end",
    ),
    (
        "match has no anchor",
        "local stock_match = string.match string.match = function(s, p, ...) return stock_match(s, (stock_match(p, '^%^?(.*)$')), ...) end",
    ),
    ("fmod takes the sign of the divisor", "math.fmod = function(a, b) return a % b end"),
    (
        "zero loses its sign",
        "local stock_tostring = tostring tostring = function(v) return v == 0 and '0' or stock_tostring(v) end",
    ),
    (
        "insert always appends",
        "local stock_insert = table.insert table.insert = function(t, a, ...) if select('#', ...) == 1 then return stock_insert(t, ...) end return stock_insert(t, a, ...) end",
    ),
    (
        "sort leaves the last item",
        "local stock_sort = table.sort table.sort = function(t, by) local l = table.remove(t) stock_sort(t, by) t[#t + 1] = l end",
    ),
    (
        "pcall loses results",
        "local stock_pcall = pcall pcall = function(...) local ok, v = stock_pcall(...) return ok, v end",
    ),
    ("a dead coroutine is suspended", "coroutine.status = function() return 'suspended' end"),
    ("isyieldable is always true", "coroutine.isyieldable = function() return true end"),
    (
        "floor gives floats",
        "local stock_floor = math.floor math.floor = function(v) return stock_floor(v) + 0.0 end",
    ),
    ("len counts bytes", "utf8.len = function(s) return #s end"),
    (
        "concat has no separator",
        "local stock_concat = table.concat table.concat = function(t, _, ...) return stock_concat(t, '', ...) end",
    ),
    (
        "byte gives one byte",
        "local stock_byte = string.byte string.byte = function(s, i) return (stock_byte(s, i)) end",
    ),
];

/// The first program that shows the difference `changed` makes.
fn found_by(changed: &str) -> Option<(u64, String)> {
    (1..=PROGRAMS).find_map(|seed| {
        let source = generate::program(seed, taste(seed)).source();
        let lua = normal::lua(bare::run(&source));
        let ours = ours::run::<Vm>(&format!("{changed} {source}")).0;
        Some((seed, judge(&lua, &normal::ours(ours, &lua))?))
    })
}

#[test]
fn every_planted_mistake_is_found() {
    let found: Vec<_> =
        MISTAKES.iter().map(|(what, changed)| (*what, found_by(changed).map(|(seed, _)| seed))).collect();
    eprintln!("found by program: {found:?}");
    let missed: Vec<_> = found.iter().filter(|(_, seed)| seed.is_none()).collect();
    assert!(missed.is_empty(), "not found in {PROGRAMS} programs: {missed:?}");
}

#[test]
fn a_function_that_only_passes_on_makes_no_difference() {
    let passes_on = "local stock_rep = string.rep string.rep = function(...) return stock_rep(...) end";
    assert_eq!(found_by(passes_on), None);
}
