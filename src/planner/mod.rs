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
mod databases;
mod draft;
mod evidence;
mod examples;
mod extract;
mod feedback;
mod judge;
mod library;
mod planning;
mod prompt;
mod question;
mod replan;
mod request;
mod review;
mod revision;
mod rounds;
mod samples;
mod short_forms;
mod tool_choice;
mod verdict;

use std::sync::Arc;

use luaplan_base::{Error, ErrorCode, Result};
use luaplan_bus::RunBudget;
use luaplan_journal::RunLog;
use luaplan_llm::LlmClient;

pub use choose::{CANDIDATES_MAX, Trials};
pub use extract::{Extracted, extract};
pub use judge::{EndedRun, Verdict};
pub use planning::{
    AnsweredQuestion, Check, Note, Planned, PlannerSettings, PlanningRequest, Proposal, ToolRules,
};
pub use prompt::{Prompt, PromptBudget, PromptPart};
pub use question::ModelQuestion;
pub use replan::{PastCall, PastEnd, PastRun, told};
pub use request::record_prompt;
pub use revision::Revision;
pub use samples::{SAMPLES_MAX, Sample};
pub use tool_choice::without_descriptions;
pub use verdict::{CandidateId, CandidateVerdict, MockVerdict, TestFailure, TestsVerdict};

use choose::Choosing;
use prompt::Occasion;

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
        let turn = request.first_turn();
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
        let request = PlanningRequest { may_ask: false, ..*request };
        match self.plan_or_ask(&request, check, log, budget).await? {
            Planned::Plan(proposal) => Ok(*proposal),
            Planned::Asks(_) => Err(Error::new(ErrorCode::Internal, "a model asked that may not ask")),
        }
    }

    /// As [`Planner::plan`], but where the request says that the model may ask, its question ends planning.
    ///
    /// # Errors
    /// As [`Planner::plan`].
    pub async fn plan_or_ask(
        &self,
        request: &PlanningRequest<'_>,
        check: &dyn Check,
        log: &RunLog,
        budget: &RunBudget,
    ) -> Result<Planned> {
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

    /// Asks the model whether the task of a run is done. An answer without a verdict is asked for once more, and then counts
    /// as "not done".
    ///
    /// # Errors
    /// Any `llm_…` code of the client, `limit_llm_tokens` or `limit_llm_cost`, and the journal's.
    pub async fn judge(&self, ended: &EndedRun<'_>, log: &RunLog, budget: &RunBudget) -> Result<Verdict> {
        judge::judge(&*self.client, ended, log, budget).await
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
