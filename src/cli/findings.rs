//! Findings of the check, for people.

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report};

use luaplan_base::counted;
use luaplan_journal::neutralize;
use luaplan_plan::{Finding, Severity};

use super::output::Output;

/// Findings with their source lines.
pub(super) fn print(output: &Output, name: &str, source: &str, findings: &[Finding]) {
    let name = neutralize(name);
    if findings.is_empty() {
        output.line(format_args!("{name}: no findings"));
        return;
    }
    let shown = harmless(source);
    let theme =
        if output.colours_out() { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(100);
    for finding in findings {
        let (start, end) = span(source, finding);
        let severity = match finding.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        };
        let label = LabeledSpan::at(start..end.max(start), "here");
        let diagnostic = MietteDiagnostic::new(neutralize(&finding.message))
            .with_code(finding.code.clone())
            .with_severity(severity)
            .with_help(neutralize(&finding.help))
            .with_label(label);
        let report = Report::new(diagnostic).with_source_code(NamedSource::new(&name, shown.clone()));
        let mut text = String::new();
        if handler.render_report(&mut text, report.as_ref()).is_ok() {
            output.line(text.trim_end());
        }
    }
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let warnings = findings.len() - errors;
    output.line(format_args!("{name}: {}, {}", counted(errors, "error"), counted(warnings, "warning")));
}

/// The byte range of a finding. Findings that were read from data have only lines and columns, those of old records only
/// where they start.
fn span(source: &str, finding: &Finding) -> (usize, usize) {
    if finding.span != (0, 0) || finding.line == 0 {
        return finding.span;
    }
    let start = offset(source, finding.line, finding.column);
    if finding.end_line != 0 {
        return (start, offset(source, finding.end_line, finding.end_column));
    }
    let word = source.get(start..).unwrap_or_default();
    let length = word.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.')).unwrap_or(word.len());
    (start, start + length)
}

fn offset(source: &str, line: u32, column: u32) -> usize {
    let line_start: usize = source.split_inclusive('\n').take(line as usize - 1).map(str::len).sum();
    let rest = source.get(line_start..).unwrap_or_default();
    let column = rest.char_indices().nth((column as usize).saturating_sub(1));
    column.map_or(source.len(), |(offset, _)| line_start + offset)
}

/// `source` with characters that could control a terminal replaced, byte for byte, so that
/// findings still point to their places.
fn harmless(source: &str) -> String {
    let replaced = |character: char| {
        let harmless = matches!(character, '\n' | '\t') || {
            let mut buffer = [0; 4];
            let text: &str = character.encode_utf8(&mut buffer);
            neutralize(text) == text
        };
        match (harmless, character.len_utf8()) {
            (true, _) => character,
            (false, 1) => '?',
            (false, 2) => '\u{bf}',
            (false, 3) => '\u{fffd}',
            (false, _) => '\u{1f6ab}',
        }
    };
    source.chars().map(replaced).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_of_a_source_is_harmless_and_as_long() {
        let source = "local a = '\u{1b}[31m\u{9b}\u{202e}\u{e0001}'\r\n\tend é";
        let shown = harmless(source);
        assert_eq!(shown, "local a = '?[31m\u{bf}\u{fffd}\u{1f6ab}'?\n\tend é");
        assert_eq!(shown.len(), source.len());
    }
}
