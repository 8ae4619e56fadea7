//! Several candidates: the same winner and the same journal whichever answer comes first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use luaplan::base::{
    Error, ErrorCode, LimitProfile, Limits, RequestPurpose, Result, RunId, SeededRandomness, SystemClock,
    Value,
};
use luaplan::bus::RunBudget;
use luaplan::journal::{JournalRead as _, MemoryJournal, RecordFilter, Redactor, RunLog};
use luaplan::llm::{ChatReply, ChatRequest, LlmClient, LlmProgress, TokenUsage};
use luaplan::plan::CheckedPlan;
use luaplan::planner::{
    MockVerdict, Planner, PlannerSettings, PlanningRequest, Proposal, TestFailure, TestsVerdict, Trials,
};

use super::{catalog, settings};

/// Answers each candidate in its turn from a script, after a wait of its own.
#[derive(Default)]
struct Choir {
    /// By candidate, from c1 on: its answers in order.
    scripts: Vec<Vec<Result<String, ErrorCode>>>,
    /// By candidate: how long each of its answers takes.
    waits_ms: Vec<u64>,
    review: Option<String>,
    asked: Mutex<HashMap<usize, usize>>,
    requests: Mutex<Vec<(usize, ChatRequest)>>,
}

const LEANINGS: [&str; 3] = ["few tool calls", "special care of missing values", "as short as care allows"];

/// Which candidate a request is for, from 0.
fn candidate_of(request: &ChatRequest) -> usize {
    let text: String = request.messages.iter().map(|message| message.text.as_str()).collect();
    LEANINGS.iter().position(|leaning| text.contains(leaning)).map_or(0, |index| index + 1)
}

#[async_trait]
impl LlmClient for Choir {
    async fn chat(
        &self,
        request: &ChatRequest,
        progress: &(dyn Fn(LlmProgress) + Send + Sync),
    ) -> Result<ChatReply> {
        let (provider, model) = ("test".to_owned(), "choir".to_owned());
        progress(LlmProgress::RequestSent { provider: provider.clone(), model: model.clone(), attempt: 1 });
        let reply = |text: String| ChatReply {
            text,
            usage: TokenUsage {
                input_tokens: 500,
                output_tokens: 50,
                cost_micro_usd: 10,
                ..TokenUsage::default()
            },
            provider: provider.clone(),
            model: model.clone(),
            duration: Duration::ZERO,
            recorded: false,
        };
        if request.purpose == RequestPurpose::Review {
            self.requests.lock().unwrap().push((usize::MAX, request.clone()));
            let failed = || Error::new(ErrorCode::LlmUnavailable, "the reviewer is away");
            return self.review.clone().map(reply).ok_or_else(failed);
        }
        let candidate = candidate_of(request);
        self.requests.lock().unwrap().push((candidate, request.clone()));
        let turn = {
            let mut asked = self.asked.lock().unwrap();
            let turn = asked.entry(candidate).or_default();
            *turn += 1;
            *turn - 1
        };
        tokio::time::sleep(Duration::from_millis(self.waits_ms.get(candidate).copied().unwrap_or(0))).await;
        progress(LlmProgress::Text(format!("answer of {candidate}")));
        let script = &self.scripts[candidate];
        match script.get(turn).or(script.last()).unwrap() {
            Ok(text) => Ok(reply(text.clone())),
            Err(code) => Err(Error::new(*code, "scripted failure")),
        }
    }

    fn name(&self) -> String {
        "test/choir".to_owned()
    }
}

/// Judges a plan by the words in it, and remembers what it was asked to try.
#[derive(Default)]
struct WordTrials {
    has_tests: bool,
    shares_data: bool,
    tried: Mutex<Vec<String>>,
}

#[async_trait]
impl Trials for WordTrials {
    async fn tests(&self, plan: &CheckedPlan) -> Result<Option<TestsVerdict>> {
        self.tried.lock().unwrap().push(plan.source().to_owned());
        let failed = u64::from(plan.source().contains("fails_tests"));
        let failures: Vec<TestFailure> = (0..failed)
            .map(|_| TestFailure {
                name: "it adds up".to_owned(),
                message: "line 3: note is Ada's secret and not 2".to_owned(),
                line: Some(3),
            })
            .collect();
        let first_failure = (failed > 0).then(|| "it adds up: 1 is not 2".to_owned());
        let verdict =
            TestsVerdict { passed: 2 - failed, failed, first_failure, failures, ..TestsVerdict::default() };
        Ok(self.has_tests.then_some(TestsVerdict { shares_data: self.shares_data, ..verdict }))
    }

    async fn mock_run(&self, plan: &CheckedPlan) -> Result<MockVerdict> {
        Ok(MockVerdict { code: plan.source().contains("fails_mocks").then(|| "plan_error".to_owned()) })
    }
}

