//! Requests for a person's leave, about calls and whole plans: what waits, and what is decided.

use std::time::Duration;

use indexmap::IndexMap;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::{Value as Json, json};

use luaplan_base::{Error, ErrorCode, Result, RunId, Value};
use luaplan_bus::Tier;
use luaplan_journal::{
    Actor, ApprovalState, ConflictGuard, DecisionKind, EventBody, JournalRead, Record, RunFilter, RunState,
    RunStatus, Settled,
};

use super::service::Approvals;
use crate::agents::kin::family_of;
use crate::history::known_run;
use crate::runs::restore::{cannot_go_on, circumstances_of, engine_suffices};

/// The longest time calls may be allowed for.
const GRANT_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// After any of these it is too late to decide about a call.
const PRECLUDING: &[&str] = &[
    "approval_requested",
    "plan_approval_requested",
    "approval_resolved",
    "tool_call_started",
    "tool_call_refused",
    "plan_accepted",
    "run_finished",
    "run_failed",
    "run_cancelled",
];

/// What a person says about a call.
#[derive(Debug, Clone, PartialEq)]
pub enum ApprovalAnswer {
    /// This call may be made.
    Once,
    /// This call may be made, and for so long every call of the tool that the same rules ask about.
    For(Duration),
    /// This call may be made with these arguments in place of all of its own, an object by parameter name.
    Edit(Value),
    /// This call may be made with these arguments changed and its others as they are; null takes one out.
    Set(IndexMap<String, Value>),
    /// This call may be made with this merged into its arguments (RFC 7396).
    Merge(Value),
    /// It may not be made; the plan is told why.
    Deny(String),
}

/// What becomes of the run once none of its calls waits any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterDecision {
    /// It can be resumed. The process that decides does so, else a service when it starts.
    GoesOn,
    /// It stays paused until it is resumed.
    StaysPaused,
}

/// A request that waits, with its run.
#[derive(Debug, Clone, Serialize)]
pub struct PendingApproval {
    /// The run that waits.
    pub run_id: RunId,
    /// Its task, where it has one.
    pub task: Option<String>,
    /// Its plan's name.
    pub plan_name: Option<String>,
    /// Whose run it is.
    pub tenant: Option<String>,
    /// The request.
    #[serde(flatten)]
    pub request: ApprovalState,
}

impl Approvals {
    /// The requests without a decision, oldest run first; of one run, or of all. Those of runs that can never be resumed
    /// are not pending, and not among them.
    ///
    /// # Errors
    /// As reading the journal; `not_found` for a run that is not there.
    pub async fn pending(&self, run_id: Option<&RunId>) -> Result<Vec<PendingApproval>> {
        pending_approvals(&*self.history.journal, run_id, None).await
    }

    /// Decides about a request, in the name of `by`. Of several that decide about the same one, in whatever
    /// process, one does; the others are told who was first and with what. This does not resume the run.
    ///
    /// # Errors
    /// `not_found`; `approval_stale` where it was decided or is no longer wanted; `run_not_resumable` where the
    /// run cannot be resumed whatever is decided; `forbidden` where the
    /// policy file does not name `by` as an approver, `approver_is_starter` where it keeps who started a run from deciding;
    /// `bad_arguments`, `bad_request` or `permission_denied` for arguments that do not fit, cannot be kept, or are denied by policy;
    /// `check_refused` with the findings and `limit_source` for an edited plan.
    pub async fn decide(
        &self,
        approval_id: &str,
        answer: ApprovalAnswer,
        then: AfterDecision,
        by: &Actor,
    ) -> Result<ApprovalState> {
        self.is_approver(&by.by)?;
        let no_such = || Error::new(ErrorCode::NotFound, format!("there is no approval `{approval_id}`"));
        let run_id: RunId =
            approval_id.split(':').next().and_then(|run| run.parse().ok()).ok_or_else(no_such)?;
        let state = self.history.known_run(&run_id).await?;
        let request = wanted(&state, approval_id)?.clone();
        self.is_other_than_starter(&state, by)?;
        // A decision about a run that can never be resumed would leave nothing but its grant.
        if let Some(error) = cannot_go_on(&state) {
            return Err(error);
        }
        engine_suffices(&state, self.config.sandbox.engine)?;
        let events = self.decision(&state, &request, (&answer, then), by).await?;
        let unless = ConflictGuard {
            run_id: run_id.clone(),
            call_id: request.call_id.clone(),
            after_sequence: request.requested_sequence,
            by_events: PRECLUDING,
        };
        let log = self.history.run_log(&run_id, &[]);
        match log.settle(events, unless).await? {
            Settled::Written(_) => {
                let state = self.history.known_run(&run_id).await?;
                let decided = state.approvals.into_iter().find(|known| known.approval_id == approval_id);
                decided.ok_or_else(no_such)
            }
            Settled::Conflict(first) => Err(stale(approval_id, &first)),
        }
    }

