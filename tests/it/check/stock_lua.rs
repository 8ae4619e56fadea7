//! Generated sources are refused exactly where the stock compiler refuses them.

use proptest::prelude::*;

use super::{check_text, compiles};

fn token_soup() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "and",
        "break",
        "do",
        "else",
        "elseif",
        "end",
        "false",
        "for",
        "function",
        "goto",
        "if",
        "in",
        "local",
        "nil",
        "not",
        "or",
        "repeat",
        "return",
        "then",
        "true",
        "until",
        "while",
        "a",
        "b",
        "run",
        "self",
        "_G",
        "_ENV",
        "os",
        "query_db",
        "send_email",
        "desk",
        "1",
        "0x1p4",
        "3.5",
        "'s'",
        "\"t\\n\"",
        "[[l]]",
        "...",
        "+",
        "-",
        "*",
        "/",
        "//",
        "%",
        "^",
        "#",
        "==",
        "~=",
        "<=",
        ">=",
        "<",
        ">",
        "=",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "::",
        ";",
        ":",
        ",",
        ".",
        "..",
        "&",
        "|",
        "~",
        "<<",
        ">>",
        "<const>",
        "<close>",
        "-- c\n",
        "--[[ c ]]",
        "\n",
        "goto a",
        "::a::",
        "!=",
        "+=",
        "?",
        "@",
        "é",
    ]);
    prop::collection::vec(words, 0..60).prop_map(|words| words.join(" "))
}

/// Mostly correct statements, so that the check's second half is reached too.
fn statements() -> impl Strategy<Value = String> {
    let expression = prop::sample::select(vec![
        "1",
        "nil",
        "a",
        "a.b",
        "a[1]",
        "f(a)",
        "a:m(1)",
        "{1, a = 2, [b] = 3}",
        "function(...) return ... end",
        "...",
        "'x' .. a",
        "-a ^ 2",
        "not (a == b)",
        "#a + 1 // 2",
        "query_db{table = 'x'}",
        "query_db('x', 1)",
        "send_email()",
        "os.time()",
        "desk.search(1)",
        "pcall(send_email, a)",
        "string.trim(a)",
        "(a)",
        "(f())",
    ]);
    let statement = (
        prop::sample::select(vec![
            "local a = E",
            "local b <const> = E",
            "local c <close> = E",
            "a = E",
            "a.b, b = E, E",
            "f(E)",
            "return E",
            "break",
            "goto l",
            "::l::",
            "if E then S end",
            "if E then S elseif E then S else S end",
            "while E do S end",
            "for i = 1, E do S end",
            "for k, v in pairs(E) do S end",
            "repeat S until E",
            "do S end",
            "function run(x) S end",
            "local function f(...) S end",
            ";",
            "function a.b:c() S end",
            "goto continue",
            "::continue::",
            "local run = E",
        ]),
        prop::collection::vec(expression, 3),
    );
    prop::collection::vec(statement, 1..14).prop_map(|parts| {
        // Later statements fill the blocks of earlier ones.
        let mut text = String::new();
        for (shape, expressions) in parts.into_iter().rev() {
            let mut next = expressions.into_iter();
            let mut filled = String::new();
            let mut inner = Some(std::mem::take(&mut text));
            let mut used_inner = false;
            for c in shape.split_inclusive(|c: char| !c.is_alphabetic()) {
                match c.trim_end() {
                    "E" | "E," | "E)" => filled.push_str(&c.replacen('E', next.next().unwrap_or("a"), 1)),
                    "S" => {
                        used_inner = true;
                        filled.push_str(inner.take().as_deref().unwrap_or("a = 1"));
                        filled.push(' ');
                    }
                    _ => filled.push_str(c),
                }
            }
            if !used_inner {
                filled.push('\n');
                filled.push_str(inner.take().as_deref().unwrap_or_default());
            }
            text = filled;
        }
        text
    })
}

fn agrees_with_stock_lua(source: &str) -> Result<(), TestCaseError> {
    let report = check_text(source);
    let syntax: Vec<_> = report.findings.iter().filter(|finding| finding.code == "plan_syntax").collect();
    let stock = compiles(source);
    prop_assert_eq!(
        !syntax.is_empty(),
        stock.is_err(),
        "source: {}\ncheck: {:?}\nstock: {:?}",
        source,
        syntax,
        stock
    );
    for finding in &report.findings {
        prop_assert!(source.get(finding.span.0..finding.span.1).is_some());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_checked_without_a_panic(source in "\\PC{0,200}") {
        check_text(&source);
    }

    #[test]
    fn token_soup_is_refused_exactly_where_stock_lua_refuses_it(source in token_soup()) {
        agrees_with_stock_lua(&source)?;
    }

    #[test]
    fn statements_are_refused_exactly_where_stock_lua_refuses_them(source in statements()) {
        agrees_with_stock_lua(&source)?;
    }
}
