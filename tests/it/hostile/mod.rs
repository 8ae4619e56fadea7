//! The hostile corpus: plans that try to hang, crash or fool the sandbox, each in a child process.
//!
//! Asserted of each plan: it ends as its file says; once told to stop it stops within
//! [`LATE_MS_MAX`] of processor time; the process lives, gives its memory back, and runs an
//! innocent plan next that shows and costs what it always does.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod corpus;
mod dice;
mod job;
mod mutants;
mod mutate;
mod parent;

use std::collections::BTreeMap;

use corpus::{Case, cases};
use job::{End, Job, Place, Report};

/// How long a plan may continue once it was told to stop, in processor time.
///
/// Compiling the largest sources cannot be interrupted, and takes several times as long where Lua's compiler
/// and ours are built without optimization.
const LATE_MS_MAX: u64 = if cfg!(debug_assertions) { 300 } else { 100 };

/// How much memory the process may hold beyond the plan's own limit, at its peak and afterwards.
const OUTSIDE_KIB_MAX: u64 = 64 * 1024;

impl Place {
    fn is_worker(self) -> bool {
        self != Self::MluaInProcess
    }
}

/// What is wrong with how a plan ended, whichever plan.
fn faults(report: &Report, memory_kib: u64) -> Vec<String> {
    let mut faults = Vec::new();
    match &report.end {
        End::NotStopped | End::Crashed(_) => return vec![report.end.to_string()],
        End::Error(code, message) => {
            let leaks = ["luaplan:", "stack traceback", ": 0x"].iter().find(|word| message.contains(**word));
            if code == "internal" || leaks.is_some() {
                faults.push(format!("shows its inside: {}", report.end));
            }
        }
        End::Result(_) => {}
    }
    if report.late_ms.is_some_and(|late| late > LATE_MS_MAX) {
        faults.push(format!("stopped {} ms after it was told to", report.late_ms.unwrap_or(0)));
    }
    if report.peak_kib > memory_kib + OUTSIDE_KIB_MAX {
        faults.push(format!("held {} KiB more than before, its limit is {memory_kib} KiB", report.peak_kib));
    }
    if report.kept_kib > OUTSIDE_KIB_MAX {
        faults.push(format!("left {} KiB behind", report.kept_kib));
    }
    if !report.next_run.is_empty() {
        faults.push(format!("the next run is not clean: {}", report.next_run));
    }
    faults
}

/// How a plan is made to stop.
#[derive(Clone, Copy, PartialEq)]
enum By {
    /// By one of its limits, as its file says.
    Budget,
    /// By time alone: it may do as much as it likes until it is told to stop.
    Time,
}

impl By {
    fn limits(self, place: Place) -> &'static [(&'static str, &'static str)] {
        match (self, place) {
            // Long enough for natives built without optimization to use up their instructions.
            (Self::Budget, _) => &[("wall", "20s")],
            // That engine reads our own parts first, slowly where it is built without optimization.
            (Self::Time, Place::PiccoloInWorker) => {
                &[("instructions", "1000000000000000"), ("wall", "500ms")]
            }
            (Self::Time, _) => &[("instructions", "1000000000000000"), ("wall", "150ms")],
        }
    }
}

/// Whether a plan ended as it should, apart from what is wrong for any plan.
fn is_expected(case: &Case, report: &Report, place: Place, by: By) -> bool {
    let code = match &report.end {
        End::NotStopped | End::Crashed(_) => return true,
        End::Error(code, _) => code.as_str(),
        End::Result(_) => "result",
    };
    let was_told = report.late_ms.is_some();
    case.expected(place).iter().any(|expected| expected.fits(&report.end))
        || (by == By::Time && code == "limit_wall")
        // A worker that does not listen is ended.
        || (place.is_worker() && was_told && code == "worker_crashed" && by == By::Time)
}

fn wrong(case: &Case, job: &Job, report: &Report, by: By) -> Option<String> {
    let mut faults = faults(report, job.limits().memory_bytes / 1024);
    if !is_expected(case, report, job.place, by) {
        faults.push(format!("ended with `{}`, not as its file says", report.end));
    }
    let Report { cpu_ms, late_ms, instructions, .. } = report;
    let line = format!(
        "{}: {} ({cpu_ms} ms, late {late_ms:?}, {instructions} instructions)",
        case.name,
        faults.join("; ")
    );
    (!faults.is_empty()).then_some(line)
}

/// Runs one plan in `one_in` of the corpus at a place.
fn run_corpus(place: Place, by: By, one_in: usize) {
    let cases: Vec<Case> = cases().into_iter().step_by(one_in).collect();
    let jobs: Vec<Job> = cases.iter().map(|case| case.job(place, by.limits(place))).collect();
    let reports = parent::run_all(&jobs, 1);
    let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
    for report in &reports {
        *ends.entry(report.end.code()).or_default() += 1;
    }
    let wrong: Vec<String> = cases
        .iter()
        .zip(&jobs)
        .zip(&reports)
        .filter_map(|((case, job), report)| wrong(case, job, report, by))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}\n{ends:?}", wrong.len(), cases.len(), wrong.join("\n"));
    // The kind of stop that is tried must be seen, or these limits show nothing.
    let seen = if by == By::Time { "limit_wall" } else { "limit_instructions" };
    assert!(ends.get(seen).is_some_and(|count| *count * 10 > cases.len()), "{ends:?}");
}

/// Workers cost a process for each plan, so an ordinary run of the tests tries some;
/// `LUAPLAN_TEST_HOSTILE=all` tries all.
fn one_in_for_workers() -> usize {
    #[expect(clippy::disallowed_methods, reason = "tests may read LUAPLAN_TEST_ variables")]
    let choice = std::env::var("LUAPLAN_TEST_HOSTILE");
    if choice.as_deref() == Ok("all") { 1 } else { 11 }
}

#[test]
fn every_hostile_plan_is_stopped_by_its_budget() {
    run_corpus(Place::MluaInProcess, By::Budget, 1);
}

#[test]
fn every_hostile_plan_is_stopped_by_time() {
    run_corpus(Place::MluaInProcess, By::Time, 1);
}

#[test]
fn hostile_plans_in_workers_are_stopped_by_their_budget() {
    run_corpus(Place::MluaInWorker, By::Budget, one_in_for_workers());
}

#[test]
fn hostile_plans_in_workers_are_stopped_by_time() {
    run_corpus(Place::MluaInWorker, By::Time, one_in_for_workers());
}

#[test]
fn hostile_plans_on_piccolo_are_stopped_by_their_budget() {
    run_corpus(Place::PiccoloInWorker, By::Budget, one_in_for_workers());
}

#[test]
fn hostile_plans_on_piccolo_are_stopped_by_time() {
    run_corpus(Place::PiccoloInWorker, By::Time, one_in_for_workers());
}
