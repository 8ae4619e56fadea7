//! What a caller may do with questions to a person: judged as for calls that wait, by the same scope and tenant.

use luaplan_base::{Result, RunId};
use luaplan_journal::QuestionState;

use super::access::Access;
use super::caller::Scope;
use crate::approvals::questions::open_questions;
use crate::{AfterDecision, OpenQuestion};

impl Access<'_> {
    /// As [`open_questions`].
    ///
    /// # Errors
    /// `forbidden` without the scope `approvals:decide`, and as [`open_questions`].
    pub async fn open_questions(&self, run_id: Option<&RunId>) -> Result<Vec<OpenQuestion>> {
        let tenant = self.caller.only_tenant(Scope::ApprovalsDecide)?;
        if let Some(run_id) = run_id {
            self.may(Scope::ApprovalsDecide, run_id).await?;
        }
        open_questions(&**self.app().journal(), run_id, tenant.as_deref()).await
    }

    /// Whether this caller can be asked what a run asks.
    pub async fn may_answer(&self, run_id: &RunId) -> bool {
        self.may(Scope::ApprovalsDecide, run_id).await.is_ok()
            && self.app().approvals().may_answer(self.caller.actor()).is_ok()
    }

    /// As [`crate::Approvals::answer`].
    ///
    /// # Errors
    /// `forbidden` without the scope `approvals:decide`, and as [`crate::Approvals::answer`].
    pub async fn answer_question(
        &self,
        question: (&RunId, &str),
        answer: &str,
        then: AfterDecision,
    ) -> Result<QuestionState> {
        self.may(Scope::ApprovalsDecide, question.0).await?;
        self.app().approvals().answer(question, answer, then, self.caller.actor()).await
    }

    /// Whether a run asks a person something and waits for the answer still.
    ///
    /// # Errors
    /// As [`Access::waits_for_person`].
    pub async fn waits_for_answer(&self, run_id: &RunId) -> Result<bool> {
        self.may_one(&[Scope::RunsControl, Scope::ApprovalsDecide, Scope::RunsRead], run_id).await?;
        let now = self.app().history().now();
        let open = open_questions(&**self.app().journal(), Some(run_id), None).await?;
        Ok(open.iter().any(|open| !open.asked.is_overdue(now)))
    }
}
