//! The plan as tokens, and the faults that show in single tokens.

use emmylua_parser::{LexerConfig, LuaLanguageLevel, LuaLexer, LuaTokenKind, Reader};

use super::lines::Span;

/// One token that is neither white space nor comment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: LuaTokenKind,
    pub(super) span: Span,
}

/// A place where the source is not Lua, with message and help.
#[derive(Debug)]
pub(super) struct SourceFault {
    pub(super) span: Span,
    pub(super) message: String,
    pub(super) help: String,
}

impl SourceFault {
    pub(super) fn new(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: help.into() }
    }
}

/// Whether a word starts a statement. `do` is not among them, as it also follows `for` and `while`.
pub(super) const fn begins_statement(kind: LuaTokenKind) -> bool {
    matches!(
        kind,
        LuaTokenKind::TkLocal
            | LuaTokenKind::TkReturn
            | LuaTokenKind::TkIf
            | LuaTokenKind::TkFor
            | LuaTokenKind::TkWhile
            | LuaTokenKind::TkRepeat
            | LuaTokenKind::TkBreak
            | LuaTokenKind::TkGoto
    )
}

/// The tokens of `source`.
///
/// # Errors
/// The first thing that stock Lua's lexer refuses, or that no plan may hold: bytecode, a shebang, a byte
/// order mark, a NUL character.
pub(super) fn tokenize(source: &str) -> Result<Vec<Token>, SourceFault> {
    refuse_foreign_bytes(source)?;
    let mut errors = Vec::new();
    let config = LexerConfig::new(LuaLanguageLevel::Lua54);
    let raw = LuaLexer::new(Reader::new(source), config, Some(&mut errors)).tokenize();
    let mut tokens: Vec<Token> = Vec::with_capacity(raw.len());
    let mut fault: Option<SourceFault> = None;
    for token in raw {
        let span = (token.range.start_offset, token.range.end_offset());
        let text = source.get(span.0..span.1).unwrap_or_default();
        if is_trivia(token.kind) {
            continue;
        }
        let glued = tokens.last().filter(|before| before.span.1 == span.0).copied();
        if fault.is_none() {
            fault = token_fault(token.kind, text, span, glued);
        }
        tokens.push(Token { kind: token.kind, span });
    }
    let lexer_fault = errors.first().map(|error| {
        let span = (usize::from(error.range.start()), usize::from(error.range.end()));
        lexer_words(source, span, &error.message)
    });
    match (fault, lexer_fault) {
        (Some(own), Some(theirs)) => Err(if own.span.0 <= theirs.span.0 { own } else { theirs }),
        (Some(fault), None) | (None, Some(fault)) => Err(fault),
        (None, None) => Ok(tokens),
    }
}

fn is_trivia(kind: LuaTokenKind) -> bool {
    matches!(
        kind,
        LuaTokenKind::TkWhitespace
            | LuaTokenKind::TkEndOfLine
            | LuaTokenKind::TkShortComment
            | LuaTokenKind::TkLongComment
    )
}

fn refuse_foreign_bytes(source: &str) -> Result<(), SourceFault> {
    let first = source.chars().next();
    let span = (0, first.map_or(0, char::len_utf8));
    match first {
        Some('\u{1b}') => {
            return Err(SourceFault::new(
                span,
                "this is compiled Lua bytecode, not source",
                "send the Lua source text",
            ));
        }
        Some('\u{feff}') => {
            return Err(SourceFault::new(
                span,
                "the plan begins with a byte order mark",
                "save it as UTF-8 without one",
            ));
        }
        Some('#') => {
            return Err(SourceFault::new(
                span,
                "the plan begins with `#`; a shebang line is not Lua",
                "remove the first line; comments begin with `--`",
            ));
        }
        _ => {}
    }
    match source.find('\0') {
        None => Ok(()),
        Some(at) => Err(SourceFault::new(
            (at, at + 1),
            "the plan holds a NUL character",
            "write it as `\\0` inside a string",
        )),
    }
}

