//! `-- luaplan: allow(code) reason`: removes a finding on its own line, or on the statement below.

use emmylua_parser::{LuaAstNode, LuaChunk, LuaStat};

use luaplan_base::{ErrorCode, nearest};
use luaplan_syntax::Span;

use super::super::report::Report;
use super::super::{Finding, Severity};
use super::{FOUND_ELSEWHERE, rule_codes};
use crate::names::found::{comments, span_of};

const MARK: &str = "luaplan: allow(";

pub(super) struct Allowance {
    code: String,
    reason: String,
    span: Span,
    /// The lines it applies to.
    lines: (u32, u32),
    used: bool,
}

/// Removes what is allowed, and says which comments have no effect.
pub(super) fn apply(chunk: &LuaChunk, report: &mut Report<'_>) {
    for allowance in remove(chunk, report) {
        say(&allowance, report);
    }
}

/// Removes what is allowed.
pub(super) fn remove(chunk: &LuaChunk, report: &mut Report<'_>) -> Vec<Allowance> {
    let mut allowances = allowances(chunk, report);
    report.retain(|finding| {
        let fitting = allowances.iter_mut().find(|it| {
            it.code == finding.code
                && (it.lines.0..=it.lines.1).contains(&finding.line)
                && !it.reason.is_empty()
        });
        match fitting {
            Some(allowance) if can_be_allowed(finding) => {
                allowance.used = true;
                false
            }
            _ => true,
        }
    });
    allowances
}

/// Comments can allow rules and advice, but not errors on syntax, tools and the context.
fn can_be_allowed(finding: &Finding) -> bool {
    finding.severity == Severity::Warning || rule_codes().any(|code| code.as_str() == finding.code)
}

fn say(allowance: &Allowance, report: &mut Report<'_>) {
    let code = &allowance.code;
    if allowance.reason.is_empty() {
        report.warning(
            ErrorCode::PlanAllowWithoutReason,
            allowance.span,
            format!("`{code}` is allowed without a reason, so it is not allowed"),
            format!("say why: `-- {MARK}{code}) the reason`"),
        );
    } else if !allowance.used && !FOUND_ELSEWHERE.iter().any(|other| other.as_str() == code) {
        // Whether these are found is not known here.
        let known: Vec<&str> = rule_codes().map(ErrorCode::as_str).collect();
        let help = match nearest(code, known.iter().copied()) {
            Some(near) if !known.contains(&code.as_str()) => format!("did you mean `{near}`?"),
            _ => "remove the comment; errors on syntax, tools and the context cannot be allowed".to_owned(),
        };
        report.warning(
            ErrorCode::PlanAllowUnused,
            allowance.span,
            format!("nothing is found here that `{code}` would allow"),
            help,
        );
    }
}

fn allowances(chunk: &LuaChunk, report: &Report<'_>) -> Vec<Allowance> {
    let mut found = Vec::new();
    for (start, end) in comments(chunk) {
        let mut at = start;
        for line in report.source.get(start..end).unwrap_or_default().split_inclusive('\n') {
            let span = (at, at + line.trim_end().len());
            at += line.len();
            let text = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '[' | '='));
            let Some((code, reason)) = text.strip_prefix(MARK).and_then(|rest| rest.split_once(')')) else {
                continue;
            };
            found.push(Allowance {
                code: code.trim().to_owned(),
                reason: reason
                    .trim_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '-' | ']'))
                    .to_owned(),
                span,
                lines: lines(chunk, report, span),
                used: false,
            });
        }
    }
    found
}

/// The line of a comment behind code; else the lines of the statement that starts below it.
fn lines(chunk: &LuaChunk, report: &Report<'_>, span: Span) -> (u32, u32) {
    let line = report.lines.line(span.0);
    if !report.lines.indent(span.0).1 {
        return (line, line);
    }
    let below = chunk
        .descendants::<LuaStat>()
        .map(|statement| span_of(&statement))
        .filter(|statement| statement.0 >= span.1)
        .min_by_key(|statement| (statement.0, usize::MAX - statement.1));
    match below {
        Some((start, end)) => (report.lines.line(start), report.lines.line(end)),
        None => (line, line),
    }
}
