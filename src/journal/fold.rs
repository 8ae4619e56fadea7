//! The state of a run, folded from its records alone.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value as Json;

use luaplan_base::{ContentHash, EngineKind, ErrorCode, RunId, Usage};

use super::approval_state::{self, ApprovalState};
use super::call_state::{self, CallState, ParentCall};
use super::iteration_state::IterationState;
use super::question_state::{self, QuestionState};
use super::step_run::{self, StepRun};
use super::{AcceptedPlan, Actor, EventBody, Mode, Record, RunStatus, Word, redactions};

/// A run, folded from its records.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunState {
    /// The run.
    pub run_id: RunId,
    /// Its status.
    pub status: RunStatus,
    /// Time of its first record.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// The task in plain words, where there was one.
    pub task: Option<String>,
    /// The plan's name.
    pub plan_name: Option<String>,
    /// Whether mocks answered its calls.
    pub mocked: bool,
    /// Whether nothing of its plan is to run.
    pub plan_only: bool,
    /// Hash of the last plan proposed, or of the plan the run started with.
    pub plan_hash: Option<ContentHash>,
    /// Source of the last plan proposed.
    pub source: Option<String>,
    /// Hashes of the data that the model had seen when it wrote that plan.
    pub influenced_by: Vec<ContentHash>,
    /// The context it started with.
    pub context: Json,
    /// Its limits.
    pub limits: Json,
    /// The engine it runs on. Absent in older records.
    pub engine: Option<Word<EngineKind>>,
    /// The named context it saves to.
    pub context_name: Option<String>,
    /// The process that runs it or ran it last.
    pub owner: Option<String>,
    /// The tenant it belongs to; absent in older records.
    pub tenant: Option<String>,
    /// Who started it; absent in older records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_by: Option<Actor>,
    /// What it may do without approval; absent in older records.
    pub mode: Option<Word<Mode>>,
    /// Planning options that differ from the configuration.
    pub planning: Option<Box<Json>>,
    /// The call that started it, where it is the run of an agent.
    pub parent: Option<ParentCall>,
    /// The run it was reset from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_over: Option<RunId>,
    /// The run whose plan it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows: Option<RunId>,
    /// Whether a person confirms each of its plans before anything of it runs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub approve: bool,
    /// When it wakes, where it sleeps.
    pub wake_at: Option<Timestamp>,
    /// When it resumes without an answer, where it is paused for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_by: Option<Timestamp>,
    /// How far it has come, where it is or was autonomous.
    #[serde(skip_serializing_if = "IterationState::is_none")]
    pub iterations: IterationState,
    /// The plan it executes, once one was accepted.
    pub accepted: Option<AcceptedPlan>,
    /// Why it waits, where it is paused.
    pub paused: Option<String>,
    /// Whether it is to be resumed, by the last decision about its calls since it last resumed.
    #[serde(skip)]
    pub goes_on: bool,
    /// Where secrets were removed from its inputs and its end, as JSON pointers (`/context`, `/planning`,
    /// `/result`, `/error`, `/message`); each call has its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
    /// Why it can be neither resumed nor replayed, where a removed secret is the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_resumable: Option<String>,
    /// How often it was resumed.
    pub resumptions: u32,
    /// Tokens its models used so far.
    pub llm_tokens: u64,
    /// Of these, the ones that providers read from their caches.
    #[serde(skip_serializing_if = "is_zero")]
    pub llm_cached_tokens: u64,
    /// What its models cost so far.
    pub llm_cost_micro_usd: u64,
    /// The calls, in the order they were allowed or refused.
    pub calls: Vec<CallState>,
    /// The requests for approval, in their order, without those that no longer apply.
    pub approvals: Vec<ApprovalState>,
    /// The questions to a person, in their order, with their answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<QuestionState>,
    /// The named steps of its plan, in the order of the source, then as they began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepRun>,
    /// What it returned, in plain form.
    pub result: Option<Json>,
    /// Why it failed, as every edge sends it.
    pub error: Option<Json>,
    /// The code it failed with.
    pub code: Option<Word<ErrorCode>>,
    /// What the plan printed.
    pub printed: String,
    /// Its resource usage; known once it has ended.
    pub usage: Option<Usage>,
    #[serde(skip)]
    sources: Vec<(ContentHash, String)>,
}

