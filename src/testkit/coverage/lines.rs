//! The statements of a plan whose execution a trace shows, and the lines of each.
//!
//! Some statements compile to no instruction of their own: a `break` that is all of an `if`, a `local`
//! that is nil, a constant condition. Those are not counted.

use std::collections::BTreeSet;

use emmylua_parser::{LuaAst, LuaAstNode, LuaBlock, LuaExpr, LuaLocalStat, LuaSyntaxNode};

/// One statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    /// The line it starts on; it stands for that line.
    pub(super) line: u32,
    /// All lines that are its own.
    own: BTreeSet<u32>,
}

impl Statement {
    /// Whether it ran, given the lines that ran.
    pub(super) fn has_run(&self, lines: &BTreeSet<u32>) -> bool {
        !self.own.is_disjoint(lines)
    }
}

/// The statements of `tree` in order.
pub(super) fn statements(tree: &LuaSyntaxNode, source: &str) -> Vec<Statement> {
    let lines = LineStarts::of(source);
    tree.descendants().filter_map(|node| statement(&LuaAst::cast(node)?, &lines)).collect()
}

fn statement(node: &LuaAst, lines: &LineStarts) -> Option<Statement> {
    // A statement with blocks has only its condition for itself.
    let head = |condition: Option<LuaExpr>| {
        let condition = condition.filter(|condition| !is_known(condition))?;
        let first = lines.of_offset(usize::from(node.get_range().start()));
        Some((first, (first..=lines.of_offset(end_of(&condition))).collect()))
    };
    let (line, own) = match node {
        LuaAst::LuaLocalStat(local) if has_instruction(local) => whole(node, lines),
        LuaAst::LuaAssignStat(_)
        | LuaAst::LuaCallExprStat(_)
        | LuaAst::LuaReturnStat(_)
        | LuaAst::LuaGotoStat(_)
        | LuaAst::LuaFuncStat(_)
        | LuaAst::LuaLocalFuncStat(_)
        | LuaAst::LuaForStat(_)
        | LuaAst::LuaForRangeStat(_) => whole(node, lines),
        LuaAst::LuaIfStat(statement) => head(statement.get_condition_expr())?,
        LuaAst::LuaElseIfClauseStat(clause) => head(clause.get_condition_expr())?,
        LuaAst::LuaWhileStat(statement) => head(statement.get_condition_expr())?,
        LuaAst::LuaRepeatStat(statement) => {
            let condition = statement.get_condition_expr().filter(|condition| !is_known(condition))?;
            let first = lines.of_offset(usize::from(condition.get_range().start()));
            (first, (first..=lines.of_offset(end_of(&condition))).collect())
        }
        _ => return None,
    };
    Some(Statement { line, own })
}

/// The lines of a node without those of its blocks.
fn whole(node: &LuaAst, lines: &LineStarts) -> (u32, BTreeSet<u32>) {
    let first = lines.of_offset(usize::from(node.get_range().start()));
    let last = lines.of_offset(end_of(node));
    let mut own: BTreeSet<u32> = (first..=last).collect();
    for block in node.syntax().descendants().filter_map(LuaBlock::cast) {
        for inner in block.get_stats() {
            let from = lines.of_offset(usize::from(inner.get_range().start()));
            for line in from..=lines.of_offset(end_of(&inner)) {
                own.remove(&line);
            }
        }
    }
    own.insert(first);
    (first, own)
}

/// The end of a node's last token, without space and comments.
fn end_of(node: &impl LuaAstNode) -> usize {
    let range = node.get_range();
    let text = node.syntax().text().to_string();
    usize::from(range.start()) + text.trim_end().len().saturating_sub(1)
}

/// Whether the statement compiles to an instruction.
fn has_instruction(local: &LuaLocalStat) -> bool {
    let is_constant = local.get_local_name_list().all(|name| {
        let attribute = name.get_attrib().and_then(|attribute| attribute.get_name_token());
        attribute.is_some_and(|token| token.get_name_text() == "const")
    });
    let mut values = local.get_value_exprs().peekable();
    if values.peek().is_none() {
        return false;
    }
    !values.all(|value| is_nil(&value) || (is_constant && is_known(&value)))
}

fn is_nil(expression: &LuaExpr) -> bool {
    matches!(expression, LuaExpr::LiteralExpr(literal) if literal.get_text() == "nil")
}

/// Whether the compiler knows the value: a literal, or an operation on literals.
fn is_known(expression: &LuaExpr) -> bool {
    match expression {
        LuaExpr::LiteralExpr(literal) => literal.get_text() != "...",
        LuaExpr::ParenExpr(inner) => inner.get_expr().is_some_and(|inner| is_known(&inner)),
        LuaExpr::UnaryExpr(operation) => operation.get_expr().is_some_and(|operand| is_known(&operand)),
        _ => false,
    }
}

/// The offsets of a source's lines.
pub(super) struct LineStarts(Vec<usize>);

impl LineStarts {
    pub(super) fn of(source: &str) -> Self {
        let after_breaks = source.match_indices('\n').map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(after_breaks).collect())
    }

    /// The line, counted from 1, of a byte offset.
    pub(super) fn of_offset(&self, offset: usize) -> u32 {
        u32::try_from(self.0.partition_point(|start| *start <= offset)).unwrap_or(u32::MAX)
    }
}
