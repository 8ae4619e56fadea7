//! Who may decide about calls that wait, by the policy file, and about calls in doubt.

use luaplan_base::{Error, ErrorCode, Result, RunId};
use luaplan_bus::LOCAL_TENANT;
use luaplan_journal::{Actor, JournalRead as _, Resolved, RunState};

use super::service::Approvals;
use crate::runs::resolutions::CallResolution;

impl Approvals {
    /// Whether `by` may decide about the calls of a run at all.
    ///
    /// # Errors
    /// `forbidden` or `approver_is_starter` where the policy file says no, naming who may; `not_found`.
    pub async fn may_decide(&self, run_id: &RunId, by: &Actor) -> Result<()> {
        self.is_approver(&by.by)?;
        self.is_other_than_starter(&self.history.known_run(run_id).await?, by)
    }

    /// Those whom the policy file names as approvers, in words.
    fn approvers(&self) -> String {
        let named = self.config.policy.iter().flat_map(|rules| &rules.approvers);
        let named: Vec<String> = named.map(|glob| format!("`{}`", glob.as_str())).collect();
        if named.is_empty() { "anybody else".to_owned() } else { named.join(", ") }
    }

    pub(crate) fn is_approver(&self, by: &str) -> Result<()> {
        match &self.config.policy {
            Some(rules) if !rules.may_approve(by) => {
                let message = format!("`{by}` is not among the approvers of the policy file");
                Err(Error::new(ErrorCode::Forbidden, message).with_help(format!(
                    "ask one of those whom `approvers` in the policy file names: {}",
                    self.approvers()
                )))
            }
            _ => Ok(()),
        }
    }

    /// Keeps who started a run from deciding about it, where the policy says so.
    pub(crate) fn is_other_than_starter(&self, state: &RunState, by: &Actor) -> Result<()> {
        if !self.config.policy.as_ref().is_some_and(|rules| rules.others_than_starter) {
            return Ok(());
        }
        // Older records name the key in place of the tenant.
        let of_old = || Actor::named(state.tenant.as_deref().unwrap_or(LOCAL_TENANT));
        let starter = state.started_by.clone().unwrap_or_else(of_old);
        if !starter.is_same(by) {
            return Ok(());
        }
        let message = format!("`{}` started run {} and may not decide about its calls", by.by, state.run_id);
        Err(Error::new(ErrorCode::ApproverIsStarter, message).with_help(format!(
            "ask another approver ({}): the policy file sets `approvers_other_than_starter`",
            self.approvers()
        )))
    }

    /// Whether a caller who may not approve calls may say this: a person allowed a call once, and
    /// making it again would be a second time.
    ///
    /// # Errors
    /// `approval_required` for a call to be made again that a person allowed.
    pub async fn may_be_said_by_others(&self, run_id: &RunId, resolutions: &[CallResolution]) -> Result<()> {
        let retried: Vec<&CallResolution> =
            resolutions.iter().filter(|said| said.resolved == Resolved::Retry).collect();
        if retried.is_empty() {
            return Ok(());
        }
        let Some(state) = self.history.journal.run_state(run_id).await? else { return Ok(()) };
        let allowed = retried.iter().find_map(|said| {
            state.approvals.iter().find(|approval| approval.call_id.as_str() == said.call_id)
        });
        allowed.map_or(Ok(()), |approval| {
            let (call, tool) = (&approval.call_id, &approval.tool);
            let message = format!(
                "call {call} of `{tool}` was allowed by a person, and once: to make it again is theirs"
            );
            Err(Error::new(ErrorCode::ApprovalRequired, message)
                .with_help(format!("a person says it: `luaplan resume {run_id} --retry {call}`")))
        })
    }
}
