//! One candidate's bounded loop: propose, check, send findings back.
//!
//! It does not send requests: it returns the next request and receives the answer, so that several
//! candidates proceed in lock-step and nothing depends on the order of answers.

use luaplan_base::{ContentHash, Error, ErrorCode, RequestPurpose, Result, counted};
use luaplan_journal::{Durability, EventBody, RunLog};
use luaplan_llm::{ChatReply, ChatRequest, TokenUsage};
use luaplan_plan::{CheckReport, CheckedPlan, Finding};

use super::collapse::collapsed;
use super::draft::{Draft, Tested, errors, to_json, with_best};
use super::extract::{Extracted, extract};
use super::feedback::{Turn, cut};
use super::planning::{Check, Planned, PlannerSettings, PlanningRequest, Proposal};
use super::prompt::{self, Occasion};
use super::question::{ModelQuestion, put, question};
use super::request::chat_request;
use super::verdict::TestsVerdict;

const ANSWER_SHOWN_CHARS: usize = 300;

/// The result of a candidate.
#[derive(Debug)]
pub(super) struct Ended {
    /// Its plan, or why there is none.
    pub(super) outcome: Result<Proposal>,
    /// The findings of its plan, or of the best draft.
    pub(super) findings: Option<Vec<Finding>>,
    pub(super) hash: Option<ContentHash>,
}

/// One candidate in progress.
pub(super) struct Rounds<'a> {
    settings: &'a PlannerSettings,
    request: &'a PlanningRequest<'a>,
    pub(super) log: RunLog,
    leaning: Option<String>,
    turn: Option<Turn>,
    prompt_tokens: u64,
    /// The size of the last prompt, and the error of a model whose window it exceeded.
    prompt_used: u64,
    overflow: Option<Error>,
    round: u32,
    rounds_max: u32,
    prompt_changed: bool,
    answers: Vec<String>,
    /// The question of the last answer, where it held no program.
    asked: Option<String>,
    /// What the model asks a person, which ends it.
    asks: Option<ModelQuestion>,
    best: Option<Draft>,
    usage: TokenUsage,
    model: Option<String>,
    ended: Option<(Result<Proposal>, Vec<Finding>)>,
    /// The last answer, and the plan that failed the fewest of the user's tests.
    heard: Option<ChatReply>,
    tested: Option<Tested>,
}

impl<'a> Rounds<'a> {
    pub(super) fn new(
        settings: &'a PlannerSettings,
        request: &'a PlanningRequest<'a>,
        log: RunLog,
        leaning: Option<String>,
    ) -> Self {
        Self {
            settings,
            request,
            log,
            leaning,
            turn: request.first_turn(),
            prompt_tokens: settings.prompt_tokens,
            prompt_used: 0,
            overflow: None,
            round: 0,
            rounds_max: settings.repair_rounds_max,
            prompt_changed: false,
            answers: Vec::new(),
            asked: None,
            asks: None,
            best: None,
            usage: TokenUsage::default(),
            model: None,
            ended: None,
            heard: None,
            tested: None,
        }
    }

    pub(super) fn is_going_on(&self) -> bool {
        self.ended.is_none() && self.asks.is_none()
    }

    /// Its plan, or what the model asks first.
    pub(super) fn planned(mut self) -> Result<Planned> {
        match self.asks.take() {
            Some(question) => Ok(Planned::Asks(question)),
            None => self.end().outcome.map(|proposal| Planned::Plan(Box::new(proposal))),
        }
    }

    /// Its result, once it has no further round.
    pub(super) fn end(self) -> Ended {
        let (outcome, findings) = match (self.ended, self.tested) {
            // A plan that fails tests is better than none.
            (Some((Err(_), _)) | None, Some(tested)) => (Ok(tested.proposal), tested.findings),
            (Some((outcome, findings)), _) => (outcome, findings),
            (None, None) => {
                (Err(Error::new(ErrorCode::Internal, "planning was left unfinished")), Vec::new())
            }
        };
        match (outcome, self.best) {
            (Ok(proposal), _) => Ended {
                hash: Some(proposal.plan.hash().clone()),
                outcome: Ok(proposal),
                findings: Some(findings),
            },
            (Err(error), Some(best)) => Ended {
                hash: Some(ContentHash::of(best.source.as_bytes())),
                findings: Some(best.findings.clone()),
                outcome: Err(with_best(error, &best)),
            },
            (Err(error), None) => Ended { outcome: Err(error), findings: None, hash: None },
        }
    }

    pub(super) fn has_draft(&self) -> bool {
        self.best.is_some()
    }

    /// Errors and warnings of the best draft.
    pub(super) fn draft_faults(&self) -> (usize, usize) {
        self.best.as_ref().map_or((usize::MAX, usize::MAX), Draft::faults)
    }

