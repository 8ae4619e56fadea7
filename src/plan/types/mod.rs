//! The typed check: the analysis library infers the values of a plan, and this module judges their use
//! with tools and context.
//!
//! The library only infers; this module decides what is a fault, so that a finding on a tool or the
//! context is an error only where no reading of the plan makes it right. The library sees the plan without
//! its comments: annotations in a plan cannot declare, cast or silence anything.

mod analysis;
mod arguments;
mod bounded;
mod fields;
mod helpers;
mod kinds;
mod library;
mod masked;
mod nils;
mod operands;
mod pool;
mod question;
mod records;
mod results;
mod shapes;

use std::collections::HashSet;

use emmylua_parser::LuaChunk;

use super::check::ArgumentShape;
use super::input::CheckInput;
use super::report::Report;
use super::{Severity, shape};
use crate::names::calls::Calls;
use crate::names::found::Walk;
use luaplan_base::ErrorCode;
use masked::{CONTEXT, Masked};
use question::{Answer, Question, TypeFinding};
use results::Results;

/// Infers the types of `chunk` and reports what follows.
pub(super) fn judge(
    chunk: &LuaChunk,
    input: &CheckInput<'_>,
    walk: &Walk,
    calls: &Calls,
    report: &mut Report<'_>,
) -> Vec<ArgumentShape> {
    if let Some(reason) = bounded::too_costly(chunk) {
        unknown(&reason, report);
        return Vec::new();
    }
    let context = input.context.and_then(|context| shape::class(context, CONTEXT));
    let masked = Masked::new(chunk, input.source, context.is_some());
    let Results { casts, schemas } = results::results(chunk, &calls.tools, input);
    let masked = masked.with(casts);
    let question = Question {
        masked,
        catalog: input.catalog.clone(),
        schemas,
        context,
        calls: calls.tools.clone(),
        library_calls: calls.library.clone(),
        changing: walk.assigned.intersection(&walk.captured).cloned().collect(),
        assigned: walk.assigned.clone(),
        defined: walk.writes.iter().map(|write| write.name.clone()).collect::<HashSet<_>>(),
    };
    match pool::ask(question) {
        Some(Answer { findings, shapes }) => {
            findings.into_iter().for_each(|verdict| say(verdict, report));
            shapes
        }
        None => {
            unknown("the analysis failed", report);
            Vec::new()
        }
    }
}

/// Nothing: the types were worked out, or [`judge`] has said that they could not be.
pub(super) fn note(_: &mut Report<'_>) {}

fn unknown(reason: &str, report: &mut Report<'_>) {
    let message = format!(
        "the types in this plan were not worked out, so only names and literals were checked: {reason}"
    );
    let help = "split the plan into smaller functions".to_owned();
    report.warning(ErrorCode::PlanTypesUnknown, (0, 0), message, help);
}

fn say(verdict: TypeFinding, report: &mut Report<'_>) {
    // A wrong name has its own finding.
    if verdict.code == ErrorCode::PlanWrongKind && report.has_error_in(verdict.span) {
        return;
    }
    match verdict.severity {
        Severity::Error => report.error(verdict.code, verdict.span, verdict.message, verdict.help),
        Severity::Warning => report.warning(verdict.code, verdict.span, verdict.message, verdict.help),
    }
}
