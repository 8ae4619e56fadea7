//! The bounded loop: propose, check, send findings back.

use serde_json::{Value as Json, json};

use super::asking::ask;
use super::collapse::collapsed;
use super::extract::{Extracted, extract};
use super::feedback::{Turn, cut};
use super::prompt::{self, Prompt};
use super::{Check, FailedRun, PlannerSettings, PlanningRequest, Proposal};
use crate::base::{ContentHash, Error, ErrorCode, Result};
use crate::bus::RunBudget;
use crate::journal::{Durability, EventBody, RunLog};
use crate::llm::{ChatMessage, ChatReply, ChatRequest, ChatRole, LlmClient, TokenUsage};
use crate::plan::{CheckReport, Finding, Severity};

const ANSWER_SHOWN_CHARS: usize = 300;

/// The best proposal so far.
struct Candidate {
    source: String,
    findings: Vec<Finding>,
}

struct Rounds<'a> {
    client: &'a dyn LlmClient,
    settings: &'a PlannerSettings,
    request: &'a PlanningRequest<'a>,
    log: &'a RunLog,
    budget: &'a RunBudget,
    prompt_tokens: u64,
    round: u32,
    rounds_max: u32,
    prompt_changed: bool,
    answers: Vec<String>,
    best: Option<Candidate>,
    usage: TokenUsage,
}

pub(super) async fn run(
    client: &dyn LlmClient,
    settings: &PlannerSettings,
    request: &PlanningRequest<'_>,
    check: &Check<'_>,
    log: &RunLog,
    budget: &RunBudget,
) -> Result<Proposal> {
    request.validate()?;
    let mut rounds = Rounds {
        client,
        settings,
        request,
        log,
        budget,
        prompt_tokens: settings.prompt_tokens,
        round: 0,
        rounds_max: settings.repair_rounds_max,
        prompt_changed: false,
        answers: Vec::new(),
        best: None,
        usage: TokenUsage::default(),
    };
    let mut turn = request.failed.map(FailedRun::turn);
    loop {
        let reply = rounds.next_answer(turn.as_ref()).await?;
        let (next, code, message) = match extract(&reply.text) {
            Some(found) => match rounds.judge(&reply, found, check).await? {
                Judged::Passed(proposal) => return Ok(*proposal),
                Judged::Refused(turn, message) => (turn, ErrorCode::CheckRefused, message),
            },
            None => {
                let truncated = reply.usage.output_tokens >= u64::from(settings.output_tokens);
                let message =
                    if truncated { "the answer was cut off" } else { "the answer holds no program" };
                (Turn::no_program(&reply.text, truncated), ErrorCode::LlmNoProgram, message.to_owned())
            }
        };
        turn = Some(rounds.go_on(next, code, message, &reply).await?);
    }
}

enum Judged {
    Passed(Box<Proposal>),
    Refused(Turn, String),
}

