//! Makes one plan of a request: writes candidates in lock-step, tries them, judges them.
//!
//! Candidates get their ids before the first request. In each turn all unfinished candidates ask
//! concurrently, and their answers are handled in the order of ids; so the chosen plan and the journal
//! do not depend on which answer arrives first.

use std::collections::HashMap;

use async_trait::async_trait;
use serde_json::Value as Json;

use luaplan_base::{ContentHash, Error, ErrorCode, Result};
use luaplan_bus::RunBudget;
use luaplan_journal::{Durability, EventBody, RunLog};
use luaplan_llm::LlmClient;
use luaplan_plan::{CheckedPlan, Finding};

use super::asking::ask_all;
use super::draft::errors;
use super::planning::{Check, Planned, PlannerSettings, PlanningRequest, Proposal};
use super::review::{self, Shown};
use super::rounds::{Ended, Rounds};
use super::verdict::{
    Advice, CandidateId, CandidateVerdict, MockVerdict, Standing, TestsVerdict, equals_at_the_top, rank,
};

/// The most candidates for one task.
pub const CANDIDATES_MAX: u32 = 8;

/// How each candidate after the first should differ, as the same prompt may give the same answer.
const LEANINGS: [&str; CANDIDATES_MAX as usize - 1] = [
    "make as few tool calls as will do",
    "take special care of missing values, empty lists and failed calls",
    "keep the program as short as care allows",
    "give each part of the task a small local function",
    "use the plan library rather than loops of your own",
    "make calls that do not need each other in one `parallel`",
    "check everything before the first call that changes or sends something",
];

/// Trials that compare plans. None of them reaches the world.
#[async_trait]
pub trait Trials: Send + Sync {
    /// The user's plan tests; `None` where there are none.
    ///
    /// # Errors
    /// Where the tests themselves cannot be run.
    async fn tests(&self, plan: &CheckedPlan) -> Result<Option<TestsVerdict>>;

    /// A run on mocks.
    ///
    /// # Errors
    /// Where no run could be made.
    async fn mock_run(&self, plan: &CheckedPlan) -> Result<MockVerdict>;
}

/// The input of the choice.
pub(super) struct Choosing<'a> {
    pub(super) client: &'a dyn LlmClient,
    pub(super) settings: &'a PlannerSettings,
    pub(super) request: &'a PlanningRequest<'a>,
    pub(super) check: &'a dyn Check,
    pub(super) log: &'a RunLog,
    pub(super) budget: &'a RunBudget,
}

