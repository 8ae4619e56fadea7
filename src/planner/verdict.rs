//! Ranks candidates, and says why. Pure: facts in, order out.
//!
//! The order of criteria is fixed: the user's plan tests, then errors of the check, then its advice,
//! then a run on mocks, then a reviewer's advice among those that are equal so far, then the lower id.

use std::cmp::Ordering;
use std::fmt;

use serde::Serialize;

use luaplan_base::ContentHash;

/// A candidate's id, assigned before the first request: `c1`, `c2`, …
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CandidateId(pub u32);

impl fmt::Display for CandidateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.0)
    }
}

impl Serialize for CandidateId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A test of the user's that a plan failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestFailure {
    /// The test's name.
    pub name: String,
    /// Its message.
    pub message: String,
    /// The line of the plan it names, where it names one.
    pub line: Option<u32>,
}

/// What the user's tests say of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TestsVerdict {
    /// How many passed.
    pub passed: u64,
    /// How many failed.
    pub failed: u64,
    /// The first failure, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failure: Option<String>,
    /// All failures, for the feedback to the model.
    #[serde(skip)]
    pub failures: Vec<TestFailure>,
    /// Whether the model may see their messages unchanged.
    #[serde(skip)]
    pub shares_data: bool,
}

/// How a run of the plan on mocks ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MockVerdict {
    /// The code it failed with; `None` where it succeeded.
    pub code: Option<String>,
}

/// What is known of one candidate.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    pub(super) candidate: CandidateId,
    /// The plan, or the best draft.
    pub(super) plan_hash: Option<ContentHash>,
    /// Why there is no plan.
    pub(super) code: Option<String>,
    pub(super) tests: Option<TestsVerdict>,
    pub(super) errors: Option<u64>,
    pub(super) warnings: Option<u64>,
    pub(super) mock_run: Option<MockVerdict>,
}

/// How a candidate was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CandidateVerdict {
    /// The candidate.
    pub candidate: CandidateId,
    /// Its plan, or the best draft where none passed the check.
    pub plan_hash: Option<ContentHash>,
    /// What the user's tests say, where there are tests and a plan.
    pub tests: Option<TestsVerdict>,
    /// Errors of the check; `None` where there was nothing to check.
    pub errors: Option<u64>,
    /// Advice of the check.
    pub warnings: Option<u64>,
    /// `passed`, or the code the run on mocks failed with.
    pub mock_run: Option<String>,
    /// What the reviewer says, where it preferred this one.
    pub reviewer: Option<String>,
    /// Why there is no plan.
    pub code: Option<String>,
    /// 1 for the best.
    pub rank: u32,
    /// Whether it was taken.
    pub chosen: bool,
    /// The deciding criterion, in a few words.
    pub reason: String,
}

/// What a reviewer prefers, and why.
#[derive(Debug, Clone)]
pub(super) struct Advice {
    pub(super) candidate: CandidateId,
    pub(super) reason: String,
}

/// The criteria, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Criterion {
    Plan,
    Tests,
    Errors,
    Warnings,
    MockRun,
}

const CRITERIA: [Criterion; 5] =
    [Criterion::Plan, Criterion::Tests, Criterion::Errors, Criterion::Warnings, Criterion::MockRun];

impl Standing {
    pub(super) fn has_plan(&self) -> bool {
        self.code.is_none()
    }

    /// How bad it is by one criterion; 0 is best.
    fn fault(&self, criterion: Criterion) -> u64 {
        match criterion {
            Criterion::Plan => u64::from(!self.has_plan()),
            Criterion::Tests => self.tests.as_ref().map_or(0, |tests| tests.failed),
            // Nothing to check is worse than any number of errors.
            Criterion::Errors => self.errors.unwrap_or(u64::MAX),
            Criterion::Warnings => self.warnings.unwrap_or(u64::MAX),
            Criterion::MockRun => u64::from(self.mock_run.as_ref().is_some_and(|run| run.code.is_some())),
        }
    }

    fn describe(&self, criterion: Criterion) -> String {
        match criterion {
            Criterion::Plan => format!("no plan ({})", self.code.as_deref().unwrap_or("none")),
            Criterion::Tests => format!("{} failed test(s)", self.fault(criterion)),
            Criterion::Errors if self.errors.is_none() => "no program".to_owned(),
            Criterion::Errors => format!("{} error(s) of the check", self.fault(criterion)),
            Criterion::Warnings if self.warnings.is_none() => "no program".to_owned(),
            Criterion::Warnings => format!("{} warning(s) of the check", self.fault(criterion)),
            Criterion::MockRun => match self.mock_run.as_ref().and_then(|run| run.code.as_deref()) {
                Some(code) => format!("a mock run that failed with {code}"),
                None => "a mock run that passed".to_owned(),
            },
        }
    }
}

