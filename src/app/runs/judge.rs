//! Whether the task of an autonomous run is done: its plan's own `done` says so first, then the user's tests, then the model.

use std::time::Duration;

use async_trait::async_trait;
use indexmap::IndexMap;
use tokio::time::Instant;

use luaplan_base::{CallOutcome, CallRequest, Error, ErrorCode, Result, Value, counted};
use luaplan_bus::{CallHandler, Interruption};
use luaplan_engine::{DriveRequest, RunOutcome, drive};
use luaplan_journal::{JudgedIteration, RunState};
use luaplan_plan::{CheckedPlan, kinds};
use luaplan_planner::{EndedRun, TestsVerdict, Trials as _, Verdict, told};

use super::candidate_eval::RunTrials;
use crate::runs::run::Run;
use crate::runs::spec::{RunSpec, Work};

/// It computes on what is there, so it need not take as long as a run.
const DONE_WALL_MAX: Duration = Duration::from_secs(5);

/// Refuses every call.
struct NoCalls;

#[async_trait]
impl CallHandler for NoCalls {
    async fn answer(&self, calls: Vec<CallRequest>) -> Result<Vec<CallOutcome>, Interruption> {
        let tool = calls.first().map_or("a tool", |call| call.tool.as_str());
        let message = format!("`done` calls {tool}, and calls no tools; no call was made");
        Err(Error::new(ErrorCode::CallNotPossibleHere, message).into())
    }
}

impl Run<'_> {
    /// What is to be said of a run of `plan` that ended so.
    ///
    /// # Errors
    /// `cancelled`; those of the tests' file, of the model and of the journal, where they cannot be asked.
    pub(crate) async fn judge(
        &self,
        state: &RunState,
        plan: &CheckedPlan,
        context: &Value,
        outcome: &RunOutcome,
    ) -> Result<JudgedIteration> {
        let shares_data = self.runs.config.share_run_data;
        let not_done = |observation: String| JudgedIteration { done: false, observation };
        let value = match (&outcome.result, outcome.failure()) {
            (Ok(value), _) => value,
            (Err(_), error) => {
                let (code, message) =
                    error.map_or((ErrorCode::Internal, ""), |error| (error.code(), error.message()));
                let told = told(message, plan.source(), shares_data);
                return Ok(not_done(format!("The run failed with `{code}`: {told}")));
            }
        };
        let own = match plan.asking_done() {
            Some(asking) => Some(self.said_by_plan(asking, plan.source(), (context, value)).await?),
            None => None,
        };
        if let Some(Verdict { done: false, reason }) = &own {
            return Ok(not_done(format!("Its `done` {reason}")));
        }
        if let Some(verdict) = self.said_by_tests(plan).await?.filter(|verdict| verdict.failed > 0) {
            return Ok(not_done(said_of(&verdict, plan.source())));
        }
        if own.is_some() {
            return Ok(JudgedIteration { done: true, observation: "Its `done` says that it is.".to_owned() });
        }
        let Verdict { done, reason } = self.said_by_model(state, plan, value).await?;
        Ok(JudgedIteration { done, observation: format!("The model that judges says: {reason}") })
    }

    /// What `done` of the plan from `source` says, as the model may see it. Where it raises, calls a tool or gives no truth
    /// value, that is a "no".
    async fn said_by_plan(
        &self,
        asking: CheckedPlan,
        source: &str,
        (context, value): (&Value, &Value),
    ) -> Result<Verdict> {
        let shares_data = self.runs.config.share_run_data;
        let asked = IndexMap::from_iter([
            ("context".to_owned(), context.clone()),
            ("result".to_owned(), Value::from_json(value.to_json())?),
        ]);
        let mut limits = self.spec.limits.clone();
        limits.wall = limits.wall.min(DONE_WALL_MAX);
        let tools = self.runs.tools.catalog.names().map(str::to_owned).collect();
        let request = DriveRequest {
            workers: self.runs.workers.as_ref().map(|pool| pool.of(&self.spec.circumstances.tenant)),
            vms: self.runs.vms.clone(),
            run_started_at: self.started_at(),
            started: Instant::now(),
            cancel: self.spec.cancel.clone(),
            ..DriveRequest::new(asking, Value::Object(asked), tools, limits)
        };
        // It says the same again where the run is resumed, so nothing of it is kept but what it says.
        let log = self.runs.history.log_of_nothing(self.log.run_id(), self.runs.history.redactor.clone());
        let no = |reason: String| Ok(Verdict { done: false, reason });
        match Box::pin(drive(request, &NoCalls, &log)).await.result {
            Ok(said) => {
                let part = |name: &str| said.as_object().and_then(|said| said.get(name));
                let reason = part("reason").and_then(Value::as_str).unwrap_or_default();
                match part("done").filter(|done| **done != Value::Null) {
                    Some(Value::Bool(done)) => Ok(Verdict {
                        done: *done,
                        reason: format!("says: {}", told(reason, source, shares_data)),
                    }),
                    other => {
                        let kind = other.map_or("nil", |other| other.kind());
                        no(format!("returned {kind} where `true` or `false` is wanted"))
                    }
                }
            }
            Err(Interruption::Cancelled(error)) => Err(error),
            Err(why) => {
                let error = why.to_error(self.log.run_id());
                no(format!("failed with `{}`: {}", error.code(), told(error.message(), source, shares_data)))
            }
        }
    }

    /// What the user's tests say of the plan; `None` where there are none.
    pub(crate) async fn said_by_tests(&self, plan: &CheckedPlan) -> Result<Option<TestsVerdict>> {
        let RunSpec { circumstances, limits, planning, .. } = self.spec;
        let (tenant, context) = (circumstances.tenant.as_str(), self.context());
        let tests = planning.tests.as_deref();
        RunTrials { runs: self.runs, tenant, limits, context: &context, tests }.tests(plan).await
    }

    async fn said_by_model(&self, state: &RunState, plan: &CheckedPlan, value: &Value) -> Result<Verdict> {
        let Work::Task(task) = &self.spec.work else {
            return Err(Error::new(ErrorCode::Internal, "a saved plan has no task"));
        };
        let shares_data = self.runs.config.share_run_data;
        let calls = self.calls_of_last(state);
        let ended = EndedRun {
            task,
            source: plan.source(),
            calls: &calls,
            returned: &returned(value, shares_data),
            shares_data,
        };
        let planner = self.runs.models.planner()?;
        tokio::select! {
            biased;
            () = self.spec.cancel.cancelled() => Err(Error::cancelled()),
            verdict = planner.judge(&ended, self.log, self.budget) => verdict,
        }
    }
}

/// What a run returned, as the model may see it.
pub(crate) fn returned(value: &Value, shares_data: bool) -> String {
    if shares_data { value.to_json().to_string() } else { kinds(value) }
}

/// What tests say of a plan that fails some, as the model may see it.
fn said_of(verdict: &TestsVerdict, source: &str) -> String {
    let failed: Vec<String> = verdict
        .failures
        .iter()
        .map(|failure| {
            let known = format!("{source}\n{}", failure.name);
            format!("{:?}: {}", failure.name, told(&failure.message, &known, verdict.shares_data))
        })
        .collect();
    let all = verdict.failed + verdict.passed;
    format!(
        "The program fails {} of {}: {}",
        verdict.failed,
        counted(usize::try_from(all).unwrap_or(usize::MAX), "test"),
        failed.join("; ")
    )
}