impl Choosing<'_> {
    /// A single candidate.
    pub(super) async fn one(&self) -> Result<Planned> {
        self.request.validate()?;
        let only = Rounds::new(self.settings, self.request, self.log.clone(), None);
        let mut rounds = vec![only];
        self.write(&mut rounds).await?;
        rounds.into_iter().next().map_or_else(|| Err(lost()), Rounds::planned)
    }

    /// The best of several.
    pub(super) async fn best_of(&self, candidates: u32, trials: &dyn Trials) -> Result<Proposal> {
        self.request.validate()?;
        let count = candidates.clamp(1, CANDIDATES_MAX);
        let ids: Vec<CandidateId> = (1..=count).map(CandidateId).collect();
        let rounds = ids.iter().map(|id| {
            let log = self.log.for_candidate(id.to_string());
            Rounds::new(self.settings, self.request, log, leaning(*id))
        });
        let mut rounds: Vec<Rounds<'_>> = rounds.collect();
        let tested = self.write_for_tests(&mut rounds, trials).await?;
        let mut ended: Vec<Ended> = rounds.into_iter().map(Rounds::end).collect();
        let standings = stand(&ids, &ended, trials, &tested).await?;
        let is_good = |standing: &Standing| {
            standing.has_plan() && standing.tests.as_ref().is_none_or(|tests| tests.failed == 0)
        };
        let top = equals_at_the_top(&standings);
        let is_chosen = |standing: &&Standing| top.contains(&standing.candidate) && is_good(standing);
        let may_choose = standings.iter().any(|standing| is_chosen(&standing));
        let advice = if may_choose { self.ask_reviewer(&top, &ended).await? } else { None };
        let verdicts = rank(&standings, advice.as_ref(), may_choose);
        for verdict in &verdicts {
            let log = self.log.for_candidate(verdict.candidate.to_string());
            log.emit(judged(verdict), Durability::Ordered).await?;
        }
        let best = verdicts.iter().position(|verdict| verdict.rank == 1).unwrap_or(0);
        if best >= ended.len() {
            return Err(lost());
        }
        let winner = ended.swap_remove(best);
        let verdicts_json = serde_json::to_value(&verdicts).unwrap_or_default();
        match winner.outcome {
            Ok(proposal) if may_choose => {
                // Proposed again without a candidate id: from here on this is the run's plan.
                let proposed = EventBody::PlanProposed {
                    round: proposal.rounds,
                    source: proposal.plan.source().to_owned(),
                    plan_hash: proposal.plan.hash().clone(),
                    explanation: proposal.explanation.clone(),
                    influenced_by: self.request.influences(),
                };
                self.log.emit(proposed, Durability::Ordered).await?;
                Ok(Proposal { verdicts, ..proposal })
            }
            Ok(proposal) => Err(tests_failed(&proposal, &verdicts).with_detail("candidates", verdicts_json)),
            Err(error) => Err(of_all(&error, &verdicts).with_detail("candidates", verdicts_json)),
        }
    }

    /// Runs the rounds of all candidates until each has a plan or has given up.
    async fn write(&self, rounds: &mut Vec<Rounds<'_>>) -> Result<()> {
        while rounds.iter().any(Rounds::is_going_on) {
            let mut asking = Vec::new();
            let mut requests = Vec::new();
            for (index, candidate) in rounds.iter_mut().enumerate().filter(|(_, one)| one.is_going_on()) {
                if let Some(request) = candidate.next_request().await? {
                    requests.push((request, candidate.log.clone()));
                    asking.push(index);
                }
            }
            let replies = match ask_all(self.client, requests, self.budget).await {
                Ok(replies) => replies,
                Err(error) => return Err(with_any_draft(error, std::mem::take(rounds))),
            };
            for (index, reply) in asking.into_iter().zip(replies) {
                if let Some(candidate) = rounds.get_mut(index) {
                    candidate.hear(reply, self.check).await?;
                }
            }
        }
        Ok(())
    }

    /// Runs the rounds of all candidates. While none passes the user's tests, those that fail them
    /// continue. Returns the tests' verdict on each program.
    async fn write_for_tests(
        &self,
        rounds: &mut Vec<Rounds<'_>>,
        trials: &dyn Trials,
    ) -> Result<HashMap<ContentHash, Option<TestsVerdict>>> {
        let mut tested: HashMap<ContentHash, Option<TestsVerdict>> = HashMap::new();
        loop {
            self.write(rounds).await?;
            let mut failing = Vec::new();
            let mut passes = false;
            for (index, candidate) in rounds.iter().enumerate() {
                let Some(plan) = candidate.plan() else { continue };
                if !tested.contains_key(plan.hash()) {
                    tested.insert(plan.hash().clone(), trials.tests(plan).await?);
                }
                match tested.get(plan.hash()).and_then(Option::as_ref) {
                    Some(tests) if tests.failed > 0 => failing.push((index, tests.clone())),
                    _ => passes = true,
                }
            }
            let mut goes_on = false;
            for (index, tests) in failing.into_iter().filter(|_| !passes) {
                if let Some(candidate) = rounds.get_mut(index) {
                    goes_on |= candidate.mend(&tests).await?;
                }
            }
            if !goes_on {
                return Ok(tested);
            }
        }
    }

    /// A reviewer's advice among equal candidates, where one is configured.
    async fn ask_reviewer(&self, equals: &[CandidateId], ended: &[Ended]) -> Result<Option<Advice>> {
        if !self.settings.has_reviewer {
            return Ok(None);
        }
        let mut seen = Vec::new();
        let mut shown: Vec<Shown<'_>> = Vec::new();
        for candidate in equals {
            let index = (candidate.0 as usize).saturating_sub(1);
            let Some(Ended { outcome: Ok(proposal), findings, .. }) = ended.get(index) else { continue };
            if !seen.contains(&proposal.plan.hash()) {
                seen.push(proposal.plan.hash());
                let findings = findings.as_deref().unwrap_or_default();
                shown.push(Shown { candidate: *candidate, source: proposal.plan.source(), findings });
            }
        }
        if shown.len() < 2 {
            return Ok(None);
        }
        let Some(request) = review::request(self.request.task, &shown, self.settings.prompt_tokens) else {
            return Ok(None);
        };
        let ids: Vec<CandidateId> = shown.iter().map(|shown| shown.candidate).collect();
        let replies = ask_all(self.client, vec![(request, self.log.clone())], self.budget).await?;
        Ok(replies.into_iter().flatten().next().and_then(|reply| review::advice(&reply.text, &ids)))
    }
}

