//! Where a VM lives, as users name it.

use std::fmt;
use std::str::FromStr;

use super::{Error, ErrorCode};

/// What separates a plan from luaplan itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Isolation {
    /// The VM lives in this process: limits and interrupts hold, a broken VM does not.
    #[default]
    InProcess,
    /// The VM lives in a worker process that can open nothing, and can be ended from outside.
    Process,
}

impl Isolation {
    /// Every one.
    pub const ALL: &'static [Self] = &[Self::InProcess, Self::Process];

    /// The name in flags, configuration and records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InProcess => "in-process",
            Self::Process => "process",
        }
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Isolation {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.iter().copied().find(|isolation| isolation.as_str() == text).ok_or_else(|| {
            Error::new(ErrorCode::ConfigInvalid, format!("there is no isolation `{text}`"))
                .with_help("a plan is isolated by `process` or runs `in-process`")
        })
    }
}
