//! Mutants of the corpus: whatever they are, each ends by itself or by a limit, in time, and the
//! next run is clean.
//!
//! `LUAPLAN_TEST_MUTANTS=10000` runs that many, from a seed that is printed;
//! `LUAPLAN_TEST_MUTANTS_SEED=1` starts at another seed. The mutant of seed `n` is the same
//! always.

use std::io::Write as _;

use super::corpus::{Case, cases};
use super::job::{Job, Place};
use super::mutate::mutant;
use super::{faults, parent};

/// How many mutants an ordinary run of the tests tries, and from which seed.
const SAMPLE: u64 = 150;
const SAMPLE_SEED: u64 = 20_261_122;

/// One mutant in so many is a generated source that was disturbed.
const DISTURBED_ONE_IN: u64 = 8;

fn number(name: &str) -> Option<u64> {
    #[expect(clippy::disallowed_methods, reason = "tests may read LUAPLAN_TEST_ variables")]
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name}={text}")))
}

fn job(cases: &[Case], seed: u64, place: Place) -> Job {
    let limits: &[(&str, &str)] = if seed.is_multiple_of(2) {
        &[("instructions", "1000000"), ("wall", "2s")]
    } else {
        &[("instructions", "1000000000000000"), ("wall", "60ms")]
    };
    let limits: Vec<_> =
        limits.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    if seed.is_multiple_of(DISTURBED_ONE_IN) {
        let generating: Vec<&Case> = cases.iter().filter(|case| case.generates).collect();
        let case = generating[usize::try_from(seed / DISTURBED_ONE_IN).unwrap() % generating.len()];
        let job = Job { limits, disturbed_by: Some(seed), ..case.job(place, &[]) };
        return Job { name: format!("mutant {seed} of {}", case.name), ..job };
    }
    let plain: Vec<&Case> = cases.iter().filter(|case| !case.generates).collect();
    let source = mutant(&plain, seed);
    Job { name: format!("mutant {seed}"), source, limits, place, generates: false, disturbed_by: None }
}

#[test]
fn no_mutant_hangs_or_harms() {
    let count = number("LUAPLAN_TEST_MUTANTS").unwrap_or(SAMPLE);
    let first = number("LUAPLAN_TEST_MUTANTS_SEED").unwrap_or(SAMPLE_SEED);
    let _ = writeln!(std::io::stderr(), "{count} mutants from seed {first}");
    let cases = cases();
    let jobs: Vec<Job> = (first..first + count).map(|seed| job(&cases, seed, Place::MluaInProcess)).collect();
    let reports = parent::run_all(&jobs, if count > SAMPLE { 2 } else { 1 });
    let mut ended = std::collections::BTreeMap::<&str, u64>::new();
    let mut wrong = Vec::new();
    for (job, report) in jobs.iter().zip(&reports) {
        *ended.entry(report.end.code()).or_default() += 1;
        let faults = faults(report, job.limits().memory_bytes / 1024);
        if !faults.is_empty() {
            wrong.push(format!("{}: {}\n{}", job.name, faults.join("; "), job.source));
        }
    }
    let _ = writeln!(std::io::stderr(), "{ended:?}");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n--------\n"));
    // Mutants that do not even compile show little.
    let refused = ended.get("plan_syntax").copied().unwrap_or(0);
    assert!(refused < count / 2, "{refused} of {count} do not compile");
}
