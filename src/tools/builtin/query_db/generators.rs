//! Functions that make a long text out of a number: servers check their time-out between functions and
//! not inside one, so that one call over a text of many megabytes may compute for hours.
//!
//! SQLite needs no such rule: its queries run in a process that can be killed.

use super::dialect::Dialect;
use super::failure::{Failed, refused};
use super::lex::{Token, TokenKind};

/// The longest text a statement may ask for by a number.
const LENGTH_MAX: u32 = 100_000;

/// Functions whose result is small where their arguments are columns and small numbers.
const LENGTHS: [&str; 17] = [
    "count",
    "length",
    "char_length",
    "character_length",
    "round",
    "floor",
    "ceil",
    "ceiling",
    "least",
    "greatest",
    "coalesce",
    "ifnull",
    "nullif",
    "abs",
    "min",
    "max",
    "avg",
];

/// Refuses a length that is large or cannot be judged.
///
/// # Errors
/// `query_refused` with limit and observed value.
pub(super) fn generators(dialect: Dialect, tokens: &[Token<'_>]) -> Result<(), Failed> {
    if dialect == Dialect::Sqlite {
        return Ok(());
    }
    let mut open = None;
    for (index, token) in tokens.iter().enumerate() {
        let place = match token.name().as_deref() {
            Some("repeat" | "lpad" | "rpad") => 1,
            Some("space") if dialect == Dialect::Mysql => 0,
            _ => continue,
        };
        if !tokens.get(index + 1).is_some_and(|next| next.is("(")) {
            continue;
        }
        let name = token.text;
        let length = argument(tokens, index + 2, place);
        match judged(length) {
            Length::Bounded => {}
            Length::Open => open = Some(name),
            Length::Above(seen) => return Err(too_long(name, &seen)),
            Length::Unknown => {
                return Err(refused(format!("how long `{name}` makes its text cannot be told"))
                    .with_detail("limit", i64::from(LENGTH_MAX))
                    .with_help(format!(
                        "write the length as a number up to {LENGTH_MAX}, or `LEAST(length, 100)`"
                    )));
            }
        }
    }
    // A length that is a column may be a number of the statement under another name.
    let above = tokens.iter().enumerate().find(|(index, token)| {
        token.kind == TokenKind::Number && (number(token).is_none() || is_hex(tokens, index + 1))
    });
    let above = above.map(|(_, token)| token);
    match (open, above) {
        (Some(name), Some(above)) => Err(too_long(name, above.text)),
        _ => Ok(()),
    }
}

fn too_long(name: &str, observed: &str) -> Failed {
    refused(format!("`{name}` with lengths above {LENGTH_MAX} is not allowed"))
        .with_detail("limit", i64::from(LENGTH_MAX))
        .with_detail("observed", observed)
        .with_help(format!("write the length as a number up to {LENGTH_MAX}, or `LEAST(length, 100)`"))
}

enum Length {
    Bounded,
    /// As long as a column says.
    Open,
    Above(String),
    Unknown,
}

fn judged(tokens: &[Token<'_>]) -> Length {
    match tokens {
        [] => return Length::Bounded,
        [single] if single.kind == TokenKind::Number => {
            return if number(single).is_some() {
                Length::Bounded
            } else {
                Length::Above(single.text.to_owned())
            };
        }
        [least, open, ..] if least.is_keyword("LEAST") && open.is("(") && closes_at_end(tokens) => {
            let bounded = (0..tokens.len()).map(|place| argument(tokens, 2, place)).any(
                |argument| matches!(argument, [single] if single.kind == TokenKind::Number && number(single).is_some()),
            );
            if bounded {
                return Length::Bounded;
            }
        }
        _ => {}
    }
    for (index, token) in tokens.iter().enumerate() {
        let called = tokens.get(index + 1).is_some_and(|next| next.is("("));
        let starred = index.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|before| before.is("("));
        let small = match token.kind {
            TokenKind::Number => match number(token) {
                Some(_) => true,
                None => return Length::Above(token.text.to_owned()),
            },
            TokenKind::Word | TokenKind::QuotedName if called => {
                token.name().is_some_and(|name| LENGTHS.contains(&name.as_str()))
            }
            TokenKind::Word => !token.is_keyword("SELECT") && !is_hex(tokens, index),
            TokenKind::QuotedName => true,
            TokenKind::Punctuation => {
                matches!(token.text, "(" | ")" | "," | "." | "+" | "-" | "/" | ":")
                    || (token.is("*") && starred)
            }
            _ => false,
        };
        if !small {
            return Length::Unknown;
        }
    }
    Length::Open
}

/// A number as it is written, if it is a length that is allowed.
fn number(token: &Token<'_>) -> Option<f64> {
    token.text.parse::<f64>().ok().filter(|number| *number <= f64::from(LENGTH_MAX))
}

/// Whether the word at `index` continues the number right before it: `0xFF`.
fn is_hex(tokens: &[Token<'_>], index: usize) -> bool {
    let number = index.checked_sub(1).and_then(|at| tokens.get(at));
    let word = tokens.get(index).filter(|word| word.kind == TokenKind::Word);
    number
        .zip(word)
        .is_some_and(|(number, word)| number.kind == TokenKind::Number && number.end() == word.start)
}

/// Whether the bracket at 1 closes with the last token.
fn closes_at_end(tokens: &[Token<'_>]) -> bool {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(1) {
        if token.is("(") {
            depth += 1;
        } else if token.is(")") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return index + 1 == tokens.len();
            }
        }
    }
    false
}

/// The argument at `place` of the bracket whose content starts at `from`; empty where there is none.
fn argument<'t, 's>(tokens: &'t [Token<'s>], from: usize, place: usize) -> &'t [Token<'s>] {
    let (mut depth, mut passed, mut start) = (0_usize, 0, from);
    for (index, token) in tokens.iter().enumerate().skip(from) {
        if token.is("(") {
            depth += 1;
        } else if token.is(")") {
            if depth == 0 {
                return if passed == place { tokens.get(start..index).unwrap_or_default() } else { &[] };
            }
            depth -= 1;
        } else if token.is(",") && depth == 0 {
            if passed == place {
                return tokens.get(start..index).unwrap_or_default();
            }
            passed += 1;
            start = index + 1;
        }
    }
    &[]
}
