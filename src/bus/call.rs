//! The steps of one call; `batch.rs` holds their sequence.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use jiff::Timestamp;
use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

use luaplan_base::{
    CallId, CallOutcome, CallRequest, ContentHash, Effect, ErrorCode, LimitName, Result, RunId, SpanId,
    ToolFailure, Value, outcome_bytes,
};
use luaplan_catalog::ToolSpec;
use luaplan_journal::{Durability, EventBody, RunLog};

use super::approval::{ApprovalSubject, approval_id, denied};
use super::{
    Bus, FlowGate, Invocation, Permit, PolicyDecision, Progress, SteeredCall, Suspension, Tier, Tool,
};

/// A call that may be made: its tool exists, its arguments are valid, policy or a person allows it.
pub(super) struct PreparedCall {
    pub(super) tool: Arc<dyn Tool>,
    pub(super) arguments: Value,
    /// The rule that decided, where there is a policy file.
    rule: Option<String>,
    /// `approval:ID` or `grant:ID`, where approval was required.
    allowed_by: Option<String>,
    /// Hash of the plan's own arguments, where a person edited them.
    planned_arguments_hash: Option<ContentHash>,
    /// The ways on which untrusted data steers the call.
    untrusted_ways: Vec<String>,
}

/// Whether a call may be made.
pub(super) enum Readiness {
    Ready(PreparedCall),
    /// No: the plan gets this failure.
    Refused(ToolFailure),
    /// A person must decide. Without an event, the request is already on record.
    Asks {
        approval_id: String,
        request: Option<Box<EventBody>>,
    },
}

/// A call whose intent is journaled.
pub(super) struct Admitted {
    tool: Arc<dyn Tool>,
    call_id: CallId,
    arguments: Value,
    idempotency_key: String,
    span: SpanId,
    started: Timestamp,
    permit: Permit,
}

/// How the tool's call ended.
enum ToolEnd {
    Outcome(CallOutcome),
    /// It is suspended, and the run with it.
    Suspended(Suspension),
    /// The run ended first.
    Cut,
}

impl Bus {
    /// Decides whether a call may be made, by its tool, its arguments, the policy, and approvals.
    pub(super) async fn ready(&self, call: &CallRequest) -> Result<Readiness> {
        let Some(tool) = self.parts.registry.get(&call.tool) else {
            let message = format!("there is no tool `{}`; no call was made", call.tool);
            let failure =
                ToolFailure::new(ErrorCode::ToolUnknown, message).with_detail("tool", call.tool.as_str());
            return Ok(Readiness::Refused(failure));
        };
        let arguments = match tool.spec().bind(&call.arguments) {
            Ok(arguments) => arguments,
            Err(failure) => return Ok(Readiness::Refused(failure)),
        };
        let mut verdict = self.verdict(tool.spec(), &arguments).await?;
        if verdict.decision == Tier::Deny {
            return Ok(Readiness::Refused(verdict.refusal(tool.spec())));
        }
        let mut untrusted_ways = Vec::new();
        if let Some(gate) = &self.parts.flow {
            untrusted_ways = gate.judge.untrusted_ways(call, tool.spec()).await;
            match gate.steered {
                _ if untrusted_ways.is_empty() => {}
                SteeredCall::Record => {}
                SteeredCall::Ask => verdict = verdict.asking_for(&untrusted_ways),
                SteeredCall::Refuse => {
                    return Ok(Readiness::Refused(FlowGate::refusal(tool.spec(), &untrusted_ways)));
                }
            }
        }
        let prepared = PreparedCall {
            tool: Arc::clone(tool),
            arguments,
            rule: verdict.decided_by.clone(),
            allowed_by: None,
            planned_arguments_hash: None,
            untrusted_ways,
        };
        if verdict.decision == Tier::Auto && self.parts.approvals.known.is_empty() {
            return Ok(Readiness::Ready(prepared));
        }
        self.authorize(call, prepared, &verdict).await
    }

