//! The named steps of a plan: how far each has come.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The most steps that one plan may declare.
pub const STEPS_MAX: u64 = 256;

/// The longest name of a step, in bytes.
pub const STEP_NAME_BYTES_MAX: usize = 100;

/// The most steps that one step may depend on.
pub const STEP_DEPENDS_MAX: usize = 32;

/// The most retries of a step: attempts after the first.
pub const STEP_RETRIES_MAX: u32 = 9;

/// The longest message of a step that failed or was skipped, in bytes; a longer one is cut.
pub const STEP_MESSAGE_BYTES_MAX: usize = 2_000;

/// How far a step has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepState {
    /// The plan names it and has not reached it.
    Pending,
    /// Its function runs.
    Running,
    /// Its function returned.
    Complete,
    /// Its last attempt raised or returned a failed call.
    Failed,
    /// A step it depends on failed or was skipped, so its function was not called.
    Skipped,
}

impl StepState {
    /// Every state.
    pub const ALL: &'static [Self] =
        &[Self::Pending, Self::Running, Self::Complete, Self::Failed, Self::Skipped];

    /// The word in plans, records and reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

impl fmt::Display for StepState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A step of a plan that came to another state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepReport {
    /// Its name.
    pub name: String,
    /// The state it is in now; never `pending`.
    pub state: StepState,
    /// The first line of its function; `None` where that is a tool.
    pub line: Option<u32>,
    /// The steps it depends on; reported as it starts or is skipped.
    pub depends_on: Vec<String>,
    /// How many attempts were made.
    pub attempts: u32,
    /// How many attempts there may be.
    pub attempts_max: u32,
    /// Why it failed or was skipped: a code.
    pub code: Option<String>,
    /// Why it failed or was skipped, in words.
    pub message: Option<String>,
    /// How much the plan had printed since its previous pause, in bytes.
    pub printed_bytes: u64,
}
