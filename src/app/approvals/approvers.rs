//! Who may decide about calls that wait, by the policy file.

use luaplan_base::{Error, ErrorCode, Result, RunId};
use luaplan_bus::LOCAL_TENANT;
use luaplan_journal::{Actor, RunState};

use crate::App;

impl App {
    /// Whether `by` may decide about the calls of a run at all.
    ///
    /// # Errors
    /// `forbidden` or `approver_is_starter` where the policy file says no, naming who may; `not_found`.
    pub async fn may_decide(&self, run_id: &RunId, by: &Actor) -> Result<()> {
        self.is_approver(&by.by)?;
        self.is_other_than_starter(&self.known_run(run_id).await?, by)
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
}
