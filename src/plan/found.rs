//! What one walk over the tree finds.

use std::collections::{BTreeMap, HashSet};

use emmylua_parser::{LuaAstNode, LuaCallExpr, LuaChunk, LuaExpr, LuaKind, LuaTokenKind};

use luaplan_syntax::Span;

/// A global name, or a member of one, where the plan uses it.
pub(super) struct GlobalUse {
    pub(super) name: String,
    /// The first member asked for, as in `name.member`.
    pub(super) member: Option<String>,
    pub(super) span: Span,
    /// The name, or the name with its member.
    pub(super) expression: LuaExpr,
    /// The call, where the name or its member is called.
    pub(super) call: Option<LuaCallExpr>,
    /// Whether the call is written with a colon.
    pub(super) by_colon: bool,
}

/// A global name that the plan assigns.
pub(super) struct GlobalWrite {
    pub(super) name: String,
    /// What kind of value it gets, where that is plain to see.
    pub(super) kind: Option<&'static str>,
    pub(super) span: Span,
}

/// What one walk found.
pub(super) struct Walk {
    pub(super) uses: Vec<GlobalUse>,
    pub(super) writes: Vec<GlobalWrite>,
    /// Members the plan itself adds to globals, as `name.member`, each where it is first added.
    pub(super) members: BTreeMap<String, Span>,
    /// Where a local variable `run` is declared.
    pub(super) local_run: Option<Span>,
    /// Local variables and parameters, by name, each where it is first declared.
    pub(super) locals: BTreeMap<String, Span>,
    /// Local variables that are assigned, by name.
    pub(super) assigned: HashSet<String>,
    /// Local variables that a function inside the one that declares them uses, by name.
    pub(super) captured: HashSet<String>,
    /// Whether globals may appear that cannot be seen here: `_G` handed around, or `_ENV` replaced.
    pub(super) dynamic: bool,
}

impl Walk {
    pub(super) fn new() -> Self {
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

/// The kind of value an expression gives, where that is plain to see and matters for `run`.
pub(super) fn plain_kind(expression: &LuaExpr) -> Option<&'static str> {
    match expression {
        LuaExpr::ClosureExpr(_) => Some("function"),
        LuaExpr::TableExpr(_) => Some("table"),
        LuaExpr::LiteralExpr(literal) if literal.syntax().text() != "..." => Some("plain value"),
        _ => None,
    }
}

/// The bytes a node stands on.
pub(super) fn span_of(node: &impl LuaAstNode) -> Span {
    let range = node.get_range();
    (usize::from(range.start()), usize::from(range.end()))
}

/// The comments of a plan.
pub(super) fn comments(chunk: &LuaChunk) -> impl Iterator<Item = Span> {
    let tokens = chunk.syntax().descendants_with_tokens().filter_map(|element| element.as_token().cloned());
    let is_comment = |kind: LuaKind| {
        matches!(kind, LuaKind::Token(LuaTokenKind::TkShortComment | LuaTokenKind::TkLongComment))
    };
    tokens.filter(move |token| is_comment(token.kind())).map(|token| {
        let range = token.text_range();
        (usize::from(range.start()), usize::from(range.end()))
    })
}
