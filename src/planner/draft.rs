//! A candidate's best result so far, so that no work is lost.

use serde_json::Value as Json;

use luaplan_base::Error;
use luaplan_plan::{Finding, Severity};

use super::planning::Proposal;

/// A plan that failed some of the user's tests.
pub(super) struct Tested {
    pub(super) proposal: Proposal,
    pub(super) findings: Vec<Finding>,
    pub(super) failed: u64,
}

/// A proposal that the check refused.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) source: String,
    pub(super) findings: Vec<Finding>,
}

impl Draft {
    /// Fewer errors, then fewer warnings, are better; among equals the earlier one stays.
    pub(super) fn is_better_than(&self, other: &Self) -> bool {
        self.faults() < other.faults()
    }

    /// Errors and warnings.
    pub(super) fn faults(&self) -> (usize, usize) {
        let errors = errors(&self.findings);
        (errors, self.findings.len() - errors)
    }
}

/// An error that ends planning, with the best draft so far, so that no work is lost.
pub(super) fn with_best(error: Error, best: &Draft) -> Error {
    error.with_detail("findings", to_json(&best.findings)).with_detail("plan", best.source.as_str())
}

pub(super) fn errors(findings: &[Finding]) -> usize {
    findings.iter().filter(|finding| finding.severity == Severity::Error).count()
}

pub(super) fn to_json(findings: &[Finding]) -> Json {
    serde_json::to_value(findings).unwrap_or_default()
}
