//! Braces in place of `then`, `do` and `end`, as in other languages. In Lua they start a table, so the
//! parser notices them late and reports something else.

use emmylua_parser::LuaTokenKind as Kind;

use super::lines::{Lines, Span};
use super::tokens::{SourceFault, Token, begins_statement};

/// Looks for a `{` where a block starts.
pub(super) struct BraceWatch {
    /// The first that was seen.
    brace: Option<Brace>,
    before: Option<Kind>,
    header: Header,
}

struct Brace {
    span: Span,
    /// The word that belongs in its place, `then` or `do`; `None` where the `{` is merely superfluous.
    word: Option<&'static str>,
    /// How many openers are around it.
    depth: usize,
}

/// How far the head of a function has come.
#[derive(Clone, Copy, PartialEq)]
enum Header {
    None,
    /// `function`, perhaps with a name.
    Named,
    /// Its bracket is open, with so many openers.
    Open(usize),
    Closed,
}

impl BraceWatch {
    pub(super) fn new() -> Self {
        Self { brace: None, before: None, header: Header::None }
    }

    /// Looks at one token, before it opens or closes anything. `depth` openers are around it, the
    /// innermost of which still needs a word.
    pub(super) fn look(
        &mut self,
        token: &Token,
        next: Option<&Token>,
        (depth, needs): (usize, Option<&'static str>),
        lines: &Lines<'_>,
    ) {
        if token.kind == Kind::TkLeftBrace && self.brace.is_none() {
            let after_word =
                matches!(self.before, Some(Kind::TkElse | Kind::TkThen | Kind::TkDo | Kind::TkRepeat));
            let is_body = after_word || self.header == Header::Closed;
            let ends_line = next.is_none_or(|next| lines.line(next.span.0) > lines.line(token.span.0));
            // No entry of a table starts like this.
            let begins = |next: &Token| begins_statement(next.kind) || next.kind == Kind::TkDo;
            let is_likely = ends_line || next.is_some_and(begins);
            if is_body || needs.is_some() && is_likely {
                self.brace = Some(Brace { span: token.span, word: needs.filter(|_| !is_body), depth });
            }
        }
        // The word came after all, so it was a table.
        if matches!(token.kind, Kind::TkThen | Kind::TkDo)
            && self.brace.as_ref().is_some_and(|brace| brace.word.is_some() && brace.depth == depth)
        {
            self.brace = None;
        }
        self.header = match (self.header, token.kind) {
            (_, Kind::TkFunction) | (Header::Named, Kind::TkName | Kind::TkDot | Kind::TkColon) => {
                Header::Named
            }
            (Header::Named, Kind::TkLeftParen) => Header::Open(depth + 1),
            (Header::Open(opened), Kind::TkRightParen) if opened == depth => Header::Closed,
            (open @ Header::Open(_), _) => open,
            _ => Header::None,
        };
        self.before = Some(token.kind);
    }

    /// What to report, if anything else is wrong from there on.
    pub(super) fn fault(&self) -> Option<SourceFault> {
        let brace = self.brace.as_ref()?;
        Some(match brace.word {
            Some(word) => SourceFault::new(
                brace.span,
                format!("`{{` does not open a block in Lua, `{word}` does"),
                format!("write `{word}` in place of the `{{`, and `end` in place of its `}}`"),
            ),
            None => SourceFault::new(
                brace.span,
                "`{` does not open a block in Lua",
                "remove the `{`, and write `end` in place of its `}`",
            ),
        })
    }
}
