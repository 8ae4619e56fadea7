//! Answers the calls of a resumed or replayed run from the journal.
//!
//! A plan is run again from its top. As it sees nothing but its context and its answers, it makes
//! the same calls under the same ids; recorded calls are answered from the record, without any
//! effect, and the others go to the next handler.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value as Json;

use luaplan_base::{
    CallId, CallOutcome, CallRequest, ContentHash, Error, ErrorCode, LimitName, Result, ToolFailure, Value,
    outcome_bytes,
};
use luaplan_bus::{CallHandler, Interruption, RunBudget};
use luaplan_catalog::Catalog;
use luaplan_journal::{CallState, Redactor, Resolved};

/// A recorded call with its answer.
#[derive(Debug, Clone)]
struct RecordedAnswer {
    tool: String,
    /// Hash of the arguments as recorded, redacted.
    arguments_hash: ContentHash,
    form: RecordedForm,
    outcome: CallOutcome,
}

/// The calls of a run that can be answered from its journal.
#[derive(Debug, Default)]
pub struct RecordedCalls(HashMap<CallId, RecordedAnswer>);

impl RecordedCalls {
    /// The calls that ended, or that a person resolved. Calls still in doubt are omitted:
    /// they are made again.
    ///
    /// # Errors
    /// `run_not_resumable` where a secret was removed from a result, as the plan cannot get the same
    /// result again; `journal_corrupt` where a record has no readable outcome.
    pub fn of<'a>(calls: impl IntoIterator<Item = &'a CallState>) -> Result<Self> {
        let mut recorded = HashMap::new();
        for call in calls {
            if call.is_open() || call.resolved == Some(Resolved::Retry) && call.end.is_none() {
                continue;
            }
            let outcome = outcome_of(call)?;
            let (tool, arguments_hash) = (call.tool.clone(), call.recorded_hash());
            let known = RecordedAnswer { tool, arguments_hash, form: RecordedForm::of(call), outcome };
            recorded.insert(call.call_id.clone(), known);
        }
        Ok(Self(recorded))
    }

    /// The outcome of the only call; `None` where there is none or there are several.
    #[must_use]
    pub fn only(self) -> Option<CallOutcome> {
        let mut calls = self.0.into_values();
        let first = calls.next()?;
        calls.next().is_none().then_some(first.outcome)
    }

    /// The number of recorded calls.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn outcome_of(call: &CallState) -> Result<CallOutcome> {
    let id = &call.call_id;
    let held_secret = || {
        let message = format!("the result of call {id} held a secret, which is not in the journal");
        Error::new(ErrorCode::RunNotResumable, message)
    };
    let outcome = match (&call.resolved, &call.end) {
        (Some(Resolved::Done { .. }), _) if call.result_held_secret() => return Err(held_secret()),
        (Some(Resolved::Done { result }), _) => Ok(Value::from_exact_json(result.clone())?),
        (Some(Resolved::Failed { message }), _) => {
            Err(ToolFailure::new(ErrorCode::CallMarkedFailed, message.as_str()))
        }
        (_, Some(end)) => match (&end.result, &end.error) {
            (Some(_), _) if end.ok && call.result_held_secret() => return Err(held_secret()),
            (Some(result), _) if end.ok => Ok(Value::from_exact_json(result.clone())?),
            (_, Some(error)) if !end.ok => Err(ToolFailure::from_seen(error.clone())?),
            _ => {
                return Err(Error::new(ErrorCode::JournalCorrupt, format!("call {id} has no outcome")));
            }
        },
        _ => return Err(Error::new(ErrorCode::Internal, format!("call {id} is in doubt"))),
    };
    Ok(outcome)
}

/// The form in which the arguments of a call are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedForm {
    /// Bound: the call was made.
    Bound,
    /// By name, right or not: the call was refused.
    Named,
    /// As the plan wrote them, where they have no names; older records hold all refused calls in this form.
    Written,
}

impl RecordedForm {
    /// Every form, that of allowed calls first.
    pub const ALL: [Self; 3] = [Self::Bound, Self::Named, Self::Written];

