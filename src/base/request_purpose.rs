//! What a model is asked for.

/// Why a request goes to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestPurpose {
    /// A plan for a task.
    Plan,
    /// A better plan, after findings.
    Repair,
    /// Advice on which of several plans to take.
    Review,
    /// Whether the task of a run is done.
    Judge,
    /// A plan's own `call_llm`.
    CallLlm,
}

impl RequestPurpose {
    /// Every one.
    pub const ALL: &'static [Self] = &[Self::Plan, Self::Repair, Self::Review, Self::Judge, Self::CallLlm];

    /// The name in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Repair => "repair",
            Self::Review => "review",
            Self::Judge => "judge",
            Self::CallLlm => "call_llm",
        }
    }
}
