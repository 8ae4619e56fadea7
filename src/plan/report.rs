//! Where findings are collected and get their line and column.

use crate::base::ErrorCode;

use super::{Finding, Severity};

/// A byte range of the source.
pub(super) type Span = (usize, usize);

/// Turns byte offsets into lines and columns.
pub(super) struct Lines<'a> {
    source: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        let after_breaks =
            source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { source, starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    /// The line of an offset, from 1.
    pub(super) fn line(&self, offset: usize) -> u32 {
        let count = self.starts.partition_point(|start| *start <= offset);
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// The column of an offset in characters, from 1.
    pub(super) fn column(&self, offset: usize) -> u32 {
        let start = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let line_start = self.starts.get(start).copied().unwrap_or(0);
        let before = self.source.get(line_start..offset).map_or(0, |text| text.chars().count());
        u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// The white space a line begins with, and whether the offset is the first thing on it.
    pub(super) fn indent(&self, offset: usize) -> (usize, bool) {
        let start = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let line_start = self.starts.get(start).copied().unwrap_or(0);
        let line = self.source.get(line_start..).unwrap_or_default();
        let width = line.len() - line.trim_start_matches([' ', '\t']).len();
        (width, line_start + width == offset)
    }
}

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
            span: (start, end),
            message,
            help,
        };
        // One place can be reached twice, for example through `pcall`; once is enough.
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
