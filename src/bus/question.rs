//! A question that a run waits for.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value as Json, json};

use luaplan_base::{CallId, RunId};
use luaplan_journal::{QuestionState, Redactor};

/// The most characters of a question in a message; the question itself is beside it.
const HEAD_CHARS_MAX: usize = 200;

/// A question to a person that has no answer yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AskedQuestion {
    /// The run that asks: the suspended one, or that of an agent below it.
    pub run_id: RunId,
    /// The call that asks.
    pub call_id: CallId,
    /// The question. Untrusted text.
    pub question: String,
    /// The only answers that are taken; any, where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// The answer where nobody gives one in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Until when an answer is waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_by: Option<Timestamp>,
}

impl AskedQuestion {
    /// A question of a run.
    #[must_use]
    pub fn of(run_id: RunId, asked: &QuestionState) -> Self {
        Self {
            run_id,
            call_id: asked.call_id.clone(),
            question: asked.question.clone(),
            choices: asked.choices.clone(),
            default: asked.default.clone(),
            answer_by: asked.answer_by,
        }
    }

    /// `RUN:CALL`, by which clients name it.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}:{}", self.run_id, self.call_id)
    }

    /// It as data, with the id by which it is answered.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut asked = json!(self);
        if let Some(members) = asked.as_object_mut() {
            members.insert("question_id".to_owned(), self.id().into());
        }
        asked
    }

    /// Its beginning, for messages.
    pub(super) fn head(&self) -> Cow<'_, str> {
        match self.question.char_indices().nth(HEAD_CHARS_MAX) {
            Some((end, _)) => format!("{}…", &self.question[..end]).into(),
            None => self.question.as_str().into(),
        }
    }

    pub(super) fn redact(&mut self, redactor: &Redactor) {
        let texts = self.choices.iter_mut().chain(&mut self.default);
        for text in texts.chain([&mut self.question]) {
            *text = redactor.text(text);
        }
    }
}