    /// An error that ends planning for all, with this one's best draft.
    pub(super) fn with_draft(self, error: Error) -> Error {
        match &self.best {
            Some(best) => with_best(error, best),
            None => error,
        }
    }

    /// Stops it with an error.
    pub(super) fn fail(&mut self, error: Error) {
        self.ended = Some((Err(error), Vec::new()));
    }

    /// Its plan, if it has one.
    pub(super) fn plan(&self) -> Option<&CheckedPlan> {
        self.ended.as_ref().and_then(|(outcome, _)| outcome.as_ref().ok()).map(|proposal| &proposal.plan)
    }

    /// Sends its plan back with the tests it failed, while it has rounds left; says whether it
    /// continues. It ends with the plan that failed the fewest.
    ///
    /// # Errors
    /// The journal's.
    pub(super) async fn mend(&mut self, tests: &TestsVerdict) -> Result<bool> {
        let Some((Ok(proposal), findings)) = self.ended.take_if(|(outcome, _)| outcome.is_ok()) else {
            return Ok(false);
        };
        let next = Turn::failed_tests(proposal.plan.source(), tests);
        let message = format!("{} of {} tests failed", tests.failed, tests.passed + tests.failed);
        if self.tested.as_ref().is_none_or(|best| tests.failed < best.failed) {
            self.tested = Some(Tested { proposal, findings, failed: tests.failed });
        }
        let Some(reply) = self.heard.take() else { return Ok(false) };
        match self.go_on(next, ErrorCode::TestFailed, message, &reply).await? {
            Ok(turn) => self.turn = Some(turn),
            Err(error) => self.fail(error),
        }
        Ok(self.is_going_on())
    }

    /// Composes its next request; `None` where it has ended.
    ///
    /// A model whose window is smaller than the budget gets one more prompt of half the size.
    ///
    /// # Errors
    /// The journal's.
    pub(super) async fn next_request(&mut self) -> Result<Option<ChatRequest>> {
        let occasion = Occasion {
            budget_tokens: match self.overflow {
                Some(_) => self.prompt_tokens.min(self.prompt_used) / 2,
                None => self.prompt_tokens,
            },
            turn: self.turn.as_ref(),
            leaning: self.leaning.as_deref(),
        };
        match prompt::compose(self.settings, self.request, occasion) {
            Ok(prompt) => {
                self.prompt_tokens = occasion.budget_tokens;
                self.prompt_used = prompt.budget.used_tokens;
                let purpose = if self.round == 0 { RequestPurpose::Plan } else { RequestPurpose::Repair };
                let tokens = self.settings.output_tokens;
                chat_request(&prompt, purpose, (tokens, self.request.may_ask), &self.log).await.map(Some)
            }
            Err(error) => {
                let error = self.overflow.take().unwrap_or(error);
                self.fail(error);
                Ok(None)
            }
        }
    }

