//! Case files, and the plans that cannot be written as one.

use std::path::{Path, PathBuf};

use luaplan::catalog::{Catalog, builtin_manifests, stubs};
use luaplan::plan::{Severity, check, globals};

use super::{cases, catalog, check_text, compiles, limits};

/// What a case file expects, from its leading comments: `--! expect: CODE LINE:COLUMN SUBSTRING`,
/// with `warning` after the colon for advice.
struct Expected {
    warning: bool,
    code: String,
    place: String,
    substring: String,
}

fn expected(source: &str) -> Vec<Expected> {
    let lines = source.lines().filter_map(|line| line.strip_prefix("--! expect:"));
    lines
        .map(|line| {
            let (warning, line) = match line.trim().strip_prefix("warning ") {
                Some(rest) => (true, rest.trim()),
                None => (false, line.trim()),
            };
            let mut parts = line.splitn(3, ' ');
            let mut next = || parts.next().unwrap_or_default().to_owned();
            Expected { warning, code: next(), place: next(), substring: next() }
        })
        .collect()
}

fn compare(path: &Path) -> Result<(), String> {
    let source = std::fs::read_to_string(path).unwrap();
    let report = check_text(&source);
    let wanted = expected(&source);
    let shown: String = report
        .findings
        .iter()
        .map(|f| {
            format!("  {:?} {} {}:{} {} | {}\n", f.severity, f.code, f.line, f.column, f.message, f.help)
        })
        .collect();
    if wanted.len() != report.findings.len() {
        return Err(format!("{} findings, {} expected:\n{shown}", report.findings.len(), wanted.len()));
    }
    for (finding, wanted) in report.findings.iter().zip(&wanted) {
        let text = format!("{} | {}", finding.message, finding.help);
        let fits = finding.code == wanted.code
            && (finding.severity == Severity::Warning) == wanted.warning
            && format!("{}:{}", finding.line, finding.column) == wanted.place
            && text.contains(&wanted.substring);
        if !fits {
            return Err(format!("not {} {} `{}`:\n{shown}", wanted.code, wanted.place, wanted.substring));
        }
        let (start, end) = finding.span;
        assert!(source.get(start..end).is_some(), "the span {start}..{end} cuts a character");
    }
    let refused = wanted.iter().any(|wanted| !wanted.warning);
    assert_eq!(report.plan.is_none(), refused, "a plan comes out exactly where no error was found");
    // What is said about syntax must be what stock Lua says, apart from the check's own bounds.
    let by_syntax = wanted.iter().any(|wanted| wanted.code == "plan_syntax");
    if !source.contains("--! stock Lua compiles this") && by_syntax != compiles(&source).is_err() {
        return Err(format!("stock Lua disagrees: {:?}\n{shown}", compiles(&source)));
    }
    Ok(())
}

#[test]
fn every_case_file_finds_what_it_says() {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(cases())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "lua"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 60, "only {} cases", paths.len());
    let failures: Vec<String> = paths
        .iter()
        .filter_map(|path| {
            compare(path).err().map(|why| format!("{}: {why}", path.file_name().unwrap().to_string_lossy()))
        })
        .collect();
    assert!(failures.is_empty(), "{} of {} cases fail\n{}", failures.len(), paths.len(), failures.join("\n"));
}

#[test]
fn the_summary_plan_passes_as_it_stands() {
    let source = include_str!("../../../examples/summary_email/plan.lua");
    let builtin: Catalog = builtin_manifests().unwrap().into_iter().collect();
    assert_eq!(check(source, "plan", &builtin, &limits()).findings, []);
    let report = check_text(source);
    assert_eq!(report.findings, []);
    let plan = report.plan.unwrap();
    assert_eq!((plan.source(), plan.name()), (source, "plan"));
}

#[test]
fn no_built_in_tool_takes_a_name_of_the_sandbox_and_every_stub_is_lua() {
    let builtin: Catalog = builtin_manifests().unwrap().into_iter().collect();
    for name in builtin.names() {
        assert!(!globals::is_allowed(name), "{name}");
        assert_eq!(globals::instead_of(name, None), None, "{name}");
    }
    compiles(&stubs(&builtin)).unwrap();
}

#[test]
fn what_is_not_source_text_is_said_to_be_so() {
    let cases = [
        ("\u{1b}Lua\u{54}", "this is compiled Lua bytecode, not source"),
        ("#!/usr/bin/lua\nfunction run() end", "the plan begins with `#`"),
        ("\u{feff}function run() end", "the plan begins with a byte order mark"),
        ("function run() return '\0' end", "the plan holds a NUL character"),
    ];
    for (source, message) in cases {
        let report = check_text(source);
        assert!(report.plan.is_none());
        let [finding] = report.findings.as_slice() else { panic!("one finding for {message}") };
        assert_eq!(finding.code, "plan_syntax");
        assert!(finding.message.starts_with(message), "{}", finding.message);
    }
}

#[test]
fn a_source_over_its_limit_is_refused_with_both_numbers() {
    let mut limits = limits();
    limits.source_bytes = 30;
    let report = check("function run(context) return context end", "plan", &catalog(), &limits);
    let [finding] = report.findings.as_slice() else { panic!("one finding") };
    assert_eq!(finding.code, "limit_source");
    assert_eq!(finding.message, "the plan has 40 bytes; the limit `source` is 30");
}

#[test]
fn columns_count_characters_and_spans_count_bytes() {
    let report = check_text("function run() local s = 'äöü' .. nope() return s end");
    let [finding] = report.findings.as_slice() else { panic!("one finding") };
    assert_eq!((finding.line, finding.column), (1, 35));
    assert_eq!(finding.span, (37, 41));
}
