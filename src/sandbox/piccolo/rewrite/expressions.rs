//! Operators and method calls as calls of helpers.

use emmylua_parser::{LuaSyntaxElement, LuaSyntaxKind, LuaSyntaxNode, LuaTokenKind};

use super::{Writer, is_expression, is_multiple, token_kind};

/// A number written in so few characters is the same as an integer and as a float, or no integer at all.
const EXACT_DIGITS: u32 = 15;

/// The helper for a binary operator, where piccolo's own differs from Lua's.
fn helper(operator: LuaTokenKind) -> Option<&'static str> {
    Some(match operator {
        LuaTokenKind::TkPlus => "add",
        LuaTokenKind::TkMinus => "sub",
        LuaTokenKind::TkMul => "mul",
        LuaTokenKind::TkDiv => "div",
        LuaTokenKind::TkIDiv => "idiv",
        LuaTokenKind::TkMod => "mod",
        LuaTokenKind::TkPow => "pow",
        LuaTokenKind::TkBitAnd => "band",
        LuaTokenKind::TkBitOr => "bor",
        LuaTokenKind::TkBitXor => "bxor",
        LuaTokenKind::TkShl => "shl",
        LuaTokenKind::TkShr => "shr",
        LuaTokenKind::TkConcat => "concat",
        LuaTokenKind::TkLt => "lt",
        LuaTokenKind::TkLe => "le",
        LuaTokenKind::TkGt => "gt",
        LuaTokenKind::TkGe => "ge",
        _ => return None,
    })
}

fn operator_of(node: &LuaSyntaxNode) -> Option<LuaTokenKind> {
    node.children_with_tokens().filter_map(|child| token_kind(&child)).find(|kind| {
        helper(*kind).is_some()
            || matches!(
                kind,
                LuaTokenKind::TkEq | LuaTokenKind::TkNe | LuaTokenKind::TkAnd | LuaTokenKind::TkOr
            )
    })
}

fn is_number(node: &LuaSyntaxNode) -> bool {
    let mut tokens = node.children_with_tokens().filter_map(|child| token_kind(&child));
    LuaSyntaxKind::from(node.kind()) == LuaSyntaxKind::LiteralExpr
        && tokens.any(|kind| matches!(kind, LuaTokenKind::TkInt | LuaTokenKind::TkFloat))
}

/// Whether one side of `==` is a literal that piccolo compares as Lua does: all but large numbers, which it
/// reads as floats.
fn is_plainly_compared(node: &LuaSyntaxNode) -> bool {
    node.children().any(|side| {
        LuaSyntaxKind::from(side.kind()) == LuaSyntaxKind::LiteralExpr
            && !is_multiple(&side)
            && (!is_number(&side) || side.text().len() <= EXACT_DIGITS.into())
    })
}

impl Writer {
    pub(super) fn binary(&mut self, node: &LuaSyntaxNode) {
        let operator = operator_of(node);
        match operator.and_then(helper) {
            None => match operator {
                Some(LuaTokenKind::TkEq) if !is_plainly_compared(node) => self.equality(node, operator),
                Some(LuaTokenKind::TkNe) if !is_plainly_compared(node) => {
                    self.out.push_str("(not ");
                    self.equality(node, operator);
                    self.out.push(')');
                }
                _ => self.children(node),
            },
            Some("concat") => {
                self.open("concat");
                self.joined(node);
                self.out.push(')');
            }
            Some(helper) => {
                self.open(helper);
                self.operands(node, operator);
                self.out.push(')');
            }
        }
    }

    fn equality(&mut self, node: &LuaSyntaxNode, operator: Option<LuaTokenKind>) {
        self.open("eq");
        self.operands(node, operator);
        self.out.push(')');
    }

    /// The operands of an operator, separated by a comma.
    fn operands(&mut self, node: &LuaSyntaxNode, operator: Option<LuaTokenKind>) {
        for child in node.children_with_tokens() {
            if token_kind(&child).is_some() && token_kind(&child) == operator {
                self.out.push(',');
            } else {
                self.element(&child);
            }
        }
    }

    /// `a .. b .. c` nests to the right; its pieces are joined at once, as Lua does.
    fn joined(&mut self, node: &LuaSyntaxNode) {
        let mut seen_operator = false;
        for child in node.children_with_tokens() {
            match &child {
                LuaSyntaxElement::Node(operand)
                    if seen_operator
                        && LuaSyntaxKind::from(operand.kind()) == LuaSyntaxKind::BinaryExpr
                        && operator_of(operand) == Some(LuaTokenKind::TkConcat) =>
                {
                    self.joined(operand);
                }
                LuaSyntaxElement::Node(operand) => self.single(operand),
                LuaSyntaxElement::Token(_) if token_kind(&child) == Some(LuaTokenKind::TkConcat) => {
                    seen_operator = true;
                    self.out.push(',');
                }
                LuaSyntaxElement::Token(_) => self.element(&child),
            }
        }
    }

