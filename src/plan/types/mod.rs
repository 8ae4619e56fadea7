//! The typed check: what the values of a plan are, by the analysis library, and what follows for
//! tools and context.
//!
//! The library only infers; what is a fault is judged here, so that a finding on a tool or the
//! context is an error only where no reading of the plan makes it right. It sees the plan without
//! its comments: annotations in a plan cannot declare, cast or silence anything.

mod analysis;
mod arguments;
mod bounded;
mod fields;
mod kinds;
mod library;
mod masked;
mod nils;
mod operands;
mod pool;
mod question;

use std::collections::HashSet;

use emmylua_parser::LuaChunk;

use luaplan_base::ErrorCode;
use luaplan_syntax::Span;

use super::check::CheckInput;
use super::found::Walk;
use super::report::Report;
use super::{Severity, shape};
use masked::Masked;
use question::{Question, Verdict};

/// The class of the context in the declarations.
const CONTEXT: &str = "Context";

/// The calls that the judge of names has found.
#[derive(Debug, Default)]
pub(super) struct Calls {
    pub(super) tools: Vec<ToolCall>,
    /// Those of library functions, under `library.member`.
    pub(super) library: Vec<ToolCall>,
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub(super) struct ToolCall {
    /// The tool's name.
    pub(super) tool: String,
    /// The whole call, as in `tool{…}` or `pcall(tool, …)`.
    pub(super) span: Span,
    /// So many of its first arguments are not the tool's.
    pub(super) skip: usize,
}

/// Infers the types of `chunk` and reports what follows.
pub(super) fn judge(
    chunk: &LuaChunk,
    input: &CheckInput<'_>,
    walk: &Walk,
    calls: &Calls,
    report: &mut Report<'_>,
) {
    if let Some(reason) = bounded::too_costly(chunk) {
        return unknown(&reason, report);
    }
    let context = input.context.and_then(|context| shape::class(context, CONTEXT));
    let masked = Masked::new(chunk, input.source, context.is_some());
    let question = Question {
        masked,
        catalog: input.catalog.clone(),
        context,
        calls: calls.tools.clone(),
        library_calls: calls.library.clone(),
        changing: walk.assigned.intersection(&walk.captured).cloned().collect(),
        assigned: walk.assigned.clone(),
        defined: walk.writes.iter().map(|write| write.name.clone()).collect::<HashSet<_>>(),
    };
    match pool::ask(question) {
        Some(verdicts) => verdicts.into_iter().for_each(|verdict| say(verdict, report)),
        None => unknown("the analysis failed", report),
    }
}

fn unknown(reason: &str, report: &mut Report<'_>) {
    let message = format!(
        "the types in this plan were not worked out, so only names and literals were checked: {reason}"
    );
    let help = "split the plan into smaller functions".to_owned();
    report.warning(ErrorCode::PlanTypesUnknown, (0, 0), message, help);
}

fn say(verdict: Verdict, report: &mut Report<'_>) {
    // What a name stands for that is wrong itself says nothing more.
    if verdict.code == ErrorCode::PlanWrongKind && report.has_error_in(verdict.span) {
        return;
    }
    match verdict.severity {
        Severity::Error => report.error(verdict.code, verdict.span, verdict.message, verdict.help),
        Severity::Warning => report.warning(verdict.code, verdict.span, verdict.message, verdict.help),
    }
}
