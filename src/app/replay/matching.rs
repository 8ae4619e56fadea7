//! Recorded calls found by what they ask for, to answer a replay that may make others.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::Value as Json;

use luaplan_base::{CallId, CallOutcome, CallRequest, ContentHash, ErrorCode, Result, ToolFailure};
use luaplan_bus::{CallHandler, Interruption};
use luaplan_catalog::Catalog;
use luaplan_engine::{RecordedCalls, RecordedForm, arguments_as_recorded};
use luaplan_journal::{CallState, GrantState, Redactor, RunState};

use crate::replay::policy::{OnRecord, UnderPolicy, decided_then, is_denied};

/// A call's arguments in each form the journal may have them.
pub(crate) fn forms<'a>(
    call: &'a CallRequest,
    catalog: &'a Catalog,
    redactor: &'a Redactor,
) -> impl Iterator<Item = Json> + 'a {
    RecordedForm::ALL.into_iter().filter_map(|form| arguments_as_recorded(call, form, catalog, redactor))
}

/// What is kept of calls, by their tool and arguments, in their order.
pub(crate) struct ByContent<T> {
    kept: HashMap<(String, ContentHash), VecDeque<(CallId, T)>>,
    /// Whether the calls made are those on record: of several that ask for the same, each is then itself.
    pub(crate) is_same_plan: bool,
}

impl<T> Default for ByContent<T> {
    fn default() -> Self {
        Self { kept: HashMap::new(), is_same_plan: false }
    }
}

impl<T> ByContent<T> {
    pub(crate) fn put(&mut self, call: &CallState, kept: T) {
        self.put_as((call.tool.clone(), call.recorded_hash()), &call.call_id, kept);
    }

    fn put_as(&mut self, content: (String, ContentHash), call_id: &CallId, kept: T) {
        self.kept.entry(content).or_default().push_back((call_id.clone(), kept));
    }

    /// Whether more is kept of such a call; one less after that.
    pub(crate) fn is_left(&mut self, call: &CallState) -> bool {
        let left = self.kept.get_mut(&(call.tool.clone(), call.recorded_hash()));
        left.is_some_and(|left| left.pop_back().is_some())
    }

    /// The next that is kept of such a call.
    pub(crate) fn take(&mut self, call: &CallRequest, catalog: &Catalog, redactor: &Redactor) -> Option<T> {
        let contents: Vec<(String, ContentHash)> = forms(call, catalog, redactor)
            .map(|arguments| (call.tool.clone(), ContentHash::of_json(&arguments)))
            .collect();
        let place = |is_meant: &dyn Fn(&CallId) -> bool| {
            contents.iter().find_map(|content| {
                let place = self.kept.get(content)?.iter().position(|(call_id, _)| is_meant(call_id))?;
                Some((content, place))
            })
        };
        let itself = if self.is_same_plan { place(&|call_id| *call_id == call.id) } else { None };
        let (content, place) = itself.or_else(|| place(&|_| true))?;
        self.kept.get_mut(content)?.remove(place).map(|(_, kept)| kept)
    }
}

/// The recorded calls that can be answered.
pub(crate) fn by_arguments(calls: &[CallState]) -> Result<ByContent<OnRecord>> {
    let mut records = ByContent::default();
    for call in calls {
        if let Some(outcome) = RecordedCalls::of([call])?.only() {
            records.put(call, OnRecord { outcome: Some(outcome), then: None });
        }
    }
    Ok(records)
}

/// As [`by_arguments`], with what was decided: calls that were denied then, or still wait, have no outcome.
pub(crate) fn records_to_judge(state: &RunState, grants: &[GrantState]) -> Result<ByContent<OnRecord>> {
    let mut decided = decided_then(state, grants);
    let mut records = ByContent::default();
    for call in &state.calls {
        let outcome = if is_denied(call) { None } else { RecordedCalls::of([call])?.only() };
        records.put(call, OnRecord { outcome, then: decided.remove(&call.call_id) });
    }
    for asked in state.approvals.iter().rev() {
        // Only what no call came of is left.
        if let Some(then) = decided.remove(&asked.call_id) {
            let content = (asked.tool.clone(), asked.arguments_hash.clone());
            records.put_as(content, &asked.call_id, OnRecord { outcome: None, then: Some(then) });
        }
    }
    Ok(records)
}

/// Answers calls by what they ask for, each recorded answer once; with a policy, only what that allows.
pub(crate) struct ByArguments {
    pub(crate) records: Mutex<ByContent<OnRecord>>,
    pub(crate) under: Option<Arc<UnderPolicy>>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) redactor: Arc<Redactor>,
}

#[async_trait]
impl CallHandler for ByArguments {
    async fn answer(&self, calls: Vec<CallRequest>) -> Result<Vec<CallOutcome>, Interruption> {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = |call: CallRequest| {
            let known = records.take(&call, &self.catalog, &self.redactor);
            let then = known.as_ref().and_then(|known| known.then.as_ref());
            let refused = self.under.as_ref().and_then(|under| under.judge(&call, then));
            refused.or_else(|| known?.outcome).unwrap_or_else(|| {
                let message = format!("`{}` was not called like this in the recorded run", call.tool);
                Err(ToolFailure::new(ErrorCode::CallNotOnRecord, message))
            })
        };
        Ok(calls.into_iter().map(answer).collect())
    }
}
