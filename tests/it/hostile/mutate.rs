//! Mutants of the corpus: lines and expressions swapped between plans, constants replaced by huge
//! ones, loops doubled, bodies wrapped in whatever catches. All of it follows from a seed.

use super::corpus::Case;
use super::dice::Dice;

impl Dice {
    fn of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// Numbers at which something overflows, wraps, or is lost.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "-1",
    "255",
    "65536",
    "1000000",
    "2147483647",
    "2147483648",
    "-2147483649",
    "4294967296",
    "(1 << 40)",
    "9007199254740993",
    "math.maxinteger",
    "math.mininteger",
    "1e15",
    "1e308",
    "5e-324",
    "math.huge",
    "-math.huge",
    "(0/0)",
    "0.1",
    "1e9",
    "\"10\"",
    "{}",
    "nil",
    "\"x\"",
];

/// What runs the plan's own `run` under another name.
const WRAPPINGS: &[&str] = &[
    "while true do pcall(inner, context) end",
    "for i = 1, 100 do pcall(inner, context) end return 'ok'",
    "return select(2, pcall(pcall, inner, context))",
    "xpcall(inner, function() while true do inner() end end, context) return 'ok'",
    "xpcall(inner, inner, context) return 'ok'",
    "return coroutine.wrap(inner)(context)",
    "local co = coroutine.create(inner) while coroutine.resume(co, context) do end return 'ok'",
    "while true do coroutine.resume(coroutine.create(inner), context) end",
    "pcall(parallel, { function() return inner(context) end, function() return inner(context) end }) return 'ok'",
    "pcall(retry, 5, inner, context) return 'ok'",
    "pcall(table.sort, { 3, 1, 2, 5, 4 }, function(a, b) inner(context) return a < b end) return 'ok'",
    "pcall(string.gsub, 'abc', '%w', function() return inner(context) end) return 'ok'",
    "local x <close> = setmetatable({}, { __close = function() inner(context) end }) return inner(context)",
    "local t = setmetatable({}, { __index = inner, __call = inner, __len = inner }) pcall(function() return t.x end) return #t",
    "return pcall(tostring, setmetatable({}, { __tostring = inner }))",
    "for x in inner do inner(x) end",
    "return list.map({ 1, 2, 3 }, function() return inner(context) end)",
    "local ok, e = pcall(inner, context) error(e)",
    "echo(inner(context)) return inner(context)",
    "local co = coroutine.wrap(function() local y <close> = setmetatable({}, { __close = inner }) coroutine.yield() end) co() inner(context)",
];

/// Functions that are put in each other's place.
const FUNCTIONS: &[&str] = &[
    "string.rep",
    "string.find",
    "string.match",
    "string.gmatch",
    "string.gsub",
    "string.format",
    "string.byte",
    "string.char",
    "string.pack",
    "string.unpack",
    "string.packsize",
    "string.reverse",
    "string.upper",
    "table.concat",
    "table.insert",
    "table.remove",
    "table.move",
    "table.unpack",
    "table.pack",
    "table.sort",
    "utf8.len",
    "utf8.char",
    "utf8.codepoint",
    "utf8.offset",
    "utf8.codes",
    "tostring",
    "tonumber",
    "select",
    "pairs",
    "ipairs",
    "next",
    "rawget",
    "rawset",
    "rawlen",
    "setmetatable",
    "getmetatable",
    "pcall",
    "xpcall",
    "error",
    "coroutine.wrap",
    "coroutine.create",
    "coroutine.resume",
    "coroutine.close",
    "json.encode",
    "json.decode",
    "csv.parse",
    "csv.encode",
    "text.replace",
    "text.split",
    "text.wrap",
    "list.map",
    "list.flatten",
    "list.range",
    "list.sort_by",
    "stats.histogram",
    "date.range",
    "echo",
    "fail",
    "print",
    "parallel",
    "retry",
];

/// A plan made of the corpus, the same for the same seed.
pub(crate) fn mutant(cases: &[&Case], seed: u64) -> String {
    let dice = &mut Dice::new(seed);
    let mut source = body(dice.of::<&Case>(cases)).to_owned();
    for _ in 0..=dice.below(3) {
        let other = body(dice.of::<&Case>(cases));
        source = match dice.below(8) {
            0 => swap_line(dice, &source, other),
            1 | 2 => replace_number(dice, &source),
            3 => wrap(dice, &source),
            4 => double_line(dice, &source),
            5 => swap_arguments(dice, &source, other),
            6 => replace_function(dice, &source),
            _ => join(dice, &source, other),
        };
    }
    source
}

