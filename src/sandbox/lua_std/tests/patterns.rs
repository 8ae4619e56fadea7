//! Patterns: what each means, what they cost, and that they mean what they mean in Lua 5.4.

use super::compare::{Budget, LuaSide, Outcome, Random, TestValue, compare, each_case, run_native};
use super::pattern_cases::{anything, replacement, subject, subject_and_pattern, whole_number};
use crate::lua_std::{NATIVES, Native};

pub(super) fn native(name: &str) -> &'static Native {
    NATIVES.iter().copied().flatten().find(|native| native.name == name).unwrap()
}

fn text(text: impl AsRef<[u8]>) -> TestValue {
    TestValue::Text(text.as_ref().to_vec())
}

fn call(name: &str, args: &[TestValue]) -> Outcome {
    run_native(native(name), name, args, &Budget::new(100_000_000, 1 << 30))
}

fn results(name: &str, args: &[TestValue]) -> Vec<TestValue> {
    match call(name, args) {
        Outcome::Results(results) => results,
        other => panic!("{name}{args:?}: {other:?}"),
    }
}

fn matched(subject: &str, pattern: &str) -> Vec<TestValue> {
    results("match", &[text(subject), text(pattern)])
}

#[test]
fn each_feature_of_a_pattern_matches_what_it_should() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("key = value", "^(%w+)%s*=%s*(%w+)$", &["key", "value"]),
        ("f(a(b)c)d", "%b()", &["(a(b)c)"]),
        ("THE (quick) fox", "%f[%a]%a+%f[%A]", &["THE"]),
        ("say \"x\" and 'y'", "(['\"])(.-)%1", &["\"", "x"]),
        ("a.b", "a%.b", &["a.b"]),
        ("x-y]z", "[]-]+", &["-"]),
        ("x^y", "[x^]+", &["x^"]),
        ("caaat", "ca-t", &["caaat"]),
        ("caaat", "ca?a?a?a?t", &["caaat"]),
        ("aXb", "%u", &["X"]),
        ("12ab", "%D+", &["ab"]),
        ("a$b$", "b$$", &["b$"]),
        ("((x", "%(%((.)", &["x"]),
    ];
    for (subject, pattern, wanted) in cases {
        let wanted: Vec<TestValue> = wanted.iter().map(text).collect();
        assert_eq!(matched(subject, pattern), wanted, "{pattern}");
    }
    assert_eq!(matched("abc", "b()"), [TestValue::Integer(3)]);
    assert_eq!(matched("abc", "^b"), [TestValue::Nil]);
    let found = results("find", &[text("a.b"), text("."), TestValue::Integer(2), TestValue::Boolean(true)]);
    assert_eq!(found, [TestValue::Integer(2), TestValue::Integer(2)]);
}

#[test]
fn malformed_patterns_are_told_as_lua_tells_them() {
    let original = LuaSide::original("string.find");
    let patterns = [
        "%", "[a", "[", "[^", "[%", "[a%", "[]", "%b", "%bx", "%f", "%fa", "(", "a)", "%1", "(%1)", "(a)%2",
        "(()", "%f[a", "a[", "[a-", "()%1",
    ];
    for pattern in patterns {
        compare(native("find"), &original, &[text("ab"), text(pattern)]);
    }
    for (pattern, message) in [("%", "malformed pattern (ends with '%')"), ("%1", "invalid capture index %1")]
    {
        assert_eq!(call("match", &[text("a"), text(pattern)]), Outcome::Error(message.to_owned()));
    }
}

#[test]
fn a_pattern_is_too_complex_at_the_same_depth_as_in_lua() {
    let original = LuaSide::original("string.find");
    for (item, subject) in
        [("a?", "a"), ("a*", "b"), ("a*", "ab"), ("a-", "a"), ("a+b*", "ab"), ("(a?)", "a")]
    {
        for count in [15, 32, 33, 65, 66, 67, 98, 99, 100, 101, 198, 199, 200, 201] {
            let args = [text(subject.repeat(300)), text(item.repeat(count))];
            compare(native("find"), &original, &args);
        }
    }
    let pattern = "a?".repeat(200);
    let wanted = Outcome::Error("pattern too complex".to_owned());
    assert_eq!(call("find", &[text("a".repeat(300)), text(pattern)]), wanted);
}

/// Runs a call that would take for ever, with a small budget; gives what it used.
fn used_by_hostile(name: &str, args: &[TestValue]) -> u64 {
    let budget = Budget::new(1_000_000, 1 << 26);
    let outcome = run_native(native(name), name, args, &budget);
    assert_eq!(outcome, Outcome::Dead, "{name} with {} instructions", budget.instructions.get());
    budget.instructions.get()
}

