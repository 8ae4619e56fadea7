//! Finds where a plan tests a value that may be absent before using it.

use emmylua_parser::{
    BinaryOperator, LuaAssignStat, LuaAstNode, LuaBinaryExpr, LuaCallArgList, LuaCallExpr, LuaChunk,
    LuaClosureExpr, LuaElseIfClauseStat, LuaExpr, LuaForRangeStat, LuaIfStat, LuaIndexExpr, LuaLocalStat,
    LuaNameExpr, LuaRepeatStat, LuaStat, LuaSyntaxNode, LuaUnaryExpr, LuaVarExpr, LuaWhileStat,
    UnaryOperator,
};

/// Functions that say whether a value is nil.
const ASKING: [&str; 7] =
    ["type", "rawequal", "json.is_null", "text.is_blank", "date.valid", "list.is_list", "math.type"];

/// Functions that accept nil or test for it.
const TAKING: [&str; 8] =
    ["tostring", "tonumber", "print", "assert", "must", "select", "json.encode", "next"];

/// What a nil would do at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// The plan tests for it.
    Looked,
    /// The plan passes it on.
    HandedOn,
    /// It would raise: an index, a call, arithmetic, a loop over it.
    Raises,
}

/// How the plan uses the value of `expression`; where it is assigned to a variable, how it uses that.
pub(super) fn use_of(chunk: &LuaChunk, expression: &LuaExpr) -> Use {
    let at = place(expression.syntax());
    match at {
        Surrounding::Looked | Surrounding::Taken => Use::Looked,
        Surrounding::Raises => Use::Raises,
        Surrounding::Kept(name) => {
            if is_looked_at(chunk, &name) {
                Use::Looked
            } else {
                Use::HandedOn
            }
        }
        Surrounding::HandedOn => Use::HandedOn,
    }
}

/// The construct around a value.
pub(super) enum Surrounding {
    /// A test for nil.
    Looked,
    /// A function that accepts nil.
    Taken,
    /// A construct that raises for nil.
    Raises,
    HandedOn,
    /// An assignment to the variable of that name.
    Kept(String),
}

/// The construct around `node`.
pub(super) fn place(node: &LuaSyntaxNode) -> Surrounding {
    let Some(parent) = node.parent() else { return Surrounding::HandedOn };
    if let Some(binary) = LuaBinaryExpr::cast(parent.clone()) {
        let is_left = binary.get_left_expr().is_some_and(|left| left.syntax() == node);
        let Some(operator) = binary.get_op_token().map(|token| token.get_op()) else {
            return Surrounding::HandedOn;
        };
        return match operator {
            BinaryOperator::OpEq | BinaryOperator::OpNe => Surrounding::Looked,
            BinaryOperator::OpOr | BinaryOperator::OpAnd if is_left => Surrounding::Looked,
            BinaryOperator::OpOr | BinaryOperator::OpAnd => place(&parent),
            _ => Surrounding::Raises,
        };
    }
    if let Some(unary) = LuaUnaryExpr::cast(parent.clone()) {
        let operator = unary.get_op_token().map(|token| token.get_op());
        return if operator == Some(UnaryOperator::OpNot) {
            Surrounding::Looked
        } else {
            Surrounding::Raises
        };
    }
    if emmylua_parser::LuaParenExpr::can_cast(parent.kind().into()) {
        return place(&parent);
    }
    let is_condition = |condition: Option<LuaExpr>| condition.is_some_and(|it| it.syntax() == node);
    if LuaIfStat::cast(parent.clone()).is_some_and(|it| is_condition(it.get_condition_expr()))
        || LuaElseIfClauseStat::cast(parent.clone()).is_some_and(|it| is_condition(it.get_condition_expr()))
        || LuaWhileStat::cast(parent.clone()).is_some_and(|it| is_condition(it.get_condition_expr()))
        || LuaRepeatStat::cast(parent.clone()).is_some_and(|it| is_condition(it.get_condition_expr()))
    {
        return Surrounding::Looked;
    }
    if let Some(index) = LuaIndexExpr::cast(parent.clone()) {
        let is_prefix = index.get_prefix_expr().is_some_and(|prefix| prefix.syntax() == node);
        return if is_prefix { Surrounding::Raises } else { Surrounding::HandedOn };
    }
    if LuaCallExpr::can_cast(parent.kind().into()) {
        return Surrounding::Raises;
    }
    if LuaForRangeStat::can_cast(parent.kind().into()) {
        return Surrounding::Raises;
    }
    if LuaCallArgList::can_cast(parent.kind().into()) {
        return argument(&parent);
    }
    kept(node, &parent)
}

fn argument(list: &LuaSyntaxNode) -> Surrounding {
    let callee = list.parent().and_then(LuaCallExpr::cast).and_then(|call| call.get_prefix_expr());
    match callee.map(|callee| callee.get_text()) {
        Some(name) if ASKING.contains(&name.as_str()) => Surrounding::Looked,
        Some(name) if TAKING.contains(&name.as_str()) => Surrounding::Taken,
        Some(name) if matches!(name.as_str(), "ipairs" | "pairs") => Surrounding::Raises,
        _ => Surrounding::HandedOn,
    }
}

