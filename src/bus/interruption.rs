//! Why a plan stops before its end.

use std::fmt;

use luaplan_base::{Error, ErrorCode, RunId};
use luaplan_journal::{Redactor, RunStatus};

use super::Suspension;

/// Why a plan stops before its end. The plan cannot catch it.
#[derive(Debug)]
pub enum Interruption {
    /// Its run is suspended, and can be resumed.
    Suspended(Suspension),
    /// Its run was cancelled.
    Cancelled(Error),
    /// It failed: a limit that was hit, a journal that cannot be written, an error of its own.
    Failed(Error),
}

impl Interruption {
    /// The status of the run.
    #[must_use]
    pub const fn status(&self) -> RunStatus {
        match self {
            Self::Suspended(suspension) => suspension.status(),
            Self::Cancelled(_) => RunStatus::Cancelled,
            Self::Failed(_) => RunStatus::Failed,
        }
    }

    /// Why it failed, where it did.
    #[must_use]
    pub const fn failure(&self) -> Option<&Error> {
        match self {
            Self::Failed(error) => Some(error),
            Self::Cancelled(_) | Self::Suspended(_) => None,
        }
    }

    /// Why its run is suspended, where it is.
    #[must_use]
    pub const fn suspension(&self) -> Option<&Suspension> {
        match self {
            Self::Suspended(suspension) => Some(suspension),
            Self::Cancelled(_) | Self::Failed(_) => None,
        }
    }

    /// The code that edges report.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Suspended(suspension) => suspension.code(),
            Self::Cancelled(error) | Self::Failed(error) => error.code(),
        }
    }

    /// The error that the caller waiting for `run_id` gets in place of a result, without the inner cause.
    #[must_use]
    pub fn to_error(&self, run_id: &RunId) -> Error {
        match self {
            Self::Suspended(suspension) => suspension.to_error(run_id),
            Self::Cancelled(error) | Self::Failed(error) => error.without_source(),
        }
    }

    /// As [`Interruption::to_error`], with the inner cause.
    #[must_use]
    pub fn into_error(self, run_id: &RunId) -> Error {
        match self {
            Self::Suspended(suspension) => suspension.to_error(run_id),
            Self::Cancelled(error) | Self::Failed(error) => error,
        }
    }

    /// The same with the run named in the next command.
    #[must_use]
    pub fn about_run(self, run_id: &RunId) -> Self {
        match self {
            Self::Suspended(_) => self,
            Self::Cancelled(error) => Self::Cancelled(error.about_run(run_id)),
            Self::Failed(error) => Self::Failed(error.about_run(run_id)),
        }
    }

    /// The same without the secrets in it.
    #[must_use]
    pub fn redacted(self, redactor: &Redactor) -> Self {
        match self {
            Self::Suspended(suspension) => Self::Suspended(suspension.redacted(redactor)),
            Self::Cancelled(error) => Self::Cancelled(redactor.error(error)),
            Self::Failed(error) => Self::Failed(redactor.error(error)),
        }
    }
}

impl From<Suspension> for Interruption {
    fn from(suspension: Suspension) -> Self {
        Self::Suspended(suspension)
    }
}

impl From<Error> for Interruption {
    /// Lower rooms report a cancellation by an error of that code.
    fn from(error: Error) -> Self {
        match error.code() {
            ErrorCode::Cancelled => Self::Cancelled(error),
            _ => Self::Failed(error),
        }
    }
}

impl fmt::Display for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Suspended(suspension) => suspension.fmt(f),
            Self::Cancelled(error) | Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Interruption {}
