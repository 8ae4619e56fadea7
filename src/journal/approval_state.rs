//! Requests for a person's approval, folded from a run's records.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use luaplan_base::{CallId, ContentHash, Effect};

use super::{DecisionKind, EventBody, Record, Tier, Word};

/// Why a person is asked about a whole plan.
const PLAN_REASON: &str = "the run was started so that a person confirms its plan";

/// A rule of the policy file at the time of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleReference {
    /// Its name.
    pub name: String,
    /// Hash of its content: a changed rule counts as another rule.
    pub hash: ContentHash,
}

/// What a person decided about a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ApprovalDecision {
    /// The kind of decision.
    pub decision: Word<DecisionKind>,
    /// Who: `local`, or the name of an API key.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// The edited arguments, in exact form.
    pub arguments: Option<Json>,
    /// Why, where it was denied.
    pub reason: Option<String>,
    /// The grant that came with it.
    pub grant_id: Option<String>,
}

impl ApprovalDecision {
    /// Whether the call may be made. A decision of a kind that only a later version knows does not allow it.
    #[must_use]
    pub fn is_allowance(&self) -> bool {
        use DecisionKind as D;
        matches!(self.decision, Word::Known(D::Once | D::For | D::Edit))
    }
}

/// What is known of a plan that waits, or waited, for a person's approval. Its source is the argument `plan`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanRequest {
    /// Hash of the context it would run with.
    pub context_hash: ContentHash,
    /// The model's note on it. Untrusted.
    pub explanation: Option<String>,
    /// What it would do, as `luaplan explain` says it.
    pub effects: String,
    /// Whether a plan was run since.
    #[serde(skip)]
    pub is_taken_up: bool,
}

/// A call that waits, or waited, for a person's approval; or a whole plan, before anything of it runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ApprovalState {
    /// Derived from the run, the call, the plan and the arguments: other arguments give another id.
    pub approval_id: String,
    /// The call; `plan` for a whole plan.
    pub call_id: CallId,
    /// The tool; `plan` for a whole plan.
    pub tool: String,
    /// What the tool does to the world; for a whole plan the strongest effect of its calls.
    pub effect: Effect,
    /// Line of the plan.
    pub line: Option<u32>,
    /// The arguments as recorded.
    pub arguments: Json,
    /// Their hash.
    pub arguments_hash: ContentHash,
    /// The plan that makes the call.
    pub plan_hash: ContentHash,
    /// The tier that asked: `prompt` or `manual`.
    pub tier: Word<Tier>,
    /// The rules that required the approval, the deciding one first; empty where the policy's default did.
    pub rules: Vec<RuleReference>,
    /// Why approval is required.
    pub reason: String,
    /// Where each argument came from.
    pub origins: Json,
    /// Hash of the tool's definition at the time of the request.
    pub tool_hash: Option<ContentHash>,
    /// What is asked about a whole plan; absent for a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanRequest>,
    /// When approval was requested.
    pub requested_at: Timestamp,
    /// Place of the request in the journal.
    #[serde(skip)]
    pub requested_sequence: u64,
    /// The decision; absent while the call waits.
    pub decision: Option<ApprovalDecision>,
}

impl ApprovalState {
    /// The source of the plan that may run: the person's where it was edited, else the one that was asked about; `None`
    /// for a call, and where no decision allows a plan.
    #[must_use]
    pub fn approved_source(&self) -> Option<&str> {
        self.plan.as_ref()?;
        let decision = self.decision.as_ref().filter(|decision| decision.is_allowance())?;
        decision.arguments.as_ref().unwrap_or(&self.arguments).get(CallId::WHOLE_PLAN)?.as_str()
    }
}

/// Adds what a record says about approvals to those known so far. `sources` are the plans proposed, each with its hash.
pub(super) fn apply(approvals: &mut Vec<ApprovalState>, sources: &[(ContentHash, String)], record: &Record) {
    let at = record.event.at;
    match &record.event.body {
        EventBody::ApprovalRequested {
            approval_id,
            call_id,
            tool,
            effect,
            line,
            arguments,
            arguments_hash,
            plan_hash,
            tier,
            rules,
            reason,
            origins,
            tool_hash,
        } => {
            withdraw(approvals, |open| open.call_id == *call_id);
            approvals.push(ApprovalState {
                approval_id: approval_id.clone(),
                call_id: call_id.clone(),
                tool: tool.clone(),
                effect: *effect,
                line: *line,
                arguments: arguments.clone(),
                arguments_hash: arguments_hash.clone(),
                plan_hash: plan_hash.clone(),
                tier: tier.clone(),
                rules: rules.clone(),
                reason: reason.clone(),
                origins: origins.clone(),
                tool_hash: tool_hash.clone(),
                plan: None,
                requested_at: at,
                requested_sequence: record.sequence,
                decision: None,
            });
        }
        EventBody::PlanApprovalRequested {
            approval_id,
            call_id,
            plan_hash,
            context_hash,
            effect,
            effects,
            explanation,
        } => {
            withdraw(approvals, |_| true);
            let source = sources.iter().rev().find(|(hash, _)| hash == plan_hash);
            let arguments = json!({ (CallId::WHOLE_PLAN): source.map(|(_, source)| source) });
            approvals.push(ApprovalState {
                approval_id: approval_id.clone(),
                call_id: call_id.clone(),
                tool: CallId::WHOLE_PLAN.to_owned(),
                effect: *effect,
                line: None,
                arguments_hash: ContentHash::of_json(&arguments),
                arguments,
                plan_hash: plan_hash.clone(),
                tier: Tier::Prompt.into(),
                rules: Vec::new(),
                reason: PLAN_REASON.to_owned(),
                origins: Json::Null,
                tool_hash: None,
                plan: Some(PlanRequest {
                    context_hash: context_hash.clone(),
                    explanation: explanation.clone(),
                    effects: effects.clone(),
                    is_taken_up: false,
                }),
                requested_at: at,
                requested_sequence: record.sequence,
                decision: None,
            });
        }
        EventBody::ApprovalResolved { approval_id, decision, by, arguments, reason, grant_id, .. } => {
            let open = approvals.iter_mut().rev().find(|open| open.approval_id == *approval_id);
            if let Some(open) = open.filter(|open| open.decision.is_none()) {
                open.decision = Some(ApprovalDecision {
                    decision: decision.clone(),
                    by: by.clone(),
                    at,
                    arguments: arguments.clone(),
                    reason: reason.clone(),
                    grant_id: grant_id.clone(),
                });
            }
        }
        // The call was made or refused without a decision: by a grant, or by a changed policy.
        EventBody::ToolCallStarted { call_id, .. } | EventBody::ToolCallRefused { call_id, .. } => {
            withdraw(approvals, |open| open.call_id == *call_id);
        }
        EventBody::PlanAccepted { .. } => {
            withdraw(approvals, |_| true);
            approvals
                .iter_mut()
                .filter_map(|known| known.plan.as_mut())
                .for_each(|plan| plan.is_taken_up = true);
        }
        _ => {}
    }
}

/// Drops undecided requests that no longer apply.
fn withdraw(approvals: &mut Vec<ApprovalState>, is_meant: impl Fn(&ApprovalState) -> bool) {
    approvals.retain(|open| open.decision.is_some() || !is_meant(open));
}