    fn of(call: &CallState) -> Self {
        match call.refused {
            false => Self::Bound,
            true if call.arguments.is_array() => Self::Written,
            true => Self::Named,
        }
    }
}

/// The arguments of a call in the journal's form. `None` where they cannot have that form.
#[must_use]
pub fn arguments_as_recorded(
    call: &CallRequest,
    form: RecordedForm,
    catalog: &Catalog,
    redactor: &Redactor,
) -> Option<Json> {
    let mut arguments = match form {
        RecordedForm::Bound => catalog.get(&call.tool)?.bind(&call.arguments).ok()?.to_json(),
        RecordedForm::Named => catalog.get(&call.tool)?.by_name(&call.arguments)?.to_json(),
        RecordedForm::Written => call.arguments.to_json(),
    };
    redactor.arguments(&mut arguments);
    Some(arguments)
}

/// Answers recorded calls, and passes the others to `next`.
pub struct FromJournal {
    /// The recorded calls.
    pub calls: RecordedCalls,
    /// The tools, to bind arguments as before.
    pub catalog: Arc<Catalog>,
    /// The redactor, to redact arguments as before.
    pub redactor: Arc<Redactor>,
    /// The run's budget: recorded calls count as if they were made now.
    pub budget: Arc<RunBudget>,
    /// The handler of calls that are not on record.
    pub next: Arc<dyn CallHandler>,
}

impl FromJournal {
    fn answer_of(&self, call: &CallRequest) -> Result<Option<CallOutcome>> {
        let Some(recorded) = self.calls.0.get(&call.id) else { return Ok(None) };
        let diverged = |what: String| {
            Err(Error::new(ErrorCode::ReplayDiverged, format!("call {} {what}", call.id))
                .with_detail("call_id", call.id.as_str())
                .with_detail("line", call.line))
        };
        if recorded.tool != call.tool {
            return diverged(format!("goes to `{}`; on record it went to `{}`", call.tool, recorded.tool));
        }
        match arguments_as_recorded(call, recorded.form, &self.catalog, &self.redactor) {
            Some(arguments) if ContentHash::of_json(&arguments) == recorded.arguments_hash => {
                Ok(Some(recorded.outcome.clone()))
            }
            Some(_) => diverged(format!("of `{}` has other arguments than those on record", call.tool)),
            None => diverged(format!("of `{}` is no longer possible with its arguments", call.tool)),
        }
    }

    fn count(&self, outcomes: &[Option<CallOutcome>]) -> Result<()> {
        let answered = outcomes.iter().flatten();
        self.budget.spend(LimitName::ToolCalls, answered.clone().count() as u64)?;
        let bytes = answered.map(outcome_bytes).sum();
        self.budget.spend(LimitName::ResultBytes, bytes)
    }
}

#[async_trait]
impl CallHandler for FromJournal {
    async fn answer(&self, calls: Vec<CallRequest>) -> Result<Vec<CallOutcome>, Interruption> {
        let mut outcomes = calls.iter().map(|call| self.answer_of(call)).collect::<Result<Vec<_>>>()?;
        self.count(&outcomes)?;
        let rest: Vec<CallRequest> = calls
            .into_iter()
            .zip(&outcomes)
            .filter(|(_, outcome)| outcome.is_none())
            .map(|(call, _)| call)
            .collect();
        if !rest.is_empty() {
            let mut made = self.next.answer(rest).await?.into_iter();
            for outcome in outcomes.iter_mut().filter(|outcome| outcome.is_none()) {
                *outcome = made.next();
            }
        }
        Ok(outcomes.into_iter().flatten().collect())
    }
}

/// The last handler of a replay: it makes no calls.
pub struct NothingMore;

#[async_trait]
impl CallHandler for NothingMore {
    async fn answer(&self, calls: Vec<CallRequest>) -> Result<Vec<CallOutcome>, Interruption> {
        let names: Vec<String> = calls.iter().map(|call| format!("{} `{}`", call.id, call.tool)).collect();
        let message = format!("the plan asks for calls that are not on record: {}", names.join(", "));
        Err(Error::new(ErrorCode::ReplayDiverged, message).into())
    }
}
