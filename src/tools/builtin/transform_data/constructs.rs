//! The constructs allowed in an inline template.
//!
//! Checked before compiling, because the compiler itself evaluates constants: an unchecked
//! `'a' * 90000000` would be 90 MB before anything runs.

use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, Stmt};

/// A construct that inline templates lack, and its line.
#[derive(Debug)]
pub(super) struct RefusedConstruct {
    pub(super) name: &'static str,
    pub(super) line: u16,
}

type Checked = Result<(), RefusedConstruct>;

/// Checks a whole template.
///
/// # Errors
/// The first construct that inline templates do not have.
pub(super) fn check(template: &Stmt<'_>) -> Checked {
    let (bodies, expressions): (Vec<&[Stmt<'_>]>, Vec<&Expr<'_>>) = match template {
        Stmt::Template(node) => (vec![&node.children], vec![]),
        Stmt::EmitRaw(_) => (vec![], vec![]),
        Stmt::EmitExpr(node) => (vec![], vec![&node.expr]),
        Stmt::ForLoop(node) if node.recursive => {
            return Err(refused("recursive loop", node.span().start_line));
        }
        Stmt::ForLoop(node) => {
            let expressions = [&node.target, &node.iter].into_iter().chain(&node.filter_expr).collect();
            (vec![&node.body, &node.else_body], expressions)
        }
        Stmt::IfCond(node) => (vec![&node.true_body, &node.false_body], vec![&node.expr]),
        Stmt::WithBlock(node) => {
            (vec![&node.body], node.assignments.iter().flat_map(|(target, value)| [target, value]).collect())
        }
        Stmt::Set(node) => (vec![], vec![&node.target, &node.expr]),
        Stmt::SetBlock(node) => return Err(refused("set block", node.span().start_line)),
        Stmt::AutoEscape(node) => return Err(refused("autoescape block", node.span().start_line)),
        Stmt::FilterBlock(node) => return Err(refused("filter block", node.span().start_line)),
        Stmt::Block(node) => return Err(refused("block", node.span().start_line)),
        Stmt::Import(node) => return Err(refused("import", node.span().start_line)),
        Stmt::FromImport(node) => return Err(refused("import", node.span().start_line)),
        Stmt::Extends(node) => return Err(refused("extends", node.span().start_line)),
        Stmt::Include(node) => return Err(refused("include", node.span().start_line)),
        Stmt::Macro(node) => return Err(refused("macro", node.span().start_line)),
        Stmt::CallBlock(node) => return Err(refused("call block", node.span().start_line)),
        Stmt::Do(node) => return Err(refused("`do`", node.span().start_line)),
        #[expect(
            unreachable_patterns,
            reason = "the engine has further statements where its features are on"
        )]
        _ => return Err(refused("statement of this kind", 1)),
    };
    expressions.into_iter().try_for_each(check_expression)?;
    bodies.into_iter().flatten().try_for_each(check)
}

fn check_expression(expression: &Expr<'_>) -> Checked {
    let line = expression.span().start_line;
    let parts: Vec<&Expr<'_>> = match expression {
        Expr::Var(_) | Expr::Const(_) => vec![],
        Expr::Slice(node) => {
            [&node.start, &node.stop, &node.step].into_iter().flatten().chain([&node.expr]).collect()
        }
        Expr::UnaryOp(node) => vec![&node.expr],
        Expr::BinOp(node) => {
            let operands = [&node.left, &node.right];
            let is_constant = operands.iter().all(|operand| operand.is_constant());
            if matches!(node.op, BinOpKind::Mul)
                && is_constant
                && !operands.iter().all(|operand| operand.is_number())
            {
                return Err(refused("repetition of text or lists", line));
            }
            operands.into()
        }
        Expr::Compare(node) => node.ops.iter().map(|part| &part.expr).chain([&node.expr]).collect(),
        Expr::IfExpr(node) => {
            [&node.test_expr, &node.true_expr].into_iter().chain(&node.false_expr).collect()
        }
        Expr::Filter(node) => node.expr.iter().chain(arguments(&node.args, line)?).collect(),
        Expr::Test(node) => arguments(&node.args, line)?.into_iter().chain([&node.expr]).collect(),
        Expr::GetAttr(node) => vec![&node.expr],
        Expr::GetItem(node) => vec![&node.expr, &node.subscript_expr],
        Expr::Call(node) => {
            check_callee(&node.expr, line)?;
            arguments(&node.args, line)?.into_iter().chain([&node.expr]).collect()
        }
        Expr::List(node) => node.items.iter().collect(),
        Expr::Tuple(node) => node.items.iter().collect(),
        Expr::Map(node) => node.keys.iter().chain(&node.values).collect(),
    };
    parts.into_iter().try_for_each(check_expression)
}

fn check_callee(callee: &Expr<'_>, line: u16) -> Checked {
    match callee {
        Expr::Var(name) if matches!(name.id, "range" | "namespace") => Ok(()),
        Expr::Var(name) if name.id == "loop" => Err(refused("recursive loop", line)),
        Expr::Var(_) => Err(refused("function but `range` and `namespace`", line)),
        Expr::GetAttr(method) if method.name == "cycle" => Ok(()),
        Expr::GetAttr(_) => Err(refused("method call (there are filters, such as `|items`)", line)),
        _ => Err(refused("call of a value", line)),
    }
}

fn arguments<'a, 's>(arguments: &'a [CallArg<'s>], line: u16) -> Result<Vec<&'a Expr<'s>>, RefusedConstruct> {
    arguments
        .iter()
        .map(|argument| match argument {
            CallArg::Pos(expression) | CallArg::Kwarg(_, expression) => Ok(expression),
            CallArg::PosSplat(_) | CallArg::KwargSplat(_) => Err(refused("`*` before an argument", line)),
        })
        .collect()
}

/// What the compiler would do with an expression.
trait Constant {
    /// Whether it could compute it, without letting it try.
    fn is_constant(&self) -> bool;
    /// Whether a constant expression is surely a number.
    fn is_number(&self) -> bool;
}

impl Constant for Expr<'_> {
    fn is_constant(&self) -> bool {
        match self {
            Expr::Const(_) | Expr::List(_) | Expr::Tuple(_) | Expr::Map(_) => true,
            Expr::UnaryOp(node) => node.expr.is_constant(),
            Expr::BinOp(node) => node.left.is_constant() && node.right.is_constant(),
            Expr::Compare(node) => {
                node.expr.is_constant() && node.ops.iter().all(|part| part.expr.is_constant())
            }
            _ => false,
        }
    }

    fn is_number(&self) -> bool {
        match self {
            Expr::Const(node) => node.value.is_number(),
            Expr::UnaryOp(node) => node.expr.is_number(),
            Expr::BinOp(node) => {
                !matches!(node.op, BinOpKind::Concat) && node.left.is_number() && node.right.is_number()
            }
            _ => false,
        }
    }
}

fn refused(name: &'static str, line: u16) -> RefusedConstruct {
    RefusedConstruct { name, line }
}
