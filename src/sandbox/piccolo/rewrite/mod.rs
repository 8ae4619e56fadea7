//! Rewrites a plan's source so that piccolo runs it as Lua would.
//!
//! piccolo's own operators differ from Lua's: `1.0 .. ""` gives `1`, `-7 // 2` gives -3, `"10" < 5`
//! is an answer, `"10" + 1` a float, `2^53 == 2^53 + 1|0` is true, and most know no metamethods. Strings have no methods, numeric
//! loops become float loops where their limit is a float, generic ones end at `false`, and tables
//! panic when they grow in some ways. So operators, method calls, numeric loops, assignments to members and
//! some constructors become calls of helpers (see [`HELPERS`]), and generic loops become `while` loops.
//! Every line keeps its number.
//!
//! Literals are spelled differently, as piccolo's lexer reads large integers as floats and refuses some
//! escapes. Comments are dropped; line breaks stay.

mod constructors;
mod expressions;
mod functions;
mod literals;
mod statements;

use std::collections::BTreeSet;

use emmylua_parser::{LuaKind, LuaSyntaxElement, LuaSyntaxKind, LuaSyntaxNode, LuaTokenKind};

use luaplan_syntax::{SyntaxFault, swapped_environment, syntax_tree};

/// The prefix of every helper's name. A plan that uses such a name is refused.
pub(super) const PREFIX: &str = "__luaplan_";

/// The helpers, in the order in which the rewritten chunk takes them.
pub(super) const HELPERS: [&str; 27] = [
    "add", "sub", "mul", "div", "idiv", "mod", "pow", "band", "bor", "bxor", "shl", "shr", "concat", "lt",
    "le", "gt", "ge", "eq", "unm", "bnot", "method", "set", "range", "rest", "one", "build", "more",
];

/// Why a source cannot run on piccolo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is not Lua.
    Syntax(SyntaxFault),
    /// It is Lua, but uses what piccolo lacks: the line, and what.
    Unsupported(u32, &'static str),
}

/// A rewritten source.
#[derive(Debug)]
pub(super) struct Rewritten {
    pub(super) text: String,
    /// How many different global names the source sets at most.
    pub(super) globals: usize,
}

/// Gives `source` as a chunk that takes the [`HELPERS`] and returns the source as a function.
///
/// # Errors
/// Why it cannot run.
pub(super) fn rewrite(source: &str) -> Result<Rewritten, Refusal> {
    let tree = syntax_tree(source).map_err(Refusal::Syntax)?;
    rewrite_tree(source, &tree, None)
}

/// The same for a plan's source, which may use less of Lua than our own parts.
///
/// # Errors
/// Why it cannot run.
pub(super) fn rewrite_plan(source: &str) -> Result<Rewritten, Refusal> {
    let tree = syntax_tree(source).map_err(Refusal::Syntax)?;
    // The engine sets the members of such a table itself, and may fail as it grows.
    let swapped = swapped_environment(&tree).map(|offset| (offset, "an `_ENV` of its own"));
    rewrite_tree(source, &tree, swapped)
}

