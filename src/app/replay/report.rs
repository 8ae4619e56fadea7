//! Running a recorded run again without any effect, and saying what differs.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use luaplan_base::{CallOutcome, CallRequest, Error, ErrorCode, Limits, Result, RunId, Value};
use luaplan_bus::{CallHandler, Interruption, LOCAL_TENANT, Policy, PolicyRules, RunBudget};
use luaplan_engine::{
    DriveRequest, FromJournal, NothingMore, RecordedCalls, RecordedOutput, RunOutcome, drive,
};
use luaplan_journal::{CallState, EventBody, RunState, RunStatus, StopReason, grants};

use crate::plans::check::PlanOf;
use crate::replay::matching::{ByArguments, ByContent, by_arguments, forms, records_to_judge};
use crate::replay::policy::{OnRecord, PolicyDifference, UnderPolicy};
use crate::runs::finish::{ended_by_call, failed};
use crate::runs::restore::{began_without_secret, circumstances_of, limits_of, recorded_source};
use crate::runs::service::Runs;

/// A run to be replayed.
#[derive(Debug, Clone)]
pub struct ReplayRequest {
    /// The run.
    pub run_id: RunId,
    /// Another plan to run against what is on record: its name and source.
    pub with: Option<(String, String)>,
    /// Cancelled to end the replay.
    pub cancel: CancellationToken,
}

/// A call that only one of two runs made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallDifference {
    /// `missing`: on record, and not made now. `new`: made now, and not on record.
    pub difference: &'static str,
    /// The tool.
    pub tool: String,
    /// Line of the plan that made it.
    pub line: Option<u32>,
    /// Its arguments.
    pub arguments: Json,
}

/// What came of a replay.
#[derive(Debug, Clone, Serialize)]
pub struct ReplayReport {
    /// The run that was replayed.
    pub run_id: RunId,
    /// Whether end, output and calls are those on record.
    pub same: bool,
    /// What differs, a sentence each.
    pub differences: Vec<String>,
    /// Calls that differ.
    pub calls: Vec<CallDifference>,
    /// How the run ended, as on record; null where it has no end of its own.
    pub recorded: Json,
    /// How the replay ended.
    pub replayed: Json,
    /// Calls answered from the journal.
    pub calls_answered: u64,
    /// Calls that the policy given decides otherwise than they were decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policy: Vec<PolicyDifference>,
}

impl Runs {
    /// Runs a recorded plan again, or another one against what is on record. Nothing is called, no
    /// model is asked, nothing is written. The same plan must make the same calls under the same ids,
    /// and come to the same end; another plan gets the recorded answer for each call it makes with the
    /// same arguments, in their order, and a failure (`call_not_on_record`) for any other.
    ///
    /// # Errors
    /// `not_found`; `run_not_resumable` where the journal lacks what is needed; `check_refused` for a
    /// plan that may not run.
    pub async fn replay(&self, request: ReplayRequest) -> Result<ReplayReport> {
        self.replay_as(request, None).await
    }

    /// As [`Runs::replay`], under the rules of another policy file: what they deny is refused, and calls that
    /// are decided otherwise than they were are named. What they would ask a person about continues as if it
    /// were allowed; a call that was denied then and is allowed now is not on record.
    ///
    /// # Errors
    /// As [`Runs::replay`].
    pub async fn replay_under(
        &self,
        request: ReplayRequest,
        rules: Arc<PolicyRules>,
    ) -> Result<ReplayReport> {
        let state = self.history.known_run(&request.run_id).await?;
        let policy = Policy {
            rules: Some(rules),
            circumstances: circumstances_of(&state)?,
            ..Policy::registered_tools()
        };
        self.replay_as(request, Some(policy)).await
    }

