//! Finds test files, runs their tests, collects the results.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::report::{TestReport, TestResult};
use super::test_file::TestFile;
use crate::base::{Error, ErrorCode, Limits, Result};
use crate::catalog::Catalog;

/// Folders that never hold plans.
const PASSED_OVER: [&str; 3] = ["target", "node_modules", ".git"];

/// What to test.
#[derive(Debug, Clone)]
pub struct TestOptions {
    /// A test file, or a folder searched for them.
    pub path: PathBuf,
    /// Files inside this folder are named from it on.
    pub base_dir: PathBuf,
    /// Only tests whose name contains this.
    pub filter: Option<String>,
    /// What plans under test may use.
    pub limits: Limits,
}

/// Runs the tests. A test file that cannot be used is a failed test, not an error.
///
/// # Errors
/// `not_found` where there is no test at all or none fits the filter, `file_unreadable` where the
/// path cannot be read, `usage` where it is a file that is no test file.
pub async fn run_tests(options: &TestOptions, catalog: &Catalog) -> Result<TestReport> {
    if options.path.is_file() && !is_test_file(&options.path) {
        let message = format!("{} is not named `NAME_test.lua`", options.path.display());
        return Err(Error::new(ErrorCode::Usage, message)
            .with_help("the tests of `NAME.lua` are in `NAME_test.lua` beside it"));
    }
    let mut files = Vec::new();
    find(&options.path, &mut files)?;
    files.sort();
    if files.is_empty() {
        let message = format!("there is no `*_test.lua` in {}", options.path.display());
        return Err(
            Error::new(ErrorCode::NotFound, message).with_help("put `NAME_test.lua` beside `NAME.lua`")
        );
    }
    let catalog = Arc::new(catalog.clone());
    let mut report = TestReport::default();
    for path in files {
        run_file(&path, options, &catalog, &mut report).await;
    }
    if report.results.is_empty() {
        let filter = options.filter.as_deref().unwrap_or_default();
        return Err(Error::new(ErrorCode::NotFound, format!("no test has `{filter}` in its name"))
            .with_help("run without `--filter` to see the names"));
    }
    Ok(report)
}

async fn run_file(path: &Path, options: &TestOptions, catalog: &Arc<Catalog>, report: &mut TestReport) {
    let file = path.strip_prefix(&options.base_dir).unwrap_or(path).display().to_string();
    let began = Instant::now();
    let opened = match TestFile::open(path, &file, catalog, &options.limits) {
        Ok(opened) => opened.names().await.map(|names| (opened, names)),
        Err(error) => Err(error),
    };
    let opened = opened.and_then(|(opened, names)| match names.is_empty() {
        false => Ok((opened, names)),
        true => Err(Error::new(ErrorCode::NotFound, "it has no test; write `test(name, function() … end)`")),
    });
    let (test_file, names) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            report.results.push(TestResult {
                file,
                name: "(the file)".to_owned(),
                duration: began.elapsed(),
                failure: Some(describe(&error)),
                output: String::new(),
            });
            return;
        }
    };
    for (index, name) in names.into_iter().enumerate() {
        if options.filter.as_ref().is_some_and(|filter| !name.contains(filter.as_str())) {
            continue;
        }
        let began = Instant::now();
        let (result, output) = test_file.run_test(index).await;
        let failure = result.err().map(|error| describe(&error));
        let (file, duration) = (file.clone(), began.elapsed());
        report.results.push(TestResult { file, name, duration, failure, output });
    }
}

/// What went wrong, with the line of the test file where it is known.
fn describe(error: &Error) -> String {
    let message = error.message();
    let line = error.details().get("line").and_then(serde_json::Value::as_u64);
    let (place, message) = match line.map(|line| format!("line {line}: ")) {
        Some(place) => {
            let rest = message.strip_prefix(&place).unwrap_or(message);
            (place, rest)
        }
        None => (String::new(), message),
    };
    match (error.code(), error.limit(), error.observed()) {
        (ErrorCode::PlanError, ..) => format!("{place}{message}"),
        (code, Some(limit), Some(seen)) => {
            format!(
                "{place}the test itself, not the plan, was stopped by {code} (limit {limit}, seen {seen})"
            )
        }
        (code, ..) => format!("{place}{code}: {message}"),
    }
}

fn is_test_file(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with("_test.lua"))
}

fn find(path: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let unreadable = |error: &std::io::Error| {
        Error::new(ErrorCode::FileUnreadable, format!("cannot read {}: {error}", path.display()))
    };
    if path.is_file() {
        found.push(path.to_path_buf());
        return Ok(());
    }
    for entry in std::fs::read_dir(path).map_err(|error| unreadable(&error))? {
        let entry = entry.map_err(|error| unreadable(&error))?.path();
        let name = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if entry.is_dir() && !entry.is_symlink() {
            if !name.starts_with('.') && !PASSED_OVER.contains(&name) {
                find(&entry, found)?;
            }
        } else if is_test_file(&entry) {
            found.push(entry);
        }
    }
    Ok(())
}
