//! The effect of a call outside the VM.

use serde::{Deserialize, Serialize};

/// The effect of a call outside the VM, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Reads; changes nothing.
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

    /// Whether the intent must be on the disk before a call with this effect is made.
    #[must_use]
    pub const fn forces_journal(self) -> bool {
        !matches!(self, Self::Read)
    }
}
