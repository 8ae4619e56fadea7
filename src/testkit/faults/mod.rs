//! Fault injection: how a plan ends when one of its calls fails.
//!
//! Each test runs unchanged first; then again for each call of each of its runs of the plan, with that
//! one call failing. The verdict depends on how that run of the plan ends, not on the test's
//! expectations.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use luaplan_base::{Effect, Error, ErrorCode, Result, ToolFailure};
use luaplan_catalog::Catalog;

use super::own_tools::names_own_tools;
use super::probe::{CallToFail, ObservedError, ObservedRun, Probe};
use super::recorder::CallRecord;
use super::report::TestResult;
use super::runner::{TestOptions, describe, none_fits, open, test_files};
use super::test_file::TestFile;

mod report;

/// How many calls of one run of a plan are made to fail.
const CALLS_MAX: usize = 200;

/// Which calls fail, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultScope {
    /// Every call.
    All,
    /// Those of one tool.
    Tool(String),
    /// The call at this place of a run, counted from 1.
    Position(usize),
}

impl FromStr for FaultScope {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refused = || {
            Error::new(ErrorCode::Usage, format!("`{text}` says not which calls are to fail"))
                .with_help("write `all`, `tool=NAME` or `position=N`, N counted from 1")
        };
        match text.split_once('=') {
            None if text == "all" => Ok(Self::All),
            Some(("tool", name)) if !name.is_empty() => Ok(Self::Tool(name.to_owned())),
            Some(("position", number)) => {
                number.parse().ok().filter(|number| *number > 0).map(Self::Position).ok_or_else(refused)
            }
            _ => Err(refused()),
        }
    }
}

/// Which calls fail, and how.
#[derive(Debug, Clone)]
pub struct FaultOptions {
    /// Which.
    pub scope: FaultScope,
    /// The code they fail with.
    pub code: String,
    /// The values of `retryable`, each used in turn.
    pub retryable: Vec<bool>,
}

/// How a plan dealt with a failed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultVerdict {
    /// The run still succeeded, or ended with the plan's own error.
    Handled,
    /// The plan ignored the failed value (`tool_error_ignored`).
    Ignored,
    /// The plan used the failed value as if it were a result (`tool_error_used`).
    Used,
    /// The plan broke: an error of Lua, or a limit.
    Crashed,
    /// The plan made a call that the test does not mock, so nothing is known.
    Unmocked,
}

impl FaultVerdict {
    /// The name in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Handled => "handled",
            Self::Ignored => "ignored",
            Self::Used => "used",
            Self::Crashed => "crashed",
            Self::Unmocked => "unmocked",
        }
    }

    /// Whether the plan needs a fix.
    #[must_use]
    pub const fn is_bad(self) -> bool {
        matches!(self, Self::Ignored | Self::Used | Self::Crashed)
    }
}

/// One call that was made to fail.
#[derive(Debug, Clone)]
pub struct FaultResult {
    /// The test file.
    pub file: String,
    /// The test.
    pub test: String,
    /// Which run of the plan within the test, counted from 1.
    pub run: usize,
    /// Which call of that run, counted from 1.
    pub position: usize,
    /// Its tool.
    pub tool: String,
    /// Its line in the plan, where known.
    pub line: Option<u32>,
    /// Whether the injected failure was retryable.
    pub retryable: bool,
    /// How the plan dealt with it.
    pub verdict: FaultVerdict,
    /// How the run ended, in words.
    pub ending: String,
    /// Writing, sending and spending calls made after the failure.
    pub effects_after: Vec<String>,
    /// How long it took.
    pub duration: Duration,
}

/// How plans dealt with failed calls.
#[derive(Debug, Clone, Default)]
pub struct FaultReport {
    /// One for each failure, in order.
    pub faults: Vec<FaultResult>,
    /// Tests that fail without a fault, and unusable files: nothing is known of their plans.
    pub broken: Vec<TestResult>,
    /// What was omitted, in words.
    pub notes: Vec<String>,
}

/// Runs the tests, each once unchanged and once for every call to fail.
///
/// # Errors
/// As [`super::run_tests`]; `not_found` as well where no call is to fail.
pub async fn run_faults(
    options: &TestOptions,
    faults: &FaultOptions,
    catalog: &Catalog,
) -> Result<FaultReport> {
    if let FaultScope::Tool(name) = &faults.scope
        && catalog.get(name).is_none()
        && !test_files(options)?.iter().any(|path| names_own_tools(path))
    {
        return Err(Error::new(ErrorCode::NotFound, format!("there is no tool `{name}`"))
            .with_help("`luaplan tools` lists them"));
    }
    let catalog = Arc::new(catalog.clone());
    let mut report = FaultReport::default();
    let mut has_tests = false;
    for path in test_files(options)? {
        has_tests |= fault_file(&path, options, faults, &catalog, &mut report).await;
    }
    if !has_tests {
        return Err(none_fits(options));
    }
    if report.faults.is_empty() && report.broken.is_empty() {
        let message = "the tests make no call that is to fail";
        return Err(Error::new(ErrorCode::NotFound, message)
            .with_help("`--faults all` has every call fail; a plan without calls has nothing to fail"));
    }
    Ok(report)
}

