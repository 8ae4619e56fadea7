//! Functions that take all their arguments as `...`.
//!
//! Where a call has fewer arguments than the function has parameters, piccolo keeps the old content of
//! the parameter's register. It counts the values of `...` correctly. So parameters become local
//! variables set from `...`, and `...` in the source becomes the values after them.

use emmylua_parser::{LuaSyntaxElement, LuaSyntaxKind, LuaSyntaxNode, LuaTokenKind};

use super::{Writer, token_kind};

impl Writer {
    pub(super) fn closure(&mut self, node: &LuaSyntaxNode) {
        let is_method = node.parent().is_some_and(|parent| names_method(&parent));
        let list =
            node.children().find(|child| LuaSyntaxKind::from(child.kind()) == LuaSyntaxKind::ParamList);
        let mut names: Vec<String> = Vec::new();
        if is_method {
            names.push("self".to_owned());
        }
        let tokens = list.iter().flat_map(LuaSyntaxNode::descendants_with_tokens);
        names.extend(
            tokens.filter(|part| token_kind(part) == Some(LuaTokenKind::TkName)).map(|part| part.to_string()),
        );
        self.parameters.push(names.len());
        for child in node.children_with_tokens() {
            match &child {
                LuaSyntaxElement::Node(part)
                    if LuaSyntaxKind::from(part.kind()) == LuaSyntaxKind::ParamList =>
                {
                    self.out.push_str("(...)");
                    if !names.is_empty() {
                        self.out.push_str(&format!(" local {} = ...;", names.join(",")));
                    }
                    self.breaks_of(&part.text().to_string());
                }
                _ => self.element(&child),
            }
        }
        self.parameters.pop();
    }

    /// `...` without the values of parameters.
    pub(super) fn rest(&mut self) {
        match self.parameters.last() {
            Some(count) if *count > 0 => {
                let count = *count;
                self.open("rest");
                self.out.push_str(&format!("{count},...)"));
            }
            _ => self.out.push_str("..."),
        }
    }

    /// `function a.b:c` as `set(a.b, "c", function …)`: `self` is a parameter like the others.
    pub(super) fn function_statement(&mut self, node: &LuaSyntaxNode) {
        let Some(name) =
            node.children().find(|part| LuaSyntaxKind::from(part.kind()) == LuaSyntaxKind::IndexExpr)
        else {
            let name =
                node.children().find(|part| LuaSyntaxKind::from(part.kind()) == LuaSyntaxKind::NameExpr);
            self.set_names.extend(name.map(|name| name.text().to_string()));
            return self.children(node);
        };
        self.open("set");
        for child in node.children_with_tokens() {
            match (&child, token_kind(&child)) {
                (_, Some(LuaTokenKind::TkFunction | LuaTokenKind::TkSemicolon)) => {}
                (LuaSyntaxElement::Node(part), _) if *part == name => {
                    self.member(part, ",");
                    self.out.push_str(",function");
                }
                _ => self.element(&child),
            }
        }
        self.out.push_str(");");
    }
}

fn names_method(statement: &LuaSyntaxNode) -> bool {
    LuaSyntaxKind::from(statement.kind()) == LuaSyntaxKind::FuncStat
        && statement.children().any(|name| {
            LuaSyntaxKind::from(name.kind()) == LuaSyntaxKind::IndexExpr
                && name.children_with_tokens().any(|part| token_kind(&part) == Some(LuaTokenKind::TkColon))
        })
}