impl Rounds<'_> {
    /// Composes the prompt and asks. A model whose window turns out to be smaller than the budget
    /// gets one more prompt of half the size.
    async fn next_answer(&mut self, turn: Option<&Turn>) -> Result<ChatReply> {
        let reserved = turn.map_or(0, Turn::tokens);
        let prompt = prompt::compose(self.settings, self.request, self.prompt_tokens, reserved)?;
        let used = prompt.budget.used_tokens;
        let error = match self.send(prompt, turn).await {
            Err(error) if error.code() == ErrorCode::LlmContextOverflow => error,
            other => return other,
        };
        let half = self.prompt_tokens.min(used) / 2;
        let Ok(shorter) = prompt::compose(self.settings, self.request, half, reserved) else {
            return Err(error);
        };
        self.prompt_tokens = half;
        self.send(shorter, turn).await
    }

    async fn send(&mut self, prompt: Prompt, turn: Option<&Turn>) -> Result<ChatReply> {
        let budget = &prompt.budget;
        let computed = EventBody::PromptBudgetComputed {
            budget_tokens: budget.budget_tokens,
            used_tokens: budget.used_tokens,
            parts: budget.parts.iter().map(|part| (part.name.to_owned(), Json::from(part.tokens))).collect(),
            trimmed: budget.trimmed.clone(),
        };
        self.log.emit(computed, Durability::Ordered).await?;
        let mut messages = vec![ChatMessage { role: ChatRole::System, text: prompt.system }];
        match turn {
            Some(turn) => turn.append_to(prompt.user, &mut messages),
            None => messages.push(ChatMessage { role: ChatRole::User, text: prompt.user }),
        }
        let whole: String =
            messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n");
        let composed = EventBody::PromptComposed {
            prompt_hash: ContentHash::of(whole.as_bytes()),
            bytes: whole.len() as u64,
        };
        self.log.emit(composed, Durability::Ordered).await?;
        let request = ChatRequest {
            purpose: if self.round == 0 { "plan" } else { "repair" }.to_owned(),
            messages,
            reply_schema: Some(reply_schema()),
            output_tokens_max: self.settings.output_tokens,
        };
        let reply = ask(self.client, request, self.log, self.budget).await?;
        self.usage.input_tokens += reply.usage.input_tokens;
        self.usage.output_tokens += reply.usage.output_tokens;
        self.usage.cost_micro_usd += reply.usage.cost_micro_usd;
        Ok(reply)
    }

    async fn judge(&mut self, reply: &ChatReply, found: Extracted, check: &Check<'_>) -> Result<Judged> {
        let Extracted { source, explanation } = found;
        let plan_hash = ContentHash::of(source.as_bytes());
        let proposed = EventBody::PlanProposed {
            round: self.round,
            source: source.clone(),
            plan_hash: plan_hash.clone(),
        };
        self.log.emit(proposed, Durability::Ordered).await?;
        let CheckReport { findings, plan } = check(&source);
        let checked = EventBody::PlanChecked { plan_hash, ok: plan.is_some(), findings: to_json(&findings) };
        self.log.emit(checked, Durability::Ordered).await?;
        for finding in findings.iter().filter(|finding| finding.reaches_out()) {
            let violation = EventBody::SandboxViolation { message: finding.message.clone() };
            self.log.emit(violation, Durability::Ordered).await?;
        }
        if let Some(plan) = plan {
            return Ok(Judged::Passed(Box::new(Proposal {
                plan,
                explanation,
                rounds: self.round,
                usage: self.usage,
                model: format!("{}/{}", reply.provider, reply.model),
                recorded: reply.recorded,
            })));
        }
        let turn = Turn::findings(&reply.text, &source, &findings);
        let message = format!("the check found {} error(s)", errors(&findings));
        if self.best.as_ref().is_none_or(|best| errors(&findings) < errors(&best.findings)) {
            self.best = Some(Candidate { source, findings });
        }
        Ok(Judged::Refused(turn, message))
    }

    /// Decides if there is another round, and what is said in it.
    async fn go_on(
        &mut self,
        next: Turn,
        code: ErrorCode,
        message: String,
        reply: &ChatReply,
    ) -> Result<Turn> {
        self.answers.push(reply.text.clone());
        let mut next = next;
        let mut reason = (code, message);
        if collapsed(&self.answers) {
            if self.prompt_changed {
                return Err(self.collapse(reply));
            }
            // The change of prompt is worth a round of its own, once.
            self.prompt_changed = true;
            self.rounds_max = self.rounds_max.max(self.round + 1);
            next = next.collapsed();
            reason = (ErrorCode::LlmCollapsed, "the last three answers are nearly identical".to_owned());
        }
        if self.round >= self.rounds_max {
            return Err(self.give_up(reply));
        }
        self.round += 1;
        let event = EventBody::RepairRound {
            round: self.round,
            rounds_max: self.rounds_max,
            code: reason.0.to_string(),
            message: reason.1,
        };
        self.log.emit(event, Durability::Ordered).await?;
        Ok(next)
    }

    fn collapse(&mut self, reply: &ChatReply) -> Error {
        let what = if self.best.is_some() { "the same wrong program" } else { "answers without a program" };
        let message = format!("the model went on giving {what} after the prompt was changed");
        let error = Error::new(ErrorCode::LlmCollapsed, message)
            .with_detail("answer", cut(&reply.text, ANSWER_SHOWN_CHARS))
            .with_help(
                "word the task differently or use a stronger model; `luaplan audit --event llm_response_received` \
                 shows what it answered",
            );
        self.with_best(error, reply)
    }

    fn give_up(&mut self, reply: &ChatReply) -> Error {
        let proposals = self.round + 1;
        let error = match &self.best {
            Some(best) => Error::new(
                ErrorCode::CheckRefused,
                format!(
                    "none of {proposals} proposal(s) passed the check; the best has {} error(s)",
                    errors(&best.findings)
                ),
            ),
            None => Error::new(
                ErrorCode::LlmNoProgram,
                format!("none of {proposals} answer(s) holds a Lua program"),
            )
            .with_detail("answer", cut(&reply.text, ANSWER_SHOWN_CHARS)),
        };
        self.with_best(error, reply)
    }

    fn with_best(&mut self, error: Error, reply: &ChatReply) -> Error {
        let error = error
            .with_detail("rounds", self.round)
            .with_detail("model", format!("{}/{}", reply.provider, reply.model));
        match self.best.take() {
            Some(best) => {
                error.with_detail("findings", to_json(&best.findings)).with_detail("plan", best.source)
            }
            None => error,
        }
    }
}

fn errors(findings: &[Finding]) -> usize {
    findings.iter().filter(|finding| finding.severity == Severity::Error).count()
}

fn to_json(findings: &[Finding]) -> Json {
    serde_json::to_value(findings).unwrap_or_default()
}

fn reply_schema() -> Json {
    json!({
        "type": "object",
        "properties": {
            "plan": {"type": "string", "description": "The whole Lua program."},
            "explanation": {"type": "string", "description": "One or two sentences for the user."}
        },
        "required": ["plan", "explanation"],
        "additionalProperties": false
    })
}