/// Whether the file has selected tests, or is broken.
async fn fault_file(
    path: &Path,
    options: &TestOptions,
    faults: &FaultOptions,
    catalog: &Arc<Catalog>,
    report: &mut FaultReport,
) -> bool {
    let opened = match open(path, options, catalog).await {
        Ok(opened) => opened,
        Err(failed) => {
            report.broken.push(failed);
            return true;
        }
    };
    for (index, test) in &opened.tests {
        let began = Instant::now();
        let undisturbed = opened.file.run_test(*index, &Probe::default()).await;
        if let Err(error) = &undisturbed.result {
            report.broken.push(TestResult {
                file: opened.name.clone(),
                name: test.clone(),
                duration: began.elapsed(),
                failure: Some(describe(error)),
                output: undisturbed.printed,
            });
            continue;
        }
        for (run, seen) in undisturbed.seen.iter().enumerate() {
            let wanted: Vec<(usize, &CallRecord)> =
                seen.calls.iter().enumerate().filter(|(place, call)| faults.takes(*place, call)).collect();
            if wanted.len() > CALLS_MAX {
                let more = wanted.len() - CALLS_MAX;
                report.notes.push(format!(
                    "{}: {test}: the first {CALLS_MAX} calls of run {} were made to fail, {more} more were not",
                    opened.name,
                    run + 1
                ));
            }
            for (place, call) in wanted.into_iter().take(CALLS_MAX) {
                for retryable in &faults.retryable {
                    let began = Instant::now();
                    let probe = faults.probe(run, call, *retryable);
                    let disturbed = opened.file.run_test(*index, &probe).await.seen.into_iter().nth(run);
                    let (verdict, ending) = judge(disturbed.as_ref());
                    report.faults.push(FaultResult {
                        file: opened.name.clone(),
                        test: test.clone(),
                        run: run + 1,
                        position: place + 1,
                        tool: call.tool().to_owned(),
                        line: call.line(),
                        retryable: *retryable,
                        verdict,
                        ending,
                        effects_after: disturbed
                            .as_ref()
                            .map(|seen| effects_after(seen, call, &opened.file))
                            .unwrap_or_default(),
                        duration: began.elapsed(),
                    });
                }
            }
        }
    }
    !opened.tests.is_empty()
}

impl FaultOptions {
    fn takes(&self, place: usize, call: &CallRecord) -> bool {
        match &self.scope {
            FaultScope::All => true,
            FaultScope::Tool(name) => call.tool() == name,
            FaultScope::Position(number) => place + 1 == *number,
        }
    }

    fn probe(&self, run: usize, call: &CallRecord, retryable: bool) -> Probe {
        let failure = ToolFailure {
            code: self.code.clone(),
            message: format!("injected failure `{}`", self.code),
            retryable,
            details: indexmap::IndexMap::new(),
        };
        Probe { notes_lines: false, fault: Some(CallToFail { run, call_id: call.id().to_owned(), failure }) }
    }
}

/// How the plan dealt with the fault, and how its run ended.
fn judge(seen: Option<&ObservedRun>) -> (FaultVerdict, String) {
    let Some(seen) = seen else {
        return (FaultVerdict::Unmocked, "the test did not run the plan again".to_owned());
    };
    let Some(ObservedError { code, message }) = &seen.error else {
        return (FaultVerdict::Handled, "the run succeeded".to_owned());
    };
    let verdict = match code {
        ErrorCode::ToolErrorIgnored => FaultVerdict::Ignored,
        ErrorCode::ToolErrorUsed => FaultVerdict::Used,
        ErrorCode::MockMissing => FaultVerdict::Unmocked,
        ErrorCode::PlanError if !is_of_lua(message) => FaultVerdict::Handled,
        _ => FaultVerdict::Crashed,
    };
    (verdict, format!("the run failed with {code}: {message}"))
}

/// Whether a message is Lua's or the library's, and not one the plan chose.
fn is_of_lua(message: &str) -> bool {
    const BEGINNINGS: [&str; 14] = [
        "attempt to ",
        "bad argument #",
        "number has no integer representation",
        "'for' ",
        "invalid ",
        "string slice too long",
        "resulting string too large",
        "table index is ",
        "cannot resume ",
        "wrong number of arguments",
        "too many ",
        "stack overflow",
        "unfinished ",
        "malformed ",
    ];
    let own =
        message.strip_prefix("line ").and_then(|rest| rest.split_once(": ")).map_or(message, |(_, own)| own);
    BEGINNINGS.iter().any(|beginning| own.starts_with(beginning))
}

/// Calls that change the world, made after the plan saw the failure; a retry of the failed call does not count.
fn effects_after(seen: &ObservedRun, failed: &CallRecord, file: &TestFile) -> Vec<String> {
    let Some(failure) = seen.calls.iter().find(|call| call.id() == failed.id()) else { return Vec::new() };
    let changes_world = |call: &&CallRecord| {
        let spec = file.plan().catalog.get(call.tool());
        spec.is_some_and(|spec| spec.effect != Effect::Read) && !call.repeats(failure)
    };
    let after = seen.calls.iter().filter(|call| call.round() > failure.round()).filter(changes_world);
    after
        .map(|call| match call.line() {
            Some(line) => format!("{} (line {line})", call.tool()),
            None => call.tool().to_owned(),
        })
        .collect()
}