fn plan(words: &str) -> Result<String, ErrorCode> {
    Ok(format!("function run(context)\n  local note = \"{words}\"\n  return {{note = note}}\nend\n"))
}

/// Three errors of the check, each with what to do.
fn broken(words: &str) -> Result<String, ErrorCode> {
    Ok(format!("function run(context)\n  find_row{{}} find_ro{{}}\n  return finds{{}} -- {words}\nend\n"))
}

struct Outcome {
    result: Result<Proposal>,
    /// Name, candidate and body of each event.
    journal: Vec<(String, Option<String>, String)>,
    requests: Vec<(usize, ChatRequest)>,
    tried: Vec<String>,
}

impl Outcome {
    fn judged(&self) -> Vec<String> {
        let judged = self.journal.iter().filter(|(name, _, _)| name == "candidate_judged");
        judged
            .map(|(_, candidate, body)| {
                let body: serde_json::Value = serde_json::from_str(body).unwrap();
                format!("{} {} {}", candidate.as_deref().unwrap(), body["rank"], body["chosen"])
            })
            .collect()
    }
}

async fn best_of(
    choir: Choir,
    count: u32,
    trials: WordTrials,
    settings: PlannerSettings,
    limits: Limits,
) -> Outcome {
    let choir = Arc::new(choir);
    let journal = Arc::new(MemoryJournal::default());
    let log = RunLog::new(
        RunId::generate(),
        Arc::clone(&journal) as _,
        Arc::new(SystemClock),
        Arc::new(SeededRandomness::new(3)),
        Arc::new(Redactor::default()),
        Vec::new(),
    );
    let budget = RunBudget::new(limits.clone(), 0);
    let (context, catalog) = (Value::from_json_text(r#"{"n": 1}"#).unwrap(), catalog());
    let request = PlanningRequest::new("Find three rows.", &context, &catalog, &limits);
    let check = |source: &str| luaplan::plan::check(source, "plan", &catalog, &limits);
    let planner = Planner::new(Arc::clone(&choir) as _, settings);
    let result = planner.best_of(count, &request, &check, &trials, &log, &budget).await;
    let records = journal.records(RecordFilter::default()).await.unwrap();
    let journal = records
        .into_iter()
        .map(|record| {
            let body = serde_json::to_string(&record.event.body).unwrap();
            (record.event.body.name().to_owned(), record.event.candidate, body)
        })
        .collect();
    let requests = choir.requests.lock().unwrap().clone();
    Outcome { result, journal, requests, tried: trials.tried.into_inner().unwrap() }
}

fn limits() -> Limits {
    LimitProfile::Standard.limits()
}

async fn simply(scripts: Vec<Vec<Result<String, ErrorCode>>>, trials: WordTrials) -> Outcome {
    let count = u32::try_from(scripts.len()).unwrap();
    best_of(Choir { scripts, ..Choir::default() }, count, trials, settings(), limits()).await
}

#[tokio::test(start_paused = true)]
async fn the_winner_and_the_journal_are_the_same_in_every_order_of_arrival() {
    let orders =
        [[1, 2, 3, 4], [4, 3, 2, 1], [2, 1, 4, 3], [3, 4, 1, 2], [1, 4, 2, 3], [4, 1, 3, 2], [2, 3, 1, 4]];
    let mut seen = Vec::new();
    for order in orders {
        let scripts = vec![
            vec![plan("fails_mocks one")],
            vec![broken("x"), plan("good two")],
            vec![Err(ErrorCode::LlmTimeout)],
            vec![plan("good four")],
        ];
        let waits_ms = order.iter().map(|place| place * 50).collect();
        let choir = Choir { scripts, waits_ms, ..Choir::default() };
        let outcome = best_of(choir, 4, WordTrials::default(), settings(), limits()).await;
        let proposal = outcome.result.as_ref().unwrap();
        assert!(proposal.plan.source().contains("good two"), "{order:?}");
        assert_eq!(outcome.judged(), ["c1 3 false", "c2 1 true", "c3 4 false", "c4 2 false"]);
        seen.push(outcome.journal);
    }
    for (order, journal) in orders.iter().zip(&seen) {
        assert_eq!(journal, &seen[0], "{order:?}");
    }
    let names: Vec<String> = seen[0]
        .iter()
        .map(|(name, candidate, _)| format!("{} {name}", candidate.as_deref().unwrap_or("-")))
        .collect();
    let last = [
        "c1 candidate_judged",
        "c2 candidate_judged",
        "c3 candidate_judged",
        "c4 candidate_judged",
        "- plan_proposed",
    ];
    assert_eq!(names[names.len() - 5..], last);
    assert_eq!(names.iter().filter(|name| *name == "c2 repair_round").count(), 1);
}

#[tokio::test]
async fn the_users_tests_come_before_everything_and_a_plan_that_fails_them_is_not_taken() {
    let tests = || WordTrials { has_tests: true, ..WordTrials::default() };
    let outcome = simply(vec![vec![plan("fails_tests")], vec![plan("fails_mocks")]], tests()).await;
    assert!(outcome.result.as_ref().unwrap().plan.source().contains("fails_mocks"));
    assert_eq!(outcome.judged(), ["c1 2 false", "c2 1 true"]);

    let outcome = simply(vec![vec![plan("fails_tests one")], vec![plan("fails_tests two")]], tests()).await;
    let error = outcome.result.as_ref().unwrap_err();
    assert_eq!(error.code(), ErrorCode::TestFailed);
    assert_eq!(error.details()["failure"], "it adds up: 1 is not 2");
    assert!(error.details()["plan"].as_str().unwrap().contains("fails_tests one"));
    assert_eq!(error.details()["candidates"].as_array().unwrap().len(), 2);
    assert_eq!(outcome.judged(), ["c1 1 false", "c2 2 false"]);
}

#[tokio::test]
async fn one_candidates_failure_is_not_the_others_and_the_best_draft_is_told_where_all_fail() {
    let outcome =
        simply(vec![vec![Err(ErrorCode::LlmRefused)], vec![plan("good")]], WordTrials::default()).await;
    let proposal = outcome.result.as_ref().unwrap();
    assert_eq!(proposal.verdicts[0].code.as_deref(), Some("llm_refused"));
    assert_eq!(proposal.verdicts[1].reason, "it has a plan, and c1 has none");

    let one_error = Ok("function run(context)\n  return find_row{}\nend\n".to_owned());
    let same = |first: Result<String, ErrorCode>| {
        vec![first, broken("b"), broken("something else entirely, c d e f g h")]
    };
    let outcome = simply(
        vec![same(broken("a")), same(one_error), vec![Err(ErrorCode::LlmTimeout)]],
        WordTrials::default(),
    )
    .await;
    let error = outcome.result.as_ref().unwrap_err();
    assert_eq!(error.code(), ErrorCode::CheckRefused);
    assert!(error.details()["plan"].as_str().unwrap().contains("return find_row{}"), "{error:?}");
    assert_eq!(error.details()["findings"].as_array().unwrap().len(), 1);
    assert_eq!(outcome.judged(), ["c1 2 false", "c2 1 false", "c3 3 false"]);
}

#[tokio::test]
async fn equal_programs_are_tried_once() {
    let outcome =
        simply(vec![vec![plan("same")], vec![plan("same")], vec![plan("other")]], WordTrials::default())
            .await;
    assert_eq!(outcome.tried.len(), 2);
    assert_eq!(outcome.judged(), ["c1 1 true", "c2 2 false", "c3 3 false"]);
}

#[tokio::test]
async fn a_reviewer_breaks_ties_only_and_sees_no_data() {
    let with_reviewer = || PlannerSettings { has_reviewer: true, ..settings() };
    let ask = |scripts: Vec<_>, review: Option<&str>| {
        let review = review.map(str::to_owned);
        let choir = Choir { scripts, review, ..Choir::default() };
        best_of(choir, 3, WordTrials::default(), with_reviewer(), limits())
    };
    let scripts = || vec![vec![plan("one")], vec![plan("two")], vec![plan("fails_mocks three")]];
    let prefers = |id: &str| format!("{{\"best\": \"{id}\", \"reason\": \"it is clearer\"}}");

    let outcome = ask(scripts(), Some(&prefers("c2"))).await;
    assert_eq!(outcome.judged(), ["c1 2 false", "c2 1 true", "c3 3 false"]);
    let verdict = &outcome.result.as_ref().unwrap().verdicts[1];
    assert_eq!(verdict.reviewer.as_deref(), Some("it is clearer"));
    let (_, review) = outcome.requests.last().unwrap();
    let said: String = review.messages.iter().map(|message| message.text.as_str()).collect();
    assert!(
        said.contains("Find three rows.") && said.contains("Program c1") && said.contains("\"two\""),
        "{said}"
    );
    assert!(!said.contains("Program c3"), "only equals are shown");

    for answer in [None, Some("I like c2 best"), Some("{\"best\": \"c3\", \"reason\": \"x\"}")] {
        let outcome = ask(scripts(), answer).await;
        assert_eq!(outcome.judged(), ["c1 1 true", "c2 2 false", "c3 3 false"], "{answer:?}");
    }
    let clear = vec![vec![plan("one")], vec![plan("fails_mocks two")], vec![plan("one")]];
    let outcome = ask(clear, None).await;
    assert!(
        outcome.requests.iter().all(|(_, request)| request.purpose != RequestPurpose::Review),
        "nothing to choose"
    );
}

#[tokio::test]
async fn the_budget_is_shared_and_stops_them_in_the_order_of_ids() {
    let scripts = || vec![vec![broken("a"), plan("a")], vec![broken("b"), plan("b")], vec![plan("c")]];
    let prompt = {
        let outcome = simply(scripts(), WordTrials::default()).await;
        outcome
            .requests
            .iter()
            .map(|(_, request)| {
                request.messages.iter().map(|message| luaplan::llm::count_tokens(&message.text)).sum::<u64>()
            })
            .collect::<Vec<_>>()
    };
    // Room for the first three prompts, then for one repair: what the double says it used is 550 each.
    let mut tight = limits();
    tight.llm_tokens = (prompt[0] + prompt[1] + prompt[2] + 30).max(1_650 + prompt[3] + 20);
    let choir = Choir { scripts: scripts(), ..Choir::default() };
    let outcome = best_of(choir, 3, WordTrials::default(), settings(), tight.clone()).await;
    let verdicts = &outcome.result.as_ref().unwrap().verdicts;
    let codes: Vec<Option<&str>> = verdicts.iter().map(|verdict| verdict.code.as_deref()).collect();
    assert_eq!(codes, [None, Some("limit_llm_tokens"), None], "{verdicts:?}");
    let outputs: Vec<u32> =
        outcome.requests.iter().take(3).map(|(_, request)| request.output_tokens_max).collect();
    assert!(outputs.iter().all(|output| *output == outputs[0]), "what is left is shared evenly: {outputs:?}");

    let mut poor = limits();
    poor.llm_cost_micro_usd = 25;
    let choir = Choir { scripts: scripts(), ..Choir::default() };
    let outcome = best_of(choir, 3, WordTrials::default(), settings(), poor).await;
    let error = outcome.result.as_ref().unwrap_err();
    assert_eq!((error.code(), error.observed()), (ErrorCode::LimitLlmCost, Some(&30.into())));
}

#[tokio::test]
async fn every_candidate_is_asked_in_its_own_words() {
    let scripts = vec![vec![plan("a")], vec![plan("b")], vec![plan("c")], vec![plan("d")]];
    let outcome = simply(scripts, WordTrials::default()).await;
    let mut prompts: Vec<String> =
        outcome.requests.iter().map(|(_, request)| request.messages[1].text.clone()).collect();
    prompts.sort();
    prompts.dedup();
    assert_eq!(prompts.len(), 4);
}

#[tokio::test]
async fn a_plan_that_fails_the_users_tests_goes_back_with_what_it_failed() {
    let tests = |shares_data| WordTrials { has_tests: true, shares_data, ..WordTrials::default() };
    for shares_data in [false, true] {
        let outcome =
            simply(vec![vec![plan("fails_tests"), broken("x"), plan("mended")]], tests(shares_data)).await;
        let proposal = outcome.result.as_ref().unwrap();
        assert!(proposal.plan.source().contains("mended"));
        assert_eq!(proposal.rounds, 2, "the check's findings and the tests share the rounds");
        let (_, asked) = &outcome.requests[1];
        let said = &asked.messages.last().unwrap().text;
        assert!(said.contains("failed 1 of 2 tests") && said.contains("\"it adds up\", line 3"), "{said}");
        assert!(said.contains("3 |   return {note = note}"), "{said}");
        assert_eq!(said.contains("Ada"), shares_data, "{said}");
        let rounds: Vec<&String> = (outcome.journal.iter())
            .filter(|(name, _, _)| name == "repair_round")
            .map(|(_, _, body)| body)
            .collect();
        assert!(rounds[0].contains("test_failed") && rounds[0].contains("1 of 2 tests failed"), "{rounds:?}");
        assert!(rounds[1].contains("check_refused"), "{rounds:?}");
    }
}

#[tokio::test]
async fn the_rounds_for_failed_tests_are_bounded_and_the_best_plan_is_kept() {
    let tests = || WordTrials { has_tests: true, ..WordTrials::default() };
    let outcome =
        simply(vec![vec![plan("fails_tests one"), broken("a b c"), broken("d e f g")]], tests()).await;
    let error = outcome.result.as_ref().unwrap_err();
    assert_eq!(error.code(), ErrorCode::TestFailed);
    assert!(error.details()["plan"].as_str().unwrap().contains("fails_tests one"));
    assert_eq!(outcome.requests.len(), 3);

    // Where one candidate passes, the others get no further requests.
    let outcome = simply(vec![vec![plan("fails_tests")], vec![plan("good")]], tests()).await;
    assert_eq!(outcome.requests.len(), 2);
}
