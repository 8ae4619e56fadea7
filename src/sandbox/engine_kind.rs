//! Which engine runs a plan.

use std::fmt;
use std::str::FromStr;

use luaplan_base::{Error, ErrorCode};

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
    pub const ALL: [Self; 2] = [Self::Mlua, Self::Piccolo];

    /// Whether this build has the engine: `piccolo` is a feature of the build.
    #[must_use]
    pub const fn is_built(self) -> bool {
        match self {
            Self::Mlua => true,
            Self::Piccolo => cfg!(feature = "piccolo"),
        }
    }

    /// What is said where a build lacks the engine.
    #[must_use]
    pub fn not_built(self) -> Error {
        Error::new(ErrorCode::ConfigInvalid, format!("this build of luaplan has no engine `{self}`"))
            .with_help("use the engine mlua, or a build with the feature `piccolo`, as releases are")
    }

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
        Self::ALL.into_iter().find(|engine| engine.as_str() == text).ok_or_else(|| {
            Error::new(ErrorCode::ConfigInvalid, format!("there is no engine `{text}`"))
                .with_help("the engines are mlua and piccolo")
        })
    }
}