    async fn replay_as(&self, request: ReplayRequest, policy: Option<Policy>) -> Result<ReplayReport> {
        let run_id = &request.run_id;
        let state = self.history.known_run(run_id).await?;
        let refused = |what: &str| {
            Err(Error::new(ErrorCode::RunNotResumable, format!("run {run_id} {what}"))
                .with_help("replay a run whose calls are on record"))
        };
        if state.status == RunStatus::Running && self.ownership.is_under_way(&state) {
            return Err(
                Error::new(ErrorCode::RunActive, format!("run {run_id} is under way")).about_run(run_id)
            );
        }
        if state.mocked {
            return refused("was answered by mocks, whose answers are not on record");
        }
        began_without_secret(&state)?;
        let Some((source, _)) = recorded_source(&state)? else {
            return refused("never had a plan that ran");
        };
        let limits = limits_of(&state)?;
        let is_same_plan = request.with.as_ref().is_none_or(|(_, other)| other == source);
        let (name, source) = match &request.with {
            Some((name, source)) => (name.as_str(), source.as_str()),
            None => (state.plan_name.as_deref().unwrap_or("plan"), source),
        };
        let context = Value::from_exact_json(state.context.clone())?;
        let tenant = circumstances_of(&state)?.tenant;
        let plan = PlanOf { tenant: &tenant, name, source, limits: &limits, context: Some(&context) };
        let plan = match is_same_plan {
            true => self.plans.accepted_before(plan).await?,
            false => self.plans.checked_for(plan).await?,
        };
        let calls_before = state.accepted.as_ref().map_or(0, |plan| plan.calls_before);
        let is_other = request.with.is_some() || policy.is_some();
        let answers = Arc::new(if is_other {
            let (mut records, under) = match policy {
                Some(policy) => {
                    let records = records_to_judge(&state, &grants(&*self.history.journal, None).await?)?;
                    let under =
                        UnderPolicy::new(policy, self.tools.catalog.clone(), self.history.redactor.clone());
                    (records, Some(Arc::new(under)))
                }
                None => (by_arguments(&state.calls)?, None),
            };
            records.is_same_plan = is_same_plan;
            self.answers_by_arguments(records, under)
        } else {
            self.answers(&state, &limits)?
        });
        let tools = self.tools.catalog.names().map(str::to_owned).collect();
        let drive_request = DriveRequest {
            calls_before,
            run_started_at: Some(state.started_at),
            // Nothing is waited for.
            recorded: RecordedOutput { retries: u32::MAX, ..RecordedOutput::default() },
            workers: self
                .workers
                .as_ref()
                .map(|pool| pool.of(state.tenant.as_deref().unwrap_or(LOCAL_TENANT))),
            vms: self.vms.clone(),
            cancel: request.cancel,
            ..DriveRequest::new(plan, context, tools, limits)
        };
        let log = self.history.log_of_nothing(run_id, self.history.redactor.clone());
        let mut outcome = drive(drive_request, &*answers, &log).await;
        if let Some(named) = outcome.failure().and_then(|error| ended_by_call(error, &state.calls)) {
            outcome.result = Err(named.into());
        }
        let stops_short = recorded_end(&state).is_null() && request.with.is_none();
        let mut report = self.report(&state, &outcome, &answers, (is_other, stops_short));
        if let Some(under) = &answers.under {
            report.policy = under.differences();
            if !report.policy.is_empty() {
                report.differences.push(format!("{} call(s) are decided otherwise", report.policy.len()));
                report.same = false;
            }
        }
        Ok(report)
    }

    fn answers(&self, state: &RunState, limits: &Limits) -> Result<Answers> {
        let by = Arc::new(FromJournal {
            calls: RecordedCalls::of(&state.calls)?,
            catalog: self.tools.catalog.clone(),
            redactor: self.history.redactor.clone(),
            budget: Arc::new(RunBudget::new(limits.clone(), 0)),
            next: Arc::new(NothingMore),
        });
        Ok(Answers { by, under: None, made: Mutex::default() })
    }

    fn answers_by_arguments(&self, records: ByContent<OnRecord>, under: Option<Arc<UnderPolicy>>) -> Answers {
        let by = Arc::new(ByArguments {
            records: Mutex::new(records),
            under: under.clone(),
            catalog: self.tools.catalog.clone(),
            redactor: self.history.redactor.clone(),
        });
        Answers { by, under, made: Mutex::default() }
    }

