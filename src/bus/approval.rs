//! Approvals of calls: decisions on record, new requests, and grants.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value as Json;

use luaplan_base::{CallId, CallRequest, ContentHash, ErrorCode, Result, RunId, ToolFailure, Value};
use luaplan_catalog::ToolSpec;
use luaplan_journal as journal;
use luaplan_journal::{ApprovalDecision, ApprovalState, EventBody, GrantState, JournalRead, Mode};

use super::{Bus, PolicyDecision};

/// Says where the arguments of a call came from, for the approver.
#[async_trait]
pub trait ArgumentOrigins: Send + Sync {
    /// An object: `arguments`, a list of origins for each argument in words, and `decided_by`, what
    /// decides whether the plan makes the call. Null where it is not known.
    async fn of(&self, call: &CallRequest) -> Json;
}

/// The approvals and grants for the calls of one plan in one run. The default has none: every call that
/// needs an approval requests one.
#[derive(Clone, Default)]
pub struct RunApprovals {
    /// The plan that makes the calls.
    pub plan_hash: Option<ContentHash>,
    /// Earlier requests, with their decisions.
    pub known: Vec<ApprovalState>,
    /// The journal that holds the grants, and changes of the run's mode.
    pub journal: Option<Arc<dyn JournalRead>>,
    /// The run whose mode is this one's: the run of an agent is in that of the run that called it. Absent: the run's own.
    pub mode_of: Option<RunId>,
    /// Where arguments come from.
    pub origins: Option<Arc<dyn ArgumentOrigins>>,
}

/// The id of a request, which differs for another run, call, plan, tool or argument. `tool_hash` is the tool's
/// [`definition_hash`](ToolSpec::definition_hash).
#[must_use]
pub fn approval_id(
    run_id: &RunId,
    call_id: &CallId,
    plan_hash: Option<&ContentHash>,
    tool_hash: &ContentHash,
    arguments_hash: &ContentHash,
) -> String {
    const DIGITS: usize = 16;
    let bound_to = format!("{}/{tool_hash}/{arguments_hash}", plan_hash.map_or("", ContentHash::as_str));
    let hash = ContentHash::of(bound_to.as_bytes());
    format!("{run_id}:{call_id}:{}", hash.as_str().get(..DIGITS).unwrap_or_default())
}

/// The id of a request about a whole plan, which differs for another run, plan or context, and for each of the requests
/// of a run: it is number `earlier` + 1.
#[must_use]
pub fn plan_approval_id(
    run_id: &RunId,
    plan_hash: &ContentHash,
    context_hash: &ContentHash,
    earlier: usize,
) -> String {
    let nth = ContentHash::of(earlier.to_string().as_bytes());
    approval_id(run_id, &CallId::whole_plan(), Some(plan_hash), context_hash, &nth)
}

impl RunApprovals {
    /// The earlier decision about a call, whatever the policy says now.
    pub(super) fn decided(&self, approval_id: &str) -> Option<&ApprovalDecision> {
        self.known.iter().find(|known| known.approval_id == approval_id)?.decision.as_ref()
    }

    pub(super) fn is_asked(&self, approval_id: &str) -> bool {
        self.known.iter().any(|known| known.approval_id == approval_id)
    }

    /// The grant that covers a call of the tool for which the verdict requires approval: it was issued for the tool's
    /// present definition, the same tenant, the present version of each rule that asks, and at least the same tier.
    pub(super) async fn grant_for(
        &self,
        spec: &ToolSpec,
        tool_hash: &ContentHash,
        tenant: &str,
        verdict: &PolicyDecision,
        now: Timestamp,
    ) -> Result<Option<String>> {
        let Some(journal) = &self.journal else { return Ok(None) };
        let asking = verdict.asking();
        let covers = |grant: &GrantState| {
            // A default that asks has no rule; a grant for it covers that default alone.
            let same_kind = asking.is_empty() == grant.rules.is_empty();
            grant.holds_at(now)
                && grant.tenant == tenant
                && grant.tool_hash.as_ref() == Some(tool_hash)
                && grant.tier.known().is_some_and(|tier| tier >= verdict.decision)
                && same_kind
                && asking.iter().all(|rule| grant.rules.contains(rule))
        };
        let grants = journal::grants(&**journal, Some(&spec.name)).await?;
        Ok(grants.into_iter().find(covers).map(|grant| grant.grant_id))
    }

    /// The request for an approval.
    pub(super) async fn request(&self, asked: ApprovalSubject<'_>) -> EventBody {
        let ApprovalSubject { approval_id, call, spec, tool_hash, arguments, arguments_hash, verdict } =
            asked;
        let origins = match &self.origins {
            Some(origins) => origins.of(call).await,
            None => Json::Null,
        };
        EventBody::ApprovalRequested {
            approval_id,
            call_id: call.id.clone(),
            tool: spec.name.clone(),
            effect: spec.effect,
            line: call.line,
            arguments,
            arguments_hash,
            plan_hash: self.plan_hash.clone().unwrap_or_else(|| ContentHash::of(b"")),
            tier: verdict.decision.into(),
            rules: verdict.asking(),
            reason: verdict.reason.clone(),
            origins,
            tool_hash: Some(tool_hash),
        }
    }
}

impl Bus {
    /// What the policy says of a call, in the mode that the run is in now. The journal is asked for it where that makes a
    /// difference: a change of the mode then holds for the next call, in whatever process or node the run is.
    pub(super) async fn verdict(&self, spec: &ToolSpec, arguments: &Value) -> Result<PolicyDecision> {
        let (policy, approvals) = (&self.parts.policy, &self.parts.approvals);
        let (began, other) = (policy.decide(spec, arguments), self.other_mode.decide(spec, arguments));
        let Some(journal) = approvals.journal.as_ref().filter(|_| began != other) else { return Ok(began) };
        let run_id = approvals.mode_of.as_ref().unwrap_or(self.parts.log.run_id());
        let switched = journal::switched_mode(&**journal, run_id).await?;
        // A word that only another version knows is not the one that asks less.
        let mode = switched.map(|mode| mode.known().unwrap_or(Mode::Structured));
        Ok(if mode.is_some_and(|mode| mode != policy.circumstances.mode) { other } else { began })
    }
}

/// A call that needs an approval; its hash covers the arguments as they will be recorded.
pub(super) struct ApprovalSubject<'a> {
    pub(super) approval_id: String,
    pub(super) call: &'a CallRequest,
    pub(super) spec: &'a ToolSpec,
    pub(super) tool_hash: ContentHash,
    pub(super) arguments: Json,
    pub(super) arguments_hash: ContentHash,
    pub(super) verdict: &'a PolicyDecision,
}

/// The failure of a call that a person denied.
pub(super) fn denied(spec: &ToolSpec, decision: &ApprovalDecision) -> ToolFailure {
    let reason = decision.reason.as_deref().unwrap_or_default();
    let message = format!("{} denied this call of `{}`: {reason}; it was not made", decision.by, spec.name);
    ToolFailure::new(ErrorCode::ApprovalDenied, message).with_detail("reason", reason)
}