impl RunState {
    /// The state after `records`, oldest first and all of one run; `None` where there are none.
    /// Records of other runs are ignored.
    pub fn fold<'a>(records: impl IntoIterator<Item = &'a Record>) -> Option<Self> {
        let mut records = records.into_iter();
        let mut state = Self::begin(records.next()?);
        for record in records {
            state.apply(record);
        }
        Some(state)
    }

    fn begin(first: &Record) -> Self {
        let mut state = Self {
            run_id: first.event.run_id.clone(),
            status: RunStatus::Running,
            started_at: first.event.at,
            ended_at: None,
            task: None,
            plan_name: None,
            mocked: false,
            plan_only: false,
            plan_hash: None,
            source: None,
            influenced_by: Vec::new(),
            context: Json::Null,
            limits: Json::Null,
            engine: None,
            context_name: None,
            owner: None,
            tenant: None,
            started_by: None,
            mode: None,
            planning: None,
            parent: None,
            starts_over: None,
            follows: None,
            approve: false,
            wake_at: None,
            answer_by: None,
            iterations: IterationState::default(),
            accepted: None,
            paused: None,
            goes_on: false,
            redacted: Vec::new(),
            not_resumable: None,
            resumptions: 0,
            llm_tokens: 0,
            llm_cached_tokens: 0,
            llm_cost_micro_usd: 0,
            sources: Vec::new(),
            calls: Vec::new(),
            approvals: Vec::new(),
            questions: Vec::new(),
            steps: Vec::new(),
            result: None,
            error: None,
            code: None,
            printed: String::new(),
            usage: None,
        };
        state.apply(first);
        state
    }

    /// The state after one more record.
    pub fn apply(&mut self, record: &Record) {
        if record.event.run_id != self.run_id {
            return;
        }
        let at = record.event.at;
        let places = redactions::places(record);
        approval_state::apply(&mut self.approvals, &self.sources, record);
        question_state::apply(&mut self.questions, record);
        step_run::apply(&mut self.steps, &record.event.body, record.event.at);
        self.iterations.apply(&record.event.body);
        match &record.event.body {
            EventBody::RunStarted {
                task,
                plan_hash,
                plan_name,
                context,
                limits,
                mocked,
                engine,
                context_name,
                owner,
                tenant,
                mode,
                parent_run_id,
                parent_call_id,
                agent,
                starts_over,
                follows,
                approve,
                plan_only,
                planning,
                by,
                os_user,
                ..
            } => {
                if let (Some(run_id), Some(call_id)) = (parent_run_id, parent_call_id) {
                    let (run_id, call_id) = (run_id.clone(), call_id.clone());
                    self.parent =
                        Some(ParentCall { run_id, call_id, agent: agent.clone().unwrap_or_default() });
                }
                self.starts_over.clone_from(starts_over);
                self.follows.clone_from(follows);
                self.approve = *approve;
                self.plan_only = *plan_only;
                self.tenant.clone_from(tenant);
                self.started_by = Actor::recorded(by.as_ref(), os_user.as_ref());
                self.mode.clone_from(mode);
                self.planning.clone_from(planning);
                self.mocked = *mocked;
                self.engine.clone_from(engine);
                self.context_name.clone_from(context_name);
                self.owner.clone_from(owner);
                self.task.clone_from(task);
                self.plan_hash.clone_from(plan_hash);
                self.plan_name.clone_from(plan_name);
                self.context.clone_from(context);
                self.limits.clone_from(limits);
                self.redacted.extend_from_slice(&places);
            }
            EventBody::PlanProposed { source, plan_hash, influenced_by, .. } => {
                self.source = Some(source.clone());
                self.influenced_by.clone_from(influenced_by);
                self.plan_hash = Some(plan_hash.clone());
                self.sources.push((plan_hash.clone(), source.clone()));
            }
            EventBody::PlanAccepted { plan_hash, calls_before, .. } => {
                let source = self.sources.iter().rev().find(|(hash, _)| hash == plan_hash);
                self.plan_hash = Some(plan_hash.clone());
                self.accepted = Some(AcceptedPlan {
                    plan_hash: plan_hash.clone(),
                    source: source.map(|(_, source)| source.clone()),
                    calls_before: *calls_before,
                    printed_from: self.printed.len(),
                    prints: 0,
                    retries: 0,
                    step_changes: 0,
                });
                if let Some((_, source)) = source {
                    self.source = Some(source.clone());
                }
            }
            EventBody::Printed { text } => {
                self.printed.push_str(text);
                if let Some(plan) = &mut self.accepted {
                    plan.prints = plan.prints.saturating_add(1);
                }
            }
            EventBody::StepRetryScheduled { .. } => {
                if let Some(plan) = &mut self.accepted {
                    plan.retries = plan.retries.saturating_add(1);
                }
            }
            EventBody::StepStarted { .. } | EventBody::StepFinished { .. } => {
                if let Some(plan) = &mut self.accepted {
                    plan.step_changes = plan.step_changes.saturating_add(1);
                }
            }
            EventBody::LlmResponseReceived {
                input_tokens,
                cached_tokens,
                output_tokens,
                cost_micro_usd,
                ..
            } => {
                self.llm_cached_tokens = self.llm_cached_tokens.saturating_add(*cached_tokens);
                self.llm_tokens = self.llm_tokens.saturating_add(input_tokens.saturating_add(*output_tokens));
                self.llm_cost_micro_usd = self.llm_cost_micro_usd.saturating_add(*cost_micro_usd);
            }
            EventBody::RunResumed { owner, .. } => {
                self.owner.clone_from(owner);
                self.resumptions = self.resumptions.saturating_add(1);
                self.status = RunStatus::Running;
                self.paused = None;
                self.goes_on = false;
                self.wake_at = None;
                self.answer_by = None;
                self.ended_at = None;
                self.error = None;
                self.code = None;
                self.usage = None;
            }
            EventBody::ApprovalResolved { goes_on, .. } => self.goes_on = *goes_on,
            EventBody::QuestionAnswered { goes_on, by: Some(_), .. } => {
                // With another question open it would only pause again.
                self.goes_on = *goes_on && self.open_questions().next().is_none();
            }
            EventBody::RunPaused { reason, answer_by, .. } => {
                self.status = RunStatus::Paused;
                self.answer_by = *answer_by;
                self.paused = Some(reason.clone());
            }
            EventBody::RunSleeping { wake_at, .. } => {
                self.status = RunStatus::Sleeping;
                self.wake_at = Some(*wake_at);
            }
            EventBody::ModeChanged { mode, .. } => self.mode = Some(mode.clone()),
            EventBody::RunNotResumable { reason, .. } => self.not_resumable = Some(reason.clone()),
            EventBody::RunFinished { result, usage, .. } => {
                self.redacted.extend_from_slice(&places);
                self.result = Some(result.clone());
                self.finish(RunStatus::Succeeded, at, *usage);
            }
            EventBody::RunFailed { code, error, usage, .. } => {
                self.redacted.extend_from_slice(&places);
                self.code = Some(code.clone());
                self.error = Some(error.clone());
                self.finish(RunStatus::Failed, at, *usage);
            }
            EventBody::RunCancelled { usage, .. } => self.finish(RunStatus::Cancelled, at, *usage),
            body => call_state::apply(&mut self.calls, body, at, &places),
        }
    }

    fn finish(&mut self, status: RunStatus, at: Timestamp, usage: Usage) {
        self.status = status;
        (self.wake_at, self.answer_by) = (None, None);
        self.ended_at = Some(at);
        self.usage = Some(usage);
    }

    /// The calls that were started and whose outcome is unknown: they may have taken effect.
    pub fn calls_in_doubt(&self) -> impl Iterator<Item = &CallState> {
        self.calls.iter().filter(|call| call.is_in_doubt())
    }

    /// The undecided requests; none once the run has ended.
    pub fn pending_approvals(&self) -> impl Iterator<Item = &ApprovalState> {
        let waits = matches!(self.status, RunStatus::Running | RunStatus::Sleeping | RunStatus::Paused);
        self.approvals.iter().filter(move |approval| waits && approval.decision.is_none())
    }

    /// The last request about a whole plan, decided or not, since which no plan was run.
    #[must_use]
    pub fn plan_in_question(&self) -> Option<&ApprovalState> {
        let of_plans = |known: &&ApprovalState| known.plan.as_ref().is_some_and(|plan| !plan.is_taken_up);
        self.approvals.iter().rev().find(of_plans)
    }

    /// Whether it is paused and no decision is outstanding: a process can resume it.
    #[must_use]
    pub fn is_ready_to_resume(&self) -> bool {
        let is_resumable = self.status == RunStatus::Paused && self.goes_on;
        is_resumable && self.pending_approvals().next().is_none() && self.calls_in_doubt().next().is_none()
    }

    /// Whether its process was stopped during the run: it can be resumed.
    #[must_use]
    pub fn was_interrupted(&self) -> bool {
        self.status.was_interrupted(self.code.as_ref())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form serde asks for")]
pub(super) fn is_zero(number: &u64) -> bool {
    *number == 0
}
