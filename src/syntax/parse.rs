//! Source to syntax tree, or the one fault that keeps it from being Lua.

use std::borrow::Cow;

use emmylua_parser::{
    LuaAstNode, LuaChunk, LuaFeaturesSet, LuaLanguageLevel, LuaParser, LuaSyntaxNode, LuaSyntaxTree,
    LuaTokenKind, ParserConfig,
};

use super::blocks::{PairFault, Paired, pair};
use super::depth::too_deep;
use super::lines::{Lines, Span};
use super::tokens::{SourceFault, Token, tokenize};

/// Signs of other languages that Lua lacks: the text at the fault, what is wrong, and what to write.
const FOREIGN_SIGNS: [(&str, &str, &str); 17] = [
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
    ("#", "a comment does not begin with `#` in Lua", "begin comments with `--`; `#t` is the length of `t`"),
];

/// Words of other languages that parse as names, until the next word comes.
const FOREIGN_WORDS: [(&str, &str); 19] = [
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
    ("foreach", "write `for _, x in ipairs(list) do … end`"),
    ("switch", "write `if … then … elseif … then … end`"),
    ("throw", "write `error(…)`"),
    ("raise", "write `error(…)`"),
    ("class", "use a table with functions in it"),
];

/// The parser's messages when a closer is missing further down.
const CONSEQUENCES: [&str; 4] = [
    "expected 'end'",
    "table constructor was not",
    "expected ')' to close parentheses",
    "expected ']' to close table index",
];

/// Where a source stops being Lua.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxFault {
    /// The bytes that are wrong.
    pub span: Span,
    /// Their line, counted from 1.
    pub line: u32,
    /// What is wrong there.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

/// Parses `source`. Offsets in the tree are those of `source`.
///
/// # Errors
/// The first fault, as a reviewer would name it.
pub fn parse(source: &str) -> Result<LuaChunk, SyntaxFault> {
    let lines = Lines::new(source);
    parse_plain(&with_plain_space(source), &lines).map_err(|SourceFault { span, message, help }| {
        SyntaxFault { span, line: lines.line(span.0), message, help }
    })
}

/// The tree of `source` without the parser's own name for its root.
///
/// # Errors
/// As of [`parse`].
pub fn syntax_tree(source: &str) -> Result<LuaSyntaxNode, SyntaxFault> {
    parse(source).map(|chunk| chunk.syntax().clone())
}

/// Form feed and vertical tab are white space to Lua but not to the parser; a space in their place
/// keeps every offset.
fn with_plain_space(source: &str) -> Cow<'_, str> {
    if source.contains(['\u{b}', '\u{c}']) {
        Cow::Owned(source.replace(['\u{b}', '\u{c}'], " "))
    } else {
        Cow::Borrowed(source)
    }
}

fn parse_plain(source: &str, lines: &Lines<'_>) -> Result<LuaChunk, SourceFault> {
    let tokens = tokenize(source)?;
    let Paired { fault: pairing, brace } = pair(&tokens, lines, source.len());
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
    let (at, fault) = match (parser_fault(source, &tree, &tokens), pairing) {
        (Some(Complaint { at, fault, .. }), None) => (at, fault),
        // The pairing knows more about a missing closer.
        (Some(Complaint { at, fault, is_consequence: false }), Some(PairFault { seen_at, .. }))
            if at < seen_at =>
        {
            (at, fault)
        }
        (_, Some(pairing)) => (pairing.seen_at, pairing.fault),
        (None, None) => return Ok(tree.get_chunk_node()),
    };
    // What comes after a brace that opens a block mostly comes from it.
    Err(brace.filter(|brace| brace.span.0 <= at).unwrap_or(fault))
}

/// A complaint of the parser.
struct Complaint {
    at: usize,
    fault: SourceFault,
    /// It may come from a closer that is missing elsewhere.
    is_consequence: bool,
}

/// The parser's first complaint that is not a consequence of a missing closer, else its first.
fn parser_fault(source: &str, tree: &LuaSyntaxTree, tokens: &[Token]) -> Option<Complaint> {
    let consequence = |message: &str| CONSEQUENCES.iter().any(|begin| message.starts_with(begin));
    let error = tree.get_errors().iter().find(|error| !consequence(&error.message));
    let error = error.or_else(|| tree.get_errors().first())?;
    let is_consequence = consequence(&error.message);
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
        .or_else(|| comment_by_slashes(source, tokens, index))
        .map(|(start, message, help)| SourceFault::new((start, span.1), message, help));
    let fault = fault.unwrap_or_else(|| {
        let mut message = plain_words(&error.message, kind, near);
        if at_end {
            message.push_str(", at the end of the plan");
        } else if !message.contains(&format!("`{near}`")) {
            let shown: String = near.chars().take(30).collect();
            message.push_str(&format!(", near `{shown}`"));
        }
        let help = help_for(&message, near, kind, before.map(|token| token.kind));
        SourceFault::new(span, message, help)
    });
    Some(Complaint { at: span.0, fault, is_consequence })
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

/// A comment that starts with `//` after a statement: the parser takes it for a division until two words
/// follow one another.
fn comment_by_slashes(source: &str, tokens: &[Token], index: usize) -> Option<(usize, String, String)> {
    let before = tokens.get(..index)?;
    let line_start = source.get(..before.last()?.span.0)?.rfind('\n').map_or(0, |at| at + 1);
    let line: Vec<&Token> = before.iter().filter(|token| token.span.0 >= line_start).collect();
    let slashes = line.iter().position(|token| token.kind == LuaTokenKind::TkIDiv)?;
    let is_word = |token: &&Token| {
        source.get(token.span.0..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
    };
    let same_line = tokens
        .get(index)
        .filter(|token| source.get(line_start..token.span.0).is_some_and(|between| !between.contains('\n')));
    let words: Vec<bool> =
        line.iter().skip(slashes + 1).copied().chain(same_line).map(|t| is_word(&t)).collect();
    let follow_one_another = words.windows(2).any(|pair| pair == [true, true]);
    follow_one_another.then(|| {
        let at = line.get(slashes).map_or(0, |token| token.span.0);
        let (_, message, help) =
            FOREIGN_SIGNS.iter().find(|(sign, _, _)| *sign == "//").copied().unwrap_or_default();
        (at, message.to_owned(), help.to_owned())
    })
}

/// The parser's message with the source's text in place of token names.
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
        (LuaTokenKind::TkColon, Some(LuaTokenKind::TkString)) => {
            return "a member of a table is written `[\"name\"] = value`, and a method of a string \
                    `(\"…\"):upper()`"
                .to_owned();
        }
        (LuaTokenKind::TkDot, Some(LuaTokenKind::TkString)) => {
            return "put the string into brackets: `(\"…\"):upper()`".to_owned();
        }
        _ if message.starts_with("expected method name") || before == Some(LuaTokenKind::TkColon) => {
            return "a member of a table is written `name = value`; a method is called `object:method()`"
                .to_owned();
        }
        (LuaTokenKind::TkLeftParen, Some(LuaTokenKind::TkFor)) => {
            return "write `for i = 1, n do … end` or `for _, x in ipairs(list) do … end`".to_owned();
        }
        _ if near == "of" && message.contains("for loop") => {
            return "write `for _, x in ipairs(list) do … end`".to_owned();
        }
        _ => {}
    }
    let expected = message.strip_prefix("expected `").and_then(|rest| rest.split_once('`'));
    match expected {
        Some((expected, _)) if kind != LuaTokenKind::TkEof => format!("write `{expected}` before `{near}`"),
        _ => "correct the line; plans are Lua 5.4".to_owned(),
    }
}
