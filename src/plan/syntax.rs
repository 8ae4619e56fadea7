//! Source to syntax tree, or the one fault that keeps it from being Lua.

use emmylua_parser::{
    LuaChunk, LuaFeaturesSet, LuaLanguageLevel, LuaParser, LuaSyntaxTree, LuaTokenKind, ParserConfig,
};

use super::blocks::{PairFault, pair};
use super::depth::too_deep;
use super::report::Lines;
use super::tokens::{Fault, Token, tokenize};

/// What other languages write and Lua does not: as it stands at the fault, what is wrong, and what
/// to write.
const FOREIGN_SIGNS: [(&str, &str, &str); 16] = [
    ("!=", "`!=` is not Lua", "write `~=` for not equal"),
    ("&&", "`&&` is not Lua", "write `and`"),
    ("||", "`||` is not Lua", "write `or`"),
    ("++", "`++` is not Lua", "write `x = x + 1`"),
    ("+=", "`+=` is not Lua", "write `x = x + …`"),
    ("-=", "`-=` is not Lua", "write `x = x - …`"),
    ("*=", "`*=` is not Lua", "write `x = x * …`"),
    ("/=", "`/=` is not Lua", "write `x = x / …`, or `~=` for not equal"),
    ("..=", "`..=` is not Lua", "write `s = s .. …`"),
    ("=>", "`=>` is not Lua", "write `function(x) return … end`, or `[key] = value` in a table"),
    (":=", "`:=` is not Lua", "write `local x = …`"),
    ("//", "a comment does not begin with `//` in Lua", "begin comments with `--`"),
    ("/*", "a comment does not begin with `/*` in Lua", "write `--[[ … ]]`"),
    ("```", "a Markdown fence is not part of the program", "send the Lua source alone"),
    ("`", "a backtick does not begin a string in Lua", "use quotes, or [[ … ]] for text over several lines"),
    ("!", "`!` is not Lua", "write `not`"),
];

/// Words of other languages that parse as names, until the next word comes.
const FOREIGN_WORDS: [(&str, &str); 14] = [
    (
        "continue",
        "Lua has no `continue`: write `goto continue` and put `::continue::` at the end of the loop",
    ),
    ("const", "write `local NAME <const> = …`"),
    ("let", "write `local`"),
    ("var", "write `local`"),
    ("elif", "write `elseif`"),
    ("elsif", "write `elseif`"),
    ("try", "write `local ok, err = pcall(function() … end)`"),
    ("catch", "write `local ok, err = pcall(function() … end)`"),
    ("def", "write `function`"),
    ("fn", "write `function`"),
    ("func", "write `function`"),
    ("async", "calls simply return their result; remove the word"),
    ("await", "calls simply return their result; remove the word"),
    ("import", "a plan is one file; there is nothing to import"),
];

/// What the parser says when a closer is missing somewhere below.
const CONSEQUENCES: [&str; 4] = [
    "expected 'end'",
    "table constructor was not",
    "expected ')' to close parentheses",
    "expected ']' to close table index",
];

/// Parses `source`.
///
/// # Errors
/// The first fault that a person would name.
pub(super) fn parse(source: &str, lines: &Lines<'_>) -> Result<LuaChunk, Fault> {
    let tokens = tokenize(source)?;
    let pairing = pair(&tokens, lines, source.len());
    if let Some(fault) = too_deep(&tokens) {
        return Err(pairing.map_or(fault, |pairing| pairing.fault));
    }
    let config = ParserConfig::new(
        LuaLanguageLevel::Lua54,
        None,
        std::collections::HashMap::new(),
        LuaFeaturesSet::default(),
        false,
    );
    let tree = LuaParser::parse(source, config);
    match (parser_fault(source, &tree, &tokens), pairing) {
        (Some((_, fault)), None) => Err(fault),
        (Some((at, fault)), Some(PairFault { seen_at, .. })) if at < seen_at => Err(fault),
        (_, Some(pairing)) => Err(pairing.fault),
        (None, None) => Ok(tree.get_chunk_node()),
    }
}

