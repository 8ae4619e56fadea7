//! luaplan's own rules on the syntax tree: one file a rule, and comments that allow them.
//!
//! A rule sees the tree and the calls of tools; it knows no types.

mod address_written;
mod allow;
mod bad_step;
mod call_in_loop;
mod dynamic_tool;
mod literals;
mod loops;
mod not_set_up;
mod repeats;
mod result_unused;
mod run_shadowed;
mod secret_written;
mod unreachable;
mod write_in_unbounded_loop;

use std::collections::HashMap;
use std::sync::Arc;

use emmylua_parser::{LuaAstNode, LuaCallExpr, LuaChunk};

use luaplan_base::ErrorCode;
use luaplan_catalog::ToolSpec;
use luaplan_syntax::Span;

use super::Severity;
use super::input::CheckInput;
use super::report::Report;
use crate::names::calls::ToolCall;
use crate::names::found::{Walk, span_of};

/// The input of rules.
struct Plan<'a> {
    chunk: &'a LuaChunk,
    walk: &'a Walk,
    input: &'a CheckInput<'a>,
    calls: Vec<Call>,
}

/// A call of a tool in the tree.
struct Call {
    expression: LuaCallExpr,
    spec: Arc<ToolSpec>,
    /// Whether the plan calls the tool itself, rather than passing it to `pcall` or `retry`.
    is_direct: bool,
}

/// A finding of a rule.
struct Raised {
    severity: Severity,
    span: Span,
    message: String,
    help: String,
}

impl Raised {
    fn warning(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, span, message: message.into(), help: help.into() }
    }

    fn error(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { severity: Severity::Error, ..Self::warning(span, message, help) }
    }
}

/// Searches a plan for one thing.
type Rule = fn(&Plan<'_>) -> Vec<Raised>;

/// Every rule: its code and how it looks.
const RULES: [(ErrorCode, Rule); 10] = [
    (ErrorCode::PlanResultUnused, result_unused::find),
    (ErrorCode::PlanWriteInUnboundedLoop, write_in_unbounded_loop::find),
    (ErrorCode::PlanCallInLoop, call_in_loop::find),
    (ErrorCode::PlanUnreachable, unreachable::find),
    (ErrorCode::PlanRunShadowed, run_shadowed::find),
    (ErrorCode::PlanSecretWritten, secret_written::find),
    (ErrorCode::PlanAddressWritten, address_written::find),
    (ErrorCode::PlanDynamicTool, dynamic_tool::find),
    (ErrorCode::PlanToolNotSetUp, not_set_up::find),
    (ErrorCode::PlanBadStep, bad_step::find),
];

/// What other rooms find by the same terms, once they hold a plan against what is configured.
const FOUND_ELSEWHERE: [ErrorCode; 4] = [
    ErrorCode::PlanTargetRefused,
    ErrorCode::PlanTemplateRefused,
    ErrorCode::PlanSqlRefused,
    ErrorCode::PlanSqlUnasked,
];

/// The codes of the rules, which a comment in the plan can allow.
pub fn rule_codes() -> impl Iterator<Item = ErrorCode> {
    RULES.into_iter().map(|(code, _)| code).chain(FOUND_ELSEWHERE)
}

/// Reports what the rules find in `chunk`.
pub(super) fn judge(
    chunk: &LuaChunk,
    input: &CheckInput<'_>,
    walk: &Walk,
    calls: &[ToolCall],
    report: &mut Report<'_>,
) {
    let by_span: HashMap<Span, &ToolCall> = calls.iter().map(|call| (call.span, call)).collect();
    let found = chunk.descendants::<LuaCallExpr>().filter_map(|expression| {
        let call = by_span.get(&span_of(&expression))?;
        let spec = input.catalog.get(&call.tool)?.clone();
        Some(Call { expression, spec, is_direct: call.skip == 0 })
    });
    let plan = Plan { chunk, walk, input, calls: found.collect() };
    for (code, find) in RULES {
        for raised in find(&plan) {
            // No advice on a call that has an error.
            if raised.severity == Severity::Warning && report.has_error_in(raised.span) {
                continue;
            }
            match raised.severity {
                Severity::Error => report.error(code, raised.span, raised.message, raised.help),
                Severity::Warning => report.warning(code, raised.span, raised.message, raised.help),
            }
        }
    }
}

/// Removes what comments allow from findings of other rooms.
pub(super) fn remove_allowed(chunk: &LuaChunk, report: &mut Report<'_>) {
    allow::remove(chunk, report);
}

/// Removes what comments allow, once all findings are in.
pub(super) fn apply_allowances(chunk: &LuaChunk, report: &mut Report<'_>) {
    allow::apply(chunk, report);
}
