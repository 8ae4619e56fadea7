//! Who did something to a run.

use serde::{Deserialize, Serialize};

/// A person or a program that acts on runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Actor {
    /// `local` for the command line, else the name of the API key.
    pub by: String,
    /// With `local`, the user of the operating system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub os_user: Option<String>,
}

impl Actor {
    /// An actor known by name alone.
    #[must_use]
    pub fn named(by: impl Into<String>) -> Self {
        Self { by: by.into(), os_user: None }
    }

    /// From the two fields of an event.
    #[must_use]
    pub fn recorded(by: Option<&String>, os_user: Option<&String>) -> Option<Self> {
        by.map(|by| Self { by: by.clone(), os_user: os_user.cloned() })
    }

    /// The two fields of an event.
    #[must_use]
    pub fn fields(actor: Option<&Self>) -> (Option<String>, Option<String>) {
        actor.map_or((None, None), |actor| (Some(actor.by.clone()), actor.os_user.clone()))
    }

    /// Whether both are the same person or key, as far as the records tell: two users of one machine are not.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let both = self.os_user.as_ref().zip(other.os_user.as_ref());
        self.by == other.by && both.is_none_or(|(one, other)| one == other)
    }
}
