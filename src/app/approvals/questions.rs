//! Questions of plans to a person: which are open, and their answers.

use serde::Serialize;
use serde_json::json;

use luaplan_base::{Error, ErrorCode, Result, RunId};
use luaplan_journal::{
    Actor, ConflictGuard, EventBody, JournalRead, QuestionState, Record, RunFilter, RunState, RunStatus,
    Settled,
};

use super::pending::AfterDecision;
use super::service::Approvals;
use crate::agents::kin::family_of;
use crate::history::known_run;
use crate::runs::restore::{cannot_go_on, engine_suffices};

/// The largest answer.
const ANSWER_BYTES_MAX: usize = 16 * 1024;

/// After any of these a question is not open any more.
const CLOSING: &[&str] = &[
    "question_answered",
    "tool_call_finished",
    "plan_accepted",
    "run_finished",
    "run_failed",
    "run_cancelled",
];

/// A question without an answer, with its run.
#[derive(Debug, Clone, Serialize)]
pub struct OpenQuestion {
    /// `RUN:CALL`, by which it is answered.
    pub question_id: String,
    /// The run that asks.
    pub run_id: RunId,
    /// Its task, where it has one.
    pub task: Option<String>,
    /// Its plan's name.
    pub plan_name: Option<String>,
    /// Whose run it is.
    pub tenant: Option<String>,
    /// The question.
    #[serde(flatten)]
    pub asked: QuestionState,
}

impl OpenQuestion {
    fn of(state: &RunState, asked: &QuestionState) -> Self {
        Self {
            question_id: format!("{}:{}", state.run_id, asked.call_id),
            run_id: state.run_id.clone(),
            task: state.task.clone(),
            plan_name: state.plan_name.clone(),
            tenant: state.tenant.clone(),
            asked: asked.clone(),
        }
    }
}

impl Approvals {
    /// Whether `by` may answer questions. Who started a run may answer its questions, even where the policy keeps them
    /// from deciding about its calls: an answer permits nothing.
    ///
    /// # Errors
    /// `forbidden` where the policy file does not name `by` as an approver.
    pub fn may_answer(&self, by: &Actor) -> Result<()> {
        self.is_approver(&by.by)
    }

    /// As [`open_questions`], of all tenants.
    ///
    /// # Errors
    /// As [`open_questions`].
    pub async fn open_questions(&self, run_id: Option<&RunId>) -> Result<Vec<OpenQuestion>> {
        open_questions(&*self.history.journal, run_id, None).await
    }

    /// Answers the question of a call, in the name of `by`. Of several that answer the same one, in whatever process,
    /// one does; the others are told who was first. This does not resume the run.
    ///
    /// # Errors
    /// `not_found`; `answer_stale` where it was answered or is no longer asked; `run_not_resumable` where the run cannot
    /// go on with any answer; `forbidden` as [`Approvals::may_answer`]; `bad_request` for an answer that is empty, too
    /// long, holds a secret, or is none of the choices.
    pub async fn answer(
        &self,
        (run_id, call_id): (&RunId, &str),
        answer: &str,
        then: AfterDecision,
        by: &Actor,
    ) -> Result<QuestionState> {
        self.may_answer(by)?;
        let state = self.history.known_run(run_id).await?;
        let asked = open_one(&state, call_id)?;
        if let Some(error) = cannot_go_on(&state) {
            return Err(error);
        }
        engine_suffices(&state, self.config.sandbox.engine)?;
        let answered = EventBody::QuestionAnswered {
            call_id: asked.call_id.clone(),
            answer: Some(self.accepted(asked, answer)?),
            by: Some(by.by.clone()),
            goes_on: then == AfterDecision::GoesOn,
            os_user: by.os_user.clone(),
        };
        let unless = ConflictGuard {
            run_id: run_id.clone(),
            call_id: asked.call_id.clone(),
            after_sequence: asked.asked_sequence,
            by_events: CLOSING,
        };
        match self.history.run_log(run_id, &[]).settle(vec![answered], unless).await? {
            Settled::Written(_) => {
                let state = self.history.known_run(run_id).await?;
                let answered = state.questions.into_iter().rev().find(|known| known.call_id == asked.call_id);
                answered.ok_or_else(|| not_asked(run_id, call_id))
            }
            Settled::Conflict(first) => Err(stale(&first)),
        }
    }

    /// The answer as it is recorded.
    fn accepted(&self, asked: &QuestionState, answer: &str) -> Result<String> {
        let bad = |message: String| Error::new(ErrorCode::BadRequest, message);
        if answer.trim().is_empty() {
            return Err(bad("an answer needs words".to_owned()));
        }
        if answer.len() > ANSWER_BYTES_MAX {
            let message = "the answer is too long; nothing was recorded".to_owned();
            return Err(bad(message).with_limit(ANSWER_BYTES_MAX, answer.len()));
        }
        if asked.choices.is_empty() {
            if self.history.redactor.finds_in(&json!(answer)) {
                let message = "the answer holds a secret, which would not be on record, so the run could not go on with it";
                return Err(bad(message.to_owned())
                    .with_help("answer without it; secrets belong into the configuration of tools"));
            }
            return Ok(answer.to_owned());
        }
        chosen(&asked.choices, answer.trim()).cloned().ok_or_else(|| {
            bad("the answer is none of the choices".to_owned())
                .with_help(format!(
                    "answer with one of these, or with its number: {}",
                    asked.choices.join(", ")
                ))
                .with_detail("choices", json!(asked.choices))
        })
    }
}

