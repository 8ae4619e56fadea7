//! Which engine runs a plan.

use std::fmt;
use std::str::FromStr;

use super::{Error, ErrorCode};

/// The engines a plan can run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum EngineKind {
    /// Lua 5.4 through mlua.
    #[default]
    Mlua,
    /// piccolo, a Lua written in Rust. Runs in worker processes only.
    Piccolo,
}

impl EngineKind {
    /// Every engine.
    pub const ALL: &'static [Self] = &[Self::Mlua, Self::Piccolo];

    /// The name in flags, configuration and records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mlua => "mlua",
            Self::Piccolo => "piccolo",
        }
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for EngineKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.iter().copied().find(|engine| engine.as_str() == text).ok_or_else(|| {
            Error::new(ErrorCode::ConfigInvalid, format!("there is no engine `{text}`"))
                .with_help("the engines are mlua and piccolo")
        })
    }
}
