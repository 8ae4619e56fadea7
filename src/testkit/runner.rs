//! Finds test files, runs their tests, collects the results.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use luaplan_base::{Error, ErrorCode, Limits, Result};
use luaplan_catalog::Catalog;

use super::coverage::{Coverage, Gatherer};
use super::plan_under_test::RUNS_TOGETHER;
use super::probe::Probe;
use super::report::{TestReport, TestResult};
use super::test_file::TestFile;

/// Folders without plans.
pub(super) const PASSED_OVER: [&str; 3] = ["target", "node_modules", ".git"];

/// What to test.
#[derive(Debug, Clone)]
pub struct TestOptions {
    /// A test file, or a folder searched for them.
    pub path: PathBuf,
    /// Only these of the files found.
    pub only: Option<Vec<PathBuf>>,
    /// Reports name files relative to this folder.
    pub base_dir: PathBuf,
    /// Only tests whose name contains this.
    pub filter: Option<String>,
    /// What plans under test may use.
    pub limits: Limits,
    /// Whether to note which lines and call sites the tests reach.
    pub coverage: bool,
}

/// Runs the tests. A test file that cannot be used is a failed test, not an error.
///
/// # Errors
/// `not_found` where there is no test at all or none fits the filter, `file_unreadable` where the
/// path cannot be read, `usage` where it is a file that is no test file.
pub async fn run_tests(options: &TestOptions, catalog: &Catalog) -> Result<TestReport> {
    let catalog = Arc::new(catalog.clone());
    let mut report =
        TestReport { coverage: options.coverage.then(Coverage::default), ..TestReport::default() };
    for path in test_files(options)? {
        run_file(&path, options, &catalog, &mut report).await;
    }
    if report.results.is_empty() {
        return Err(none_fits(options));
    }
    Ok(report)
}

/// The selected test files, in order.
pub(super) fn test_files(options: &TestOptions) -> Result<Vec<PathBuf>> {
    if options.path.is_file() && !is_test_file(&options.path) {
        let message = format!("{} is not named `NAME_test.lua`", options.path.display());
        return Err(Error::new(ErrorCode::Usage, message)
            .with_help("the tests of `NAME.lua` are in `NAME_test.lua` beside it"));
    }
    let mut files = Vec::new();
    find(&options.path, &mut files)?;
    files.sort();
    if let Some(only) = &options.only {
        files.retain(|file| only.contains(file));
    }
    if files.is_empty() {
        let message = format!("there is no `*_test.lua` in {}", options.path.display());
        return Err(
            Error::new(ErrorCode::NotFound, message).with_help("put `NAME_test.lua` beside `NAME.lua`")
        );
    }
    Ok(files)
}

/// The error where no test's name contains the filter.
pub(super) fn none_fits(options: &TestOptions) -> Error {
    let filter = options.filter.as_deref().unwrap_or_default();
    Error::new(ErrorCode::NotFound, format!("no test has `{filter}` in its name"))
        .with_help("run without `--filter` to see the names")
}

/// A usable test file, with its selected tests.
pub(super) struct Opened {
    /// The file as reports name it.
    pub(super) name: String,
    pub(super) file: TestFile,
    /// The place and name of each test.
    pub(super) tests: Vec<(usize, String)>,
    /// How long all of them may take together.
    wall: Duration,
}

/// Opens a test file, or says as a failed test why it cannot be used.
pub(super) async fn open(
    path: &Path,
    options: &TestOptions,
    catalog: &Arc<Catalog>,
) -> std::result::Result<Opened, TestResult> {
    let name = named(path, options);
    let began = Instant::now();
    let opened = match TestFile::open(path, &name, catalog, &options.limits) {
        Ok(file) => names_of(&file).await.map(|names| (file, names)),
        Err(error) => Err(error),
    };
    match opened {
        Ok((file, names)) => {
            let is_wanted = |name: &String| options.filter.as_ref().is_none_or(|part| name.contains(part));
            let tests = names.into_iter().enumerate().filter(|(_, name)| is_wanted(name)).collect();
            let wall = file.wall();
            Ok(Opened { name, file, tests, wall })
        }
        Err(error) => Err(TestResult {
            file: name,
            name: "(the file)".to_owned(),
            duration: began.elapsed(),
            failure: Some(describe(&error)),
            output: String::new(),
        }),
    }
}

/// A file as reports name it.
fn named(path: &Path, options: &TestOptions) -> String {
    path.strip_prefix(&options.base_dir).unwrap_or(path).display().to_string()
}

/// Runs the tests of one file for the plan `source`, which need not be the file beside it.
///
/// # Errors
/// As [`count_tests`].
pub async fn test_source(
    path: &Path,
    source: &str,
    catalog: &Arc<Catalog>,
    limits: &Limits,
) -> Result<TestReport> {
    let opened = open_for(path, source, catalog, limits).await?;
    let mut report = TestReport::default();
    run_opened(&opened, &Probe::default(), None, &mut report).await;
    Ok(report)
}

