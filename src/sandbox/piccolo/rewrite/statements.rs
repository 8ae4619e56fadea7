//! Rewrites loops and assignments to members.

use emmylua_parser::{LuaSyntaxElement, LuaSyntaxKind, LuaSyntaxNode, LuaTokenKind};

use super::{Writer, is_expression, token_kind};

/// Integers with so few characters are far from where a loop could overflow.
const SAFE_DIGITS: usize = 15;

impl Writer {
    /// `for i = a, b, c do` walks `range(a, b, c)`, unless piccolo's own loop surely does the same.
    pub(super) fn numeric_loop(&mut self, node: &LuaSyntaxNode) {
        let bounds: Vec<LuaSyntaxNode> = node.children().filter(is_expression).collect();
        let (is_plain, last) = match bounds.as_slice() {
            [from, to] => (is_integer(from) && (is_integer(to) || is_length(to)), to),
            [from, to, step] => {
                let steps = is_integer(step) && step.text() != "0";
                (is_integer(from) && is_integer(to) && steps, step)
            }
            _ => return self.children(node),
        };
        // In a block of its own, as piccolo's compiler fails where `goto` exits a loop without one.
        self.out.push_str("do ");
        if is_plain {
            self.children(node);
            return self.out.push_str(" end");
        }
        for child in node.children_with_tokens() {
            match (&child, token_kind(&child)) {
                (_, Some(LuaTokenKind::TkAssign)) => {
                    self.out.push_str(" in ");
                    self.open("range");
                }
                (_, Some(LuaTokenKind::TkDo)) => self.out.push_str(") do"),
                (LuaSyntaxElement::Node(bound), _) if bound == last => self.single(bound),
                _ => self.element(&child),
            }
        }
        self.out.push_str(" end");
    }

    /// `for k, v in f, s, c do` calls its iterator in a `while`, as piccolo's own loop ends where the first
    /// value is `false`, and Lua's where it is `nil`.
    pub(super) fn generic_loop(&mut self, node: &LuaSyntaxNode) {
        let [iterator, state, control] = [self.hidden_name(), self.hidden_name(), self.hidden_name()];
        let mut names: Vec<String> = Vec::new();
        let mut is_head = true;
        for child in node.children_with_tokens() {
            match token_kind(&child) {
                Some(LuaTokenKind::TkFor) => self.out.push_str("do "),
                Some(LuaTokenKind::TkName) if is_head => {
                    let name = child.to_string();
                    if name.starts_with(super::PREFIX) {
                        // A name with the reserved prefix is refused there.
                        self.element(&child);
                    }
                    names.push(name);
                }
                Some(LuaTokenKind::TkComma) if is_head => {}
                Some(LuaTokenKind::TkIn) => {
                    is_head = false;
                    self.out.push_str(&format!("local {iterator},{state},{control}="));
                }
                Some(LuaTokenKind::TkDo) => {
                    let first = names.first().map_or("", String::as_str);
                    self.out.push_str(&format!(
                        " while true do local {}={iterator}({state},{control}) \
                         if {first}==nil then break end {control}={first} do",
                        names.join(",")
                    ));
                }
                Some(LuaTokenKind::TkEnd) => self.out.push_str("end end end"),
                _ => self.element(&child),
            }
        }
    }

    pub(super) fn assignment(&mut self, node: &LuaSyntaxNode) {
        let mut after_assign = false;
        let (mut targets, mut values) = (Vec::new(), Vec::new());
        for child in node.children_with_tokens() {
            match child {
                LuaSyntaxElement::Node(part) if is_expression(&part) => {
                    let side = if after_assign { &mut values } else { &mut targets };
                    side.push(part);
                }
                LuaSyntaxElement::Node(_) => {}
                LuaSyntaxElement::Token(token) => {
                    after_assign |= LuaTokenKind::from(token.kind()) == LuaTokenKind::TkAssign;
                }
            }
        }
        let names = targets.iter().filter(|target| !is_member(target));
        self.set_names.extend(names.map(|name| name.text().to_string()));
        match (targets.as_slice(), values.as_slice()) {
            ([target], [value]) if is_member(target) => {
                self.member_assignment(node, target, value);
            }
            ([_], _) => self.children(node),
            // piccolo sets the first before it has computed the others.
            _ => self.many_assignments(node, &targets, values.len()),
        }
    }

    /// `local a, b = b, a`: piccolo sees the new `a` already in the second value. So where a name is
    /// used in the values, these go into hidden variables first.
    pub(super) fn local(&mut self, node: &LuaSyntaxNode) {
        let kind_of = |part: &LuaSyntaxNode| LuaSyntaxKind::from(part.kind());
        let names: Vec<String> = node
            .children()
            .filter(|part| kind_of(part) == LuaSyntaxKind::LocalName)
            .filter_map(|part| part.first_token().map(|token| token.text().to_owned()))
            .collect();
        let values: Vec<LuaSyntaxNode> = node.children().filter(is_expression).collect();
        let used =
            values.iter().skip(1).flat_map(LuaSyntaxNode::descendants_with_tokens).any(|part| {
                token_kind(&part) == Some(LuaTokenKind::TkName) && names.contains(&part.to_string())
            });
        if names.len() < 2 || !used {
            return self.children(node);
        }
        let hidden: Vec<String> = (0..names.len().max(values.len())).map(|_| self.hidden_name()).collect();
        for child in node.children_with_tokens() {
            match (&child, token_kind(&child)) {
                (LuaSyntaxElement::Node(part), _) if kind_of(part) == LuaSyntaxKind::LocalName => {
                    self.local_name_breaks(part);
                }
                (_, Some(LuaTokenKind::TkComma)) if Self::is_among_names(node, &child) => {}
                (_, Some(LuaTokenKind::TkSemicolon)) => {}
                (_, Some(LuaTokenKind::TkAssign)) => {
                    self.out.push_str(&format!("{}=", hidden.join(",")));
                }
                _ => self.element(&child),
            }
        }
        self.out.push_str(&format!("; local {}={};", names.join(","), hidden.join(",")));
    }