fn lexer_words(source: &str, span: Span, message: &str) -> SourceFault {
    let text = source.get(span.0..span.1).unwrap_or_default();
    if message.starts_with("unfinished string") {
        let quote = text.chars().next().unwrap_or('"');
        return SourceFault::new(
            span,
            "this string is not closed on its line",
            format!("close it with {quote}, or use [[ … ]] for text over several lines"),
        );
    }
    if message.starts_with("unfinished long") {
        let what = if text.starts_with("--") { "comment" } else { "string" };
        return SourceFault::new(
            span,
            format!("this long {what} is never closed"),
            "close it with `]]`, with as many `=` as it was opened with",
        );
    }
    if text == "?" {
        return SourceFault::new(span, "`?` is not Lua", "write `condition and a or b`, or an `if`");
    }
    SourceFault::new(span, message.replace('\'', "`"), "correct it; plans are Lua 5.4")
}

fn token_fault(kind: LuaTokenKind, text: &str, span: Span, glued: Option<Token>) -> Option<SourceFault> {
    let after_number =
        glued.is_some_and(|before| matches!(before.kind, LuaTokenKind::TkInt | LuaTokenKind::TkFloat));
    let continues_number = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    if let Some(number) = glued.filter(|_| after_number && continues_number) {
        return Some(malformed_number((number.span.0, span.1)));
    }
    match kind {
        LuaTokenKind::TkInt | LuaTokenKind::TkFloat if !is_number(text) => Some(malformed_number(span)),
        LuaTokenKind::TkString => string_fault(text, span.0),
        LuaTokenKind::TkName if !text.is_ascii() => Some(SourceFault::new(
            span,
            format!("`{text}` is not a Lua name"),
            "names have only the letters a to z, digits and `_`; other letters belong into strings",
        )),
        _ => None,
    }
}

fn malformed_number(span: Span) -> SourceFault {
    SourceFault::new(
        span,
        "this number is malformed",
        "write it like 42, 3.14, 1e-3 or 0xff; put spaces around `..`",
    )
}

/// Whether `text` is a number by the rules of stock Lua.
fn is_number(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let (digits, exponent_mark, radix) = match lower.strip_prefix("0x") {
        Some(hexadecimal) => (hexadecimal, 'p', 16),
        None => (lower.as_str(), 'e', 10),
    };
    let (mantissa, exponent) = match digits.split_once(exponent_mark) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    let whole_and_part = mantissa.replacen('.', "", 1);
    let mantissa_fits = !whole_and_part.is_empty() && whole_and_part.chars().all(|c| c.is_digit(radix));
    let exponent_fits = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
    });
    mantissa_fits && exponent_fits
}

/// The first escape of a quoted string that stock Lua refuses.
fn string_fault(text: &str, start: usize) -> Option<SourceFault> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        let rest = text.get(at + 1..).unwrap_or_default();
        let Some(length) = escape_length(rest) else {
            let shown: String = rest.chars().take(1).collect();
            let span = (start + at, start + at + 1 + shown.len());
            return Some(SourceFault::new(
                span,
                format!("`\\{shown}` is not an escape Lua knows, or is not complete"),
                "write `\\\\` for a backslash, `%` to escape in patterns, `\\n`, `\\t`, `\\x41`, `\\65` or `\\u{41}`",
            ));
        };
        at += 1 + length;
    }
    None
}

/// How many bytes after a backslash belong to its escape.
fn escape_length(rest: &str) -> Option<usize> {
    let first = rest.chars().next()?;
    match first {
        'a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | 'z' | '\\' | '"' | '\'' | '\n' | '\r' => Some(1),
        'x' => {
            let digits = rest.get(1..3)?;
            digits.chars().all(|c| c.is_ascii_hexdigit()).then_some(3)
        }
        '0'..='9' => {
            let digits: String = rest.chars().take(3).take_while(char::is_ascii_digit).collect();
            digits.parse::<u8>().ok().map(|_| digits.len())
        }
        'u' => {
            let inside = rest.strip_prefix("u{")?;
            let digits = inside.split_once('}')?.0;
            let value = u64::from_str_radix(digits, 16).ok()?;
            let plain = digits.chars().all(|c| c.is_ascii_hexdigit());
            (plain && value < 1 << 31).then_some(digits.len() + 3)
        }
        _ => None,
    }
}