/// How many tests a file has.
///
/// # Errors
/// `file_unreadable` where it cannot be read, `check_refused` where the check refuses it,
/// `not_found` where it has no test.
pub async fn count_tests(path: &Path, catalog: &Arc<Catalog>, limits: &Limits) -> Result<usize> {
    open_for(path, "function run() end", catalog, limits).await.map(|opened| opened.tests.len())
}

async fn open_for(path: &Path, source: &str, catalog: &Arc<Catalog>, limits: &Limits) -> Result<Opened> {
    let file = path.display().to_string();
    let named = |error: Error| {
        let message = format!("{file}: {}", error.message().trim_start_matches(&format!("{file}: ")));
        Error::new(error.code(), message).with_help(error.help().to_owned())
    };
    let plan = ("plan".to_owned(), source.to_owned());
    let opened = TestFile::open_for(path, &file, plan, catalog, limits).map_err(named)?;
    let names = names_of(&opened).await.map_err(named)?;
    let wall = opened.wall();
    Ok(Opened { name: file, file: opened, tests: names.into_iter().enumerate().collect(), wall })
}

async fn names_of(test_file: &TestFile) -> Result<Vec<String>> {
    let names = test_file.names().await?;
    if names.is_empty() {
        let message = "it has no test; write `test(name, function() … end)`";
        return Err(Error::new(ErrorCode::NotFound, message));
    }
    Ok(names)
}

async fn run_file(path: &Path, options: &TestOptions, catalog: &Arc<Catalog>, report: &mut TestReport) {
    let opened = match open(path, options, catalog).await {
        Ok(opened) => opened,
        Err(failed) => {
            report.results.push(failed);
            return;
        }
    };
    let plan = opened.file.plan();
    let mut gatherer = options.coverage.then(|| {
        let name = named(Path::new(&plan.name), options);
        Gatherer::new(&name, &plan.source, &plan.catalog)
    });
    let probe = Probe { notes_lines: options.coverage, fault: None };
    run_opened(&opened, &probe, gatherer.as_mut(), report).await;
    if let (Some(coverage), Some(gatherer), false) = (&mut report.coverage, gatherer, opened.tests.is_empty())
    {
        coverage.plans.push(gatherer.finish());
    }
}

async fn run_opened(
    opened: &Opened,
    probe: &Probe,
    mut gatherer: Option<&mut Gatherer>,
    report: &mut TestReport,
) {
    let file_began = Instant::now();
    for (index, name) in &opened.tests {
        let began = Instant::now();
        let left = opened.wall.saturating_sub(file_began.elapsed());
        if left.is_zero() {
            report.results.push(TestResult {
                file: opened.name.clone(),
                name: name.clone(),
                duration: Duration::ZERO,
                failure: Some(not_reached(opened.wall)),
                output: String::new(),
            });
            continue;
        }
        let ran = opened.file.run_test_within(*index, probe, left).await;
        if let Some(gatherer) = &mut gatherer {
            ran.seen.iter().for_each(|run| gatherer.add(run));
        }
        report.results.push(TestResult {
            file: opened.name.clone(),
            name: name.clone(),
            duration: began.elapsed(),
            failure: ran.result.err().map(|error| describe(&error)),
            output: ran.printed,
        });
    }
}

fn not_reached(file_wall: Duration) -> String {
    format!(
        "not run: the tests before it took the {} s that all tests of a file may take together; \
         split the file",
        file_wall.as_secs()
    )
}

/// What went wrong, with the line of the test file where it is known.
pub(super) fn describe(error: &Error) -> String {
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
        (code, Some(limit), Some(seen)) if error.details().contains_key(RUNS_TOGETHER) => {
            format!(
                "{place}the runs of this test were stopped by {code} for all of them together \
                 (limit {limit}, seen {seen}); does it run its plan in a loop?"
            )
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use luaplan_base::LimitProfile;

    #[tokio::test]
    async fn tests_beyond_the_time_of_their_file_are_said_not_to_have_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan_test.lua");
        let source = "test('one', function() run_plan() end) test('two', function() run_plan() end)";
        std::fs::write(&path, source).unwrap();
        let catalog = Arc::new(Catalog::default());
        let limits = LimitProfile::Standard.limits();
        let plan = "function run() return 1 end";
        let mut opened = open_for(&path, plan, &catalog, &limits).await.unwrap();
        assert_eq!(opened.wall, Duration::from_secs(600));
        for (wall, failed) in [(opened.wall, 0), (Duration::ZERO, 2)] {
            opened.wall = wall;
            let mut report = TestReport::default();
            run_opened(&opened, &Probe::default(), None, &mut report).await;
            assert_eq!((report.results.len(), report.failed()), (2, failed), "{}", report.to_text(false));
            let said_so = |result: &TestResult| {
                result.failure.as_deref().is_some_and(|failure| failure.starts_with("not run: "))
            };
            assert_eq!(report.results.iter().filter(|result| said_so(result)).count(), failed);
        }
    }
}
