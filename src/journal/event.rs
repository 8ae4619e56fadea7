//! Everything that can happen in a run.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::RuleReference;
use crate::base::{CallId, ContentHash, Effect, RunId, SpanId, TraceId, Usage};

/// One thing that happened, with where and when.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Event {
    /// The run it belongs to.
    pub run_id: RunId,
    /// The run's trace.
    pub trace_id: TraceId,
    /// The span inside the trace: one per call and per model request, one for the run itself.
    pub span_id: SpanId,
    /// When it happened.
    pub at: Timestamp,
    /// The candidate it is about, where several plans were asked for: `c1`, `c2`, … Written only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate: Option<String>,
    /// What happened.
    #[serde(flatten)]
    pub body: EventBody,
}

/// What happened. The serde tag `event` is the name in streams and in the audit.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are named after what they hold; units are in their names")]
pub enum EventBody {
    /// A run began. `task` is absent where a saved plan is run.
    RunStarted {
        task: Option<String>,
        plan_hash: Option<ContentHash>,
        plan_name: Option<String>,
        context: Json,
        limits: Json,
        version: String,
        /// Whether calls are answered by mocks: nothing reaches the world, and calls are not recorded.
        /// Written only where it is so.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        mocked: bool,
        /// The engine, `mlua` or `piccolo`. Absent in older records.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        engine: Option<String>,
        /// `process` or `in-process`. Absent in older records.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        isolation: Option<String>,
        /// The named context the run saves what it leaves to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_name: Option<String>,
        /// The process that runs it, as its lock file is named. Absent in older records.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<String>,
        /// Whose run it is: `local`, or the name of an API key. Absent in older records.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tenant: Option<String>,
        /// `structured` or `autonomous`. Absent in older records.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<String>,
        /// The run whose call began this one, and which call. Written only for runs of agents.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_run_id: Option<RunId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_call_id: Option<CallId>,
        /// The agent it is the run of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// The run it starts over. Written only where it is so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        starts_over: Option<RunId>,
        /// How the task is to be planned, where it is not as configured: candidates, tests, prompts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        planning: Option<Json>,
    },
    /// A plan was chosen and begins. Its calls are numbered after `calls_before`, those of earlier
    /// plans of the same run.
    PlanAccepted { plan_hash: ContentHash, calls_before: u64 },
    /// The run goes on after its process ended or after it paused. `calls_recorded` of its calls
    /// are answered from the journal.
    RunResumed { owner: Option<String>, version: String, calls_recorded: u64 },
    /// The run waits for a person and holds no VM. `calls_in_doubt` may or may not have taken effect;
    /// `approvals` are the ids of the requests nobody has decided.
    RunPaused {
        reason: String,
        calls_in_doubt: Vec<CallId>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        approvals: Vec<String>,
    },
    /// A call puts its run to sleep until `wake_at`, which stays the same however often the run is broken off.
    SleepBegun { call_id: CallId, tool: String, wake_at: Timestamp },
    /// The run sleeps and holds no VM. It goes on at `wake_at`, the latest of those its calls wait for.
    RunSleeping { wake_at: Timestamp },
    /// A call began the run of an agent, whose own records are under `child_run_id`.
    AgentStarted { call_id: CallId, agent: String, child_run_id: RunId },
    /// An autonomous run begins to work by a plan, its `iteration`th of `iterations_max` at most.
    Iteration { iteration: u32, iterations_max: u32, plan_hash: ContentHash },
    /// A person said what came of a call in doubt. `resolution` is `retry`, `done` (with `result`, in
    /// exact form) or `failed` (with `message`).
    CallResolved { call_id: CallId, resolution: String, result: Option<Json>, message: Option<String> },
    /// A call waits for a person's leave; it was not made. `tier` is `prompt` or `manual`; `rules` are those
    /// that asked, the deciding one first; `origins` says where each argument came from.
    ApprovalRequested {
        approval_id: String,
        call_id: CallId,
        tool: String,
        effect: Effect,
        line: Option<u32>,
        arguments: Json,
        arguments_hash: ContentHash,
        plan_hash: ContentHash,
        tier: String,
        rules: Vec<RuleReference>,
        reason: String,
        origins: Json,
        /// What the tool did when it was asked about: its definition's hash.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_hash: Option<ContentHash>,
    },
    /// A person decided. `decision` is `once`, `for` (with `grant_id`), `edit` (with `arguments`, in exact
    /// form) or `deny` (with `reason`). It holds for this plan, call and `arguments_hash` alone.
    ApprovalResolved {
        approval_id: String,
        call_id: CallId,
        tool: String,
        plan_hash: ContentHash,
        arguments_hash: ContentHash,
        decision: String,
        by: String,
        arguments: Option<Json>,
        reason: Option<String>,
        grant_id: Option<String>,
    },
    /// Calls of a tool that only `rules` ask about, no more strictly than `tier`, are allowed until
    /// `expires_at` in runs of `tenant`, for as long as the tool is what it was.
    GrantIssued {
        grant_id: String,
        approval_id: String,
        tool: String,
        rules: Vec<RuleReference>,
        tenant: String,
        expires_at: Timestamp,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tier: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_hash: Option<ContentHash>,
    },
    /// A grant was taken back before its time.
    GrantRevoked { grant_id: String, tool: String, by: String },
    /// The prompt was fitted into its token budget; `trimmed` names the parts that were cut.
    PromptBudgetComputed {
        budget_tokens: u64,
        used_tokens: u64,
        parts: Json,
        trimmed: Vec<String>,
        /// The tools the prompt does not show, the least relevant first. Written only where there are.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tools_left_out: Vec<String>,
    },
    /// The prompt is ready.
    PromptComposed { prompt_hash: ContentHash, bytes: u64 },
    /// A request went to a model. `purpose` is `plan`, `repair`, `review` or `call_llm`.
    LlmRequestSent { provider: String, model: String, purpose: String, attempt: u32 },
    /// Part of a model's answer. Streamed, never kept.
    LlmText { text: String },
    /// A model answered.
    LlmResponseReceived {
        provider: String,
        model: String,
        text: String,
        input_tokens: u64,
        output_tokens: u64,
        cost_micro_usd: u64,
        duration_ms: u64,
        recorded: bool,
    },
    /// The request will be made again.
    LlmRetryScheduled { attempt: u32, wait_ms: u64, code: String, message: String },
    /// The request failed for good.
    LlmRequestFailed { provider: String, model: String, code: String, message: String },
    /// The next model of the fallback chain takes over.
    ModelFallback { from: String, to: String, code: String },
    /// A plan is there. `round` is 0 for the first, then counts repairs.
    PlanProposed { round: u32, source: String, plan_hash: ContentHash },
    /// The plan was checked. `findings` are as `luaplan check --json` prints them.
    PlanChecked { plan_hash: ContentHash, ok: bool, findings: Json },
    /// Findings go back to the model.
    RepairRound { round: u32, rounds_max: u32, code: String, message: String },
    /// A run failed and its task is planned anew, with this as evidence. `message` is what the model is told.
    ReplanRound {
        attempt: u32,
        attempts_max: u32,
        code: String,
        message: String,
        line: Option<u32>,
        calls: u64,
    },
    /// A candidate was judged against the others. `rank` 1 is the best; `mock_run` is `passed` or a code.
    CandidateJudged {
        plan_hash: Option<ContentHash>,
        tests: Option<Json>,
        errors: Option<u64>,
        warnings: Option<u64>,
        mock_run: Option<String>,
        reviewer: Option<String>,
        code: Option<String>,
        rank: u32,
        chosen: bool,
        reason: String,
    },
    /// Intent: the call is allowed and is about to be made.
    ToolCallStarted {
        call_id: CallId,
        tool: String,
        effect: Effect,
        arguments: Json,
        arguments_hash: ContentHash,
        line: Option<u32>,
        idempotency_key: String,
        /// The rule of the policy file that decided; `default` where none matched. Written only with a file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
        /// `approval:ID` or `grant:ID`, where a person's leave was needed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        allowed_by: Option<String>,
        /// Hash of the arguments the plan wrote, where a person edited them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        planned_arguments_hash: Option<ContentHash>,
    },
    /// Outcome: `result` in exact form where `ok`, else `error` as the plan sees it.
    ToolCallFinished {
        call_id: CallId,
        tool: String,
        ok: bool,
        code: Option<String>,
        result: Option<Json>,
        error: Option<Json>,
        result_bytes: u64,
        duration_ms: u64,
    },
    /// The call was not made: arguments, permission or rate.
    ToolCallRefused { call_id: CallId, tool: String, code: String, error: Json, arguments: Json },
    /// The plan's `retry(n, fn)` tries a step again.
    StepRetryScheduled { attempt: u32, attempts_max: u32, message: String },
    /// A limit was hit.
    LimitHit { code: String, limit: Json, observed: Json },
    /// The plan tried to reach past the sandbox.
    SandboxViolation { message: String },
    /// What the plan printed.
    Printed { text: String },
    /// The process was asked to stop.
    SignalReceived { signal: String },
    /// No new work is taken; running calls may finish.
    GracefulShutdownStarted { running: u64 },
    /// The run ended well. `stop_reason` is `completed`; `result` is in plain form.
    RunFinished { stop_reason: String, result: Json, usage: Usage },
    /// The run ended badly. `error` is as every edge sends it.
    RunFailed { code: String, message: String, recoverable: bool, error: Json, usage: Usage },
    /// The run was cancelled.
    RunCancelled { reason: String, usage: Usage },
    /// A named context got a new version.
    ContextSaved { name: String, version: u64, context_hash: ContentHash },
}

