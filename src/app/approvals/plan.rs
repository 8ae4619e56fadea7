//! The plan a person puts in place of one that waits for approval.

use serde_json::json;

use luaplan_base::{CallId, ContentHash, Error, ErrorCode, Result, Value};
use luaplan_journal::{EventBody, RunState};
use luaplan_testkit::{TestReport, test_source};

use super::service::Approvals;
use crate::plans::check::{PlanOf, findings_json};
use crate::runs::restore::{circumstances_of, limits_of};
use crate::runs::spec::PlanningOptions;

impl Approvals {
    /// The events that propose an edited plan, `{"plan": source}`, which the check has passed.
    ///
    /// # Errors
    /// `bad_request` for any other form, and for a plan with a secret; `check_refused` with the findings, `limit_source`,
    /// `analysis_busy` where too many requests wait; `test_failed` where the task was given plan tests and it fails one, or
    /// those of tests that cannot be read here.
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
        if let Some(tests) = PlanningOptions::from_record(state.planning.as_deref())?.tests {
            let report = test_source(&tests, &source, &self.tools.catalog, &limits).await?;
            passed(&report)?;
        }
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

fn passed(report: &TestReport) -> Result<()> {
    let failed: Vec<_> = report.results.iter().filter(|result| result.failure.is_some()).collect();
    let Some(first) = failed.first() else { return Ok(()) };
    let message = format!(
        "the edited plan fails {} of {} plan tests; nothing was decided",
        failed.len(),
        report.results.len()
    );
    let failure = format!("{}: {}", first.name, first.failure.as_deref().unwrap_or_default());
    Err(Error::new(ErrorCode::TestFailed, message)
        .with_help("mend the plan by `failure`, or approve, reject or edit it otherwise")
        .with_detail("failure", failure))
}
