//! Nothing that is written can overflow the stack of the check.

use luaplan::plan::check;

use super::{catalog, check_text, limits};

#[test]
fn what_is_just_within_the_bounds_is_walked_on_a_small_stack() {
    let shapes = [
        ("(".repeat(110), "1", ")".repeat(110)),
        ("{".repeat(110), "", "}".repeat(110)),
        ("f(".repeat(110), "", ")".repeat(110)),
        ("function() return ".repeat(55), "1", " end".repeat(55)),
        ("1 + ".repeat(790), "1", String::new()),
        ("f".to_owned(), "", "()".repeat(790)),
        ("a".to_owned(), "", ".b".repeat(790)),
        ("a .. ".repeat(170), "a", String::new()),
        ("not ".repeat(170), "a", String::new()),
        ("((1 + 1 + 1 + 1) + ".repeat(85), "1", ")".repeat(85)),
    ];
    for (before, middle, after) in shapes {
        let source = format!("function run(f, a)\n  return {before}{middle}{after}\nend");
        assert_eq!(check_text(&source).findings, [], "{before}");
    }
}

/// Sources that would overflow a parser that calls itself.
#[test]
fn no_depth_overflows_the_stack() {
    let many = |piece: &str| piece.repeat(20_000 / piece.len());
    let (mut limits, catalog) = (limits(), catalog());
    limits.source_bytes = u64::MAX;
    let heads = ["return ", ""];
    let pieces = [
        "(",
        "{",
        "[",
        "a[",
        "f(",
        "f{",
        "-",
        "- ",
        "not ",
        "~",
        "#",
        "a..",
        "a^",
        "1+",
        "a and ",
        "a.b",
        ".b",
        "()",
        ":m()",
        "{}",
        "'x'",
        "[[x]]",
        "function() ",
        "function f() ",
        "local function f() ",
        "if a then ",
        "if ",
        "else ",
        "elseif a then ",
        "while a do ",
        "while ",
        "for i=1,2 do ",
        "for ",
        "do ",
        "repeat ",
        "{ ) ,",
        "( ]",
        "{[",
        "{a=",
        "(a+",
        "a+(",
        "f(a,",
        "return ",
        "end ",
        "until ",
        "goto x ",
        "::x:: ",
        "local ",
        "a,",
        "a=",
        "= ",
        "..",
        "...,",
        "a..(",
        "-(",
        "(function() ",
        "x=function() ",
    ];
    for head in heads {
        for piece in pieces {
            let source = format!("{head}{}", many(piece));
            let report = check(&source, "plan", &catalog, &limits);
            assert!(report.plan.is_none(), "{head}{piece}");
            // Just under the bounds the parser and the walk do run.
            for times in [55, 115, 170, 780] {
                let _ = check(&format!("{head}{}", piece.repeat(times)), "plan", &catalog, &limits);
            }
        }
    }
}
