//! Reports of failed calls: text, JSON, and the forms test reports have.

use std::fmt::Write as _;

use owo_colors::OwoColorize as _;
use serde_json::{Value as Json, json};

use luaplan_base::Result;

use super::{FaultReport, FaultResult, FaultVerdict};
use crate::report::{TestReport, TestResult, one_line};

const VERDICTS: [FaultVerdict; 5] = [
    FaultVerdict::Handled,
    FaultVerdict::Ignored,
    FaultVerdict::Used,
    FaultVerdict::Crashed,
    FaultVerdict::Unmocked,
];

impl FaultReport {
    /// The number of failed calls whose plan needs a fix, and of broken tests.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.faults.iter().filter(|fault| fault.verdict.is_bad()).count() + self.broken.len()
    }

    fn count(&self, verdict: FaultVerdict) -> usize {
        self.faults.iter().filter(|fault| fault.verdict == verdict).count()
    }

    /// `{"total","handled","ignored","used","crashed","unmocked","faults": [{"file","test","run",
    /// "position","tool","line","retryable","verdict","ending","effects_after","duration_ms"}],
    /// "broken_tests": [{"file","name","status","duration_ms","message"}],"notes": []}`.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut json = json!({ "total": self.faults.len() });
        if let Some(members) = json.as_object_mut() {
            for verdict in VERDICTS {
                members.insert(verdict.as_str().to_owned(), self.count(verdict).into());
            }
            let faults: Vec<Json> = self.faults.iter().map(FaultResult::to_json).collect();
            members.insert("faults".to_owned(), faults.into());
            let broken: Vec<Json> = self.broken.iter().map(TestResult::to_json).collect();
            members.insert("broken_tests".to_owned(), broken.into());
            members.insert("notes".to_owned(), self.notes.clone().into());
        }
        json
    }

    /// For people.
    #[must_use]
    pub fn to_text(&self, colour: bool) -> String {
        let mut text = String::new();
        let mut place = (String::new(), String::new());
        for (index, fault) in self.faults.iter().enumerate() {
            // One line is enough where `retryable` made no difference.
            let is_same = |other: Option<&FaultResult>| other.is_some_and(|other| other.ends_as(fault));
            if index > 0 && is_same(self.faults.get(index - 1)) {
                continue;
            }
            let how = match (is_same(self.faults.get(index + 1)), fault.retryable) {
                (true, _) => "fails, retryable or not",
                (false, true) => "fails, retryable",
                (false, false) => "fails, not retryable",
            };
            if fault.file != place.0 {
                let _ = writeln!(text, "{}", fault.file);
                place = (fault.file.clone(), String::new());
            }
            if fault.test != place.1 {
                let _ = writeln!(text, "  {}", one_line(&fault.test));
                place.1.clone_from(&fault.test);
            }
            let word = format!("{:<8}", fault.word());
            let word = match (colour, fault.verdict.is_bad(), fault.verdict) {
                (true, true, _) => word.red().to_string(),
                (true, _, FaultVerdict::Handled) => word.green().to_string(),
                _ => word,
            };
            let _ = writeln!(text, "    {word} {}, {how}", fault.call());
            let _ = writeln!(text, "             {}", one_line(&fault.ending));
            if !fault.effects_after.is_empty() {
                let _ = writeln!(
                    text,
                    "             notice: afterwards it called {}",
                    grouped(&fault.effects_after)
                );
            }
        }
        for test in &self.broken {
            let _ =
                writeln!(text, "{}\n  FAILED without any failing call: {}", test.file, one_line(&test.name));
            for line in test.failure.iter().flat_map(|failure| failure.lines()) {
                let _ = writeln!(text, "       {line}");
            }
        }
        for note in &self.notes {
            let _ = writeln!(text, "note: {note}");
        }
        let counts = VERDICTS.map(|verdict| format!("{} {}", self.count(verdict), verdict.as_str()));
        let _ = write!(text, "{} failing calls: {}", self.faults.len(), counts.join(", "));
        if !self.broken.is_empty() {
            let _ = write!(text, "; tests that fail without any: {}", self.broken.len());
        }
        text.push('\n');
        text
    }

    /// JUnit XML: one suite a file, one case for each failing call.
    ///
    /// # Errors
    /// `internal` where the XML cannot be written.
    pub fn to_junit(&self) -> Result<String> {
        self.as_tests().to_junit()
    }

    /// Test Anything Protocol, version 14.
    #[must_use]
    pub fn to_tap(&self) -> String {
        self.as_tests().to_tap()
    }

    fn as_tests(&self) -> TestReport {
        let faults = self.faults.iter().map(FaultResult::as_test);
        let results = faults.chain(self.broken.iter().cloned()).collect();
        TestReport { results, coverage: None }
    }
}

/// `send_email (line 38) 3 times, call_llm (line 13)`.
fn grouped(calls: &[String]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for call in calls {
        match counts.iter_mut().find(|(known, _)| known == call) {
            Some((_, count)) => *count += 1,
            None => counts.push((call, 1)),
        }
    }
    let shown = counts.into_iter().map(|(call, count)| match count {
        1 => call.to_owned(),
        count => format!("{call} {count} times"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

impl FaultResult {
    /// Whether the same call failed here, and the plan did the same.
    fn ends_as(&self, other: &Self) -> bool {
        let place = |fault: &Self| (fault.file.clone(), fault.test.clone(), fault.run, fault.position);
        place(self) == place(other)
            && self.verdict == other.verdict
            && self.ending == other.ending
            && self.effects_after == other.effects_after
    }

    /// `call 2, send_email at line 16`.
    fn call(&self) -> String {
        let line = self.line.map(|line| format!(" at line {line}")).unwrap_or_default();
        let run = if self.run > 1 { format!(" of run {}", self.run) } else { String::new() };
        format!("call {}{run}, {}{line}", self.position, self.tool)
    }

    /// `call 2, send_email at line 16, fails, retryable`.
    fn what(&self) -> String {
        let how = if self.retryable { "fails, retryable" } else { "fails, not retryable" };
        format!("{}, {how}", self.call())
    }

    fn word(&self) -> String {
        match self.verdict.is_bad() {
            true => self.verdict.as_str().to_uppercase(),
            false => self.verdict.as_str().to_owned(),
        }
    }

    fn as_test(&self) -> TestResult {
        let notice = match self.effects_after.is_empty() {
            true => String::new(),
            false => format!("afterwards it called {}\n", grouped(&self.effects_after)),
        };
        TestResult {
            file: self.file.clone(),
            name: format!("{}: {}", self.test, self.what()),
            duration: self.duration,
            failure: self.verdict.is_bad().then(|| format!("{}: {}", self.verdict.as_str(), self.ending)),
            output: format!("{}: {}\n{notice}", self.verdict.as_str(), self.ending),
        }
    }

    fn to_json(&self) -> Json {
        json!({
            "file": self.file,
            "test": self.test,
            "run": self.run,
            "position": self.position,
            "tool": self.tool,
            "line": self.line,
            "retryable": self.retryable,
            "verdict": self.verdict.as_str(),
            "ending": self.ending,
            "effects_after": self.effects_after,
            "duration_ms": u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
        })
    }
}
