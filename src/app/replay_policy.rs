//! A recorded run under another policy: what would be denied or asked about now.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde::Serialize;
use serde_json::Value as Json;

use super::App;
use super::from_records::circumstances_of;
use super::replay::{ReplayReport, ReplayRequest};
use crate::base::{CallOutcome, ErrorCode, Result};
use crate::bus::{CallHandler, Policy, PolicyRules, Tier};
use crate::catalog::{CallRequest, Catalog};
use crate::journal::{CallState, Redactor, RunState};

/// A call that a policy decides otherwise than it was decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PolicyDifference {
    /// The call.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// Line of the plan that made it.
    pub line: Option<u32>,
    /// Its arguments, as recorded.
    pub arguments: Json,
    /// What was decided then: `auto`, `prompt`, `manual` or `deny`; null for a call that is not on record.
    pub recorded: Option<String>,
    /// What is decided now.
    pub now: &'static str,
    /// The rule that decides now; `default` where none matches.
    pub rule: Option<String>,
    /// Why.
    pub reason: String,
}

/// Asks a policy about each call before it is answered: what it denies is refused, what it would ask a
/// person about goes on as if allowed.
pub(super) struct UnderPolicy {
    policy: Policy,
    catalog: Arc<Catalog>,
    redactor: Arc<Redactor>,
    next: Arc<dyn CallHandler>,
    seen: Mutex<Vec<PolicyDifference>>,
}

impl UnderPolicy {
    pub(super) fn new(
        policy: Policy,
        catalog: Arc<Catalog>,
        redactor: Arc<Redactor>,
        next: Arc<dyn CallHandler>,
    ) -> Self {
        Self { policy, catalog, redactor, next, seen: Mutex::default() }
    }

    /// What it says about a call, and the outcome of one that is refused.
    fn judge(&self, call: &CallRequest) -> Option<CallOutcome> {
        let spec = self.catalog.get(&call.tool)?;
        let bound = spec.bind(&call.arguments).ok()?;
        let verdict = self.policy.decide(spec, &bound);
        let mut arguments = bound.to_json();
        self.redactor.arguments(&mut arguments);
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(PolicyDifference {
            call_id: call.id.to_string(),
            tool: call.tool.clone(),
            line: call.line,
            arguments,
            recorded: None,
            now: verdict.decision.as_str(),
            rule: verdict.decided_by.clone(),
            reason: verdict.reason.clone(),
        });
        (verdict.decision == Tier::Deny).then(|| Err(verdict.refusal(spec)))
    }

    /// The calls it decides otherwise than they were decided in `state`; with `by_id` unset, the plan is
    /// another one and its calls are not those on record.
    pub(super) fn differences(&self, state: &RunState, by_id: bool) -> Vec<PolicyDifference> {
        let then: HashMap<&str, &str> = if by_id { decided_then(state) } else { HashMap::new() };
        let mut seen = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        for call in &mut seen {
            call.recorded = then.get(call.call_id.as_str()).map(|tier| (*tier).to_owned());
        }
        seen.retain(|call| call.recorded.as_deref().unwrap_or(Tier::Auto.as_str()) != call.now);
        seen
    }
}

#[async_trait]
impl CallHandler for UnderPolicy {
    async fn answer(&self, calls: Vec<CallRequest>) -> Result<Vec<CallOutcome>> {
        let mut outcomes: Vec<Option<CallOutcome>> = calls.iter().map(|call| self.judge(call)).collect();
        let rest: Vec<CallRequest> = calls
            .into_iter()
            .zip(&outcomes)
            .filter(|(_, refused)| refused.is_none())
            .map(|(call, _)| call)
            .collect();
        if !rest.is_empty() {
            let mut answers = self.next.answer(rest).await?.into_iter();
            for outcome in outcomes.iter_mut().filter(|outcome| outcome.is_none()) {
                *outcome = answers.next();
            }
        }
        Ok(outcomes.into_iter().flatten().collect())
    }
}

/// Whether a policy refused the call: its answer is the policy's, not a tool's.
pub(super) fn is_denied(call: &CallState) -> bool {
    let code = call.end.as_ref().and_then(|end| end.code.as_deref());
    call.refused && code == Some(ErrorCode::PermissionDenied.as_str())
}

/// What was decided about each call.
fn decided_then(state: &RunState) -> HashMap<&str, &str> {
    let mut tiers: HashMap<&str, &str> = state
        .calls
        .iter()
        .map(|call| {
            let tier = if is_denied(call) { Tier::Deny } else { Tier::Auto };
            (call.call_id.as_str(), tier.as_str())
        })
        .collect();
    for asked in &state.approvals {
        tiers.insert(asked.call_id.as_str(), asked.tier.as_str());
    }
    tiers
}

impl App {
    /// As [`App::replay`], under the rules of another policy file: what they deny is refused, and calls that
    /// are decided otherwise than they were are named. What they would ask a person about goes on as if it
    /// were allowed; a call that was denied then and is allowed now is not on record.
    ///
    /// # Errors
    /// As [`App::replay`].
    pub async fn replay_under(
        &self,
        request: ReplayRequest,
        rules: Arc<PolicyRules>,
    ) -> Result<ReplayReport> {
        let state = self.known_run(&request.run_id).await?;
        let policy = Policy {
            rules: Some(rules),
            circumstances: circumstances_of(&state)?,
            ..Policy::registered_tools()
        };
        self.replay_as(request, Some(policy)).await
    }
}
