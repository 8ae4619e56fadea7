//! The texts written into a plan.

use emmylua_parser::{LuaAstNode, LuaChunk, LuaLiteralExpr, LuaLiteralToken};

use luaplan_syntax::Span;

use crate::names::found::span_of;

/// Every text the plan holds, with its place and node.
pub(super) fn texts(chunk: &LuaChunk) -> impl Iterator<Item = (String, Span, LuaLiteralExpr)> {
    chunk.descendants::<LuaLiteralExpr>().filter_map(|literal| match literal.get_literal()? {
        LuaLiteralToken::String(text) => Some((text.get_value(), span_of(&literal), literal)),
        _ => None,
    })
}

/// The pieces of a text between blanks and the punctuation around addresses in prose.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| {
        c.is_whitespace() || matches!(c, '<' | '>' | '(' | ')' | '"' | '\'' | ',' | ';' | '|')
    })
    .map(|word| word.trim_end_matches(['.', ':', '!', '?']))
    .filter(|word| !word.is_empty())
}
