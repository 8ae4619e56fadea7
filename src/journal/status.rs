//! How far a run has come, in a word.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use luaplan_base::{Error, ErrorCode};

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// No end is recorded: it is going on, or its process died.
    Running,
    /// It sleeps, and goes on by itself.
    Sleeping,
    /// It waits for a person.
    Paused,
    /// It ended well.
    Succeeded,
    /// It ended badly.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl RunStatus {
    const ALL: [Self; 6] =
        [Self::Running, Self::Sleeping, Self::Paused, Self::Succeeded, Self::Failed, Self::Cancelled];

    /// Whether it holds nothing and can go on.
    #[must_use]
    pub const fn is_at_rest(self) -> bool {
        matches!(self, Self::Sleeping | Self::Paused)
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
