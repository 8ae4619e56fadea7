//! Facts that any event can have: its name, and the call, tool and code it is about.

use luaplan_base::{CallId, StepState};

use super::{EventBody, Word};

impl EventBody {
    /// The names of all recorded events.
    pub const KEPT: &'static [&'static str] = &[
        "run_started",
        "plan_accepted",
        "run_resumed",
        "run_not_resumable",
        "run_paused",
        "sleep_begun",
        "run_sleeping",
        "agent_started",
        "iteration",
        "mode_changed",
        "call_resolved",
        "approval_requested",
        "plan_approval_requested",
        "approval_resolved",
        "question_asked",
        "question_answered",
        "grant_issued",
        "grant_revoked",
        "prompt_budget_computed",
        "sample_shared",
        "prompt_composed",
        "llm_request_sent",
        "llm_response_received",
        "llm_retry_scheduled",
        "llm_request_failed",
        "model_fallback",
        "plan_proposed",
        "plan_checked",
        "repair_round",
        "replan_round",
        "candidate_judged",
        "tool_call_started",
        "tool_call_finished",
        "tool_call_refused",
        "step_started",
        "step_finished",
        "step_retry_scheduled",
        "limit_hit",
        "sandbox_violation",
        "printed",
        "signal_received",
        "graceful_shutdown_started",
        "run_finished",
        "run_failed",
        "run_cancelled",
        "context_saved",
    ];

    /// The event's name, equal to its serde tag.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::RunStarted { .. } => "run_started",
            Self::PlanAccepted { .. } => "plan_accepted",
            Self::RunResumed { .. } => "run_resumed",
            Self::RunNotResumable { .. } => "run_not_resumable",
            Self::RunPaused { .. } => "run_paused",
            Self::SleepBegun { .. } => "sleep_begun",
            Self::RunSleeping { .. } => "run_sleeping",
            Self::AgentStarted { .. } => "agent_started",
            Self::Iteration { .. } => "iteration",
            Self::ModeChanged { .. } => "mode_changed",
            Self::CallResolved { .. } => "call_resolved",
            Self::ApprovalRequested { .. } => "approval_requested",
            Self::PlanApprovalRequested { .. } => "plan_approval_requested",
            Self::ApprovalResolved { .. } => "approval_resolved",
            Self::QuestionAsked { .. } => "question_asked",
            Self::QuestionAnswered { .. } => "question_answered",
            Self::GrantIssued { .. } => "grant_issued",
            Self::GrantRevoked { .. } => "grant_revoked",
            Self::SampleShared { .. } => "sample_shared",
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
            Self::StepStarted { .. } => "step_started",
            Self::StepFinished { .. } => "step_finished",
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

    /// Whether the event is recorded. Partial model text is not.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        !matches!(self, Self::LlmText { .. })
    }

    /// Whether the run makes no progress by itself after it: it ended, or waits for a person.
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

    /// Whether it succeeded, for events that can succeed or fail.
    #[must_use]
    pub const fn ok(&self) -> Option<bool> {
        match self {
            Self::ToolCallFinished { ok, .. } | Self::PlanChecked { ok, .. } => Some(*ok),
            Self::StepFinished { state, .. } => match state {
                Word::Known(state) => Some(matches!(state, StepState::Complete)),
                Word::Unknown(_) => None,
            },
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
            | Self::QuestionAsked { call_id, .. }
            | Self::QuestionAnswered { call_id, .. }
            | Self::ApprovalRequested { call_id, .. }
            | Self::PlanApprovalRequested { call_id, .. }
            | Self::ApprovalResolved { call_id, .. } => Some(call_id),
            Self::RunNotResumable { call_id, .. } => call_id.as_ref(),
            _ => None,
        }
    }

    /// The error code it carries, if any.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::ToolCallFinished { code, .. }
            | Self::CandidateJudged { code, .. }
            | Self::StepFinished { code, .. } => code.as_deref(),
            Self::ToolCallRefused { code, .. } => Some(code),
            Self::LlmRetryScheduled { code, .. }
            | Self::LlmRequestFailed { code, .. }
            | Self::ModelFallback { code, .. }
            | Self::RepairRound { code, .. }
            | Self::ReplanRound { code, .. }
            | Self::LimitHit { code, .. }
            | Self::RunNotResumable { code, .. }
            | Self::RunFailed { code, .. } => Some(code.as_str()),
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
