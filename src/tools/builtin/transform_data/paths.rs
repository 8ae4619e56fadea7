//! Paths into the data of a template, as it writes them.

use std::collections::BTreeSet;

use minijinja::machinery::ast::Expr;

/// A variable and keys of it as written, `a.b.c`.
pub(super) fn path(expression: &Expr<'_>) -> Option<String> {
    match expression {
        Expr::Var(node) => Some(node.id.to_owned()),
        Expr::GetAttr(node) => Some(format!("{}.{}", path(&node.expr)?, node.name)),
        Expr::GetItem(node) => match &node.subscript_expr {
            Expr::Const(key) => Some(format!("{}.{}", path(&node.expr)?, key.value.as_str()?)),
            _ => None,
        },
        _ => None,
    }
}

/// Every path inside a condition.
pub(super) fn paths(expression: &Expr<'_>) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = path(expression).into_iter().collect();
    let mut add = |part: &Expr<'_>| found.extend(paths(part));
    match expression {
        Expr::GetAttr(node) => add(&node.expr),
        Expr::GetItem(node) => add(&node.expr),
        Expr::UnaryOp(node) => add(&node.expr),
        Expr::BinOp(node) => {
            add(&node.left);
            add(&node.right);
        }
        Expr::Compare(node) => {
            add(&node.expr);
            node.ops.iter().for_each(|part| add(&part.expr));
        }
        Expr::Filter(node) => node.expr.iter().for_each(add),
        Expr::Test(node) => add(&node.expr),
        _ => {}
    }
    found
}
