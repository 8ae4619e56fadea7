//! The check: source and catalog in, findings out.

use std::borrow::Cow;

use crate::base::{ErrorCode, LimitName, Limits};
use crate::catalog::Catalog;

use super::report::Report;
use super::{CheckedPlan, Finding, Severity, judge, syntax, walk};

/// What a check found.
#[derive(Debug, Clone)]
pub struct CheckReport {
    /// Errors and advice, in the order of the source.
    pub findings: Vec<Finding>,
    /// The plan, where no finding is an error.
    pub plan: Option<CheckedPlan>,
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
}

/// Checks a plan against the tools it may call and the size it may have. Pure: reads nothing else.
///
/// `name` is what messages call the plan: a file name, or `plan`.
#[must_use]
pub fn check(source: &str, name: &str, catalog: &Catalog, limits: &Limits) -> CheckReport {
    let mut report = Report::new(source);
    find(source, catalog, limits, &mut report);
    let plan = (!report.has_errors()).then(|| CheckedPlan::new(name, source));
    CheckReport { findings: report.into_findings(), plan }
}

fn find(source: &str, catalog: &Catalog, limits: &Limits, report: &mut Report<'_>) {
    let size_bytes = source.len() as u64;
    if size_bytes > limits.source_bytes {
        let error = LimitName::Source.exceeded(limits.source_bytes, size_bytes);
        let message =
            format!("the plan has {size_bytes} bytes; the limit `source` is {}", limits.source_bytes);
        report.error(error.code(), (0, 0), message, error.help().to_owned());
        return;
    }
    match syntax::parse(&with_plain_space(source), &report.lines) {
        Err(fault) => report.error(ErrorCode::PlanSyntax, fault.span, fault.message, fault.help),
        Ok(chunk) => {
            let walk = walk::walk(&chunk, report);
            judge::judge(&walk, catalog, report);
        }
    }
}

/// Form feed and vertical tab are white space to Lua but not to the parser; a space in their place
/// keeps every offset.
pub(super) fn with_plain_space(source: &str) -> Cow<'_, str> {
    if source.contains(['\u{b}', '\u{c}']) {
        Cow::Owned(source.replace(['\u{b}', '\u{c}'], " "))
    } else {
        Cow::Borrowed(source)
    }
}
