//! The check: source and catalog in, findings out.

use serde_json::Value as Json;

use luaplan_base::{ErrorCode, LimitName, Limits};
use luaplan_catalog::Catalog;
use luaplan_syntax::parse;

use super::input::CheckInput;
use super::report::Report;
use crate::names::found::comments;
use crate::names::{judge, walk};
use crate::{CheckedPlan, Finding, Remark, Severity, parameters, rules, types};

/// What a check found.
#[derive(Debug, Clone)]
pub struct CheckReport {
    /// Errors and advice, in the order of the source.
    pub findings: Vec<Finding>,
    /// The plan, where no finding is an error.
    pub plan: Option<CheckedPlan>,
    /// What the types tell of arguments of calls.
    pub shapes: Vec<ArgumentShape>,
}

/// What is known of an argument of a call before the plan runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgumentShape {
    /// The call, as a byte range in the source.
    pub call: (usize, usize),
    /// The parameter.
    pub parameter: String,
    /// As JSON Schema: kinds, and the names of fields; `{}` for any value.
    pub schema: Json,
}

impl CheckReport {
    /// Whether the plan may run.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.plan.is_some()
    }

    /// The findings that keep the plan from running.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.severity == Severity::Error)
    }

    /// The same report of `source` with what other rooms found. As rules can, comments in the plan can allow it.
    #[must_use]
    pub fn with_remarks(mut self, source: &str, remarks: Vec<Remark>) -> Self {
        let (false, Ok(chunk)) = (remarks.is_empty(), parse(source)) else { return self };
        let mut report = Report::new(source);
        for Remark { code, severity, span, message, help } in remarks {
            match severity {
                Severity::Error => report.error(code, span, message, help),
                Severity::Warning => report.warning(code, span, message, help),
            }
        }
        rules::remove_allowed(&chunk, &mut report);
        if report.has_errors() {
            self.plan = None;
        }
        self.findings.extend(report.into_findings());
        self.findings.sort_by_key(|finding| finding.span);
        self
    }
}

/// Checks a plan against the tools it may call and the size it may have, without a context. The short
/// form of [`check_with`].
#[must_use]
pub fn check(source: &str, name: &str, catalog: &Catalog, limits: &Limits) -> CheckReport {
    check_with(&CheckInput { source, name, catalog, limits, context: None, task: None, results: &[] })
}

/// Checks a plan. Pure: it reads nothing else, and the same input gives the same findings.
#[must_use]
pub fn check_with(input: &CheckInput<'_>) -> CheckReport {
    let mut report = Report::new(input.source);
    let shapes = find(input, &mut report);
    types::note(&mut report);
    let plan = (!report.has_errors()).then(|| CheckedPlan::new(input.name, input.source));
    CheckReport { findings: report.into_findings(), plan, shapes }
}

/// Admits a plan that was accepted before, by its record: the check's newer rules decide about new plans alone.
/// Looks only at what running it needs: its size, and that it is Lua.
#[must_use]
pub fn admit_accepted(source: &str, name: &str, limits: &Limits) -> CheckReport {
    let mut report = Report::new(source);
    if is_of_size(source, limits, &mut report)
        && let Err(fault) = parse(source)
    {
        report.error(ErrorCode::PlanSyntax, fault.span, fault.message, fault.help);
    }
    let plan = (!report.has_errors()).then(|| CheckedPlan::new(name, source));
    CheckReport { findings: report.into_findings(), plan, shapes: Vec::new() }
}

fn is_of_size(source: &str, limits: &Limits, report: &mut Report<'_>) -> bool {
    let size_bytes = source.len() as u64;
    if size_bytes <= limits.source_bytes {
        return true;
    }
    let error = LimitName::Source.exceeded(limits.source_bytes, size_bytes);
    let message = format!("the plan has {size_bytes} bytes; the limit `source` is {}", limits.source_bytes);
    report.error(error.code(), (0, 0), message, error.help().to_owned());
    false
}

fn find(input: &CheckInput<'_>, report: &mut Report<'_>) -> Vec<ArgumentShape> {
    let CheckInput { source, catalog, limits, .. } = *input;
    if !is_of_size(source, limits, report) {
        return Vec::new();
    }
    match parse(source) {
        Err(fault) => {
            report.error(ErrorCode::PlanSyntax, fault.span, fault.message, fault.help);
            Vec::new()
        }
        Ok(chunk) => {
            let walk = walk::walk(&chunk, report);
            let calls = judge::judge(&chunk, &walk, catalog, report);
            let shapes = types::judge(&chunk, input, &walk, &calls, report);
            for fault in parameters::faults(source, comments(&chunk)) {
                let help = ErrorCode::PlanBadParameter.remedy().to_owned();
                report.error(ErrorCode::PlanBadParameter, fault.span, fault.message, help);
            }
            rules::judge(&chunk, input, &walk, &calls.tools, report);
            rules::apply_allowances(&chunk, report);
            shapes
        }
    }
}