    /// Keeps the line breaks of a declared name, and refuses `<close>`.
    fn local_name_breaks(&mut self, name: &LuaSyntaxNode) {
        for child in name.children_with_tokens() {
            if token_kind(&child) != Some(LuaTokenKind::TkName) {
                self.element(&child);
            }
        }
    }

    /// Whether a comma stands among the names, before the values.
    fn is_among_names(node: &LuaSyntaxNode, comma: &LuaSyntaxElement) -> bool {
        node.children_with_tokens()
            .find(|child| token_kind(child) == Some(LuaTokenKind::TkAssign))
            .is_some_and(|assign| comma.text_range().start() < assign.text_range().start())
    }

    /// `a.b = v` becomes `set(a, "b", v)`.
    fn member_assignment(&mut self, node: &LuaSyntaxNode, target: &LuaSyntaxNode, value: &LuaSyntaxNode) {
        self.open("set");
        for child in node.children_with_tokens() {
            match (&child, token_kind(&child)) {
                (_, Some(LuaTokenKind::TkAssign)) => self.out.push(','),
                (_, Some(LuaTokenKind::TkSemicolon)) => {}
                (LuaSyntaxElement::Node(part), _) if part == target => self.member(part, ","),
                (LuaSyntaxElement::Node(part), _) if part == value => self.single(part),
                _ => self.element(&child),
            }
        }
        self.out.push_str(");");
    }

    /// A member's table and key, with `between` them.
    pub(super) fn member(&mut self, index: &LuaSyntaxNode, between: &str) {
        for child in index.children_with_tokens() {
            match (&child, token_kind(&child)) {
                (_, Some(LuaTokenKind::TkDot | LuaTokenKind::TkColon | LuaTokenKind::TkLeftBracket)) => {
                    self.out.push_str(between);
                }
                (_, Some(LuaTokenKind::TkRightBracket)) => {}
                (_, Some(LuaTokenKind::TkName)) => self.quoted(&child.to_string()),
                (LuaSyntaxElement::Node(part), _) if is_expression(part) => self.single(part),
                _ => self.element(&child),
            }
        }
    }

    /// `a.b, c = x, y`: tables and keys first, then the values, then the assignments, last first.
    fn many_assignments(&mut self, node: &LuaSyntaxNode, targets: &[LuaSyntaxNode], values: usize) {
        let mut tables_and_keys = Vec::new();
        let mut finals = Vec::new();
        let value_names: Vec<String> = (0..targets.len().max(values)).map(|_| self.hidden_name()).collect();
        for (target, value) in targets.iter().zip(&value_names) {
            if is_member(target) {
                let (table, key) = (self.hidden_name(), self.hidden_name());
                finals.push(format!("{}set({table},{key},{value});", super::PREFIX));
                tables_and_keys.extend([table, key]);
            } else {
                finals.push(format!("{}={value};", target.text()));
            }
        }
        self.out.push_str("do ");
        if !tables_and_keys.is_empty() {
            self.out.push_str(&format!("local {}=", tables_and_keys.join(",")));
        }
        let mut is_first = true;
        for child in node.children_with_tokens() {
            match (&child, token_kind(&child)) {
                (_, Some(LuaTokenKind::TkSemicolon)) => {}
                (_, Some(LuaTokenKind::TkAssign)) => {
                    let after = if tables_and_keys.is_empty() { "" } else { ";" };
                    self.out.push_str(&format!("{after} local {}=", value_names.join(",")));
                    is_first = true;
                }
                (_, Some(LuaTokenKind::TkComma)) => {}
                (LuaSyntaxElement::Node(part), _) if targets.contains(part) => {
                    if is_member(part) {
                        self.comma_unless(&mut is_first);
                        self.member(part, ",");
                    }
                }
                (LuaSyntaxElement::Node(part), _) if is_expression(part) => {
                    self.comma_unless(&mut is_first);
                    self.node(part);
                }
                _ => self.element(&child),
            }
        }
        self.out.push(';');
        self.out.extend(finals.iter().rev().map(String::as_str));
        self.out.push_str("end;");
    }

    fn comma_unless(&mut self, is_first: &mut bool) {
        if !std::mem::take(is_first) {
            self.out.push(',');
        }
    }
}

fn is_member(node: &LuaSyntaxNode) -> bool {
    LuaSyntaxKind::from(node.kind()) == LuaSyntaxKind::IndexExpr
}

fn is_integer(node: &LuaSyntaxNode) -> bool {
    let text = node.text().to_string();
    let digits = text.strip_prefix('-').unwrap_or(&text);
    !digits.is_empty() && digits.len() <= SAFE_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// `#name`, which is an integer short of a lying `__len`.
fn is_length(node: &LuaSyntaxNode) -> bool {
    let mut tokens = node.children_with_tokens().filter_map(|child| token_kind(&child));
    LuaSyntaxKind::from(node.kind()) == LuaSyntaxKind::UnaryExpr
        && tokens.any(|kind| kind == LuaTokenKind::TkLen)
        && node.children().any(|operand| LuaSyntaxKind::from(operand.kind()) == LuaSyntaxKind::NameExpr)
}
