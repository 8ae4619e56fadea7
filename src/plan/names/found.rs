//! The findings of one walk over the tree.

use std::collections::{BTreeMap, HashSet};

use emmylua_parser::{LuaAstNode, LuaCallExpr, LuaChunk, LuaExpr, LuaKind, LuaTokenKind};

use luaplan_syntax::Span;

/// A global name, or a member of one, where the plan uses it.
pub(crate) struct GlobalUse {
    pub(crate) name: String,
    /// The first member asked for, as in `name.member`.
    pub(crate) member: Option<String>,
    pub(crate) span: Span,
    /// The name, or the name with its member.
    pub(crate) expression: LuaExpr,
    /// The call, where the name or its member is called.
    pub(crate) call: Option<LuaCallExpr>,
    /// Whether the call is written with a colon.
    pub(crate) by_colon: bool,
}

/// A global name that the plan assigns.
pub(crate) struct GlobalWrite {
    pub(crate) name: String,
    /// The kind of the assigned value, where the source shows it.
    pub(crate) kind: Option<&'static str>,
    pub(crate) span: Span,
}

/// What one walk found.
pub(crate) struct Walk {
    pub(crate) uses: Vec<GlobalUse>,
    pub(crate) writes: Vec<GlobalWrite>,
    /// Members the plan itself adds to globals, as `name.member`, each where it is first added.
    pub(crate) members: BTreeMap<String, Span>,
    /// Where a local variable `run` is declared.
    pub(crate) local_run: Option<Span>,
    /// Local variables and parameters, by name, each where it is first declared.
    pub(crate) locals: BTreeMap<String, Span>,
    /// Local variables that are assigned, by name.
    pub(crate) assigned: HashSet<String>,
    /// Local variables that a function inside the one that declares them uses, by name.
    pub(crate) captured: HashSet<String>,
    /// Whether further globals may appear: the plan passes `_G` around, or replaces `_ENV`.
    pub(crate) dynamic: bool,
}

impl Walk {
    pub(crate) fn new() -> Self {
        Self {
            uses: Vec::new(),
            writes: Vec::new(),
            members: BTreeMap::new(),
            local_run: None,
            locals: BTreeMap::new(),
            assigned: HashSet::new(),
            captured: HashSet::new(),
            dynamic: false,
        }
    }
}

/// The kind of an expression's value, where the source shows it and it matters for `run`.
pub(crate) fn plain_kind(expression: &LuaExpr) -> Option<&'static str> {
    match expression {
        LuaExpr::ClosureExpr(_) => Some("function"),
        LuaExpr::TableExpr(_) => Some("table"),
        LuaExpr::LiteralExpr(literal) if literal.syntax().text() != "..." => Some("plain value"),
        _ => None,
    }
}

/// The bytes a node stands on.
pub(crate) fn span_of(node: &impl LuaAstNode) -> Span {
    let range = node.get_range();
    (usize::from(range.start()), usize::from(range.end()))
}

/// The comments of a plan.
pub(crate) fn comments(chunk: &LuaChunk) -> impl Iterator<Item = Span> {
    let tokens = chunk.syntax().descendants_with_tokens().filter_map(|element| element.as_token().cloned());
    let is_comment = |kind: LuaKind| {
        matches!(kind, LuaKind::Token(LuaTokenKind::TkShortComment | LuaTokenKind::TkLongComment))
    };
    tokens.filter(move |token| is_comment(token.kind())).map(|token| {
        let range = token.text_range();
        (usize::from(range.start()), usize::from(range.end()))
    })
}