    async fn authorize(
        &self,
        call: &CallRequest,
        mut prepared: PreparedCall,
        verdict: &PolicyDecision,
    ) -> Result<Readiness> {
        let (approvals, log) = (&self.parts.approvals, &self.parts.log);
        let spec = prepared.tool.spec();
        let arguments = prepared.arguments.to_json();
        let arguments_hash = hash_as_recorded(log, &arguments);
        let tool_hash = spec.definition_hash();
        let plan_hash = approvals.plan_hash.as_ref();
        let id = approval_id(log.run_id(), &call.id, plan_hash, &tool_hash, &arguments_hash);
        // A decision about this call applies even where the policy no longer requires one.
        if let Some(decision) = approvals.decided(&id) {
            if !decision.is_allowance() {
                return Ok(Readiness::Refused(denied(spec, decision)));
            }
            if let Some(edited) = &decision.arguments {
                let edited = Value::from_exact_json(edited.clone())?;
                let bound = match spec.bind_named(edited) {
                    Ok(bound) => bound,
                    Err(failure) => return Ok(Readiness::Refused(failure)),
                };
                let verdict = self.verdict(spec, &bound).await?;
                if verdict.decision == Tier::Deny {
                    return Ok(Readiness::Refused(verdict.refusal(spec)));
                }
                prepared.arguments = bound;
                prepared.planned_arguments_hash = Some(arguments_hash);
            }
            prepared.allowed_by = Some(format!("approval:{id}"));
            return Ok(Readiness::Ready(prepared));
        }
        if verdict.decision == Tier::Auto {
            return Ok(Readiness::Ready(prepared));
        }
        let tenant = &self.parts.policy.circumstances.tenant;
        let now = log.clock().now();
        // An allowance for a time does not say that this data may steer this call.
        let may_be_granted = prepared.untrusted_ways.is_empty()
            || self.parts.flow.as_ref().is_none_or(|gate| gate.steered == SteeredCall::Record);
        if may_be_granted
            && let Some(grant) = approvals.grant_for(spec, &tool_hash, tenant, verdict, now).await?
        {
            prepared.allowed_by = Some(format!("grant:{grant}"));
            return Ok(Readiness::Ready(prepared));
        }
        if approvals.is_asked(&id) {
            return Ok(Readiness::Asks { approval_id: id, request: None });
        }
        if let Err(failure) = prepared.tool.could_call(&prepared.arguments) {
            return Ok(Readiness::Refused(failure));
        }
        let asked = ApprovalSubject {
            approval_id: id.clone(),
            call,
            spec,
            tool_hash,
            arguments,
            arguments_hash,
            verdict,
        };
        let request = Some(Box::new(approvals.request(asked).await));
        Ok(Readiness::Asks { approval_id: id, request })
    }

    /// Waits for the call's turn.
    pub(super) async fn permit(&self, prepared: &PreparedCall) -> std::result::Result<Permit, ToolFailure> {
        let parts = &self.parts;
        let run_ends = parts.deadline + parts.budget.idle().total();
        let permit = parts
            .limiter
            .acquire(&self.run_gate, prepared.tool.spec(), &prepared.arguments, run_ends)
            .await?;
        parts.budget.waited(permit.waited);
        Ok(permit)
    }

    /// Journals the request for approval, on the disk, as the run will pause for it.
    pub(super) async fn ask(&self, request: EventBody) -> Result<()> {
        self.parts.log.emit_in(self.parts.log.new_span(), request, Durability::Forced).await
    }

    /// Journals that the call was not made, and why.
    pub(super) async fn refuse(&self, call: &CallRequest, failure: &ToolFailure) -> Result<()> {
        let by_name =
            self.parts.registry.get(&call.tool).and_then(|tool| tool.spec().by_name(&call.arguments));
        let arguments = by_name.map_or_else(|| call.arguments.to_json(), |named| named.to_json());
        let body = EventBody::ToolCallRefused {
            call_id: call.id.clone(),
            tool: call.tool.clone(),
            code: failure.code.clone(),
            error: seen_by_plan(failure),
            arguments,
            line: call.line,
        };
        self.parts.log.emit_in(self.parts.log.new_span(), body, Durability::Queued).await
    }

    /// Journals the intent; for a call with an effect, waits until it is on the disk.
    pub(super) async fn intend(
        &self,
        call: &CallRequest,
        prepared: PreparedCall,
        permit: Permit,
    ) -> Result<Admitted> {
        let log = &self.parts.log;
        let spec = prepared.tool.spec();
        let arguments = prepared.arguments.to_json();
        let arguments_hash = hash_as_recorded(log, &arguments);
        let idempotency_key = idempotency_key(log.run_id(), &call.id);
        let body = EventBody::ToolCallStarted {
            call_id: call.id.clone(),
            tool: call.tool.clone(),
            effect: spec.effect,
            arguments,
            arguments_hash,
            line: call.line,
            idempotency_key: idempotency_key.clone(),
            rule: prepared.rule,
            allowed_by: prepared.allowed_by,
            planned_arguments_hash: prepared.planned_arguments_hash,
            untrusted_ways: prepared.untrusted_ways,
            waited_ms: u64::try_from(permit.waited.as_millis()).ok().filter(|waited_ms| *waited_ms > 0),
        };
        // The intent of a read is only queued: a later effect is forced, and this record with it.
        let durability = if spec.effect.forces_journal() { Durability::Forced } else { Durability::Queued };
        let span = log.new_span();
        log.emit_in(span.clone(), body, durability).await?;
        Ok(Admitted {
            call_id: call.id.clone(),
            arguments: prepared.arguments,
            tool: prepared.tool,
            idempotency_key,
            span,
            started: log.clock().now(),
            permit,
        })
    }

