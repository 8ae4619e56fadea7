//! The syntax tree of a plan, for an engine that needs its source in other words.

use emmylua_parser::{LuaAstNode, LuaSyntaxNode};

use super::check::with_plain_space;
use super::report::Lines;
use super::syntax;

/// Where a source stops being Lua.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxFault {
    /// The line, counted from 1.
    pub line: u32,
    /// What is wrong there.
    pub message: String,
}

/// The tree of `source`. It is no deeper than a walk over it may be.
///
/// # Errors
/// The fault the check would report.
pub fn syntax_tree(source: &str) -> Result<LuaSyntaxNode, SyntaxFault> {
    let lines = Lines::new(source);
    match syntax::parse(&with_plain_space(source), &lines) {
        Ok(chunk) => Ok(chunk.syntax().clone()),
        Err(fault) => Err(SyntaxFault { line: lines.line(fault.span.0), message: fault.message }),
    }
}