    fn report(
        &self,
        state: &RunState,
        outcome: &RunOutcome,
        answers: &Answers,
        (is_other, stops_short): (bool, bool),
    ) -> ReplayReport {
        let made = std::mem::take(&mut *answers.made.lock().unwrap_or_else(PoisonError::into_inner));
        let calls_before = state.accepted.as_ref().map_or(0, |plan| plan.calls_before);
        let recorded_calls: Vec<&CallState> =
            state.calls.iter().filter(|call| call.call_id.sequence() > calls_before).collect();
        let calls = self.call_differences(&recorded_calls, &made);
        let (recorded, replayed) = (recorded_end(state), self.end_of(outcome));
        let mut differences = Vec::new();
        if !stops_short && without_advice(&recorded) != without_advice(&replayed) {
            differences.push("the end differs".to_owned());
        }
        let from = state.accepted.as_ref().map_or(0, |plan| plan.printed_from);
        let printed = self.history.redactor.text(&outcome.printed);
        if !stops_short && state.printed.get(from..) != Some(printed.as_str()) {
            differences.push("the output differs".to_owned());
        }
        let instructions = state.usage.map(|usage| usage.instructions);
        // Those of several plans are counted together.
        if let (false, Some(before), ..=1) = (is_other, instructions, state.iterations.plans)
            && !recorded.is_null()
            && before != outcome.usage.instructions
        {
            let now = outcome.usage.instructions;
            differences.push(format!("it took {now} instructions; on record are {before}"));
        }
        if !calls.is_empty() && !stops_short {
            differences.push(format!("{} call(s) differ", calls.len()));
        }
        ReplayReport {
            run_id: state.run_id.clone(),
            same: differences.is_empty(),
            differences,
            calls: if stops_short { Vec::new() } else { calls },
            recorded,
            replayed,
            calls_answered: made.len() as u64,
            policy: Vec::new(),
        }
    }

    /// How a run ended, in the form the journal would have it.
    fn end_of(&self, outcome: &RunOutcome) -> Json {
        let mut body = match &outcome.result {
            Ok(value) => EventBody::RunFinished {
                stop_reason: StopReason::Completed.into(),
                mode: None,
                result: value.to_json(),
                usage: outcome.usage,
                iterations: None,
            },
            Err(why) => failed(&why.to_error(&outcome.run_id), outcome.usage),
        };
        self.history.redactor.event(&mut body);
        match body {
            EventBody::RunFinished { result, .. } => json!({ "status": "succeeded", "result": result }),
            EventBody::RunFailed { error, .. } => json!({ "status": "failed", "error": error }),
            _ => Json::Null,
        }
    }

    fn call_differences(&self, recorded: &[&CallState], made: &[CallRequest]) -> Vec<CallDifference> {
        let mut open = ByContent::default();
        for call in recorded {
            open.put(call, ());
        }
        let mut differences = Vec::new();
        for call in made {
            if open.take(call, &self.tools.catalog, &self.history.redactor).is_none() {
                let arguments =
                    forms(call, &self.tools.catalog, &self.history.redactor).next().unwrap_or_default();
                differences.push(CallDifference {
                    difference: "new",
                    tool: call.tool.clone(),
                    line: call.line,
                    arguments,
                });
            }
        }
        for call in recorded {
            if open.is_left(call) {
                differences.push(CallDifference {
                    difference: "missing",
                    tool: call.tool.clone(),
                    line: call.line,
                    arguments: call.arguments.clone(),
                });
            }
        }
        differences
    }
}

/// How the run ended, as on record; null where its end did not come from the plan.
fn recorded_end(state: &RunState) -> Json {
    let from_outside = [ErrorCode::LimitWallTime, ErrorCode::Interrupted, ErrorCode::IterationsExceeded];
    match state.status {
        RunStatus::Succeeded => json!({ "status": "succeeded", "result": state.result }),
        RunStatus::Failed
            if from_outside.iter().all(|code| state.code.as_ref().is_none_or(|said| said != code)) =>
        {
            json!({ "status": "failed", "error": state.error })
        }
        _ => Json::Null,
    }
}

/// The end without its help: what to do next is no part of what happened, and may be worded otherwise by now.
fn without_advice(end: &Json) -> Json {
    let mut end = end.clone();
    if let Some(error) = end.get_mut("error").and_then(Json::as_object_mut) {
        error.shift_remove("help");
    }
    end
}

/// Answers, and keeps what was asked.
struct Answers {
    by: Arc<dyn CallHandler>,
    under: Option<Arc<UnderPolicy>>,
    made: Mutex<Vec<CallRequest>>,
}

#[async_trait]
impl CallHandler for Answers {
    async fn answer(&self, calls: Vec<CallRequest>) -> Result<Vec<CallOutcome>, Interruption> {
        let outcomes = self.by.answer(calls.clone()).await?;
        self.made.lock().unwrap_or_else(PoisonError::into_inner).extend(calls);
        Ok(outcomes)
    }
}