    /// The events of a decision, once it is certain that it can be kept.
    async fn decision(
        &self,
        state: &RunState,
        request: &ApprovalState,
        (answer, then): (&ApprovalAnswer, AfterDecision),
        by: &Actor,
    ) -> Result<Vec<EventBody>> {
        let (mut arguments, mut reason, mut grant, mut proposed) = (None, None, None, Vec::new());
        let decision = match answer {
            ApprovalAnswer::Once => DecisionKind::Once,
            ApprovalAnswer::For(_) if request.plan.is_some() => {
                return Err(Error::new(ErrorCode::BadRequest, "a plan is approved as it is, not for a time")
                    .with_help(
                        "approve it without a time; its calls are asked about where the policy says so",
                    ));
            }
            ApprovalAnswer::For(time) => {
                grant = Some((RunId::generate().to_string(), self.expiry(*time)?));
                DecisionKind::For
            }
            ApprovalAnswer::Edit(_) | ApprovalAnswer::Set(_) | ApprovalAnswer::Merge(_) => {
                let edited = answer.arguments(request)?.unwrap_or_default();
                if request.plan.is_some() {
                    proposed = self.edited_plan(state, &edited).await?;
                    arguments = Some(edited.to_exact_json());
                } else {
                    arguments = Some(self.edited(state, request, edited)?);
                }
                DecisionKind::Edit
            }
            ApprovalAnswer::Deny(why) if why.trim().is_empty() => {
                return Err(Error::new(
                    ErrorCode::BadRequest,
                    "a denial needs a reason: the plan is told it",
                ));
            }
            ApprovalAnswer::Deny(why) => {
                reason = Some(why.clone());
                DecisionKind::Deny
            }
        };
        let resolved = EventBody::ApprovalResolved {
            approval_id: request.approval_id.clone(),
            call_id: request.call_id.clone(),
            tool: request.tool.clone(),
            plan_hash: request.plan_hash.clone(),
            arguments_hash: request.arguments_hash.clone(),
            decision: decision.into(),
            by: by.by.clone(),
            arguments,
            reason,
            grant_id: grant.as_ref().map(|(grant_id, _)| grant_id.clone()),
            goes_on: then == AfterDecision::GoesOn,
            os_user: by.os_user.clone(),
        };
        let mut events = vec![resolved];
        events.extend(proposed);
        if let Some((grant_id, expires_at)) = grant {
            events.push(EventBody::GrantIssued {
                grant_id,
                approval_id: request.approval_id.clone(),
                tool: request.tool.clone(),
                rules: request.rules.clone(),
                tenant: circumstances_of(state)?.tenant,
                expires_at,
                by: by.by.clone(),
                tier: Some(request.tier.clone()),
                tool_hash: request.tool_hash.clone(),
                os_user: by.os_user.clone(),
            });
        }
        Ok(events)
    }

    fn expiry(&self, time: Duration) -> Result<Timestamp> {
        if time > GRANT_MAX || time.is_zero() {
            let message = "calls can be allowed for 30 days at most, and more than nothing";
            return Err(Error::new(ErrorCode::BadRequest, message)
                .with_limit("30d", shown_time(time))
                .with_help("give a shorter duration, such as `1h`, `2h30m` or `30d`"));
        }
        SignedDuration::try_from(time)
            .ok()
            .and_then(|time| self.history.clock.now().checked_add(time).ok())
            .ok_or_else(|| Error::new(ErrorCode::BadRequest, "that time is out of range"))
    }

    /// The arguments to use instead, in exact form, checked as a call's are.
    fn edited(&self, state: &RunState, request: &ApprovalState, edited: Value) -> Result<Json> {
        let spec = self.tools.catalog.get(&request.tool).ok_or_else(|| {
            Error::new(ErrorCode::ToolUnknown, format!("there is no tool `{}` any more", request.tool))
        })?;
        let of_failure = |failure: luaplan_base::ToolFailure, code: ErrorCode| {
            failure.details.iter().fold(Error::new(code, failure.message), |error, (name, value)| {
                error.with_detail(name.clone(), value.to_json())
            })
        };
        let bound = spec.bind_named(edited).map_err(|failure| {
            of_failure(failure, ErrorCode::BadArguments)
                .with_help(format!("compare with `luaplan tools show {}`", spec.name))
        })?;
        let verdict = self.policy_for(&circumstances_of(state)?).decide(spec, &bound);
        if verdict.decision == Tier::Deny {
            return Err(of_failure(verdict.refusal(spec), ErrorCode::PermissionDenied));
        }
        if let Some(tool) = self.tools.registry.get(&request.tool) {
            let code =
                |failure: &luaplan_base::ToolFailure| failure.code.parse().unwrap_or(ErrorCode::BadArguments);
            tool.could_call(&bound).map_err(|failure| of_failure(failure.clone(), code(&failure)))?;
        }
        let exact = bound.to_exact_json();
        let mut kept = exact.clone();
        self.history.redactor.arguments(&mut kept);
        if kept != exact {
            let message = "the edited arguments hold a secret, which would not be on record, so the call could not be made with them";
            return Err(Error::new(ErrorCode::BadRequest, message).with_help(
                "approve or deny the call as it is; secrets belong into the tool's configuration",
            ));
        }
        Ok(exact)
    }
}