impl EventBody {
    /// The event's name, equal to its serde tag.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::RunStarted { .. } => "run_started",
            Self::PlanAccepted { .. } => "plan_accepted",
            Self::RunResumed { .. } => "run_resumed",
            Self::RunPaused { .. } => "run_paused",
            Self::SleepBegun { .. } => "sleep_begun",
            Self::RunSleeping { .. } => "run_sleeping",
            Self::AgentStarted { .. } => "agent_started",
            Self::Iteration { .. } => "iteration",
            Self::CallResolved { .. } => "call_resolved",
            Self::ApprovalRequested { .. } => "approval_requested",
            Self::ApprovalResolved { .. } => "approval_resolved",
            Self::GrantIssued { .. } => "grant_issued",
            Self::GrantRevoked { .. } => "grant_revoked",
            Self::PromptBudgetComputed { .. } => "prompt_budget_computed",
            Self::PromptComposed { .. } => "prompt_composed",
            Self::LlmRequestSent { .. } => "llm_request_sent",
            Self::LlmText { .. } => "llm_text",
            Self::LlmResponseReceived { .. } => "llm_response_received",
            Self::LlmRetryScheduled { .. } => "llm_retry_scheduled",
            Self::LlmRequestFailed { .. } => "llm_request_failed",
            Self::ModelFallback { .. } => "model_fallback",
            Self::PlanProposed { .. } => "plan_proposed",
            Self::PlanChecked { .. } => "plan_checked",
            Self::RepairRound { .. } => "repair_round",
            Self::ReplanRound { .. } => "replan_round",
            Self::CandidateJudged { .. } => "candidate_judged",
            Self::ToolCallStarted { .. } => "tool_call_started",
            Self::ToolCallFinished { .. } => "tool_call_finished",
            Self::ToolCallRefused { .. } => "tool_call_refused",
            Self::StepRetryScheduled { .. } => "step_retry_scheduled",
            Self::LimitHit { .. } => "limit_hit",
            Self::SandboxViolation { .. } => "sandbox_violation",
            Self::Printed { .. } => "printed",
            Self::SignalReceived { .. } => "signal_received",
            Self::GracefulShutdownStarted { .. } => "graceful_shutdown_started",
            Self::RunFinished { .. } => "run_finished",
            Self::RunFailed { .. } => "run_failed",
            Self::RunCancelled { .. } => "run_cancelled",
            Self::ContextSaved { .. } => "context_saved",
        }
    }

    /// Whether the event belongs into the journal. Partial model text does not.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        !matches!(self, Self::LlmText { .. })
    }

    /// Whether nothing more happens in the run by itself: it ended, or waits for a person.
    #[must_use]
    pub const fn ends_run(&self) -> bool {
        matches!(
            self,
            Self::RunFinished { .. }
                | Self::RunFailed { .. }
                | Self::RunCancelled { .. }
                | Self::RunPaused { .. }
        )
    }

    /// Whether it went well, for events that can go either way.
    #[must_use]
    pub const fn ok(&self) -> Option<bool> {
        match self {
            Self::ToolCallFinished { ok, .. } | Self::PlanChecked { ok, .. } => Some(*ok),
            Self::RunFinished { .. } => Some(true),
            Self::ToolCallRefused { .. }
            | Self::RunFailed { .. }
            | Self::RunCancelled { .. }
            | Self::LlmRequestFailed { .. }
            | Self::LimitHit { .. }
            | Self::SandboxViolation { .. } => Some(false),
            _ => None,
        }
    }

    /// The tool call concerned, if any.
    #[must_use]
    pub const fn call_id(&self) -> Option<&CallId> {
        match self {
            Self::ToolCallStarted { call_id, .. }
            | Self::ToolCallFinished { call_id, .. }
            | Self::ToolCallRefused { call_id, .. }
            | Self::CallResolved { call_id, .. }
            | Self::SleepBegun { call_id, .. }
            | Self::AgentStarted { call_id, .. }
            | Self::ApprovalRequested { call_id, .. }
            | Self::ApprovalResolved { call_id, .. } => Some(call_id),
            _ => None,
        }
    }

    /// The error code it carries, if any.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::ToolCallFinished { code, .. } | Self::CandidateJudged { code, .. } => code.as_deref(),
            Self::ToolCallRefused { code, .. }
            | Self::LlmRetryScheduled { code, .. }
            | Self::LlmRequestFailed { code, .. }
            | Self::ModelFallback { code, .. }
            | Self::RepairRound { code, .. }
            | Self::ReplanRound { code, .. }
            | Self::LimitHit { code, .. }
            | Self::RunFailed { code, .. } => Some(code),
            _ => None,
        }
    }

    /// The tool concerned, if any.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::ToolCallStarted { tool, .. }
            | Self::ToolCallFinished { tool, .. }
            | Self::ToolCallRefused { tool, .. }
            | Self::SleepBegun { tool, .. }
            | Self::ApprovalRequested { tool, .. }
            | Self::ApprovalResolved { tool, .. }
            | Self::GrantIssued { tool, .. }
            | Self::GrantRevoked { tool, .. } => Some(tool),
            _ => None,
        }
    }
}
