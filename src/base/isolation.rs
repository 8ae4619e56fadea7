//! Where a VM runs, by its name for users.

use std::fmt;
use std::str::FromStr;

use super::{Error, ErrorCode};

/// The separation of a plan from luaplan itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Isolation {
    /// The VM runs in this process: limits and interrupts hold, but a broken VM can break the process.
    #[default]
    InProcess,
    /// The VM runs in a worker process that can open no file or connection and can be killed.
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