/// The choice that an answer means: its own words, these in another case where they fit no other, or its number in the list,
/// from 1, where that is no choice itself.
fn chosen<'c>(choices: &'c [String], answer: &str) -> Option<&'c String> {
    if let Some(same) = choices.iter().find(|choice| choice.trim() == answer) {
        return Some(same);
    }
    let lower = answer.to_lowercase();
    let mut alike = choices.iter().filter(|choice| choice.trim().to_lowercase() == lower);
    match (alike.next(), alike.next()) {
        (Some(only), None) => Some(only),
        (Some(_), Some(_)) => None,
        (None, _) => choices.get(answer.parse::<usize>().ok()?.checked_sub(1)?),
    }
}

/// The questions without an answer, oldest run first: of one run and of the agents it waits for, or, where no run is
/// named, of one tenant or of all. Those of runs that can never be resumed are not among them.
///
/// # Errors
/// As reading the journal; `not_found` for a run that is not there.
pub async fn open_questions(
    journal: &dyn JournalRead,
    run_id: Option<&RunId>,
    tenant: Option<&str>,
) -> Result<Vec<OpenQuestion>> {
    match run_id {
        Some(run_id) => {
            let family = family_of(journal, known_run(journal, run_id).await?).await?;
            Ok(family.iter().flat_map(questions_of).collect())
        }
        None => {
            let mut run_ids = Vec::new();
            for status in [RunStatus::Paused, RunStatus::Running, RunStatus::Sleeping] {
                let tenant = tenant.map(str::to_owned);
                let filter = RunFilter { status: Some(status), tenant, ..RunFilter::default() };
                run_ids.extend(journal.runs(filter).await?.into_iter().map(|run| run.run_id));
            }
            run_ids.sort();
            let mut open = Vec::new();
            for run_id in run_ids {
                // One state at a time: it holds all that its run was given.
                open.extend(questions_of(&known_run(journal, &run_id).await?));
            }
            Ok(open)
        }
    }
}

fn questions_of(state: &RunState) -> Vec<OpenQuestion> {
    let is_asking = state.open_questions().next().is_some();
    if !is_asking || cannot_go_on(state).is_some() {
        return Vec::new();
    }
    state.open_questions().map(|asked| OpenQuestion::of(state, asked)).collect()
}

/// The one open question of a run that is meant: that of `call_id`, or the only one.
///
/// # Errors
/// `answer_stale` for a question that was answered; `bad_request` where it could be one of several; else `not_found`,
/// naming the calls that ask.
pub async fn question_of<'q>(
    journal: &dyn JournalRead,
    run_id: &RunId,
    open: &'q [OpenQuestion],
    call_id: Option<&str>,
) -> Result<&'q OpenQuestion> {
    let is_meant = |one: &&OpenQuestion| call_id.is_none_or(|call_id| one.asked.call_id.as_str() == call_id);
    let mut meant = open.iter().filter(is_meant);
    let calls = || {
        let each = open.iter().map(|one| format!("{} of run {}", one.asked.call_id, one.run_id));
        each.collect::<Vec<_>>().join(", ")
    };
    match (meant.next(), meant.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => {
            let message = format!("run {run_id} asks several questions: which is meant?");
            Err(Error::new(ErrorCode::BadRequest, message)
                .with_help(format!("name the call, and its run: {}", calls())))
        }
        (None, _) => {
            let state = known_run(journal, run_id).await?;
            if let Some(error) = cannot_go_on(&state) {
                return Err(error);
            }
            let missing = match call_id {
                Some(call_id) => open_one(&state, call_id).map(drop).err(),
                None => state.questions.last().map(|last| stale_question(&state, last)),
            };
            let missing = missing
                .unwrap_or_else(|| Error::new(ErrorCode::NotFound, format!("run {run_id} asks nothing")));
            Err(if open.is_empty() { missing } else { missing.with_help(format!("open are {}", calls())) })
        }
    }
}

/// The open question of a call.
fn open_one<'s>(state: &'s RunState, call_id: &str) -> Result<&'s QuestionState> {
    if let Some(open) = state.open_questions().find(|open| open.call_id.as_str() == call_id) {
        return Ok(open);
    }
    match state.questions.iter().rev().find(|known| known.call_id.as_str() == call_id) {
        Some(known) => Err(stale_question(state, known)),
        None => Err(not_asked(&state.run_id, call_id)),
    }
}

fn not_asked(run_id: &RunId, call_id: &str) -> Error {
    Error::new(ErrorCode::NotFound, format!("call `{call_id}` of run {run_id} asks nobody"))
}

fn stale_question(state: &RunState, known: &QuestionState) -> Error {
    let stale = |message| Error::new(ErrorCode::AnswerStale, message);
    match &known.answer {
        Some(answer) => {
            let by = answer.by.as_deref();
            stale(told(known.call_id.as_str(), by)).with_detail("answer", json!(answer))
        }
        None => stale(format!("run {} has ended: it {}", state.run_id, state.status.verb())),
    }
}

/// What the loser of a race is told.
fn stale(first: &Record) -> Error {
    let what = match &first.event.body {
        EventBody::QuestionAnswered { call_id, by, .. } => told(call_id.as_str(), by.as_deref()),
        other => format!("the question is no longer open: {} came first", other.name()),
    };
    Error::new(ErrorCode::AnswerStale, what).with_detail("first", json!(first.event.body))
}

fn told(call_id: &str, by: Option<&str>) -> String {
    match by {
        Some(by) => format!("the question of call {call_id} was answered already, by {by}"),
        None => format!("the time to answer the question of call {call_id} is over"),
    }
}
