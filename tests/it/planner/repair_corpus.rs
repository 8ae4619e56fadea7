//! The corpus of plans with faults, through the repair loop: a model double sends a plan until it is
//! told of every fault in it well enough to mend it.
//!
//! `cargo test --test it planner::repair_corpus -- --nocapture` prints the table in bench/README.md.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use luaplan::base::{LimitProfile, RequestPurpose, Result, RunId, SeededRandomness, SystemClock, Value};
use luaplan::bus::RunBudget;
use luaplan::journal::{MemoryJournal, Redactor, RunLog};
use luaplan::llm::{ChatReply, ChatRequest, ChatRole, LlmClient, LlmProgress, TokenUsage};
use luaplan::plan::{CheckInput, check_with};
use luaplan::planner::{Planner, PlannerSettings, PlanningRequest};
use serde_json::json;

use super::repair_double::{ROUNDS, Tally};
use super::settings;
use crate::check::corpus::{Plan, plans, tools};

/// Advice that says nothing of the fault.
const EMPTY_ADVICE: [&str; 2] = ["correct the line; plans are Lua 5.4", "correct it; plans are Lua 5.4"];

const RIGHT: &str = "function run(context)\n  return context\nend\n";

/// Sends its plan until every line at fault was told of.
struct Corpus {
    source: String,
    left: Mutex<BTreeSet<u32>>,
}

impl Corpus {
    fn hear(&self, said: &str) {
        for finding in said.split("\n- line ").skip(1) {
            let Some(line) = finding.split(',').next().and_then(|line| line.parse::<u32>().ok()) else {
                continue;
            };
            if says_enough(finding, self.source.lines().nth(line as usize - 1).unwrap_or_default()) {
                self.left.lock().unwrap().remove(&line);
            }
        }
    }
}

/// Whether a finding quotes something that stands on the line, or what is missing, and says what to do.
fn says_enough(finding: &str, line: &str) -> bool {
    let Some((message, rest)) = finding.split_once("\n  To do: ") else { return false };
    let help = rest.lines().next().unwrap_or_default();
    let quoted: Vec<&str> = message.split('`').skip(3).step_by(2).collect();
    let names_something =
        quoted.iter().any(|part| part.split(['.', ' ']).any(|word| !word.is_empty() && line.contains(word)));
    let is_missing = ["needs", "missing", "closed", "required", "no global", "never", "this "]
        .iter()
        .any(|word| message.contains(word));
    (names_something || is_missing) && !help.is_empty() && !EMPTY_ADVICE.contains(&help)
}

#[async_trait]
impl LlmClient for Corpus {
    async fn chat(
        &self,
        request: &ChatRequest,
        _progress: &(dyn Fn(LlmProgress) + Send + Sync),
    ) -> Result<ChatReply> {
        if request.purpose == RequestPurpose::Repair
            && let Some(last) = request.messages.iter().rfind(|message| message.role == ChatRole::User)
        {
            self.hear(&last.text);
        }
        let is_mended = self.left.lock().unwrap().is_empty();
        Ok(ChatReply {
            text: json!({ "plan": if is_mended { RIGHT } else { &self.source } }).to_string(),
            usage: TokenUsage::default(),
            provider: "double".to_owned(),
            model: "corpus".to_owned(),
            duration: Duration::ZERO,
            recorded: false,
        })
    }

    fn name(&self) -> String {
        "double/corpus".to_owned()
    }
}

/// In how many rounds the plan was mended; `None` where it was not.
async fn rounds(plan: &Plan) -> Option<u32> {
    let (limits, catalog) = (LimitProfile::Generous.limits(), tools());
    let log = RunLog::new(
        RunId::generate(),
        Arc::new(MemoryJournal::default()),
        Arc::new(SystemClock),
        Arc::new(SeededRandomness::new(1)),
        Arc::new(Redactor::without_secrets()),
        Vec::new(),
    );
    let context = plan.context.clone().unwrap_or_else(|| Value::from_json(json!({})).unwrap());
    let request = PlanningRequest::new("Do it.", &context, &catalog, &limits);
    let check = |source: &str| {
        let (name, task) = ("plan", None);
        let context = plan.context.as_ref();
        check_with(&CheckInput {
            source,
            name,
            catalog: &catalog,
            limits: &limits,
            context,
            task,
            results: &[],
        })
    };
    let left = plan.errors().map(|(line, _)| line).collect();
    let double = Corpus { source: plan.source.clone(), left: Mutex::new(left) };
    let settings = PlannerSettings { repair_rounds_max: ROUNDS, ..settings() };
    let proposal = Planner::new(Arc::new(double), settings)
        .plan(&request, &check, &log, &RunBudget::new(limits.clone(), 0))
        .await;
    proposal.ok().map(|proposal| proposal.rounds)
}

#[tokio::test]
#[expect(clippy::print_stdout, reason = "the table is what this test measures")]
async fn every_fault_of_the_corpus_is_told_well_enough_to_mend_it() {
    let mut by_code: BTreeMap<String, Tally> = BTreeMap::new();
    let (mut all, mut missed) = (Tally::default(), Vec::new());
    for plan in plans("faults") {
        // Advice alone keeps no plan from running.
        let Some((_, code)) = plan.errors().next().map(|(line, code)| (line, code.to_owned())) else {
            continue;
        };
        let rounds = rounds(&plan).await;
        all.add(rounds);
        by_code.entry(code).or_default().add(rounds);
        if rounds.is_none() {
            missed.push(plan.name);
        }
    }
    println!("| first fault | plans | mended in 1 round | in 2 | in 3 |\n|---|---|---|---|---|");
    for (code, tally) in &by_code {
        println!("{}", tally.row(&format!("`{code}`")));
    }
    println!("{}\nnot mended:\n{}", all.row("all"), missed.join("\n"));
    all.floor(1, 95);
}