/// By everything but the reviewer and the id.
fn compare(a: &Standing, b: &Standing) -> Ordering {
    CRITERIA
        .iter()
        .map(|criterion| a.fault(*criterion).cmp(&b.fault(*criterion)))
        .fold(Ordering::Equal, Ordering::then)
}

/// The best candidates that are equal by every criterion, in the order of their ids. The reviewer may
/// choose among them.
pub(super) fn equals_at_the_top(standings: &[Standing]) -> Vec<CandidateId> {
    let best = standings.iter().min_by(|a, b| compare(a, b).then(a.candidate.cmp(&b.candidate)));
    let mut equals: Vec<CandidateId> = standings
        .iter()
        .filter(|standing| best.is_some_and(|best| compare(standing, best).is_eq()))
        .map(|standing| standing.candidate)
        .collect();
    equals.sort_unstable();
    equals
}

/// Ranks the candidates. The verdicts are in the order of ids; `may_choose` is false where even the best
/// one is not good enough to be chosen.
pub(super) fn rank(
    standings: &[Standing],
    advice: Option<&Advice>,
    may_choose: bool,
) -> Vec<CandidateVerdict> {
    let top = equals_at_the_top(standings);
    let advice = advice.filter(|advice| top.contains(&advice.candidate));
    let is_preferred =
        |standing: &Standing| advice.is_some_and(|advice| advice.candidate == standing.candidate);
    let mut order: Vec<&Standing> = standings.iter().collect();
    order.sort_by(|a, b| {
        compare(a, b)
            .then_with(|| is_preferred(b).cmp(&is_preferred(a)))
            .then_with(|| a.candidate.cmp(&b.candidate))
    });
    let mut verdicts: Vec<CandidateVerdict> = order
        .iter()
        .enumerate()
        .map(|(index, standing)| {
            let other = if index == 0 { order.get(1) } else { order.first() };
            CandidateVerdict {
                candidate: standing.candidate,
                plan_hash: standing.plan_hash.clone(),
                tests: standing.tests.clone(),
                errors: standing.errors,
                warnings: standing.warnings,
                mock_run: standing
                    .mock_run
                    .as_ref()
                    .map(|run| run.code.clone().unwrap_or_else(|| "passed".to_owned())),
                reviewer: advice
                    .filter(|advice| advice.candidate == standing.candidate)
                    .map(|advice| advice.reason.clone()),
                code: standing.code.clone(),
                rank: u32::try_from(index + 1).unwrap_or(u32::MAX),
                chosen: index == 0 && may_choose,
                reason: other.map_or_else(|| alone(standing), |other| reason(standing, other, advice)),
            }
        })
        .collect();
    verdicts.sort_by_key(|verdict| verdict.candidate);
    verdicts
}

fn alone(standing: &Standing) -> String {
    let told =
        [Criterion::Plan, Criterion::Tests].into_iter().find(|criterion| standing.fault(*criterion) > 0);
    told.map_or_else(|| "the only candidate".to_owned(), |criterion| standing.describe(criterion))
}

/// The criterion that decided between `one` and `other`.
fn reason(one: &Standing, other: &Standing, advice: Option<&Advice>) -> String {
    let differs = CRITERIA.into_iter().find(|criterion| one.fault(*criterion) != other.fault(*criterion));
    if let Some(criterion) = differs {
        let (mine, others) = (one.fault(criterion), other.fault(criterion));
        return match (criterion, mine < others) {
            (Criterion::Plan, true) => format!("it has a plan, and {} has none", other.candidate),
            (Criterion::Plan, false) => one.describe(criterion),
            _ => {
                format!("{}, {} has {}", one.describe(criterion), other.candidate, other.describe(criterion))
            }
        };
    }
    match advice {
        Some(advice) if advice.candidate == one.candidate => {
            format!("equal to {}, and the reviewer prefers it", other.candidate)
        }
        Some(advice) if advice.candidate == other.candidate => {
            format!("equal to {}, which the reviewer prefers", other.candidate)
        }
        _ if one.candidate < other.candidate => format!("equal to {}, and it came first", other.candidate),
        _ => format!("equal to {}, which came first", other.candidate),
    }
}
