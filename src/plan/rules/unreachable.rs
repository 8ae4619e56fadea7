//! Code that never runs.

use emmylua_parser::{LuaAstNode, LuaBlock, LuaExpr, LuaIfStat, LuaStat, LuaWhileStat};

use super::loops::{Loop, LoopBound, constant};
use super::{Plan, Raised};
use crate::names::found::span_of;

pub(super) fn find(plan: &Plan<'_>) -> Vec<Raised> {
    let mut found: Vec<Raised> =
        plan.chunk.descendants::<LuaBlock>().filter_map(|block| after_leaving(&block)).collect();
    let help = "remove it, or correct the condition";
    for condition in plan
        .chunk
        .descendants::<LuaIfStat>()
        .filter_map(|it| Some((it.get_condition_expr()?, it.get_block()?)))
    {
        if constant(&condition.0) == Some(false) && condition.1.get_stats().next().is_some() {
            found.push(Raised::warning(span_of(&condition.0), "this condition is never true", help));
        }
    }
    for condition in plan.chunk.descendants::<LuaWhileStat>().filter_map(|it| it.get_condition_expr()) {
        if constant(&condition) == Some(false) {
            found.push(Raised::warning(span_of(&condition), "this condition is never true", help));
        }
    }
    found
}

/// The first statement of `block` after one that exits it.
fn after_leaving(block: &LuaBlock) -> Option<Raised> {
    let statements: Vec<LuaStat> = block.get_stats().collect();
    let leaves = statements.iter().position(leaves)?;
    // A `goto` may reach a label.
    let rest = statements.get(leaves + 1..)?;
    let next = rest.iter().find(|next| !matches!(next, LuaStat::EmptyStat(_)))?;
    if rest.iter().any(|next| matches!(next, LuaStat::LabelStat(_))) {
        return None;
    }
    let word = match statements.get(leaves)? {
        LuaStat::BreakStat(_) => "`break`",
        LuaStat::GotoStat(_) => "`goto`",
        LuaStat::CallExprStat(_) => "`error`",
        LuaStat::DoStat(_) => "`return`",
        LuaStat::IfStat(_) => "branches that all leave",
        _ => "a loop that never ends",
    };
    let message = format!("this is never reached: it comes after {word}");
    Some(Raised::warning(span_of(next), message, "remove it, or put it before"))
}

/// Whether nothing after `statement` in its block runs.
fn leaves(statement: &LuaStat) -> bool {
    let block_leaves = |block: Option<LuaBlock>| {
        block.is_some_and(|block| {
            let statements: Vec<LuaStat> = block.get_stats().collect();
            !statements.iter().any(|it| matches!(it, LuaStat::LabelStat(_))) && statements.iter().any(leaves)
        })
    };
    match statement {
        LuaStat::BreakStat(_) | LuaStat::GotoStat(_) | LuaStat::ReturnStat(_) => true,
        LuaStat::CallExprStat(call) => {
            let callee = call.get_call_expr().and_then(|call| call.get_prefix_expr());
            matches!(&callee, Some(LuaExpr::NameExpr(name)) if name.get_name_text().as_deref() == Some("error"))
        }
        LuaStat::DoStat(inner) => block_leaves(inner.get_block()),
        LuaStat::IfStat(branches) => {
            branches.get_else_clause().is_some()
                && block_leaves(branches.get_block())
                && branches.get_all_clause().all(|clause| block_leaves(clause.get_block()))
        }
        LuaStat::WhileStat(it) => Loop::While(it.clone()).bound() == LoopBound::Never,
        LuaStat::RepeatStat(it) => Loop::Repeat(it.clone()).bound() == LoopBound::Never,
        _ => false,
    }
}
