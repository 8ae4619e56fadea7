//! What a plan uses that the second engine lacks.

use emmylua_parser::{LuaKind, LuaSyntaxElement, LuaSyntaxKind, LuaSyntaxNode, LuaTokenKind};

use luaplan_base::{Error, ErrorCode};
use luaplan_syntax::{Span, swapped_environment, syntax_tree};

use super::report::Report;
use super::{CheckReport, Finding};

/// Levels of expressions, calls and blocks that the engine's compiler takes. It stops at 200, of which
/// the rewritten source takes some.
const NESTED_MAX: usize = 150;

/// The prefix of names that the engine reserves.
const KEPT_NAMES: &str = "__luaplan_";

impl CheckReport {
    /// The same report for the engine `piccolo`: each use of what that engine lacks is an error with its
    /// line, and the report then holds no plan.
    #[must_use]
    pub fn for_piccolo(mut self, source: &str) -> Self {
        let unsupported = unsupported_on_piccolo(source);
        if !unsupported.is_empty() {
            self.plan = None;
            self.findings.extend(unsupported);
            self.findings.sort_by_key(|finding| finding.span.0);
        }
        self
    }
}

impl CheckReport {
    /// The same report with the error of the engine's compiler, where it refuses the source.
    #[must_use]
    pub fn refused_by_engine(mut self, source: &str, error: &Error) -> Self {
        let line = error.details().get("line").and_then(serde_json::Value::as_u64).unwrap_or(1);
        let before = source.split_inclusive('\n').take(usize::try_from(line).unwrap_or(1).saturating_sub(1));
        let start = before.map(str::len).sum();
        let said = error.message();
        let message = said.strip_prefix(&format!("line {line}: ")).unwrap_or(said);
        let mut report = Report::new(source);
        let help = "split it into smaller functions, or use the engine `mlua`";
        report.error(error.code(), (start, start), message.to_owned(), help.to_owned());
        self.plan = None;
        self.findings.extend(report.into_findings());
        self
    }
}

/// One finding for each use of what the engine `piccolo` lacks. Nothing for what is not Lua: the
/// check itself says so.
#[must_use]
pub fn unsupported_on_piccolo(source: &str) -> Vec<Finding> {
    let mut report = Report::new(source);
    if let Ok(tree) = syntax_tree(source) {
        if let Some(place) = swapped_environment(&tree) {
            let help = "put what is to be shared into a table of its own";
            refuse(&mut report, (place, place + 4), "an `_ENV` of its own", help);
        }
        walk(&tree, 0, &mut report);
    }
    report.into_findings()
}

fn walk(node: &LuaSyntaxNode, depth: usize, report: &mut Report<'_>) {
    use LuaSyntaxKind as Kind;
    let range = node.text_range();
    let span = (usize::from(range.start()), usize::from(range.end()));
    let kind = Kind::from(node.kind());
    if kind == Kind::Attribute && node.text().to_string().contains("close") {
        let help = "close it in the code: call its closing function before each return, or in a `pcall`";
        refuse(report, span, "`<close>` variables", help);
    }
    let depth = depth + usize::from(nests(kind));
    if depth > NESTED_MAX {
        let help = "split it over several statements or functions";
        refuse(report, span, "expressions and blocks nested so deep", help);
        return;
    }
    for child in node.children_with_tokens() {
        match &child {
            LuaSyntaxElement::Node(node) => walk(node, depth, report),
            LuaSyntaxElement::Token(token) => {
                let is_name = token.kind() == LuaKind::Token(LuaTokenKind::TkName);
                if is_name && token.text().starts_with(KEPT_NAMES) {
                    let range = token.text_range();
                    let span = (usize::from(range.start()), usize::from(range.end()));
                    refuse(report, span, "names that begin with `__luaplan_`", "choose another name");
                }
            }
        }
    }
}

/// Whether the compiler goes one level deeper for such a node.
fn nests(kind: LuaSyntaxKind) -> bool {
    use LuaSyntaxKind as Kind;
    !matches!(
        kind,
        Kind::Chunk
            | Kind::Block
            | Kind::CallArgList
            | Kind::NameExpr
            | Kind::LiteralExpr
            | Kind::TableFieldAssign
            | Kind::TableFieldValue
            | Kind::ParamList
            | Kind::ParamName
            | Kind::LocalName
            | Kind::Attribute
            | Kind::Comment
    )
}

fn refuse(report: &mut Report<'_>, span: Span, what: &str, help: &str) {
    let message = format!("{what} cannot be used on the engine `piccolo`");
    report.error(ErrorCode::EngineUnsupported, span, message, format!("{help}, or use the engine `mlua`"));
}
