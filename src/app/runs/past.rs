//! What a model is told of a run after which another plan is wanted, from its records.

use luaplan_base::{Effect, Error, ErrorCode, Value};
use luaplan_journal::{CallEnd, CallState, RunState};
use luaplan_plan::{CheckedPlan, kinds};
use luaplan_planner::{PastCall, PastEnd, PastRun};

use crate::runs::run::Run;

/// The tool whose failures name SQL's own codes and hints.
const QUERY: &str = "query_db";

impl Run<'_> {
    /// What happened in the last run of `plan`, which ended so. `state` is the run now.
    pub(crate) fn past_run(&self, state: &RunState, plan: &CheckedPlan, end: PastEnd) -> PastRun {
        let shares_data = self.runs.config.share_run_data;
        let earlier = calls(state, false).map(|call| past_call(call, shares_data));
        PastRun {
            source: plan.source().to_owned(),
            end,
            calls: self.calls_of_last(state),
            earlier: earlier.filter(|call| call.has_effect && call.code.is_none()).collect(),
            shares_data,
        }
    }

    /// The calls that the plan made which was accepted last.
    pub(crate) fn calls_of_last(&self, state: &RunState) -> Vec<PastCall> {
        let shares_data = self.runs.config.share_run_data;
        calls(state, true).map(|call| past_call(call, shares_data)).collect()
    }
}

/// The calls of the plan that was accepted last, or those of the plans before it.
fn calls(state: &RunState, of_last: bool) -> impl Iterator<Item = &CallState> {
    let before = state.accepted.as_ref().map_or(0, |plan| plan.calls_before);
    state.calls.iter().filter(move |call| (call.call_id.sequence() > before) == of_last)
}

/// How a run ended that failed with `error`.
pub(crate) fn failed_with(error: &Error) -> PastEnd {
    let line = error.details().get("line").and_then(serde_json::Value::as_u64);
    PastEnd::Failed {
        code: error.code(),
        message: error.message().to_owned(),
        line: line.and_then(|line| u32::try_from(line).ok()),
        limit: error.limit().zip(error.observed()).map(|(limit, seen)| (limit.to_string(), seen.to_string())),
    }
}

/// Whether nothing was changed, sent or spent so far, and no person asked, who would be asked again.
pub(crate) fn has_only_read(calls: &[CallState]) -> bool {
    calls.iter().all(|call| call.refused || (call.effect == Some(Effect::Read) && !call.asks_person))
}

fn past_call(call: &CallState, shares_data: bool) -> PastCall {
    let end = call.end.as_ref();
    let failure = end.and_then(|end| end.error.as_ref());
    let of_query = failure.filter(|_| call.tool == QUERY);
    PastCall {
        tool: call.tool.clone(),
        line: call.line,
        code: end.and_then(|end| end.code.clone()),
        has_effect: call.effect.is_some_and(|effect| effect != Effect::Read),
        message: failure.and_then(|failure| Some(failure.get("error")?.as_str()?.to_owned())),
        database_code: of_query.and_then(database_code),
        schema_hint: of_query.and_then(schema_hint),
        returned: end.and_then(|end| end.result.clone()).and_then(|result| {
            let result = Value::from_exact_json(result).ok()?;
            Some(kinds(&result))
        }),
        said: end.filter(|_| shares_data).and_then(said),
    }
}

fn database_code(failure: &serde_json::Value) -> Option<String> {
    let state = failure.get("sqlstate").and_then(serde_json::Value::as_str);
    let number = failure.get("errno").and_then(serde_json::Value::as_i64);
    state.map(|state| format!("SQLSTATE {state}")).or_else(|| number.map(|number| format!("error {number}")))
}

/// The hint of PostgreSQL where it could not resolve the statement's own names, which holds names of the schema and
/// no value. Other hints may hold anything.
fn schema_hint(failure: &serde_json::Value) -> Option<String> {
    const UNRESOLVED: [&str; 5] = ["42703", "42P01", "42883", "42702", "42704"];
    let state = failure.get("sqlstate")?.as_str()?;
    let hint = failure.get("hint")?.as_str()?;
    UNRESOLVED.contains(&state).then(|| hint.to_owned())
}

fn said(end: &CallEnd) -> Option<String> {
    let told = if end.ok { &end.result } else { &end.error };
    told.as_ref().map(ToString::to_string)
}

/// Whether another plan could end better: errors of the plan, and limits each plan has anew.
pub(crate) const fn is_for_a_better_plan(code: ErrorCode) -> bool {
    use ErrorCode as C;
    matches!(
        code,
        C::PlanError
            | C::ToolErrorUsed
            | C::ToolErrorIgnored
            | C::MustFailed
            | C::RecordUsedAsList
            | C::LimitInstructions
            | C::LimitMemory
            | C::LimitCallDepth
            | C::LimitOutputBytes
            | C::LimitPrintBytes
    )
}