/// The parser's first complaint that is not a consequence of a missing closer.
fn parser_fault(source: &str, tree: &LuaSyntaxTree, tokens: &[Token]) -> Option<(usize, Fault)> {
    let error = tree
        .get_errors()
        .iter()
        .find(|error| !CONSEQUENCES.iter().any(|consequence| error.message.starts_with(consequence)));
    let error = error.or_else(|| tree.get_errors().first())?;
    let reported = usize::from(error.range.start());
    let index = tokens.partition_point(|token| token.span.1 <= reported);
    let at_end = index >= tokens.len();
    let (kind, span) = match tokens.get(index) {
        Some(token) => (token.kind, token.span),
        None => (LuaTokenKind::TkEof, (source.len(), source.len())),
    };
    let near = source.get(span.0..span.1).unwrap_or_default();
    let before = index.checked_sub(1).and_then(|index| tokens.get(index));
    let fault = foreign(source, span.0, before)
        .map(|(start, message, help)| Fault::new((start, span.1), message, help));
    let fault = fault.unwrap_or_else(|| {
        let mut message = plain_words(&error.message, kind, near);
        if at_end {
            message.push_str(", at the end of the plan");
        } else if !message.contains(&format!("`{near}`")) {
            let shown: String = near.chars().take(30).collect();
            message.push_str(&format!(", near `{shown}`"));
        }
        let help = help_for(&message, near, kind, before.map(|token| token.kind));
        Fault::new(span, message, help)
    });
    Some((span.0, fault))
}

fn foreign(source: &str, at: usize, before: Option<&Token>) -> Option<(usize, String, String)> {
    let previous = before.map_or(at, |token| token.span.0);
    let touching = before.is_some_and(|token| token.span.1 == at);
    let starts: &[usize] = if touching { &[previous, at] } else { &[at] };
    for start in starts {
        let rest = source.get(*start..).unwrap_or_default();
        let sign =
            FOREIGN_SIGNS.iter().find(|(sign, _, _)| rest.starts_with(sign) && start + sign.len() > at);
        if let Some((_, message, help)) = sign {
            return Some((*start, (*message).to_owned(), (*help).to_owned()));
        }
    }
    let token = before?;
    let word = source.get(token.span.0..token.span.1)?;
    let (_, help) = FOREIGN_WORDS.iter().find(|(foreign, _)| *foreign == word)?;
    Some((token.span.0, format!("`{word}` is not a word of Lua"), (*help).to_owned()))
}

/// The parser's message with the source's own text in place of the parser's names for tokens.
fn plain_words(message: &str, kind: LuaTokenKind, near: &str) -> String {
    if message.contains("'Tk") || message.starts_with("expect index") {
        return match kind {
            LuaTokenKind::TkEof => "the plan ends too early".to_owned(),
            _ => format!("`{near}` cannot stand here"),
        };
    }
    if message.starts_with("expected '=' for assignment") {
        return "this is not a complete statement: a call or an assignment is expected".to_owned();
    }
    if message.starts_with("expected end of block after return") {
        return "nothing may follow `return` in its block".to_owned();
    }
    message.replace('\'', "`")
}

fn help_for(message: &str, near: &str, kind: LuaTokenKind, before: Option<LuaTokenKind>) -> String {
    if message.starts_with("nothing may follow") {
        return format!("write the missing `end` before `{near}`, or `do return … end` to leave early");
    }
    match (kind, before) {
        (LuaTokenKind::TkAssign, _) => return "compare with `==`; assignments are statements".to_owned(),
        (LuaTokenKind::TkLeftBracket, _) => return "lists are written `{1, 2, 3}`".to_owned(),
        (LuaTokenKind::TkColon | LuaTokenKind::TkDot, Some(LuaTokenKind::TkString)) => {
            return "put the string into brackets: `(\"…\"):upper()`".to_owned();
        }
        _ => {}
    }
    let expected = message.strip_prefix("expected `").and_then(|rest| rest.split_once('`'));
    match expected {
        Some((expected, _)) if kind != LuaTokenKind::TkEof => format!("write `{expected}` before `{near}`"),
        _ => "correct the line; plans are Lua 5.4".to_owned(),
    }
}