/// The plan without the comments at its head.
fn body(case: &Case) -> &str {
    let mut rest = case.source.as_str();
    while rest.starts_with("-- ") {
        rest = rest.split_once('\n').map_or("", |(_, after)| after);
    }
    rest
}

fn swap_line(dice: &mut Dice, source: &str, other: &str) -> String {
    let mut lines: Vec<&str> = source.lines().collect();
    let theirs: Vec<&str> = other.lines().collect();
    if lines.len() < 3 || theirs.len() < 3 {
        return source.to_owned();
    }
    let place = 1 + dice.below(lines.len() - 2);
    lines[place] = theirs[1 + dice.below(theirs.len() - 2)];
    lines.join("\n")
}

fn double_line(dice: &mut Dice, source: &str) -> String {
    let mut lines: Vec<&str> = source.lines().collect();
    let loops: Vec<usize> = (0..lines.len())
        .filter(|place| {
            ["while ", "for ", "repeat", "(", "="].iter().any(|word| lines[*place].contains(word))
        })
        .collect();
    if loops.is_empty() {
        return source.to_owned();
    }
    let place = *dice.of(&loops);
    lines.insert(place, lines[place]);
    lines.join("\n")
}

/// Where numbers stand that are not part of a name or another number.
fn numbers(source: &str) -> Vec<(usize, usize)> {
    let bytes = source.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let begins = bytes[at].is_ascii_digit()
            && (at == 0 || !(bytes[at - 1].is_ascii_alphanumeric() || b"_.\\%".contains(&bytes[at - 1])));
        let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        if begins {
            found.push((at, at + length));
        }
        at += length.max(1);
    }
    found
}

fn replace_number(dice: &mut Dice, source: &str) -> String {
    let found = numbers(source);
    if found.is_empty() {
        return source.to_owned();
    }
    let (from, to) = *dice.of(&found);
    format!("{}{}{}", &source[..from], dice.of(NUMBERS), &source[to..])
}

fn wrap(dice: &mut Dice, source: &str) -> String {
    let inner = source.replacen("function run(", "function inner(", 1);
    format!("{inner}\nfunction run(context) {} end", dice.of(WRAPPINGS))
}

fn join(dice: &mut Dice, source: &str, other: &str) -> String {
    let first = source.replacen("function run(", "function first(", 1);
    let second = other.replacen("function run(", "function second(", 1);
    let both = [
        "pcall(first, c) return second(c)",
        "return parallel({ function() return first(c) end, function() return second(c) end })",
        "local co = coroutine.wrap(second) pcall(co, first(c)) return 'ok'",
        "return first(second(c))",
        "xpcall(first, second, c) return 'ok'",
    ];
    format!("{first}\n{second}\nfunction run(c) {} end", dice.of(&both))
}

/// Where the arguments of calls stand, without their parentheses.
fn arguments(source: &str) -> Vec<(usize, usize)> {
    let mut open = Vec::new();
    let mut found = Vec::new();
    for (at, byte) in source.bytes().enumerate() {
        match byte {
            b'(' => open.push(at + 1),
            b')' => found.extend(open.pop().map(|from| (from, at))),
            _ => {}
        }
    }
    found
}

fn swap_arguments(dice: &mut Dice, source: &str, other: &str) -> String {
    let (ours, theirs) = (arguments(source), arguments(other));
    if ours.is_empty() || theirs.is_empty() {
        return source.to_owned();
    }
    let (from, to) = *dice.of(&ours);
    let (their_from, their_to) = *dice.of(&theirs);
    format!("{}{}{}", &source[..from], &other[their_from..their_to], &source[to..])
}

fn replace_function(dice: &mut Dice, source: &str) -> String {
    let known: Vec<&str> = FUNCTIONS.iter().copied().filter(|name| source.contains(name)).collect();
    if known.is_empty() {
        return source.to_owned();
    }
    let times = 1 + dice.below(2);
    source.replacen(*dice.of::<&str>(&known), dice.of::<&str>(FUNCTIONS), times)
}

#[test]
fn a_seed_gives_one_plan_and_most_plans_differ() {
    let cases = super::corpus::cases();
    let plain: Vec<&Case> = cases.iter().filter(|case| !case.generates).collect();
    let sources: std::collections::HashSet<String> = (0..300).map(|seed| mutant(&plain, seed)).collect();
    assert!(sources.len() > 290, "{}", sources.len());
    assert_eq!(mutant(&plain, 7), mutant(&plain, 7));
}
