//! The model's questions before it plans: who is asked, and what becomes of the answers.

use luaplan_base::{CallId, Result};
use luaplan_bus::{AskedQuestion, Interruption, Suspension};
use luaplan_journal::{Durability, EventBody, QuestionState};
use luaplan_planner::{AnsweredQuestion, ModelQuestion, Planned, Proposal};

use crate::runs::run::Run;

/// How often the model of one run may ask before it plans; then it must plan, or the task ends with `llm_asked`.
const QUESTIONS_MAX: usize = 3;

impl Run<'_> {
    /// A checked plan for the run's task. Where the model asks first and somebody can answer, the run is suspended.
    pub(crate) async fn propose_or_ask(&self) -> Result<Proposal, Interruption> {
        let asked = self.asked_before_planning();
        if let Some(open) = asked.iter().find(|asked| asked.answer.is_none()) {
            return Err(self.waits_for(open).into());
        }
        if !self.may_ask(asked.len()) {
            return Ok(self.propose().await?);
        }
        match self.propose_asking().await? {
            Planned::Plan(proposal) => Ok(*proposal),
            Planned::Asks(question) => Err(self.put(question, asked.len() + 1).await?.into()),
        }
    }

    /// The model's questions so far, with the person's answers.
    pub(crate) fn answered(&self) -> Vec<AnsweredQuestion> {
        let asked = self.asked_before_planning().into_iter();
        let answered = asked.filter_map(|asked| {
            let answer = asked.answer.as_ref()?.answer.clone()?;
            Some(AnsweredQuestion { question: asked.question.clone(), answer })
        });
        answered.collect()
    }

    fn asked_before_planning(&self) -> Vec<&QuestionState> {
        let asked = self.resumed.iter().flat_map(|state| &state.questions);
        asked.filter(|asked| asked.call_id.is_before_plan()).collect()
    }

    /// Whether a question of the model reaches a person who can answer it, and the run can go on with the answer.
    fn may_ask(&self, asked: usize) -> bool {
        let planning = &self.spec.planning;
        let candidates = planning.candidates.unwrap_or(self.runs.config.candidates);
        asked < QUESTIONS_MAX
            && candidates <= 1
            && planning.tests.is_none()
            && self.agent.is_none()
            && self.spec.handler.is_none()
            && self.log.not_resumable().is_none()
            && self.runs.is_whole_on_record(self.spec, "")
    }

    /// Records the question number `number`, for which the run is suspended.
    async fn put(&self, question: ModelQuestion, number: usize) -> Result<Suspension> {
        let ModelQuestion { question, choices } = question;
        let call_id = CallId::before_plan(number);
        let asked = EventBody::QuestionAsked {
            call_id: call_id.clone(),
            question: question.clone(),
            choices: choices.clone(),
            default: None,
            answer_by: None,
        };
        self.log.emit(asked, Durability::Ordered).await?;
        let run_id = self.log.run_id().clone();
        let asked = AskedQuestion { run_id, call_id, question, choices, default: None, answer_by: None };
        Ok(Suspension::Questions(vec![asked]))
    }

    fn waits_for(&self, open: &QuestionState) -> Suspension {
        Suspension::Questions(vec![AskedQuestion::of(self.log.run_id().clone(), open)])
    }
}