/// The variable that a value is assigned to.
fn kept(node: &LuaSyntaxNode, parent: &LuaSyntaxNode) -> Surrounding {
    let Some(value) = LuaExpr::cast(node.clone()) else { return Surrounding::HandedOn };
    if let Some(local) = LuaLocalStat::cast(parent.clone()) {
        let name = local.get_local_name_by_value(value).and_then(|name| name.get_name_token());
        return name.map_or(Surrounding::HandedOn, |name| {
            Surrounding::Kept(emmylua_parser::LuaNameToken::get_name_text(&name).to_owned())
        });
    }
    if let Some(assignment) = LuaAssignStat::cast(parent.clone()) {
        let (targets, values) = assignment.get_var_and_expr_list();
        let place = values.iter().position(|it| it.syntax() == node);
        return match place.and_then(|place| targets.get(place)) {
            Some(LuaVarExpr::NameExpr(name)) => {
                name.get_name_text().map_or(Surrounding::HandedOn, Surrounding::Kept)
            }
            _ => Surrounding::HandedOn,
        };
    }
    Surrounding::HandedOn
}

/// Whether the plan tests a variable of that name anywhere.
pub(super) fn is_looked_at(chunk: &LuaChunk, name: &str) -> bool {
    let mut uses = chunk.descendants::<LuaNameExpr>();
    uses.any(|used| {
        used.get_name_text().as_deref() == Some(name)
            && matches!(place(used.syntax()), Surrounding::Looked | Surrounding::Taken)
    })
}

/// Whether the plan has tested `path`, a global or its member, on every way to `node`: in a condition around it, to
/// the left of an `and` or `or`, or in an `if` before it that exits where the path is nil.
pub(super) fn is_behind_a_look(node: &LuaSyntaxNode, path: &str) -> bool {
    let mut inner = node.clone();
    while let Some(outer) = inner.parent() {
        let is_within = |condition: Option<LuaExpr>| condition.is_some_and(|it| *it.syntax() == inner);
        let looked = match LuaBinaryExpr::cast(outer.clone()) {
            Some(binary) => binary.get_left_expr().filter(|left| *left.syntax() != inner),
            None => condition_of(&outer).filter(|condition| !is_within(Some(condition.clone()))),
        };
        if looked.is_some_and(|condition| looks_at(condition.syntax(), path)) || left_before(&inner, path) {
            return true;
        }
        inner = outer;
    }
    false
}

fn condition_of(statement: &LuaSyntaxNode) -> Option<LuaExpr> {
    let by_if = LuaIfStat::cast(statement.clone()).and_then(|it| it.get_condition_expr());
    let by_clause = || LuaElseIfClauseStat::cast(statement.clone())?.get_condition_expr();
    let by_while = || LuaWhileStat::cast(statement.clone())?.get_condition_expr();
    by_if.or_else(by_clause).or_else(by_while)
}

/// Whether a statement before `node` in its block exits the block where the path is nil.
fn left_before(node: &LuaSyntaxNode, path: &str) -> bool {
    let mut before =
        std::iter::successors(node.prev_sibling(), LuaSyntaxNode::prev_sibling).filter_map(LuaIfStat::cast);
    before.any(|statement| {
        let leaves = statement.get_block().and_then(|block| block.get_stats().last()).is_some_and(|last| {
            matches!(last, LuaStat::ReturnStat(_) | LuaStat::BreakStat(_) | LuaStat::GotoStat(_))
                || last.syntax().text().to_string().starts_with("error(")
        });
        leaves && statement.get_condition_expr().is_some_and(|condition| is_absence(&condition, path))
    })
}

/// Whether `condition` holds where the path is nil: `not path`, `path == nil`, `type(path) == "nil"`, and these in `or`.
fn is_absence(condition: &LuaExpr, path: &str) -> bool {
    match condition {
        LuaExpr::ParenExpr(inner) => inner.get_expr().is_some_and(|inner| is_absence(&inner, path)),
        LuaExpr::UnaryExpr(not) => {
            not.get_op_token().is_some_and(|token| token.get_op() == UnaryOperator::OpNot)
                && not.get_expr().is_some_and(|inner| inner.get_text() == path)
        }
        LuaExpr::BinaryExpr(binary) => match binary.get_op_token().map(|token| token.get_op()) {
            Some(BinaryOperator::OpOr) => {
                binary.children::<LuaExpr>().any(|operand| is_absence(&operand, path))
            }
            Some(BinaryOperator::OpEq | BinaryOperator::OpNe) => looks_at(binary.syntax(), path),
            _ => false,
        },
        _ => false,
    }
}

fn looks_at(condition: &LuaSyntaxNode, path: &str) -> bool {
    condition
        .descendants()
        .filter_map(LuaExpr::cast)
        .any(|part| part.get_text() == path && matches!(place(part.syntax()), Surrounding::Looked))
}

/// Whether the value is the target of an assignment or a function definition.
pub(super) fn is_target(index: &LuaIndexExpr) -> bool {
    let Some(parent) = index.syntax().parent() else { return false };
    if let Some(assignment) = LuaAssignStat::cast(parent.clone()) {
        let (targets, _) = assignment.get_var_and_expr_list();
        return targets.iter().any(|target| target.syntax() == index.syntax());
    }
    emmylua_parser::LuaFuncStat::can_cast(parent.kind().into())
        && !LuaClosureExpr::can_cast(parent.kind().into())
}
