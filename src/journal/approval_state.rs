//! Requests for a person's approval, folded from a run's records.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value as Json;

use luaplan_base::{CallId, ContentHash, Effect};

use super::{DecisionKind, EventBody, Record, RuleReference, Tier, Word};

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

/// A call that waits, or waited, for a person's approval.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ApprovalState {
    /// Derived from the run, the call, the plan and the arguments: other arguments give another id.
    pub approval_id: String,
    /// The call.
    pub call_id: CallId,
    /// The tool.
    pub tool: String,
    /// What the tool does to the world.
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
    /// When approval was requested.
    pub requested_at: Timestamp,
    /// Place of the request in the journal.
    #[serde(skip)]
    pub requested_sequence: u64,
    /// The decision; absent while the call waits.
    pub decision: Option<ApprovalDecision>,
}

/// Adds what a record says about approvals to those known so far.
pub(super) fn apply(approvals: &mut Vec<ApprovalState>, record: &Record) {
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
        EventBody::PlanAccepted { .. } => withdraw(approvals, |_| true),
        _ => {}
    }
}

/// Drops undecided requests that no longer apply.
fn withdraw(approvals: &mut Vec<ApprovalState>, is_meant: impl Fn(&ApprovalState) -> bool) {
    approvals.retain(|open| open.decision.is_some() || !is_meant(open));
}