    /// Makes the call and journals its outcome, where it has one.
    pub(super) async fn make(&self, call: Admitted, cut: &CancellationToken) -> Result<Progress> {
        let Admitted { tool, call_id, arguments, idempotency_key, span, started, permit } = call;
        if tool.spec().effect.forces_journal() {
            // The process may have stalled since the intent was written.
            self.parts.log.check_fence().await?;
        }
        // Work that the tool started for this call is cancelled with it.
        let cancellation = cut.child_token();
        let stop = cancellation.clone().drop_guard();
        let invocation = Invocation {
            run_id: self.parts.log.run_id().clone(),
            call_id: call_id.clone(),
            arguments,
            idempotency_key,
            budget: Arc::clone(&self.parts.budget),
            log: self.parts.log.clone(),
            wake_at: self.parts.wakes.get(&call_id).copied(),
            question: self.parts.questions.get(&call_id).cloned(),
            cancellation,
        };
        let ended = tokio::select! {
            biased;
            () = cut.cancelled() => ToolEnd::Cut,
            progress = under_timeout(&*tool, invocation) => match progress {
                Progress::Ended(outcome) => ToolEnd::Outcome(outcome),
                Progress::Suspended(suspension) => ToolEnd::Suspended(suspension),
            },
        };
        drop(stop);
        drop(permit);
        let (outcome, then) = match ended {
            ToolEnd::Suspended(suspension) => return Ok(Progress::Suspended(suspension)),
            ToolEnd::Cut => (Err(call_cut(tool.spec())), Err(Self::cancelled())),
            ToolEnd::Outcome(outcome) => {
                let outcome = outcome.map_err(|failure| self.parts.log.redactor().failure(failure));
                let outcome = self.within_size(tool.spec(), outcome);
                let spent = self.parts.budget.spend(LimitName::ResultBytes, outcome_bytes(&outcome));
                // A limit that the tool itself hit ends the run too, whatever the tool answered.
                (outcome, spent.and_then(|()| self.parts.budget.exceeded().map_or(Ok(()), Err)))
            }
        };
        let elapsed = self.parts.log.clock().now().duration_since(started);
        let body = EventBody::ToolCallFinished {
            call_id,
            tool: tool.spec().name.clone(),
            ok: outcome.is_ok(),
            code: outcome.as_ref().err().map(|failure| failure.code.clone()),
            result: outcome.as_ref().ok().map(Value::to_exact_json),
            error: outcome.as_ref().err().map(seen_by_plan),
            result_bytes: outcome_bytes(&outcome),
            duration_ms: u64::try_from(elapsed.as_millis()).unwrap_or(0),
        };
        // An effect's outcome is on record before the plan continues, so that fewer calls end up in doubt.
        let durability =
            if tool.spec().effect.forces_journal() { Durability::Ordered } else { Durability::Queued };
        self.parts.log.emit_in(span, body, durability).await?;
        then.map(|()| Progress::Ended(outcome))
    }

    fn within_size(&self, spec: &ToolSpec, outcome: CallOutcome) -> CallOutcome {
        let (limit, observed) = (self.parts.result_bytes_max, outcome_bytes(&outcome));
        if observed <= limit {
            return outcome;
        }
        let message =
            format!("the result of `{}` has {observed} bytes; a single result may have {limit}", spec.name);
        Err(ToolFailure::new(ErrorCode::ResultTooLarge, message)
            .with_detail("limit", limit.cast_signed())
            .with_detail("observed", observed.cast_signed()))
    }
}

async fn under_timeout(tool: &dyn Tool, invocation: Invocation) -> Progress {
    let spec = tool.spec();
    // A panic drops the tool's state, which is not used again.
    let call = AssertUnwindSafe(async { tool.begin(invocation).await }).catch_unwind();
    let done =
        if tool.keeps_own_time() { Ok(call.await) } else { tokio::time::timeout(spec.timeout, call).await };
    Progress::Ended(match done {
        Ok(Ok(progress)) => return progress,
        Ok(Err(_)) => {
            tracing::error!(tool = spec.name, "a tool panicked");
            let message = format!("the tool `{}` broke down in itself", spec.name);
            Err(ToolFailure::new(ErrorCode::ToolFailed, message))
        }
        Err(_) => {
            let limit_ms = i64::try_from(spec.timeout.as_millis()).unwrap_or(i64::MAX);
            let message = format!("the tool `{}` did not answer within {limit_ms} ms", spec.name);
            let failure =
                ToolFailure::new(ErrorCode::ToolTimeout, message).with_detail("timeout_ms", limit_ms);
            // Whether it took effect is unknown, so only harmless calls are retryable.
            let harmless = spec.idempotent || spec.effect == Effect::Read;
            Err(if harmless { failure.retryable() } else { failure })
        }
    })
}

fn call_cut(spec: &ToolSpec) -> ToolFailure {
    let message = format!("the run ended while `{}` was under way; its effect is not known", spec.name);
    ToolFailure::new(ErrorCode::CallCut, message)
}

/// The hash covers the arguments as recorded, so that any reader can check it against the record, and it cannot be used
/// to guess secrets.
fn hash_as_recorded(log: &RunLog, arguments: &Json) -> ContentHash {
    let mut arguments = arguments.clone();
    log.redactor().arguments(&mut arguments);
    ContentHash::of_json(&arguments)
}

fn seen_by_plan(failure: &ToolFailure) -> Json {
    Value::Failure(Box::new(failure.clone())).to_json()
}

/// The idempotency key: the same for every repetition of a call, and for no other call.
fn idempotency_key(run_id: &RunId, call_id: &CallId) -> String {
    ContentHash::of(format!("{run_id}/{call_id}").as_bytes()).to_string()
}
