//! What the text of a loop says about it.

use emmylua_parser::{
    BinaryOperator, LuaAssignStat, LuaAstNode, LuaBinaryExpr, LuaBlock, LuaBreakStat, LuaCallExpr,
    LuaClosureExpr, LuaExpr, LuaForRangeStat, LuaForStat, LuaGotoStat, LuaLiteralToken, LuaNameExpr,
    LuaRepeatStat, LuaReturnStat, LuaSyntaxNode, LuaVarExpr, LuaWhileStat,
};

/// The loop a piece of code stands in.
pub(super) enum Loop {
    /// `for … in`.
    Each(LuaForRangeStat),
    /// `for i = …`.
    Count(LuaForStat),
    While(LuaWhileStat),
    Repeat(LuaRepeatStat),
}

/// Whether a loop ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoopBound {
    /// After a number of turns that the loop itself counts.
    Counted,
    /// When its data say so.
    ByData,
    /// Never: nothing exits it.
    Never,
}

impl Loop {
    /// The loops around `node` inside its function, the innermost first.
    pub(super) fn around(node: &LuaSyntaxNode) -> Vec<Self> {
        let mut loops = Vec::new();
        let mut below = node.clone();
        for ancestor in node.ancestors().skip(1) {
            if LuaClosureExpr::can_cast(ancestor.kind().into()) {
                break;
            }
            // Lua evaluates the head of a `for` once, before the loop.
            let is_inside = LuaBlock::can_cast(below.kind().into());
            let found = if let Some(found) = LuaWhileStat::cast(ancestor.clone()) {
                Some(Self::While(found))
            } else if let Some(found) = LuaRepeatStat::cast(ancestor.clone()) {
                Some(Self::Repeat(found))
            } else if let Some(found) = LuaForStat::cast(ancestor.clone()) {
                is_inside.then_some(Self::Count(found))
            } else {
                LuaForRangeStat::cast(ancestor.clone()).filter(|_| is_inside).map(Self::Each)
            };
            loops.extend(found);
            below = ancestor;
        }
        loops
    }

    pub(super) fn block(&self) -> Option<LuaBlock> {
        match self {
            Self::Each(it) => it.get_block(),
            Self::Count(it) => it.get_block(),
            Self::While(it) => it.get_block(),
            Self::Repeat(it) => it.get_block(),
        }
    }

    pub(super) fn bound(&self) -> LoopBound {
        let (condition, ends_when) = match self {
            Self::Each(_) | Self::Count(_) => return LoopBound::Counted,
            Self::While(it) => (it.get_condition_expr(), false),
            Self::Repeat(it) => (it.get_condition_expr(), true),
        };
        let Some(condition) = condition else { return LoopBound::ByData };
        if constant(&condition).is_some_and(|value| value != ends_when) {
            return if self.is_left() { LoopBound::ByData } else { LoopBound::Never };
        }
        let counts = self.block().is_some_and(|block| counted_in(&block, &condition));
        if counts { LoopBound::Counted } else { LoopBound::ByData }
    }

    /// Whether something in the loop exits it.
    fn is_left(&self) -> bool {
        let Some(block) = self.block() else { return false };
        let own = |node: &LuaSyntaxNode| !is_in_function_inside(node, block.syntax());
        let breaks = block.descendants::<LuaBreakStat>().any(|it| {
            // A `break` in an inner loop exits only that one.
            own(it.syntax())
                && Self::around(it.syntax())
                    .first()
                    .and_then(Self::block)
                    .is_some_and(|it| it.syntax() == block.syntax())
        });
        let raises = |call: LuaCallExpr| {
            let callee = call.get_prefix_expr().map(|callee| callee.get_text());
            own(call.syntax()) && matches!(callee.as_deref(), Some("error" | "assert" | "coroutine.yield"))
        };
        breaks
            || block.descendants::<LuaReturnStat>().any(|it| own(it.syntax()))
            || block.descendants::<LuaGotoStat>().any(|it| own(it.syntax()))
            || block.descendants::<LuaCallExpr>().any(raises)
    }
}

/// Whether the condition compares a variable that `block` counts up or down.
pub(super) fn counted_in(block: &LuaBlock, condition: &LuaExpr) -> bool {
    let counted: Vec<String> = block
        .descendants::<LuaAssignStat>()
        .flat_map(|assignment| {
            let (targets, values) = assignment.get_var_and_expr_list();
            targets.into_iter().zip(values).collect::<Vec<_>>()
        })
        .filter_map(|(target, value)| match (target, value) {
            (LuaVarExpr::NameExpr(name), LuaExpr::BinaryExpr(sum)) => {
                let operator = sum.get_op_token()?.get_op();
                let name = name.get_name_text()?;
                let (left, right) = sum.get_exprs()?;
                let is_step = matches!(operator, BinaryOperator::OpAdd | BinaryOperator::OpSub)
                    && [left, right].iter().any(|side| side.get_text() == name);
                is_step.then_some(name)
            }
            _ => None,
        })
        .collect();
    let mut parts: Vec<LuaBinaryExpr> = condition.descendants::<LuaBinaryExpr>().collect();
    parts.retain(|part| {
        matches!(
            part.get_op_token().map(|token| token.get_op()),
            Some(BinaryOperator::OpLt | BinaryOperator::OpLe | BinaryOperator::OpGt | BinaryOperator::OpGe)
        )
    });
    parts.iter().any(|part| {
        part.descendants::<LuaNameExpr>()
            .any(|name| name.get_name_text().is_some_and(|name| counted.contains(&name)))
    })
}

/// Whether `node` stands in a function inside `outer`.
fn is_in_function_inside(node: &LuaSyntaxNode, outer: &LuaSyntaxNode) -> bool {
    node.ancestors()
        .take_while(|ancestor| ancestor != outer)
        .any(|ancestor| LuaClosureExpr::can_cast(ancestor.kind().into()))
}

/// The truth of a condition that never changes.
pub(super) fn constant(condition: &LuaExpr) -> Option<bool> {
    match condition {
        LuaExpr::ParenExpr(inner) => constant(&inner.get_expr()?),
        LuaExpr::LiteralExpr(literal) => match literal.get_literal()? {
            LuaLiteralToken::Bool(value) => Some(value.is_true()),
            LuaLiteralToken::Nil(_) => Some(false),
            LuaLiteralToken::Number(_) | LuaLiteralToken::String(_) => Some(true),
            _ => None,
        },
        _ => None,
    }
}