    /// Takes the answer to its request: it ends, or has another request.
    ///
    /// # Errors
    /// The journal's.
    pub(super) async fn hear(&mut self, reply: Result<ChatReply>, check: &dyn Check) -> Result<()> {
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) if error.code() == ErrorCode::LlmContextOverflow && self.overflow.is_none() => {
                self.overflow = Some(error);
                return Ok(());
            }
            Err(error) => {
                self.fail(error);
                return Ok(());
            }
        };
        self.overflow = None;
        self.usage.add(&reply.usage);
        self.model = Some(format!("{}/{}", reply.provider, reply.model));
        self.heard = Some(reply.clone());
        let (next, code, message) = match extract(&reply.text) {
            Some(found) => match self.judge(&reply, found, check).await? {
                Some((turn, message)) => (turn, ErrorCode::CheckRefused, message),
                None => return Ok(()),
            },
            None if self.request.may_ask && put(&reply.text).is_some() => {
                self.asks = put(&reply.text);
                return Ok(());
            }
            None => {
                let asked_before = self.asked.is_some();
                self.asked = question(&reply.text);
                if let Some(question) = self.asked.as_ref().filter(|_| asked_before) {
                    // The model asks again although told to write a program: the caller must answer.
                    let error = self.asks(question);
                    self.fail(error);
                    return Ok(());
                }
                let truncated = reply.usage.output_tokens >= u64::from(self.settings.output_tokens);
                let message = match &self.asked {
                    _ if truncated => "the answer was cut off",
                    Some(_) => "the answer is a question and holds no program",
                    None => "the answer holds no program",
                };
                let may_ask = self.request.may_ask;
                (
                    Turn::no_program(&reply.text, truncated, may_ask),
                    ErrorCode::LlmNoProgram,
                    message.to_owned(),
                )
            }
        };
        match self.go_on(next, code, message, &reply).await? {
            Ok(turn) => self.turn = Some(turn),
            Err(error) => self.fail(error),
        }
        Ok(())
    }

    /// Checks a proposal; returns the feedback to the model, unless it passed.
    async fn judge(
        &mut self,
        reply: &ChatReply,
        found: Extracted,
        check: &dyn Check,
    ) -> Result<Option<(Turn, String)>> {
        let Extracted { source, explanation } = found;
        self.asked = None;
        let plan_hash = ContentHash::of(source.as_bytes());
        let proposed = EventBody::PlanProposed {
            round: self.round,
            source: source.clone(),
            plan_hash: plan_hash.clone(),
            explanation: explanation.clone(),
            influenced_by: self.request.influences(),
        };
        self.log.emit(proposed, Durability::Ordered).await?;
        let CheckReport { findings, plan, .. } = check.check(&source).await?;
        let checked = EventBody::PlanChecked { plan_hash, ok: plan.is_some(), findings: to_json(&findings) };
        self.log.emit(checked, Durability::Ordered).await?;
        for finding in findings.iter().filter(|finding| finding.reaches_out()) {
            let violation = EventBody::SandboxViolation { message: finding.message.clone() };
            self.log.emit(violation, Durability::Ordered).await?;
        }
        if let Some(plan) = plan {
            let proposal = Proposal {
                plan,
                explanation,
                rounds: self.round,
                usage: self.usage,
                model: self.model.clone().unwrap_or_default(),
                recorded: reply.recorded,
                verdicts: Vec::new(),
            };
            self.ended = Some((Ok(proposal), findings));
            return Ok(None);
        }
        let turn = Turn::findings(&reply.text, &source, &findings);
        let message = format!("the check found {}", counted(errors(&findings), "error"));
        let draft = Draft { source, findings };
        if self.best.as_ref().is_none_or(|best| draft.is_better_than(best)) {
            self.best = Some(draft);
        }
        Ok(Some((turn, message)))
    }

    /// Decides whether there is another round, and with which feedback.
    async fn go_on(
        &mut self,
        next: Turn,
        code: ErrorCode,
        message: String,
        reply: &ChatReply,
    ) -> Result<Result<Turn>> {
        self.answers.push(reply.text.clone());
        let mut next = next;
        let mut reason = (code, message);
        if collapsed(&self.answers) {
            if self.prompt_changed {
                return Ok(Err(self.collapse(reply)));
            }
            // The changed prompt gets one extra round.
            self.prompt_changed = true;
            self.rounds_max = self.rounds_max.max(self.round + 1);
            next = next.collapsed();
            reason = (ErrorCode::LlmCollapsed, "the last three answers are nearly identical".to_owned());
        }
        if self.round >= self.rounds_max {
            return Ok(Err(self.give_up(reply)));
        }
        self.round += 1;
        let event = EventBody::RepairRound {
            round: self.round,
            rounds_max: self.rounds_max,
            code: reason.0.into(),
            message: reason.1,
        };
        self.log.emit(event, Durability::Ordered).await?;
        Ok(Ok(next))
    }

    /// The error for a question of the model to the caller.
    fn asks(&self, question: &str) -> Error {
        let message = format!("the model asks before it plans: {}", cut(question, ANSWER_SHOWN_CHARS));
        self.placed(Error::new(ErrorCode::LlmAsked, message)).with_detail("question", question)
    }

    fn collapse(&self, reply: &ChatReply) -> Error {
        if let Some(question) = &self.asked {
            return self.asks(question);
        }
        let what = if self.best.is_some() { "the same wrong program" } else { "answers without a program" };
        let message = format!("the model went on giving {what} after the prompt was changed");
        self.placed(Error::new(ErrorCode::LlmCollapsed, message))
            .with_detail("answer", cut(&reply.text, ANSWER_SHOWN_CHARS))
            .with_help(
                "word the task differently or use a stronger model; `luaplan audit --event llm_response_received` \
                 shows what it answered",
            )
    }

    fn give_up(&self, reply: &ChatReply) -> Error {
        let proposals = self.round + 1;
        if let (Some(question), None) = (&self.asked, &self.best) {
            return self.asks(question);
        }
        let error = match &self.best {
            Some(best) => Error::new(
                ErrorCode::CheckRefused,
                format!(
                    "none of {} passed the check; the best has {}",
                    counted(proposals as usize, "proposal"),
                    counted(errors(&best.findings), "error")
                ),
            ),
            None => Error::new(
                ErrorCode::LlmNoProgram,
                format!("none of {} holds a Lua program", counted(proposals as usize, "answer")),
            )
            .with_help(
                "the last answer begins in the detail `answer` (`--json`); `journal.model_bodies = \"files\"` keeps whole ones",
            )
            .with_detail("answer", cut(&reply.text, ANSWER_SHOWN_CHARS)),
        };
        self.placed(error)
    }

    fn placed(&self, error: Error) -> Error {
        error.with_detail("rounds", self.round).with_detail("model", self.model.clone().unwrap_or_default())
    }
}