#[test]
fn endless_work_ends_at_the_budget() {
    let long = "a".repeat(30_000);
    let hostile = [
        (long.clone(), format!("{}b", "a-".repeat(50))),
        (long.clone(), ".-.-.-.-b".to_owned()),
        (long.clone(), ".*.*.*.*b".to_owned()),
        (long.clone(), "(.-)(.-)(.-)%1%2%3b".to_owned()),
        ("(".repeat(30_000), "%b()".to_owned()),
        (long.clone(), format!("{}b", "a?".repeat(60))),
        (long.clone(), format!("^{}b", "[^b]*".repeat(20))),
        (long.clone(), format!("[{}]*b", "c-d".repeat(10_000))),
        ("a b ".repeat(30_000), "^(.-)%s+(.-)%s+(.-)%s+c$".to_owned()),
    ];
    for (subject, pattern) in &hostile {
        for name in ["find", "match", "gmatch_step", "gsub", "gsub_step"] {
            let mut args = vec![text(subject), text(pattern), TestValue::Integer(0)];
            if name == "gsub" {
                args[2] = text("");
            }
            if name == "gmatch_step" && pattern.starts_with('^') {
                continue; // a plain `^` there, which is not found
            }
            // What a search overshoots its budget by is one batch.
            assert!(used_by_hostile(name, &args) < 1_100_000, "{name} {pattern}");
        }
    }
}

#[test]
fn a_plain_search_is_linear_and_charged() {
    let subject = "a".repeat(1_000_000);
    for wanted_bytes in [1, 2, 1_000, 32_768, 40_000] {
        let wanted = format!("{}b", "a".repeat(wanted_bytes));
        let args = [text(&subject), text(&wanted), TestValue::Nil, TestValue::Boolean(true)];
        let budget = Budget::new(1_000_000, 1 << 26);
        let outcome = run_native(native("find"), "find", &args, &budget);
        let used = budget.instructions.get();
        if wanted_bytes < 32_768 {
            assert_eq!(outcome, Outcome::Results(vec![TestValue::Nil]));
            assert!((62_000..130_000).contains(&used), "{wanted_bytes}: {used}");
        }
    }
    let mut subject = subject.into_bytes();
    subject.extend_from_slice(b"b");
    let wanted = [&[b'a'; 70_000][..], b"b"].concat();
    let args = [text(&subject), text(&wanted), TestValue::Integer(929_000), TestValue::Boolean(true)];
    assert_eq!(results("find", &args), [TestValue::Integer(930_001), TestValue::Integer(1_000_001)]);
}

#[test]
fn the_cost_of_a_call_depends_on_its_arguments_alone() {
    each_case("cost", 300, |random| {
        let args = subject_and_pattern(random);
        let used = |limit| {
            let budget = Budget::new(limit, 1 << 26);
            let outcome = run_native(native("find"), "find", &args, &budget);
            (budget.instructions.get(), outcome)
        };
        assert_eq!(used(u64::MAX), used(1 << 40), "{args:?}");
    });
}

#[test]
fn a_repetition_that_cannot_fit_ends_the_run_before_it_is_built() {
    let budget = Budget::new(u64::MAX, 1_000_000);
    let huge = [text("x"), TestValue::Integer(1 << 40)];
    assert_eq!(run_native(native("rep"), "rep", &huge, &budget), Outcome::Dead);
    assert_eq!(results("rep", &[text(""), TestValue::Integer(i64::MAX)]), [text("")]);
    let wide = [text("x"), TestValue::Integer(1 << 31)];
    let outcome = run_native(native("rep"), "rep", &wide, &Budget::new(u64::MAX, u64::MAX));
    assert_eq!(outcome, Outcome::Error("resulting string too large".to_owned()));
    let long = results("rep", &[text("ab"), TestValue::Integer(1_000_003), text("-")]);
    assert_eq!(long, [text(vec!["ab"; 1_000_003].join("-"))]);
}

fn optional(random: &mut Random, args: &mut Vec<TestValue>, add: fn(&mut Random) -> TestValue) {
    if args.len() >= 2 && random.one_in(3) {
        args.push(add(random));
    }
}

#[test]
fn find_and_match_give_what_lua_gives() {
    let (find, match_) = (LuaSide::original("string.find"), LuaSide::original("string.match"));
    each_case("find and match", 12_000, |random| {
        let mut args = subject_and_pattern(random);
        optional(random, &mut args, whole_number);
        if args.len() == 3 && random.one_in(3) {
            args.push(if random.one_in(2) { TestValue::Boolean(true) } else { anything(random) });
        }
        if random.one_in(2) {
            compare(native("find"), &find, &args);
        } else {
            compare(native("match"), &match_, &args);
        }
    });
}

#[test]
fn gsub_with_a_text_gives_what_lua_gives() {
    let original = LuaSide::original("string.gsub");
    each_case("gsub", 8_000, |random| {
        let mut args = subject_and_pattern(random);
        if args.len() == 2 {
            args.push(replacement(random));
            optional(random, &mut args, whole_number);
        }
        // Calls with a function or table are compared in `prelude_patterns`.
        if !matches!(args.get(2), Some(TestValue::Table | TestValue::Function)) {
            compare(native("gsub"), &original, &args);
        }
    });
}

#[test]
fn rep_gives_what_lua_gives() {
    let original = LuaSide::original("string.rep");
    each_case("rep", 3_000, |random| {
        let mut first = if random.one_in(8) { anything(random) } else { text(subject(random)) };
        if first == text("") {
            first = text("a"); // the original counts to any number over an empty text
        }
        let count = match random.below(8) {
            0 => anything(random),
            1 => TestValue::Number(random.below(9) as f64),
            2 => TestValue::Integer(random.pick(&[i64::MIN, i64::MAX, -1])),
            _ => TestValue::Integer(random.below(12) as i64),
        };
        let mut args = vec![first, count];
        if random.one_in(2) {
            args.push(if random.one_in(4) { anything(random) } else { text(subject(random)) });
        }
        compare(native("rep"), &original, &args);
    });
}
