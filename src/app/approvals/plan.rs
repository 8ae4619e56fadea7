//! The plan a person puts in place of one that waits for approval.

use serde_json::json;

use luaplan_base::{CallId, ContentHash, Error, ErrorCode, Result, Value};
use luaplan_journal::{EventBody, RunState};

use super::service::Approvals;
use crate::plans::check::{PlanOf, findings_json};
use crate::runs::restore::{circumstances_of, limits_of};

impl Approvals {
    /// The events that propose an edited plan, `{"plan": source}`, which the check has passed.
    ///
    /// # Errors
    /// `bad_request` for any other form, and for a plan with a secret; `check_refused` with the findings, `limit_source`,
    /// `analysis_busy` where too many requests wait.
    pub(super) async fn edited_plan(&self, state: &RunState, edited: &Value) -> Result<Vec<EventBody>> {
        let source = match edited.as_object().map(|members| (members.len(), members.get(CallId::WHOLE_PLAN)))
        {
            Some((1, Some(Value::String(source)))) => source.clone(),
            _ => {
                return Err(Error::new(
                    ErrorCode::BadRequest,
                    "an edited plan is given as the text `plan` alone",
                )
                .with_help("give the whole source: `{\"plan\": \"function run(context) … end\"}`"));
            }
        };
        let exact = json!(source);
        let mut kept = exact.clone();
        self.history.redactor.arguments(&mut kept);
        if kept != exact {
            let message =
                "the edited plan holds a secret, which would not be on record, so it could not be run";
            return Err(Error::new(ErrorCode::BadRequest, message)
                .with_help("secrets belong into the configuration of the tool that needs them"));
        }
        let (tenant, limits) = (circumstances_of(state)?.tenant, limits_of(state)?);
        let context = Value::from_exact_json(state.context.clone())?;
        let plan = PlanOf {
            tenant: &tenant,
            name: "plan",
            source: &source,
            limits: &limits,
            context: Some(&context),
        };
        let findings = findings_json(&self.plans.accepted_for(plan).await?);
        let plan_hash = ContentHash::of(source.as_bytes());
        let checked = EventBody::PlanChecked { plan_hash: plan_hash.clone(), ok: true, findings };
        // A person changed it, who need not have taken out what came of data.
        let influenced_by = state.influenced_by.clone();
        Ok(vec![
            EventBody::PlanProposed { round: 0, source, plan_hash, explanation: None, influenced_by },
            checked,
        ])
    }
}
