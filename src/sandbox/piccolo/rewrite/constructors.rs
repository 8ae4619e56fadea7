//! Table constructors whose members piccolo would set in another order, or cannot store.
//!
//! piccolo sets all members with keys first and the items after them, so their expressions would not run in
//! the order of the source. Items of a call or of `...` may leave holes, which make its tables panic in some
//! places. Plain lists and plain records stay as they are.

use emmylua_parser::{LuaSyntaxElement, LuaSyntaxKind, LuaSyntaxNode, LuaTokenKind};

use super::{Writer, is_expression, is_multiple, token_kind};

/// The most values passed to a helper at once: each takes a register.
const VALUES_MAX: usize = 30;

struct ConstructorFields {
    all: Vec<LuaSyntaxNode>,
    items: usize,
    keyed: usize,
    /// Whether a key is other than a name or a literal.
    computed: bool,
    /// Whether the last item gives any number of values.
    open: bool,
}

fn is_keyed(field: &LuaSyntaxNode) -> bool {
    LuaSyntaxKind::from(field.kind()) == LuaSyntaxKind::TableFieldAssign
}

fn fields_of(table: &LuaSyntaxNode) -> ConstructorFields {
    let all: Vec<LuaSyntaxNode> = table
        .children()
        .filter(|child| {
            is_keyed(child) || LuaSyntaxKind::from(child.kind()) == LuaSyntaxKind::TableFieldValue
        })
        .collect();
    let keyed = all.iter().filter(|field| is_keyed(field)).count();
    let computed = all.iter().any(|field| {
        let mut parts = field.children().filter(is_expression);
        is_keyed(field)
            && parts.clone().count() > 1
            && parts.next().is_some_and(|key| LuaSyntaxKind::from(key.kind()) != LuaSyntaxKind::LiteralExpr)
    });
    let open = all.last().is_some_and(|field| {
        !is_keyed(field) && field.children().any(|value| is_expression(&value) && is_multiple(&value))
    });
    ConstructorFields { items: all.len() - keyed, keyed, computed, open, all }
}

fn is_bare_argument(table: &LuaSyntaxNode) -> bool {
    table.parent().is_some_and(|list| {
        LuaSyntaxKind::from(list.kind()) == LuaSyntaxKind::CallArgList
            && !list.children_with_tokens().any(|part| token_kind(&part) == Some(LuaTokenKind::TkLeftParen))
    })
}

impl Writer {
    pub(super) fn constructor(&mut self, node: &LuaSyntaxNode) {
        let fields = fields_of(node);
        let items = fields.items - usize::from(fields.open);
        let is_mixed = fields.computed || fields.keyed > 0 && items > 0;
        let is_built = is_mixed && items + 2 * fields.keyed <= VALUES_MAX;
        // `f{…}` has no brackets of its own around what becomes a call.
        let is_bare = (is_built || fields.open) && is_bare_argument(node);
        if is_bare {
            self.out.push('(');
        }
        match fields.all.last() {
            Some(last) if fields.open => {
                self.open("more");
                self.closed(node, is_built, &fields, Some(last));
                self.out.push_str(&format!(",{items},"));
                self.children(last);
                self.breaks_behind(node, last);
                self.out.push(')');
            }
            _ => self.closed(node, is_built, &fields, None),
        }
        if is_bare {
            self.out.push(')');
        }
    }

    /// The constructor without its `last` item.
    fn closed(
        &mut self,
        node: &LuaSyntaxNode,
        is_built: bool,
        fields: &ConstructorFields,
        last: Option<&LuaSyntaxNode>,
    ) {
        if is_built {
            return self.built(node, fields, last);
        }
        for child in node.children_with_tokens() {
            match &child {
                LuaSyntaxElement::Node(field) if Some(field) == last => {
                    self.out.push('}');
                    return;
                }
                _ => self.element(&child),
            }
        }
    }

    fn built(&mut self, node: &LuaSyntaxNode, fields: &ConstructorFields, last: Option<&LuaSyntaxNode>) {
        self.open("build");
        self.out.push('"');
        for field in fields.all.iter().filter(|field| Some(*field) != last) {
            self.out.push(if is_keyed(field) { 'f' } else { 'i' });
        }
        self.out.push('"');
        for child in node.children_with_tokens() {
            match (&child, token_kind(&child)) {
                (LuaSyntaxElement::Node(field), _) if Some(field) == last => break,
                (LuaSyntaxElement::Node(field), _) if is_keyed(field) => self.keyed(field),
                (LuaSyntaxElement::Node(field), _) if fields.all.contains(field) => {
                    self.out.push(',');
                    self.single_parts(field);
                }
                (
                    _,
                    Some(
                        LuaTokenKind::TkLeftBrace
                        | LuaTokenKind::TkRightBrace
                        | LuaTokenKind::TkComma
                        | LuaTokenKind::TkSemicolon,
                    ),
                ) => {}
                _ => self.element(&child),
            }
        }
        self.out.push(')');
    }

    /// A key and its value, each behind a comma.
    fn keyed(&mut self, field: &LuaSyntaxNode) {
        self.out.push(',');
        for child in field.children_with_tokens() {
            match (&child, token_kind(&child)) {
                (_, Some(LuaTokenKind::TkName)) => self.quoted(&child.to_string()),
                (_, Some(LuaTokenKind::TkAssign)) => self.out.push(','),
                (_, Some(LuaTokenKind::TkLeftBracket | LuaTokenKind::TkRightBracket)) => {}
                (LuaSyntaxElement::Node(part), _) if is_expression(part) => self.single(part),
                _ => self.element(&child),
            }
        }
    }

    fn single_parts(&mut self, field: &LuaSyntaxNode) {
        for child in field.children_with_tokens() {
            match &child {
                LuaSyntaxElement::Node(part) if is_expression(part) => self.single(part),
                _ => self.element(&child),
            }
        }
    }

    /// The line breaks and comments of a constructor behind its last item.
    fn breaks_behind(&mut self, node: &LuaSyntaxNode, last: &LuaSyntaxNode) {
        let end = last.text_range().end();
        for child in node.children_with_tokens().filter(|child| child.text_range().start() >= end) {
            if !matches!(
                token_kind(&child),
                Some(LuaTokenKind::TkRightBrace | LuaTokenKind::TkComma | LuaTokenKind::TkSemicolon)
            ) {
                self.element(&child);
            }
        }
    }
}
