//! Enumerations in constraints: `CHECK (status IN ('open', 'paid'))`.

use super::super::dialect::Dialect;
use super::super::lex::{Token, TokenKind, lex};

/// Words that make of a list of values something else than the list of all that may be.
const DECIDES_MORE: [&str; 3] = ["AND", "OR", "NOT"];

/// The column and the only texts it may have, of each constraint in `sql` that says nothing else. What cannot be
/// read says nothing.
pub(super) fn listed_values(dialect: Dialect, sql: &str) -> Vec<(String, Vec<String>)> {
    let Ok(mut tokens) = lex(dialect, sql) else { return Vec::new() };
    tokens.retain(|token| token.kind != TokenKind::Comment);
    let starts =
        (0..tokens.len()).filter(|at| tokens.get(*at).is_some_and(|token| token.is_keyword("CHECK")));
    starts.filter_map(|at| listed(dialect, bracketed(tokens.get(at + 1..)?)?)).collect()
}

/// The texts of MySQL's `enum('a','b')`.
pub(super) fn enum_values(column_type: &str) -> Vec<String> {
    match lex(Dialect::Mysql, column_type) {
        Ok(tokens) if tokens.first().is_some_and(|token| token.is_keyword("ENUM")) => {
            texts(Dialect::Mysql, &tokens)
        }
        _ => Vec::new(),
    }
}

/// What stands in the bracket that `tokens` begin with.
fn bracketed<'t, 's>(tokens: &'t [Token<'s>]) -> Option<&'t [Token<'s>]> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        if token.is("(") {
            depth += 1;
        } else if token.is(")") {
            depth = depth.checked_sub(1)?;
        }
        if depth == 0 {
            return tokens.get(1..at);
        }
    }
    None
}

/// `x IN ('a', 'b')`, or PostgreSQL's `x = ANY (ARRAY['a'::text, 'b'::text])`.
fn listed(dialect: Dialect, tokens: &[Token<'_>]) -> Option<(String, Vec<String>)> {
    let has = |keyword: &str| tokens.iter().any(|token| token.is_keyword(keyword));
    if DECIDES_MORE.into_iter().any(has) || !(has("IN") || (has("ANY") && has("ARRAY"))) {
        return None;
    }
    let column = tokens.iter().find(|token| !token.is("("))?.spelled_name()?;
    let operators = tokens.iter().filter(|token| ["<", ">", "|", "+"].iter().any(|sign| token.is(sign)));
    let texts = texts(dialect, tokens);
    (operators.count() == 0 && !texts.is_empty()).then_some((column, texts))
}

fn texts(dialect: Dialect, tokens: &[Token<'_>]) -> Vec<String> {
    let texts = tokens.iter().filter(|token| token.kind == TokenKind::Text).map(Token::unquoted);
    if !dialect.backslash_escapes() {
        return texts.collect();
    }
    texts.map(|text| text.replace("\\'", "'").replace("\\\\", "\\")).collect()
}

#[cfg(test)]
mod tests {
    use super::{Dialect, enum_values, listed_values};

    #[test]
    fn a_list_of_all_values_is_read_and_nothing_that_says_more_or_less() {
        let found = |dialect, sql: &str| {
            let found = listed_values(dialect, sql).into_iter();
            found.map(|(column, values)| format!("{column}: {}", values.join("|"))).collect::<Vec<_>>()
        };
        let table = "CREATE TABLE o (id INTEGER, /* CHECK (x IN ('no')) */ status TEXT CHECK (status IN ('open', 'it''s')), \
            n INTEGER CHECK (n > 0), kind TEXT CHECK (kind IN ('a') OR n = 1), CHECK (\"Size\" IN ('S','M')))";
        assert_eq!(found(Dialect::Sqlite, table), ["status: open|it's", "Size: S|M"]);
        let definition = "CHECK (((status)::text = ANY ((ARRAY['open'::character varying, 'paid'::character varying])::text[])))";
        assert_eq!(found(Dialect::Postgres, definition), ["status: open|paid"]);
        assert_eq!(found(Dialect::Postgres, "CHECK ((NOT (a = ANY (ARRAY['x'::text]))))"), [""; 0]);
        assert_eq!(found(Dialect::Mysql, r"CHECK (`s` in ('a','it\'s'))"), ["s: a|it's"]);
        assert_eq!(found(Dialect::Sqlite, "CHECK (s IN ('a'"), [""; 0]);
        assert_eq!(enum_values("enum('new','it''s')"), ["new", "it's"]);
        assert_eq!(enum_values("varchar(10)"), [""; 0]);
    }
}
