//! What a caller may do with calls and plans that wait for a person, and with grants.

use luaplan_base::{Result, RunId};
use luaplan_journal::{ApprovalState, GrantState};

use super::access::Access;
use super::caller::Scope;
use crate::approvals::pending::pending_approvals;
use crate::{AfterDecision, ApprovalAnswer, CallResolution, PendingApproval};

impl Access<'_> {
    /// As [`crate::Approvals::pending`].
    ///
    /// # Errors
    /// `forbidden` without the scope `approvals:decide`, and as [`crate::Approvals::pending`].
    pub async fn pending_approvals(&self, run_id: Option<&RunId>) -> Result<Vec<PendingApproval>> {
        let tenant = self.caller.only_tenant(Scope::ApprovalsDecide)?;
        if let Some(run_id) = run_id {
            self.may(Scope::ApprovalsDecide, run_id).await?;
        }
        pending_approvals(&**self.app().journal(), run_id, tenant.as_deref()).await
    }

    /// Whether calls of a run wait for a person, whether or not this caller may decide about them.
    ///
    /// # Errors
    /// As [`Access::may_read`], for a caller who may neither read, steer nor decide.
    pub async fn waits_for_person(&self, run_id: &RunId) -> Result<bool> {
        self.may_one(&[Scope::RunsControl, Scope::ApprovalsDecide, Scope::RunsRead], run_id).await?;
        Ok(!self.app().approvals().pending(Some(run_id)).await?.is_empty())
    }

    /// Whether this caller can be asked about the calls of a run.
    pub async fn may_decide(&self, run_id: &RunId) -> bool {
        self.may(Scope::ApprovalsDecide, run_id).await.is_ok()
            && self.app().approvals().may_decide(run_id, self.caller.actor()).await.is_ok()
    }

    /// As [`crate::Approvals::decide`].
    ///
    /// # Errors
    /// `forbidden` without the scope `approvals:decide`, and as [`crate::Approvals::decide`].
    pub async fn decide(
        &self,
        approval_id: &str,
        answer: ApprovalAnswer,
        then: AfterDecision,
    ) -> Result<ApprovalState> {
        self.caller.require(Scope::ApprovalsDecide)?;
        let run_id: Option<RunId> = approval_id.split(':').next().and_then(|run| run.parse().ok());
        if let Some(run_id) = run_id {
            self.may(Scope::ApprovalsDecide, &run_id).await?;
        }
        self.app().approvals().decide(approval_id, answer, then, self.caller.actor()).await
    }

    /// As [`crate::Approvals::grants`].
    ///
    /// # Errors
    /// `forbidden` without the scope `approvals:decide`, and as reading the journal.
    pub async fn grants(&self, all: bool) -> Result<Vec<GrantState>> {
        let tenant = self.caller.only_tenant(Scope::ApprovalsDecide)?;
        let mut known = self.app().approvals().grants(all).await?;
        known.retain(|grant| tenant.as_ref().is_none_or(|tenant| grant.tenant == *tenant));
        Ok(known)
    }

    /// As [`crate::Approvals::revoke`].
    ///
    /// # Errors
    /// `forbidden` without the scope `approvals:decide`, and as [`crate::Approvals::revoke`].
    pub async fn revoke(&self, grant_id: &str) -> Result<GrantState> {
        let tenant = self.caller.only_tenant(Scope::ApprovalsDecide)?;
        self.app().approvals().revoke(grant_id, tenant.as_deref(), self.caller.actor()).await
    }

    /// Keeps what only a person may say from a program: see [`crate::Approvals::may_be_said_by_others`].
    ///
    /// # Errors
    /// As [`Access::cancel`], and `approval_required`.
    pub async fn may_be_said_by_others(&self, run_id: &RunId, said: &[CallResolution]) -> Result<()> {
        self.may(Scope::RunsControl, run_id).await?;
        self.app().approvals().may_be_said_by_others(run_id, said).await
    }
}
