//! What is said about calls in doubt, and who may say it.

use serde_json::Value as Json;

use luaplan_base::{Error, ErrorCode, Result, RunId, Value};
use luaplan_journal::{JournalRead as _, Resolved};

use crate::App;

/// What a person says about a call in doubt.
#[derive(Debug, Clone, PartialEq)]
pub struct CallResolution {
    /// The call.
    pub call_id: String,
    /// What came of it, or what to do.
    pub resolved: Resolved,
}

impl CallResolution {
    /// What a client of a service says: exactly one of the three.
    ///
    /// # Errors
    /// `bad_request` for none or more than one; as [`Value::from_json`] for a result.
    pub fn said(
        call_id: String,
        retry: Option<bool>,
        done: Option<Json>,
        failed: Option<String>,
    ) -> Result<Self> {
        let resolved = match (retry, done, failed) {
            (Some(true), None, None) => Resolved::Retry,
            (None, Some(result), None) => {
                Resolved::Done { result: Value::from_json(result)?.to_exact_json() }
            }
            (None, None, Some(message)) => Resolved::Failed { message },
            _ => {
                let message = format!("`resolve.{call_id}` must say one thing");
                return Err(Error::new(ErrorCode::BadRequest, message).with_help(
                    "give `{\"retry\": true}`, `{\"done\": RESULT}` or `{\"failed\": \"REASON\"}`",
                ));
            }
        };
        Ok(Self { call_id, resolved })
    }
}

impl App {
    /// Whether somebody who may not give leave for calls may say this: a person allowed a call once, and
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
        let Some(state) = self.journal.run_state(run_id).await? else { return Ok(()) };
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
