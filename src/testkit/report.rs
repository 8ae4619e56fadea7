//! Results of plan tests: text, JSON and TAP.

use std::fmt::Write as _;
use std::time::Duration;

use owo_colors::OwoColorize as _;
use serde_json::{Value as Json, json};

use super::coverage::Coverage;

/// One test that ran.
#[derive(Debug, Clone)]
pub struct TestResult {
    /// The file it is in.
    pub file: String,
    /// Its name.
    pub name: String,
    /// How long it took.
    pub duration: Duration,
    /// Why it failed.
    pub failure: Option<String>,
    /// What the test itself printed; shown where it failed.
    pub output: String,
}

/// All tests that ran, in order.
#[derive(Debug, Clone, Default)]
pub struct TestReport {
    /// The results.
    pub results: Vec<TestResult>,
    /// The coverage, where requested.
    pub coverage: Option<Coverage>,
}

impl TestReport {
    /// How many failed.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.results.iter().filter(|result| result.failure.is_some()).count()
    }

    /// `{"total","passed","failed","results":[{"file","name","status","duration_ms","message","output"?}],
    /// "coverage"?}`; `message` is null for a test that passed, `coverage` as [`Coverage::to_json`] gives it.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let results: Vec<Json> = self.results.iter().map(TestResult::to_json).collect();
        let failed = self.failed();
        let mut json = json!({
            "total": results.len(),
            "passed": results.len() - failed,
            "failed": failed,
            "results": results,
        });
        if let (Some(coverage), Some(members)) = (&self.coverage, json.as_object_mut()) {
            members.insert("coverage".to_owned(), coverage.to_json());
        }
        json
    }

    /// For people.
    #[must_use]
    pub fn to_text(&self, colour: bool) -> String {
        let mut text = String::new();
        let mut file = "";
        for result in &self.results {
            if result.file != file {
                file = &result.file;
                let _ = writeln!(text, "{file}");
            }
            let (name, failure) = (one_line(&result.name), result.failure.as_deref());
            let _ = match (failure, colour) {
                (None, true) => writeln!(text, "  {} {name}", "ok".green()),
                (None, false) => writeln!(text, "  ok {name}"),
                (Some(_), true) => writeln!(text, "  {} {name}", "FAILED".red()),
                (Some(_), false) => writeln!(text, "  FAILED {name}"),
            };
            for line in failure.into_iter().flat_map(str::lines) {
                let _ = writeln!(text, "       {line}");
            }
            if failure.is_some() {
                for line in result.output.lines() {
                    let _ = writeln!(text, "       printed: {line}");
                }
            }
        }
        let failed = self.failed();
        let _ = writeln!(text, "{} passed, {failed} failed", self.results.len() - failed);
        if let Some(coverage) = &self.coverage {
            text.push('\n');
            text.push_str(&coverage.to_text());
        }
        text
    }

    /// Test Anything Protocol, version 14.
    #[must_use]
    pub fn to_tap(&self) -> String {
        let mut text = format!("TAP version 14\n1..{}\n", self.results.len());
        for (index, result) in self.results.iter().enumerate() {
            let name = one_line(&format!("{}: {}", result.file, result.name));
            let name = name.replace('\\', "\\\\").replace('#', "\\#");
            let number = index + 1;
            match &result.failure {
                None => _ = writeln!(text, "ok {number} - {name}"),
                Some(message) => {
                    let quoted = serde_json::to_string(message).unwrap_or_default();
                    let _ = writeln!(text, "not ok {number} - {name}\n  ---\n  message: {quoted}\n  ...");
                }
            }
        }
        text
    }
}

impl TestResult {
    pub(super) fn to_json(&self) -> Json {
        let mut json = json!({
            "file": self.file,
            "name": self.name,
            "status": if self.failure.is_some() { "failed" } else { "passed" },
            "duration_ms": u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
            "message": self.failure,
        });
        if let (false, Some(members)) = (self.output.is_empty(), json.as_object_mut()) {
            members.insert("output".to_owned(), self.output.as_str().into());
        }
        json
    }
}

/// A name may hold anything; a report's line may not hold a line break.
pub(super) fn one_line(name: &str) -> String {
    name.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}
