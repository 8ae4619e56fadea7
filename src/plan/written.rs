//! Where a text of a plan stands in its source.

use emmylua_parser::{LuaAstNode as _, LuaChunk, LuaLiteralExpr, LuaLiteralToken};

use luaplan_syntax::{Span, syntax_tree};

use crate::names::found::span_of;

/// A text literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenText {
    /// All of it, with its quotes.
    pub span: Span,
    /// Where its first character stands; `None` where escapes keep places in it from being found.
    start: Option<usize>,
}

impl WrittenText {
    /// The word at a character of the text, counted from 1; the whole literal where that cannot be told.
    #[must_use]
    pub fn word_at(&self, source: &str, character: usize) -> Span {
        let inside = self.start.and_then(|start| Some((start, source.get(start..self.span.1)?)));
        let Some((start, text)) = inside else { return self.span };
        let Some((offset, _)) = text.char_indices().nth(character.saturating_sub(1)) else {
            return self.span;
        };
        let rest = &text[offset..];
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let first = rest.chars().next().map_or(0, char::len_utf8);
        (start + offset, start + offset + length.max(first))
    }
}

/// Whether `source` holds exactly this text, and does not only put it together.
#[must_use]
pub fn is_written(source: &str, text: &str) -> bool {
    !literals(source, text).is_empty()
}

fn literals(source: &str, text: &str) -> Vec<LuaLiteralExpr> {
    let Some(chunk) = syntax_tree(source).ok().and_then(LuaChunk::cast) else { return Vec::new() };
    let is_it = |literal: &LuaLiteralExpr| matches!(literal.get_literal(), Some(LuaLiteralToken::String(token)) if token.get_value() == text);
    chunk.descendants::<LuaLiteralExpr>().filter(is_it).collect()
}

/// The literal of `source` that is exactly `text`: the only one, or the only one within `near`.
#[must_use]
pub fn written_text(source: &str, text: &str, near: Span) -> Option<WrittenText> {
    let chunk = LuaChunk::cast(syntax_tree(source).ok()?)?;
    let is_it = |literal: &LuaLiteralExpr| matches!(literal.get_literal(), Some(LuaLiteralToken::String(token)) if token.get_value() == text);
    let all: Vec<LuaLiteralExpr> = chunk.descendants::<LuaLiteralExpr>().filter(is_it).collect();
    let is_near = |literal: &&LuaLiteralExpr| {
        let span = span_of(*literal);
        near.0 <= span.0 && span.1 <= near.1
    };
    let mut inside = all.iter().filter(is_near);
    let literal = match (all.as_slice(), inside.next(), inside.next()) {
        ([only], ..) => only,
        (_, Some(only), None) => only,
        _ => return None,
    };
    let span = span_of(literal);
    Some(WrittenText {
        span,
        start: source.get(span.0..span.1).and_then(opening).map(|length| span.0 + length),
    })
}

/// The bytes before a literal's first character, where each character stands for itself.
fn opening(raw: &str) -> Option<usize> {
    if raw.starts_with(['"', '\'']) {
        return (!raw.contains('\\')).then_some(1);
    }
    if raw.contains('\r') {
        return None;
    }
    let bracket = raw.strip_prefix('[')?.find('[')? + 2;
    // Lua leaves out a line break right behind the bracket.
    Some(bracket + usize::from(raw[bracket..].starts_with('\n')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_a_text_is_found_where_it_is_written() {
        for (source, text) in [
            ("local sql = [[\nselect totl\nfrom orders]]", "select totl\nfrom orders"),
            ("local sql = [==[select totl from orders]==]", "select totl from orders"),
            ("query_db{sql = \"select totl from orders\"}", "select totl from orders"),
            ("query_db{sql = 's\u{e9}lect totl from orders'}", "s\u{e9}lect totl from orders"),
        ] {
            let written = written_text(source, text, (0, source.len())).unwrap();
            let (start, end) = written.word_at(source, "select ".len() + 1);
            assert_eq!(&source[start..end], "totl");
            assert_eq!(written.word_at(source, 99), written.span);
        }
    }

    #[test]
    fn a_text_that_stands_twice_is_the_one_of_the_call() {
        let source = "local a = \"x@y.z\"\nsend(\"x@y.z\")\nsend(\"a\\tb\")";
        let call = source.find("send").unwrap();
        let written = written_text(source, "x@y.z", (call, call + 13)).unwrap();
        assert_eq!(written.span, (call + 5, call + 12));
        assert_eq!(written_text(source, "x@y.z", (0, source.len())), None);
        let escaped = written_text(source, "a\tb", (0, 0)).unwrap();
        assert_eq!(escaped.word_at(source, 1), escaped.span);
    }
}
