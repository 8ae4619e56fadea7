//! Closed sets of words in the records of runs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use luaplan_base::{Error, ErrorCode};

/// What the policy does with a call, mildest first: of the rules that match, the strictest wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// The call is made.
    Auto,
    /// A person approves it: at once at a terminal, else the run pauses. Autonomous runs make it without approval.
    Prompt,
    /// The run pauses until a person has decided, even where it is autonomous.
    Manual,
    /// The call is refused.
    Deny,
}

impl Tier {
    /// Every tier, mildest first.
    pub const ALL: &'static [Self] = &[Self::Auto, Self::Prompt, Self::Manual, Self::Deny];

    /// The name in policy files and records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Prompt => "prompt",
            Self::Manual => "manual",
            Self::Deny => "deny",
        }
    }
}

/// What a run may do without approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A person approves each call for which the policy requires it.
    #[default]
    Structured,
    /// `prompt` counts as allowed, and a task whose run failed is planned again, up to a cap.
    Autonomous,
}

impl Mode {
    /// Every mode.
    pub const ALL: &'static [Self] = &[Self::Structured, Self::Autonomous];

    /// The name in flags, requests and records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Structured => "structured",
            Self::Autonomous => "autonomous",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.iter().copied().find(|mode| mode.as_str() == text).ok_or_else(|| {
            Error::new(ErrorCode::BadRequest, format!("there is no mode `{text}`"))
                .with_help("a run is `structured` or `autonomous`")
        })
    }
}

/// The kind of a person's decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionKind {
    /// It may be made, this once.
    Once,
    /// It may be made, and others like it for a time: a grant.
    For,
    /// It may be made with other arguments.
    Edit,
    /// It may not be made.
    Deny,
}

impl DecisionKind {
    /// Every kind.
    pub const ALL: &'static [Self] = &[Self::Once, Self::For, Self::Edit, Self::Deny];

    /// The name in records and reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::For => "for",
            Self::Edit => "edit",
            Self::Deny => "deny",
        }
    }
}

/// The kind of a person's resolution of a call in doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResolutionKind {
    /// It is repeated.
    Retry,
    /// It took effect.
    Done,
    /// It did not take effect and is not repeated.
    Failed,
}

impl ResolutionKind {
    /// Every kind.
    pub const ALL: &'static [Self] = &[Self::Retry, Self::Done, Self::Failed];

    /// The name in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

/// Why a successful run stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// Its plan returned.
    Completed,
    /// Its plan is ready, and the caller did not ask to run it.
    Planned,
}

/// In which way a run went that ended well without doing anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishMode {
    /// No model was asked, no tool was called, and nothing of a plan ran.
    DryRun,
}

impl FinishMode {
    /// Every mode.
    pub const ALL: &'static [Self] = &[Self::DryRun];

    /// The name in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DryRun => "dry_run",
        }
    }
}

impl StopReason {
    /// Every reason.
    pub const ALL: &'static [Self] = &[Self::Completed, Self::Planned];

    /// The name in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Planned => "planned",
        }
    }
}
