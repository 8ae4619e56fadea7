//! The check is a function of its input: what else was checked, how much at once and in which order changes nothing.

use luaplan::plan::{Finding, check};

use super::corpus::{Plan, checked, plans, tools};
use super::limits;

/// Plans that the analysis once took longer than anything else for: each piece doubled its work.
fn doubling(count: usize) -> Vec<(&'static str, String)> {
    let pieces = [
        ("local t = {}", "if context.a then t = t.a end"),
        (
            "local t = context.a",
            "if type(t) == 'table' then t = t.a elseif type(t) == 'string' then t = {a = t} end",
        ),
        ("local t = {}", "t.a = t t.b = {t, t.a, t.b} t = t.a.b or t"),
        ("local t = {}", "t = t.a or t"),
        ("local a, b = {}, {}", "if context.a then a, b = b, a end"),
        ("local t = {}", "for i = 1, 3 do if t.a then t = t.b end end"),
        ("local t = {}", "if t then local n = t.next t = n.next end"),
    ];
    let plan = |(top, piece): (&'static str, &'static str)| {
        let body = format!("{piece}\n").repeat(count);
        (piece, format!("function run(context)\n{top}\n{body}return 1\nend"))
    };
    pieces.into_iter().map(plan).collect()
}

#[test]
fn what_doubles_with_each_line_is_told_by_counting_and_not_by_a_clock() {
    let (catalog, limits) = (tools(), limits());
    let codes = |source: &str| -> Vec<String> {
        check(source, "plan", &catalog, &limits).findings.into_iter().map(|finding| finding.code).collect()
    };
    // The longer ones would never end.
    for (piece, source) in doubling(20).into_iter().chain(doubling(60)) {
        assert!(codes(&source).contains(&"plan_types_unknown".to_owned()), "{piece}");
    }
    for (piece, source) in doubling(2) {
        assert!(!codes(&source).contains(&"plan_types_unknown".to_owned()), "{piece}");
    }
    // What plans do often is no such place.
    let plain = "function run(context)\nlocal g, s, n = {}, '', context.n\n".to_owned()
        + &"n = n or 10 g[n] = g[n] or {} s = s .. 'x' if n > 1 then s = s .. 'y' end\n".repeat(40)
        + "return s\nend";
    assert!(!codes(&plain).contains(&"plan_types_unknown".to_owned()));
}

fn findings(plan: &Plan) -> Vec<Finding> {
    checked(plan, &tools()).findings
}

#[test]
fn a_hundred_checks_at_once_in_any_order_find_the_same() {
    let all: Vec<Plan> = plans("faults").into_iter().chain(plans("straight")).collect();
    let picked: Vec<&Plan> = all.iter().step_by(all.len() / 24).collect();
    let before: Vec<Vec<Finding>> = picked.iter().map(|plan| findings(plan)).collect();
    assert!(before.iter().filter(|found| !found.is_empty()).count() > 5);
    std::thread::scope(|scope| {
        for thread in 0..10_usize {
            let (picked, before) = (&picked, &before);
            scope.spawn(move || {
                for round in 0..10_usize {
                    // A hostile plan first, then the others in an order of this thread's own.
                    let hostile = doubling(3 + thread % 5);
                    let (_, source) = &hostile[round % hostile.len()];
                    let _ = check(source, "plan", &tools(), &limits());
                    for step in 0..3 {
                        let place = (thread * 7 + round * 11 + step * 5) % picked.len();
                        assert_eq!(findings(picked[place]), before[place], "{}", picked[place].name);
                    }
                }
            });
        }
    });
}
