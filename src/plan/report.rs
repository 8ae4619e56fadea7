//! Collects findings and gives them line and column.

use luaplan_base::ErrorCode;
use luaplan_syntax::{Lines, Span};

use super::{Finding, Severity};

/// The findings of one check.
pub(super) struct Report<'a> {
    pub(super) source: &'a str,
    pub(super) lines: Lines<'a>,
    findings: Vec<Finding>,
}

impl<'a> Report<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self { source, lines: Lines::new(source), findings: Vec::new() }
    }

    pub(super) fn error(&mut self, code: ErrorCode, span: Span, message: String, help: String) {
        self.push(code, Severity::Error, span, message, help);
    }

    pub(super) fn warning(&mut self, code: ErrorCode, span: Span, message: String, help: String) {
        self.push(code, Severity::Warning, span, message, help);
    }

    fn push(&mut self, code: ErrorCode, severity: Severity, span: Span, message: String, help: String) {
        let start = span.0.min(self.source.len());
        let end = span.1.clamp(start, self.source.len());
        let finding = Finding {
            code: code.as_str().to_owned(),
            severity,
            line: self.lines.line(start),
            column: self.lines.column(start),
            end_line: self.lines.line(end),
            end_column: self.lines.column(end),
            span: (start, end),
            message,
            help,
        };
        // The check may reach one place twice, for example through `pcall`.
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    /// Whether an error was found inside `span`.
    pub(super) fn has_error_in(&self, span: Span) -> bool {
        let inside = |finding: &Finding| span.0 <= finding.span.0 && finding.span.1 <= span.1;
        self.findings.iter().any(|finding| finding.severity == Severity::Error && inside(finding))
    }

    /// Keeps the findings that `keep` takes.
    pub(super) fn retain(&mut self, keep: impl FnMut(&Finding) -> bool) {
        self.findings.retain(keep);
    }

    pub(super) fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// The findings in the order of the source.
    pub(super) fn into_findings(mut self) -> Vec<Finding> {
        self.findings.sort_by_key(|finding| finding.span);
        self.findings
    }
}
