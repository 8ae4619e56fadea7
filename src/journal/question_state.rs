//! Questions to a person, folded from a run's records.

use jiff::Timestamp;
use serde::Serialize;

use luaplan_base::CallId;

use super::{EventBody, Record, RunState, RunStatus};

/// How a question ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QuestionAnswer {
    /// The answer: a person's, else the question's default. Absent where nobody answered in time and there is no default.
    pub answer: Option<String>,
    /// Who gave it: `local`, or the name of an API key. Absent where nobody did in time.
    pub by: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// A question that a person answers, or answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QuestionState {
    /// The call that asks.
    pub call_id: CallId,
    /// The question. Untrusted text: a plan or a model wrote it.
    pub question: String,
    /// The only answers that are taken; any, where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// The answer where nobody gives one in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Until when an answer is waited for; absent where there is no such time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_by: Option<Timestamp>,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// Place of the question in the journal.
    #[serde(skip)]
    pub asked_sequence: u64,
    /// How it ended; absent while it is open.
    pub answer: Option<QuestionAnswer>,
}

impl QuestionState {
    /// Whether its time is over at `now`.
    #[must_use]
    pub fn is_overdue(&self, now: Timestamp) -> bool {
        self.answer_by.is_some_and(|answer_by| answer_by <= now)
    }
}

impl RunState {
    /// The questions without an answer; none once the run has ended.
    pub fn open_questions(&self) -> impl Iterator<Item = &QuestionState> {
        let waits = matches!(self.status, RunStatus::Running | RunStatus::Sleeping | RunStatus::Paused);
        self.questions.iter().filter(move |asked| waits && asked.answer.is_none())
    }
}

/// Adds what a record says about questions to those known so far.
pub(super) fn apply(questions: &mut Vec<QuestionState>, record: &Record) {
    let at = record.event.at;
    match &record.event.body {
        EventBody::QuestionAsked { call_id, question, choices, default, answer_by } => {
            questions.push(QuestionState {
                call_id: call_id.clone(),
                question: question.clone(),
                choices: choices.clone(),
                default: default.clone(),
                answer_by: *answer_by,
                asked_at: at,
                asked_sequence: record.sequence,
                answer: None,
            });
        }
        EventBody::QuestionAnswered { call_id, answer, by, .. } => {
            let asked = questions.iter_mut().rev().find(|asked| asked.call_id == *call_id);
            if let Some(open) = asked.filter(|asked| asked.answer.is_none()) {
                open.answer = Some(QuestionAnswer { answer: answer.clone(), by: by.clone(), at });
            }
        }
        // The plan that asked is given up.
        EventBody::PlanAccepted { .. } => questions.retain(|asked| asked.answer.is_some()),
        _ => {}
    }
}
