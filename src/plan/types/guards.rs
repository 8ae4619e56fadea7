//! Where a value that may be absent is looked at before it is used.

use emmylua_parser::{
    BinaryOperator, LuaAssignStat, LuaAstNode, LuaBinaryExpr, LuaCallArgList, LuaCallExpr, LuaChunk,
    LuaClosureExpr, LuaElseIfClauseStat, LuaExpr, LuaForRangeStat, LuaIfStat, LuaIndexExpr, LuaLocalStat,
    LuaNameExpr, LuaRepeatStat, LuaSyntaxNode, LuaUnaryExpr, LuaVarExpr, LuaWhileStat, UnaryOperator,
};

/// Functions that take nil and say so.
const LOOKING: [&str; 14] = [
    "type",
    "tostring",
    "tonumber",
    "print",
    "assert",
    "rawequal",
    "select",
    "json.is_null",
    "text.is_blank",
    "date.valid",
    "list.is_list",
    "math.type",
    "json.encode",
    "next",
];

/// How a value that is nil would fare where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// The plan looks whether it is there.
    Looked,
    /// It is handed on.
    HandedOn,
    /// It would raise: an index, a call, arithmetic, a loop over it.
    Raises,
}

/// How the value of `expression` is used, its variable followed if it is put into one.
pub(super) fn use_of(chunk: &LuaChunk, expression: &LuaExpr) -> Use {
    let at = place(expression.syntax());
    match at {
        Place::Looked => Use::Looked,
        Place::Raises => Use::Raises,
        Place::Kept(name) => {
            if is_looked_at(chunk, &name) {
                Use::Looked
            } else {
                Use::HandedOn
            }
        }
        Place::HandedOn => Use::HandedOn,
    }
}

enum Place {
    Looked,
    Raises,
    HandedOn,
    Kept(String),
}

fn place(node: &LuaSyntaxNode) -> Place {
    let Some(parent) = node.parent() else { return Place::HandedOn };
    if let Some(binary) = LuaBinaryExpr::cast(parent.clone()) {
        let is_left = binary.get_left_expr().is_some_and(|left| left.syntax() == node);
        let Some(operator) = binary.get_op_token().map(|token| token.get_op()) else {
            return Place::HandedOn;
        };
        return match operator {
            BinaryOperator::OpEq | BinaryOperator::OpNe => Place::Looked,
            BinaryOperator::OpOr | BinaryOperator::OpAnd if is_left => Place::Looked,
            BinaryOperator::OpOr | BinaryOperator::OpAnd => place(&parent),
            _ => Place::Raises,
        };
    }
    if let Some(unary) = LuaUnaryExpr::cast(parent.clone()) {
        let operator = unary.get_op_token().map(|token| token.get_op());
        return if operator == Some(UnaryOperator::OpNot) { Place::Looked } else { Place::Raises };
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
        return Place::Looked;
    }
    if let Some(index) = LuaIndexExpr::cast(parent.clone()) {
        let is_prefix = index.get_prefix_expr().is_some_and(|prefix| prefix.syntax() == node);
        return if is_prefix { Place::Raises } else { Place::HandedOn };
    }
    if LuaCallExpr::can_cast(parent.kind().into()) {
        return Place::Raises;
    }
    if LuaForRangeStat::can_cast(parent.kind().into()) {
        return Place::Raises;
    }
    if LuaCallArgList::can_cast(parent.kind().into()) {
        return argument(&parent);
    }
    kept(node, &parent)
}

fn argument(list: &LuaSyntaxNode) -> Place {
    let callee = list.parent().and_then(LuaCallExpr::cast).and_then(|call| call.get_prefix_expr());
    match callee.map(|callee| callee.get_text()) {
        Some(name) if LOOKING.contains(&name.as_str()) => Place::Looked,
        Some(name) if matches!(name.as_str(), "ipairs" | "pairs") => Place::Raises,
        _ => Place::HandedOn,
    }
}

/// The variable a value is put into.
fn kept(node: &LuaSyntaxNode, parent: &LuaSyntaxNode) -> Place {
    let Some(value) = LuaExpr::cast(node.clone()) else { return Place::HandedOn };
    if let Some(local) = LuaLocalStat::cast(parent.clone()) {
        let name = local.get_local_name_by_value(value).and_then(|name| name.get_name_token());
        return name.map_or(Place::HandedOn, |name| {
            Place::Kept(emmylua_parser::LuaNameToken::get_name_text(&name).to_owned())
        });
    }
    if let Some(assignment) = LuaAssignStat::cast(parent.clone()) {
        let (targets, values) = assignment.get_var_and_expr_list();
        let place = values.iter().position(|it| it.syntax() == node);
        return match place.and_then(|place| targets.get(place)) {
            Some(LuaVarExpr::NameExpr(name)) => name.get_name_text().map_or(Place::HandedOn, Place::Kept),
            _ => Place::HandedOn,
        };
    }
    Place::HandedOn
}

/// Whether the plan looks at a variable of that name anywhere.
fn is_looked_at(chunk: &LuaChunk, name: &str) -> bool {
    let mut uses = chunk.descendants::<LuaNameExpr>();
    uses.any(|used| {
        used.get_name_text().as_deref() == Some(name) && matches!(place(used.syntax()), Place::Looked)
    })
}

/// Whether the value is what an assignment or a function definition writes to.
pub(super) fn is_target(index: &LuaIndexExpr) -> bool {
    let Some(parent) = index.syntax().parent() else { return false };
    if let Some(assignment) = LuaAssignStat::cast(parent.clone()) {
        let (targets, _) = assignment.get_var_and_expr_list();
        return targets.iter().any(|target| target.syntax() == index.syntax());
    }
    emmylua_parser::LuaFuncStat::can_cast(parent.kind().into())
        && !LuaClosureExpr::can_cast(parent.kind().into())
}
