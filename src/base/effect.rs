//! What a call does to the world.

use serde::{Deserialize, Serialize};

/// What a call does to the world, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Looks, changes nothing.
    Read,
    /// Changes something.
    Write,
    /// Sends something out to people or systems.
    Send,
    /// Costs money.
    Spend,
}

impl Effect {
    /// The name in manifests and reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Send => "send",
            Self::Spend => "spend",
        }
    }

    /// Whether the journal must reach the disk before a call of this class goes out.
    #[must_use]
    pub const fn forces_journal(self) -> bool {
        !matches!(self, Self::Read)
    }
}
