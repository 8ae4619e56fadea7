//! A recorded run under another policy: what would be denied or asked about now.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::Value as Json;

use luaplan_base::{CallId, CallOutcome, CallRequest, ErrorCode, Value};
use luaplan_bus::Policy;
use luaplan_catalog::Catalog;
use luaplan_journal::{CallState, GrantState, Redactor, RunState, Tier, Word};

/// A call that a policy decides otherwise than it was decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PolicyDifference {
    /// The call.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// Line of the plan that made it.
    pub line: Option<u32>,
    /// Its arguments, as recorded: those a person wrote, where they were edited.
    pub arguments: Json,
    /// What was decided then; null for a call that is not on record.
    pub recorded: Option<Word<Tier>>,
    /// What is decided now.
    pub now: Tier,
    /// The rule that decides now; `default` where none matches.
    pub rule: Option<String>,
    /// Why.
    pub reason: String,
}

/// What is on record of a call that a replay meets.
#[derive(Debug)]
pub(crate) struct OnRecord {
    /// How it ended; `None` where it has no end, or where that end is the word of the policy then.
    pub(crate) outcome: Option<CallOutcome>,
    /// What was decided about it; `None` where no policy is asked.
    pub(crate) then: Option<Then>,
}

/// What was decided about a call.
#[derive(Debug, Clone)]
pub(crate) struct Then {
    decision: Word<Tier>,
    /// Whether it was covered by a leave for a time, which may be stricter than what the call needed.
    is_granted: bool,
    /// The arguments a person wrote in place of the plan's, in exact form.
    edited: Option<Json>,
}

impl Then {
    fn is(&self, now: Tier) -> bool {
        self.decision == now || self.is_granted && matches!(now, Tier::Prompt | Tier::Manual)
    }
}

/// Asks a policy about each call before it is answered: what it denies is refused, what it would ask a
/// person about continues as if allowed. A call whose arguments a person edited is judged by those: the
/// plan's own were never sent.
pub(crate) struct UnderPolicy {
    policy: Policy,
    catalog: Arc<Catalog>,
    redactor: Arc<Redactor>,
    differences: Mutex<Vec<PolicyDifference>>,
}

impl UnderPolicy {
    pub(crate) fn new(policy: Policy, catalog: Arc<Catalog>, redactor: Arc<Redactor>) -> Self {
        Self { policy, catalog, redactor, differences: Mutex::default() }
    }

    /// The outcome of a call that it refuses. Keeps the call where it decides otherwise than was decided.
    pub(crate) fn judge(&self, call: &CallRequest, then: Option<&Then>) -> Option<CallOutcome> {
        let spec = self.catalog.get(&call.tool)?;
        let bound = match then.and_then(|then| then.edited.clone()) {
            Some(edited) => spec.bind_named(Value::from_exact_json(edited).ok()?).ok()?,
            None => spec.bind(&call.arguments).ok()?,
        };
        let verdict = self.policy.decide(spec, &bound);
        if !then.map_or(verdict.decision == Tier::Auto, |then| then.is(verdict.decision)) {
            let mut arguments = bound.to_json();
            self.redactor.arguments(&mut arguments);
            self.differences.lock().unwrap_or_else(PoisonError::into_inner).push(PolicyDifference {
                call_id: call.id.to_string(),
                tool: call.tool.clone(),
                line: call.line,
                arguments,
                recorded: then.map(|then| then.decision.clone()),
                now: verdict.decision,
                rule: verdict.decided_by.clone(),
                reason: verdict.reason.clone(),
            });
        }
        (verdict.decision == Tier::Deny).then(|| Err(verdict.refusal(spec)))
    }

    /// The calls it decided otherwise than they were decided.
    pub(crate) fn differences(&self) -> Vec<PolicyDifference> {
        std::mem::take(&mut *self.differences.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Whether a policy refused the call: its answer is the policy's, not a tool's.
pub(crate) fn is_denied(call: &CallState) -> bool {
    let code = call.end.as_ref().and_then(|end| end.code.as_deref());
    call.refused && code == Some(ErrorCode::PermissionDenied.as_str())
}

/// What was decided about each call, those that still wait too.
pub(crate) fn decided_then(state: &RunState, grants: &[GrantState]) -> HashMap<CallId, Then> {
    let mut decided: HashMap<CallId, Then> = HashMap::new();
    for asked in state.approvals.iter().filter(|asked| asked.plan.is_none()) {
        let edited = asked.decision.as_ref().and_then(|decision| decision.arguments.clone());
        let then = Then { decision: asked.tier.clone(), is_granted: false, edited };
        decided.insert(asked.call_id.clone(), then);
    }
    for call in &state.calls {
        let grant_id = call.allowed_by.as_deref().and_then(|leave| leave.strip_prefix("grant:"));
        let grant = grant_id.and_then(|id| grants.iter().find(|grant| grant.grant_id == id));
        let then = decided.entry(call.call_id.clone()).or_insert_with(|| Then {
            decision: grant.map_or(Tier::Auto.into(), |grant| grant.tier.clone()),
            is_granted: grant.is_some(),
            edited: None,
        });
        if is_denied(call) {
            then.decision = Tier::Deny.into();
        }
    }
    decided
}
