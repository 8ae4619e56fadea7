//! The status of a run.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use luaplan_base::{Error, ErrorCode};

use super::Word;

/// The status of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// It has no recorded end: it is running, or its process died.
    Running,
    /// It sleeps and resumes by itself.
    Sleeping,
    /// It waits for a person.
    Paused,
    /// It succeeded.
    Succeeded,
    /// It failed.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl RunStatus {
    const ALL: [Self; 6] =
        [Self::Running, Self::Sleeping, Self::Paused, Self::Succeeded, Self::Failed, Self::Cancelled];

    /// Whether it is suspended: it holds no VM and can be resumed.
    #[must_use]
    pub const fn is_suspended(self) -> bool {
        matches!(self, Self::Sleeping | Self::Paused)
    }

    /// Whether a run with this status and error code failed because its process was stopped.
    pub(super) fn was_interrupted(self, code: Option<&Word<ErrorCode>>) -> bool {
        self == Self::Failed && code.is_some_and(|code| *code == ErrorCode::Interrupted)
    }

    /// What a run with this status did or does, after "it".
    #[must_use]
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Running => "is running",
            Self::Sleeping => "sleeps",
            Self::Paused => "is paused",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "was cancelled",
        }
    }

    /// The name in reports and filters.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Sleeping => "sleeping",
            Self::Paused => "paused",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for RunStatus {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|status| status.as_str() == text).ok_or_else(|| {
            Error::new(ErrorCode::BadRequest, format!("`{text}` is not a run status"))
                .with_help("a status is running, sleeping, paused, succeeded, failed or cancelled")
        })
    }
}