    /// Brackets: piccolo does not cut what is inside to one value.
    pub(super) fn bracketed(&mut self, node: &LuaSyntaxNode) {
        if !node.children().any(|inner| is_multiple(&inner)) {
            return self.children(node);
        }
        for child in node.children_with_tokens() {
            if token_kind(&child) == Some(LuaTokenKind::TkLeftParen) {
                self.open("one");
            } else {
                self.element(&child);
            }
        }
    }

    /// `return` of an operator's result, kept from being a tail call, which would lose its line.
    pub(super) fn return_statement(&mut self, node: &LuaSyntaxNode) {
        let values: Vec<LuaSyntaxNode> = node.children().filter(is_expression).collect();
        let is_operator = |value: &LuaSyntaxNode| {
            matches!(LuaSyntaxKind::from(value.kind()), LuaSyntaxKind::BinaryExpr | LuaSyntaxKind::UnaryExpr)
        };
        if !matches!(values.as_slice(), [value] if is_operator(value)) {
            return self.children(node);
        }
        let name = self.hidden_name();
        for child in node.children_with_tokens() {
            match token_kind(&child) {
                Some(LuaTokenKind::TkReturn) => self.out.push_str(&format!("do local {name} =")),
                Some(LuaTokenKind::TkSemicolon) => {}
                _ => self.element(&child),
            }
        }
        self.out.push_str(&format!("; return {name} end"));
    }

    /// An expression as exactly one value.
    pub(super) fn single(&mut self, node: &LuaSyntaxNode) {
        if is_multiple(node) {
            self.open("one");
            self.node(node);
            self.out.push(')');
        } else {
            self.node(node);
        }
    }

    pub(super) fn unary(&mut self, node: &LuaSyntaxNode) {
        let operator = node.children_with_tokens().find_map(|child| token_kind(&child));
        let helper = match operator {
            Some(LuaTokenKind::TkMinus) if !node.children().any(|operand| is_number(&operand)) => "unm",
            Some(LuaTokenKind::TkBitXor) => "bnot",
            _ => return self.children(node),
        };
        self.open(helper);
        let mut before_operand = true;
        for child in node.children_with_tokens() {
            if before_operand && token_kind(&child) == operator {
                before_operand = false;
            } else {
                self.element(&child);
            }
        }
        self.out.push(')');
    }

    /// `prefix:name(…)` becomes `method(prefix, "name", …)`; other calls stay as they are.
    pub(super) fn call(&mut self, node: &LuaSyntaxNode) {
        let index = node.children().find(is_expression);
        let Some(index) = index.filter(is_method) else { return self.children(node) };
        self.open("method");
        for child in node.children_with_tokens() {
            match &child {
                LuaSyntaxElement::Node(part) if *part == index => self.method_name(part),
                LuaSyntaxElement::Node(part)
                    if LuaSyntaxKind::from(part.kind()) == LuaSyntaxKind::CallArgList =>
                {
                    self.more_arguments(part);
                }
                _ => self.element(&child),
            }
        }
        self.out.push(')');
    }

    fn method_name(&mut self, index: &LuaSyntaxNode) {
        for child in index.children_with_tokens() {
            match token_kind(&child) {
                Some(LuaTokenKind::TkColon) => self.out.push(','),
                Some(LuaTokenKind::TkName) => self.quoted(&child.to_string()),
                _ => self.element(&child),
            }
        }
    }

    /// A name as a string.
    pub(super) fn quoted(&mut self, name: &str) {
        self.out.push('"');
        self.out.push_str(name);
        self.out.push('"');
    }

    /// Arguments after others: without their brackets, with a comma before the first.
    fn more_arguments(&mut self, list: &LuaSyntaxNode) {
        let mut is_first = true;
        for child in list.children_with_tokens() {
            match (&child, token_kind(&child)) {
                (_, Some(LuaTokenKind::TkLeftParen | LuaTokenKind::TkRightParen)) => {}
                (LuaSyntaxElement::Node(argument), _) if is_expression(argument) => {
                    if std::mem::take(&mut is_first) {
                        self.out.push(',');
                    }
                    self.node(argument);
                }
                _ => self.element(&child),
            }
        }
    }
}

fn is_method(index: &LuaSyntaxNode) -> bool {
    LuaSyntaxKind::from(index.kind()) == LuaSyntaxKind::IndexExpr
        && index.children_with_tokens().any(|child| token_kind(&child) == Some(LuaTokenKind::TkColon))
}