fn rewrite_tree(
    source: &str,
    tree: &LuaSyntaxNode,
    unsupported: Option<(usize, &'static str)>,
) -> Result<Rewritten, Refusal> {
    let mut writer = Writer {
        out: String::with_capacity(2 * source.len()),
        unsupported,
        hidden: 0,
        parameters: Vec::new(),
        set_names: BTreeSet::new(),
    };
    writer.out.push_str("local ");
    for (place, name) in HELPERS.iter().enumerate() {
        if place > 0 {
            writer.out.push(',');
        }
        writer.out.push_str(PREFIX);
        writer.out.push_str(name);
    }
    writer.out.push_str(" = ... return function(...) ");
    writer.node(tree);
    writer.out.push_str("\nend");
    match writer.unsupported {
        None => Ok(Rewritten { text: writer.out, globals: writer.set_names.len() }),
        Some((offset, what)) => {
            let before = source.as_bytes().get(..offset).unwrap_or_default();
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            Err(Refusal::Unsupported(u32::try_from(line).unwrap_or(u32::MAX), what))
        }
    }
}

/// The output so far.
struct Writer {
    out: String,
    /// The first thing that cannot be written, by its offset.
    unsupported: Option<(usize, &'static str)>,
    /// How many hidden local variables have been named.
    hidden: usize,
    /// How many parameters each function around has, innermost last.
    parameters: Vec<usize>,
    /// The names that are assigned to, globals among them.
    set_names: BTreeSet<String>,
}

impl Writer {
    fn refuse(&mut self, offset: usize, what: &'static str) {
        self.unsupported.get_or_insert((offset, what));
    }

    fn open(&mut self, helper: &str) {
        self.out.push_str(PREFIX);
        self.out.push_str(helper);
        self.out.push('(');
    }

    /// Rewrites a node.
    fn node(&mut self, node: &LuaSyntaxNode) {
        match LuaSyntaxKind::from(node.kind()) {
            LuaSyntaxKind::Comment => self.breaks_of(&node.text().to_string()),
            LuaSyntaxKind::BinaryExpr => self.binary(node),
            LuaSyntaxKind::UnaryExpr => self.unary(node),
            LuaSyntaxKind::AssignStat => self.assignment(node),
            LuaSyntaxKind::LocalStat => self.local(node),
            LuaSyntaxKind::ForStat => self.numeric_loop(node),
            LuaSyntaxKind::ForRangeStat => self.generic_loop(node),
            LuaSyntaxKind::TableArrayExpr | LuaSyntaxKind::TableObjectExpr => self.constructor(node),
            LuaSyntaxKind::ParenExpr => self.bracketed(node),
            LuaSyntaxKind::ReturnStat => self.return_statement(node),
            LuaSyntaxKind::Attribute => self.attribute(node),
            LuaSyntaxKind::ClosureExpr => self.closure(node),
            LuaSyntaxKind::FuncStat => self.function_statement(node),
            kind if is_call(kind) => self.call(node),
            _ => self.children(node),
        }
    }

    fn children(&mut self, node: &LuaSyntaxNode) {
        for child in node.children_with_tokens() {
            self.element(&child);
        }
    }

    fn element(&mut self, element: &LuaSyntaxElement) {
        match element {
            LuaSyntaxElement::Node(node) => self.node(node),
            LuaSyntaxElement::Token(token) => self.token(LuaTokenKind::from(token.kind()), token.text(), {
                usize::from(token.text_range().start())
            }),
        }
    }

    fn token(&mut self, kind: LuaTokenKind, text: &str, offset: usize) {
        match kind {
            LuaTokenKind::TkString => literals::short_string(text, &mut self.out),
            LuaTokenKind::TkLongString => literals::long_string(text, &mut self.out),
            LuaTokenKind::TkInt | LuaTokenKind::TkFloat => literals::number(text, &mut self.out),
            LuaTokenKind::TkShortComment | LuaTokenKind::TkLongComment => self.breaks_of(text),
            LuaTokenKind::TkDots => self.rest(),
            LuaTokenKind::TkName => {
                if text.starts_with(PREFIX) {
                    self.refuse(offset, "names that begin with `__luaplan_`");
                }
                self.out.push_str(text);
            }
            _ => self.out.push_str(text),
        }
    }

    /// White space that keeps the lines of `text`.
    fn breaks_of(&mut self, text: &str) {
        self.out.push(' ');
        for _ in text.bytes().filter(|byte| *byte == b'\n') {
            self.out.push('\n');
        }
    }

    /// `<const>` means nothing once the check has passed; `<close>` cannot be had.
    fn attribute(&mut self, node: &LuaSyntaxNode) {
        let text = node.text().to_string();
        if text.contains("close") {
            self.refuse(usize::from(node.text_range().start()), "`<close>` variables");
        }
        self.breaks_of(&text);
    }

    /// A name no plan has.
    fn hidden_name(&mut self) -> String {
        self.hidden += 1;
        format!("{PREFIX}{}", self.hidden)
    }
}

fn is_call(kind: LuaSyntaxKind) -> bool {
    matches!(
        kind,
        LuaSyntaxKind::CallExpr
            | LuaSyntaxKind::RequireCallExpr
            | LuaSyntaxKind::ErrorCallExpr
            | LuaSyntaxKind::AssertCallExpr
            | LuaSyntaxKind::TypeCallExpr
            | LuaSyntaxKind::SetmetatableCallExpr
    )
}

/// Whether an expression may give other than one value.
fn is_multiple(node: &LuaSyntaxNode) -> bool {
    let kind = LuaSyntaxKind::from(node.kind());
    is_call(kind) || kind == LuaSyntaxKind::LiteralExpr && node.text() == "..."
}

fn is_expression(node: &LuaSyntaxNode) -> bool {
    use LuaSyntaxKind as Kind;
    let kind = LuaSyntaxKind::from(node.kind());
    is_call(kind)
        || matches!(
            kind,
            Kind::ParenExpr
                | Kind::LiteralExpr
                | Kind::ClosureExpr
                | Kind::UnaryExpr
                | Kind::BinaryExpr
                | Kind::TableArrayExpr
                | Kind::TableObjectExpr
                | Kind::TableEmptyExpr
                | Kind::IndexExpr
                | Kind::NameExpr
        )
}

fn token_kind(element: &LuaSyntaxElement) -> Option<LuaTokenKind> {
    match element.kind() {
        LuaKind::Token(kind) => Some(kind),
        LuaKind::Syntax(_) => None,
    }
}