/// A length of time as it is written on the command line: in days where it is whole days, else in seconds.
fn shown_time(time: Duration) -> String {
    const DAY_SECONDS: u64 = 24 * 60 * 60;
    match time.as_secs() {
        0 => "0s".to_owned(),
        seconds if seconds % DAY_SECONDS == 0 => format!("{}d", seconds / DAY_SECONDS),
        seconds => format!("{seconds}s"),
    }
}

/// As [`Approvals::pending`], from a journal alone; where no run is named, of one tenant or of all.
///
/// # Errors
/// As [`Approvals::pending`].
pub async fn pending_approvals(
    journal: &dyn JournalRead,
    run_id: Option<&RunId>,
    tenant: Option<&str>,
) -> Result<Vec<PendingApproval>> {
    let all = run_id.is_none();
    let run_ids = match run_id {
        Some(run_id) => vec![run_id.clone()],
        None => {
            let mut run_ids = Vec::new();
            for status in [RunStatus::Paused, RunStatus::Running, RunStatus::Sleeping] {
                let tenant = tenant.map(str::to_owned);
                let filter = RunFilter { status: Some(status), tenant, ..RunFilter::default() };
                run_ids.extend(journal.runs(filter).await?.into_iter().map(|run| run.run_id));
            }
            run_ids.sort();
            run_ids
        }
    };
    let mut pending = Vec::new();
    for run_id in run_ids {
        let state = known_run(journal, &run_id).await?;
        // Of one run, those of the agents it waits for as well; of all runs, each is there itself.
        let family = if all { vec![state] } else { family_of(journal, state).await? };
        for state in family.iter().filter(|state| state.pending_approvals().next().is_some()) {
            if cannot_go_on(state).is_some() {
                continue;
            }
            pending.extend(state.pending_approvals().map(|request| PendingApproval {
                run_id: state.run_id.clone(),
                task: state.task.clone(),
                plan_name: state.plan_name.clone(),
                tenant: state.tenant.clone(),
                request: request.clone(),
            }));
        }
    }
    Ok(pending)
}

/// The undecided request of that id.
fn wanted<'s>(state: &'s RunState, approval_id: &str) -> Result<&'s ApprovalState> {
    let stale = |message: String| Err(Error::new(ErrorCode::ApprovalStale, message));
    if let Some(pending) = state.pending_approvals().find(|known| known.approval_id == approval_id) {
        return Ok(pending);
    }
    let Some(known) = state.approvals.iter().find(|known| known.approval_id == approval_id) else {
        return stale(format!(
            "the call of `{approval_id}` is not asked about any more: its arguments changed, or it was made"
        ));
    };
    match &known.decision {
        Some(decided) => Err(Error::new(
            ErrorCode::ApprovalStale,
            format!("call {} was decided already: `{}` by {}", known.call_id, decided.decision, decided.by),
        )
        .with_detail("decision", json!(decided))),
        None => stale(format!("run {} has ended: it {}", state.run_id, state.status.verb())),
    }
}

/// What the loser of a race is told.
fn stale(approval_id: &str, first: &Record) -> Error {
    let what = match &first.event.body {
        EventBody::ApprovalResolved { call_id, decision, by, .. } => {
            format!("call {call_id} was decided a moment before: `{decision}` by {by}")
        }
        other => format!("`{approval_id}` is no longer wanted: {} came first", other.name()),
    };
    Error::new(ErrorCode::ApprovalStale, what).with_detail("first", json!(first.event.body))
}

/// The pending request about the call `call_id` of a run.
///
/// # Errors
/// `approval_stale` for a call that was decided already; `bad_request` where it could be one of several
/// runs; else `not_found`, naming the calls that wait.
pub async fn approval_of<'p>(
    journal: &dyn JournalRead,
    run_id: &RunId,
    pending: &'p [PendingApproval],
    call_id: &str,
) -> Result<&'p PendingApproval> {
    let mut meant = pending.iter().filter(|waits| waits.request.call_id.as_str() == call_id);
    match (meant.next(), meant.next()) {
        (Some(_), Some(other)) => {
            let message = format!("call `{call_id}` waits in several runs, one of them {}", other.run_id);
            return Err(Error::new(ErrorCode::BadRequest, message)
                .with_help("name the run that the list shows above the call"));
        }
        (Some(waits), None) => return Ok(waits),
        (None, _) => {}
    }
    let state = known_run(journal, run_id).await?;
    if let Some(asked) = state.approvals.iter().rev().find(|asked| asked.call_id.as_str() == call_id) {
        wanted(&state, &asked.approval_id)?;
        if let Some(error) = cannot_go_on(&state) {
            return Err(error);
        }
    }
    let calls: Vec<&str> = pending.iter().map(|waits| waits.request.call_id.as_str()).collect();
    let help = match calls.as_slice() {
        [] => "no call of this run waits for an approval".to_owned(),
        calls => format!("the calls that wait are {}", calls.join(", ")),
    };
    Err(Error::new(ErrorCode::NotFound, format!("call `{call_id}` does not wait for an approval"))
        .with_help(help))
}
