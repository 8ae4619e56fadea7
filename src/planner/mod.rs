//! Rank 4: from a task in plain words to a checked plan.
//!
//! [`Planner`] composes a prompt that fits its budget, asks a model, extracts the program from the
//! answer, runs the check, and sends the findings back for a bounded number of rounds.
//!
//! **Never here:** running a plan, calling a tool, knowledge of a provider. The prompt carries the
//! shape of the context, never its data.

mod asking;
mod choose;
mod collapse;
mod draft;
mod evidence;
mod examples;
mod extract;
mod feedback;
mod library;
mod prompt;
mod question;
mod replan;
mod request;
mod review;
mod rounds;
mod tool_choice;
mod verdict;

use std::sync::Arc;

use async_trait::async_trait;

use luaplan_base::{Error, ErrorCode, Limits, Result, Value};
use luaplan_bus::RunBudget;
use luaplan_catalog::Catalog;
use luaplan_journal::RunLog;
use luaplan_llm::{LlmClient, TokenUsage};
use luaplan_plan::{CheckReport, CheckedPlan};

pub use choose::{CANDIDATES_MAX, Trials};
pub use extract::{Extracted, extract};
pub use prompt::{Prompt, PromptBudget, PromptPart};
pub use replan::{FailedRun, PastCall};
pub use tool_choice::without_descriptions;
pub use verdict::{CandidateId, MockVerdict, TestFailure, TestsVerdict, Verdict};

use choose::Choosing;
use prompt::Occasion;

/// Checks a proposed source; a closure around [`luaplan_plan::check`] is one.
#[async_trait]
pub trait Check: Send + Sync {
    /// What the check finds.
    ///
    /// # Errors
    /// Where no check can be made.
    async fn check(&self, source: &str) -> Result<CheckReport>;
}

#[async_trait]
impl<F: Fn(&str) -> CheckReport + Send + Sync> Check for F {
    async fn check(&self, source: &str) -> Result<CheckReport> {
        Ok(self(source))
    }
}

/// The settings of a planner.
#[derive(Debug, Clone)]
pub struct PlannerSettings {
    /// The most tokens a prompt may have.
    pub prompt_tokens: u64,
    /// The most tokens an answer may have.
    pub output_tokens: u32,
    /// How often findings go back to the model after its first proposal.
    pub repair_rounds_max: u32,
    /// Whether the model is asked which of several equal candidates to take.
    pub has_reviewer: bool,
    /// LuaCATS declarations of the plan library, cut to fit.
    pub library_stubs: &'static str,
}

impl PlannerSettings {
    /// How often findings go back unless configured otherwise.
    pub const REPAIR_ROUNDS_MAX: u32 = 2;
}

/// The input of planning.
#[derive(Debug, Clone, Copy)]
pub struct PlanningRequest<'a> {
    /// The task in plain words.
    pub task: &'a str,
    /// The context the plan will get. Only its shape is shown to the model.
    pub context: &'a Value,
    /// The tools the plan may call.
    pub catalog: &'a Catalog,
    /// The limits the plan will run under.
    pub limits: &'a Limits,
    /// Untrusted texts that the user chose: data, never instructions.
    pub notes: &'a [Note],
    /// The run that failed, where this is a new plan after one.
    pub failed: Option<&'a FailedRun>,
}

impl PlanningRequest<'_> {
    fn validate(&self) -> Result<()> {
        if !self.task.trim().is_empty() {
            return Ok(());
        }
        Err(Error::new(ErrorCode::BadRequest, "the task is empty")
            .with_help("say in a sentence or two what is to be done"))
    }
}

/// An untrusted text that the user put before the planner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Where it comes from.
    pub from: String,
    /// What it says. Untrusted.
    pub text: String,
}

/// A plan that passed the check.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The checked plan.
    pub plan: CheckedPlan,
    /// What the model says about it, if anything. Untrusted text.
    pub explanation: Option<String>,
    /// How often findings went back; 0 where the first proposal passed.
    pub rounds: u32,
    /// What all requests used together.
    pub usage: TokenUsage,
    /// `provider/model` of the model whose answer this is.
    pub model: String,
    /// Whether the answer was recorded and no model was asked.
    pub recorded: bool,
    /// How it and the other candidates were judged, in the order of ids; empty where there was
    /// nothing to choose.
    pub verdicts: Vec<Verdict>,
}

/// Turns tasks into checked plans.
#[derive(Clone)]
pub struct Planner {
    client: Arc<dyn LlmClient>,
    settings: PlannerSettings,
}

impl Planner {
    /// A planner that asks `client`.
    #[must_use]
    pub fn new(client: Arc<dyn LlmClient>, settings: PlannerSettings) -> Self {
        Self { client, settings }
    }

    /// The first prompt, as it would be sent; no model is asked.
    ///
    /// # Errors
    /// `bad_request` for an empty task; `llm_context_overflow` where rules, tools and task alone
    /// do not fit the budget.
    pub fn prompt(settings: &PlannerSettings, request: &PlanningRequest<'_>) -> Result<Prompt> {
        request.validate()?;
        let turn = request.failed.map(FailedRun::turn);
        let occasion = Occasion { budget_tokens: settings.prompt_tokens, turn: turn.as_ref(), leaning: None };
        prompt::compose(settings, request, occasion)
    }

    /// Asks for a plan until one passes `check` or the rounds are used up.
    ///
    /// Every prompt, request, proposal and check is journaled in `log`; tokens and money are
    /// counted in `budget`.
    ///
    /// # Errors
    /// - `bad_request` for an empty task; `llm_context_overflow` where the prompt cannot fit;
    /// - any `llm_…` code of the client;
    /// - `llm_no_program` where no answer held a program; `llm_asked` where the model asks something instead;
    /// - `check_refused` where none passed, with the best one as `plan` and its `findings`;
    /// - `llm_collapsed` where the model repeats itself even after the prompt was changed;
    /// - `limit_llm_tokens` or `limit_llm_cost`; the journal's codes.
    pub async fn plan(
        &self,
        request: &PlanningRequest<'_>,
        check: &dyn Check,
        log: &RunLog,
        budget: &RunBudget,
    ) -> Result<Proposal> {
        self.choosing(request, check, log, budget).one().await
    }

    /// Asks for `candidates` plans at the same time (at most [`CANDIDATES_MAX`]), each with its own
    /// rounds, and takes the best: by the user's tests, the check, a run on mocks, a reviewer's
    /// advice, and the lower id.
    ///
    /// Events of a candidate carry its id. The verdicts are journaled, then the plan taken is
    /// proposed once more without an id. Which answer comes first changes nothing.
    ///
    /// Where no plan passes the user's tests, each goes back with what it failed, within its rounds.
    ///
    /// # Errors
    /// As [`Planner::plan`] where no candidate has a plan: the error of the best one, with the
    /// verdicts as `candidates`; `test_failed` where there are tests and none passes them; those of
    /// the trials.
    pub async fn best_of(
        &self,
        candidates: u32,
        request: &PlanningRequest<'_>,
        check: &dyn Check,
        trials: &dyn Trials,
        log: &RunLog,
        budget: &RunBudget,
    ) -> Result<Proposal> {
        self.choosing(request, check, log, budget).best_of(candidates, trials).await
    }

    fn choosing<'a>(
        &'a self,
        request: &'a PlanningRequest<'a>,
        check: &'a dyn Check,
        log: &'a RunLog,
        budget: &'a RunBudget,
    ) -> Choosing<'a> {
        Choosing { client: &*self.client, settings: &self.settings, request, check, log, budget }
    }
}

#[cfg(test)]
mod tests;
