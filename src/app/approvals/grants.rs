//! Calls allowed for a time: which there are, and taking one back.

use luaplan_base::{CallId, Error, ErrorCode, Result};
use luaplan_journal::{Actor, ConflictGuard, EventBody, GrantState, Settled, grants};

use super::service::Approvals;

impl Approvals {
    /// The grants that hold now, newest first; with `all` those too that expired or were revoked.
    ///
    /// # Errors
    /// As reading the journal.
    pub async fn grants(&self, all: bool) -> Result<Vec<GrantState>> {
        let now = self.history.clock.now();
        let mut known = grants(&*self.history.journal, None).await?;
        known.retain(|grant| all || grant.holds_at(now));
        Ok(known)
    }

    /// Takes back, in the name of `by`, what was allowed for a time. Calls made meanwhile stand. With `tenant` the grants
    /// of others are not there.
    ///
    /// # Errors
    /// `not_found`; `approval_stale` where it holds no more, of two who take it back at once for one of them; `forbidden` as for [`Approvals::decide`].
    pub async fn revoke(&self, grant_id: &str, tenant: Option<&str>, by: &Actor) -> Result<GrantState> {
        self.is_approver(&by.by)?;
        let known = grants(&*self.history.journal, None).await?;
        let is_meant = |known: &GrantState| {
            known.grant_id == grant_id && tenant.is_none_or(|tenant| known.tenant == tenant)
        };
        let Some(mut grant) = known.into_iter().find(is_meant) else {
            return Err(Error::new(ErrorCode::NotFound, format!("there is no grant `{grant_id}`"))
                .with_help("`luaplan policy grants` lists those that hold"));
        };
        if !grant.holds_at(self.history.clock.now()) {
            return Err(holds_no_more(grant_id));
        }
        let mut unless = ConflictGuard {
            run_id: grant.run_id.clone(),
            // No call's: only what is about no call counts.
            call_id: CallId::single(0),
            after_sequence: 0,
            by_events: &["grant_revoked"],
        };
        let log = self.history.run_log(&grant.run_id, &[]);
        loop {
            let revoked = EventBody::GrantRevoked {
                grant_id: grant.grant_id.clone(),
                tool: grant.tool.clone(),
                by: by.by.clone(),
                os_user: by.os_user.clone(),
            };
            // The run's owner continues to write to it: this takes nothing from it.
            let Settled::Conflict(other) = log.settle(vec![revoked], unless.clone()).await? else { break };
            if matches!(&other.event.body, EventBody::GrantRevoked { grant_id, .. } if *grant_id == grant.grant_id)
            {
                return Err(holds_no_more(grant_id));
            }
            unless.after_sequence = other.sequence;
        }
        grant.is_revoked = true;
        Ok(grant)
    }
}

fn holds_no_more(grant_id: &str) -> Error {
    let message = format!("grant `{grant_id}` holds no more: it was revoked or has expired");
    Error::new(ErrorCode::ApprovalStale, message)
        .with_help("a list of all grants shows those too that hold no more: `luaplan policy grants --all`")
}