/// Tries the candidates' programs in the order of ids; equal programs once.
async fn stand(
    ids: &[CandidateId],
    ended: &[Ended],
    trials: &dyn Trials,
    tested: &HashMap<ContentHash, Option<TestsVerdict>>,
) -> Result<Vec<Standing>> {
    let mut tried: HashMap<ContentHash, MockVerdict> = HashMap::new();
    let mut standings = Vec::new();
    for (candidate, ended) in ids.iter().zip(ended) {
        let trial = match &ended.outcome {
            Err(_) => None,
            Ok(proposal) => {
                let plan = &proposal.plan;
                if !tried.contains_key(plan.hash()) {
                    tried.insert(plan.hash().clone(), trials.mock_run(plan).await?);
                }
                let tests = tested.get(plan.hash()).cloned().flatten();
                tried.get(plan.hash()).cloned().map(|mock| (tests, mock))
            }
        };
        let (tests, mock_run) = trial.map_or((None, None), |(tests, mock)| (tests, Some(mock)));
        let count =
            |of: fn(&[Finding]) -> usize| ended.findings.as_deref().map(|findings| of(findings) as u64);
        standings.push(Standing {
            candidate: *candidate,
            plan_hash: ended.hash.clone(),
            code: ended.outcome.as_ref().err().map(|error| error.code().to_string()),
            tests,
            errors: count(errors),
            warnings: count(|findings| findings.len() - errors(findings)),
            mock_run,
        });
    }
    Ok(standings)
}

fn leaning(id: CandidateId) -> Option<String> {
    let index = (id.0 as usize).checked_sub(2)?;
    let wanted = LEANINGS.get(index)?;
    Some(format!("Several programs are written for this task, each by itself. In this one, {wanted}."))
}

fn judged(verdict: &CandidateVerdict) -> EventBody {
    EventBody::CandidateJudged {
        plan_hash: verdict.plan_hash.clone(),
        tests: verdict.tests.as_ref().and_then(|tests| serde_json::to_value(tests).ok()),
        errors: verdict.errors,
        warnings: verdict.warnings,
        mock_run: verdict.mock_run.clone(),
        reviewer: verdict.reviewer.clone(),
        code: verdict.code.clone(),
        rank: verdict.rank,
        chosen: verdict.chosen,
        reason: verdict.reason.clone(),
    }
}

/// The best candidate's error for the whole request.
fn of_all(error: &Error, verdicts: &[CandidateVerdict]) -> Error {
    let best = verdicts.iter().find(|verdict| verdict.rank == 1).map(|verdict| verdict.candidate.to_string());
    let message = format!(
        "none of {} candidate(s) came to a plan; the best, {}: {}",
        verdicts.len(),
        best.unwrap_or_default(),
        error.message()
    );
    let mut all = Error::new(error.code(), message).with_help(error.help().to_owned());
    if let (Some(limit), Some(observed)) = (error.limit(), error.observed()) {
        all = all.with_limit(limit.clone(), observed.clone());
    }
    error.details().iter().fold(all, |all, (name, value)| all.with_detail(name, value.clone()))
}

/// An error that stops every candidate, with the first draft, if any.
fn with_any_draft(error: Error, rounds: Vec<Rounds<'_>>) -> Error {
    let drafted = rounds.into_iter().filter(Rounds::has_draft).min_by_key(Rounds::draft_faults);
    match drafted {
        Some(one) => one.with_draft(error),
        None => error,
    }
}

fn tests_failed(best: &Proposal, verdicts: &[CandidateVerdict]) -> Error {
    let tests = verdicts.iter().find(|verdict| verdict.rank == 1).and_then(|verdict| verdict.tests.as_ref());
    let failed = tests.map_or(0, |tests| tests.failed);
    let error = Error::new(
        ErrorCode::TestFailed,
        format!(
            "none of {} candidate(s) passes the plan tests; the best fails {failed}, so nothing was run",
            verdicts.len()
        ),
    )
    .with_help("read `failure` and `plan`, then word the task more exactly, ask for more candidates, or mend the tests")
    .with_detail("plan", best.plan.source());
    match tests.and_then(|tests| tests.first_failure.clone()) {
        Some(failure) => error.with_detail("failure", Json::from(failure)),
        None => error,
    }
}

fn lost() -> Error {
    Error::new(ErrorCode::Internal, "a candidate was lost")
}
