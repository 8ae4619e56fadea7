//! Everything that can happen in a run.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use luaplan_base::{
    CallId, ContentHash, Effect, EngineKind, ErrorCode, Isolation, RequestPurpose, RunId, StepState, Usage,
};

use super::{
    DecisionKind, DeclaredStep, FinishMode, Mode, ResolutionKind, RuleReference, StopReason, Tier, Word,
};

/// What happened. The serde tag `event` is the name in streams and in the audit.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are named after what they hold; units are in their names")]
pub enum EventBody {
    /// A run started. `task` is absent where a saved plan is run, and much else in older records. Calls of a `mocked` run are
    /// not recorded; nothing of a plan of a `plan_only` run is run. `owner` is the process, by the name of its lock file; `by`
    /// is an API key's name or `local`, then with the user of the operating system.
    RunStarted {
        task: Option<String>,
        plan_hash: Option<ContentHash>,
        plan_name: Option<String>,
        context: Json,
        limits: Json,
        version: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        mocked: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        engine: Option<Word<EngineKind>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        isolation: Option<Word<Isolation>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_name: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tenant: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<Word<Mode>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_run_id: Option<RunId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_call_id: Option<CallId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        starts_over: Option<RunId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        follows: Option<RunId>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        approve: bool,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        plan_only: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        planning: Option<Box<Json>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        os_user: Option<String>,
    },
    /// A plan starts. Its calls are numbered after `calls_before`, those of earlier plans. `steps` are in its source.
    PlanAccepted {
        plan_hash: ContentHash,
        calls_before: u64,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        steps: Vec<DeclaredStep>,
    },
    /// The run resumes after its process ended or a pause. The journal answers `calls_recorded` of its calls.
    RunResumed {
        owner: Option<String>,
        version: String,
        calls_recorded: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        os_user: Option<String>,
    },
    /// From here on the run can be neither resumed nor replayed, as a secret was removed. Written once, with its error.
    RunNotResumable { code: Word<ErrorCode>, reason: String, call_id: Option<CallId> },
    /// The run waits for a person. `calls_in_doubt` may have taken effect; `approvals` and `questions` are ids of open ones.
    RunPaused {
        reason: String,
        calls_in_doubt: Vec<CallId>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        approvals: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        questions: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer_by: Option<Timestamp>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        os_user: Option<String>,
    },
    /// A call puts its run to sleep until `wake_at`, which stays the same however often the run is interrupted.
    SleepBegun { call_id: CallId, tool: String, wake_at: Timestamp },
    /// The run sleeps and holds no VM. It resumes at `wake_at`, the latest wake time of its calls.
    RunSleeping { wake_at: Timestamp },
    /// A call started the run of an agent, whose own records are under `child_run_id`.
    AgentStarted { call_id: CallId, agent: String, child_run_id: RunId },
    /// An autonomous run starts work on a plan, number `iteration` of at most `iterations_max`, or, with `done`, has judged
    /// whether its task is done by it. `observation` says who judged and why; the next plan is written by it. `iteration` is 0
    /// for a plan that ran as the mode was set.
    Iteration {
        iteration: u32,
        iterations_max: u32,
        plan_hash: ContentHash,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        done: Option<bool>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        observation: Option<String>,
    },
    /// The run's mode from here on, its iterations counted from 0. Without `max_iterations` the configured number holds.
    ModeChanged { mode: Word<Mode>, max_iterations: Option<u32>, by: Option<String>, os_user: Option<String> },
    /// A person resolved a call in doubt; `done` has a `result` in exact form, `failed` a `message`.
    CallResolved {
        call_id: CallId,
        resolution: Word<ResolutionKind>,
        result: Option<Json>,
        message: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        os_user: Option<String>,
    },
    /// A call waits for approval. `rules` required it, the deciding one first; `origins` are those of its arguments.
    ApprovalRequested {
        approval_id: String,
        call_id: CallId,
        tool: String,
        effect: Effect,
        line: Option<u32>,
        arguments: Json,
        arguments_hash: ContentHash,
        plan_hash: ContentHash,
        tier: Word<Tier>,
        rules: Vec<RuleReference>,
        reason: String,
        origins: Json,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_hash: Option<ContentHash>,
    },
    /// A plan waits for approval, with its strongest effect, all `effects`, and the model's untrusted note.
    PlanApprovalRequested {
        approval_id: String,
        call_id: CallId,
        plan_hash: ContentHash,
        context_hash: ContentHash,
        effect: Effect,
        effects: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        explanation: Option<String>,
    },
    /// A person decided about one call of one plan: `for` has a `grant_id`, `edit` exact `arguments`, `deny` a `reason`.
    ApprovalResolved {
        approval_id: String,
        call_id: CallId,
        tool: String,
        plan_hash: ContentHash,
        arguments_hash: ContentHash,
        decision: Word<DecisionKind>,
        by: String,
        arguments: Option<Json>,
        reason: Option<String>,
        grant_id: Option<String>,
        /// Whether the run is resumed once none of its calls waits, by any process that serves it then.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        goes_on: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        os_user: Option<String>,
    },
    /// A call asks a person. The answer is one of `choices` where there are any; from `answer_by` on it is `default`.
    QuestionAsked {
        call_id: CallId,
        question: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer_by: Option<Timestamp>,
    },
    /// A question ended: `by` a person, or because its time was over. `answer` is absent where there was no default then.
    QuestionAnswered {
        call_id: CallId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// Whether the run is resumed once no question of it is open, by any process that serves it then.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        goes_on: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        os_user: Option<String>,
    },
    /// Until `expires_at`, calls of a tool in runs of `tenant` are allowed where only `rules` ask, up to `tier`.
    GrantIssued {
        grant_id: String,
        approval_id: String,
        tool: String,
        rules: Vec<RuleReference>,
        tenant: String,
        expires_at: Timestamp,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tier: Option<Word<Tier>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_hash: Option<ContentHash>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        os_user: Option<String>,
    },
    /// A grant was revoked before it expired.
    GrantRevoked {
        grant_id: String,
        tool: String,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        os_user: Option<String>,
    },
    /// The prompt was fitted into its token budget; `trimmed` names the parts that were cut, `tools_left_out` begins with the
    /// least relevant.
    PromptBudgetComputed {
        budget_tokens: u64,
        used_tokens: u64,
        parts: Json,
        trimmed: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tools_left_out: Vec<String>,
    },
    /// A person consented to share the beginning of what `from` names with the model that plans.
    SampleShared { from: String, data_hash: ContentHash, bytes: u64 },
    /// The prompt is ready.
    PromptComposed { prompt_hash: ContentHash, bytes: u64 },
    /// A request went to a model. `prompt_hash` is of all messages as sent, joined by line feeds.
    LlmRequestSent {
        provider: String,
        model: String,
        purpose: Word<RequestPurpose>,
        attempt: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt_hash: Option<ContentHash>,
    },
    /// Part of a model's answer. Streamed, never recorded.
    LlmText { text: String },
    /// A model answered. Older records have the `text`, others its hash and length without secrets. Of the tokens sent, the
    /// provider read `cached_tokens` from its cache and wrote `cache_write_tokens` to it.
    LlmResponseReceived {
        provider: String,
        model: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text_hash: Option<ContentHash>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text_bytes: Option<u64>,
        input_tokens: u64,
        #[serde(default, skip_serializing_if = "super::fold::is_zero")]
        cached_tokens: u64,
        #[serde(default, skip_serializing_if = "super::fold::is_zero")]
        cache_write_tokens: u64,
        output_tokens: u64,
        cost_micro_usd: u64,
        duration_ms: u64,
        recorded: bool,
    },
    /// The request will be retried.
    LlmRetryScheduled { attempt: u32, wait_ms: u64, code: Word<ErrorCode>, message: String },
    /// The request failed for good.
    LlmRequestFailed { provider: String, model: String, code: Word<ErrorCode>, message: String },
    /// The next model of the fallback chain is asked.
    ModelFallback { from: String, to: String, code: Word<ErrorCode> },
    /// A model proposed a plan. `round` is 0 for the first, then counts repairs. `explanation` is the model's, untrusted;
    /// `influenced_by` are hashes of the data that it had seen.
    PlanProposed {
        round: u32,
        source: String,
        plan_hash: ContentHash,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        explanation: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        influenced_by: Vec<ContentHash>,
    },
    /// The plan was checked. `findings` are as `luaplan check --json` prints them.
    PlanChecked { plan_hash: ContentHash, ok: bool, findings: Json },
    /// Findings go back to the model.
    RepairRound { round: u32, rounds_max: u32, code: Word<ErrorCode>, message: String },
    /// A run failed and its task is planned again, with this as evidence. `message` goes to the model.
    ReplanRound {
        attempt: u32,
        attempts_max: u32,
        code: Word<ErrorCode>,
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
    /// The intent: the call is allowed and is made next.
    ToolCallStarted {
        call_id: CallId,
        tool: String,
        effect: Effect,
        arguments: Json,
        arguments_hash: ContentHash,
        line: Option<u32>,
        idempotency_key: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        allowed_by: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        planned_arguments_hash: Option<ContentHash>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        untrusted_ways: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waited_ms: Option<u64>,
    },
    /// The outcome: `result` in exact form where `ok`, else `error` as the plan sees it.
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
    /// The call was refused. `arguments` are by name, or a list where they have no names (and in older records).
    ToolCallRefused {
        call_id: CallId,
        tool: String,
        code: String,
        error: Json,
        arguments: Json,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
    },
    /// A named step of the plan begins; the steps it depends on are complete.
    StepStarted { step: String, depends_on: Vec<String>, line: Option<u32>, attempts_max: u32 },
    /// A named step is complete, failed, or was skipped without a start; `code` and `message` say why.
    StepFinished {
        step: String,
        state: Word<StepState>,
        attempts: u32,
        code: Option<String>,
        message: Option<String>,
    },
    /// The plan's `retry(n, fn)`, or a step, tries again.
    StepRetryScheduled { attempt: u32, attempts_max: u32, message: String },
    /// A limit was hit.
    LimitHit { code: Word<ErrorCode>, limit: Json, observed: Json },
    /// The plan tried to leave the sandbox.
    SandboxViolation { message: String },
    /// What the plan printed.
    Printed { text: String },
    /// The process was asked to stop.
    SignalReceived { signal: String },
    /// No new work is accepted; running calls may finish.
    GracefulShutdownStarted { running: u64 },
    /// The run succeeded. `result` is in plain form; `mode` is written only of a dry run, `iterations` only where it was
    /// autonomous.
    RunFinished {
        stop_reason: Word<StopReason>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<Word<FinishMode>>,
        result: Json,
        usage: Usage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        iterations: Option<u32>,
    },
    /// The run failed. `error` is as every edge sends it.
    RunFailed { code: Word<ErrorCode>, message: String, recoverable: bool, error: Json, usage: Usage },
    /// The run was cancelled.
    RunCancelled {
        reason: String,
        usage: Usage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        os_user: Option<String>,
    },
    /// A named context got a new version.
    ContextSaved { name: String, version: u64, context_hash: ContentHash },
}
