//! A word of a closed set, as recorded.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use luaplan_base::{EngineKind, ErrorCode, Isolation, RequestPurpose, StepState};

use super::{DecisionKind, FinishMode, Mode, ResolutionKind, StopReason, Tier};

/// A closed set of words that records may hold.
pub trait ClosedSet: Copy + PartialEq + 'static {
    /// Every one.
    const ALL: &'static [Self];

    /// The word in records.
    fn word(self) -> &'static str;
}

macro_rules! closed_sets {
    ($($set:ty),+) => {
        $(impl ClosedSet for $set {
            const ALL: &'static [Self] = Self::ALL;

            fn word(self) -> &'static str {
                self.as_str()
            }
        })+
    };
}

closed_sets!(
    DecisionKind,
    EngineKind,
    ErrorCode,
    FinishMode,
    Isolation,
    Mode,
    RequestPurpose,
    ResolutionKind,
    StepState,
    StopReason,
    Tier
);

/// A word of the set `T`, or one that only another version of luaplan knows: its record stays readable, and the code
/// that uses the word decides what an unknown one means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word<T> {
    /// One of the set.
    Known(T),
    /// Another word, as recorded.
    Unknown(String),
}

impl<T: ClosedSet> Word<T> {
    /// The word of the set; `None` for an unknown one.
    #[must_use]
    pub fn known(&self) -> Option<T> {
        match self {
            Self::Known(known) => Some(*known),
            Self::Unknown(_) => None,
        }
    }

    /// The text in the record.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(known) => known.word(),
            Self::Unknown(text) => text,
        }
    }

    fn read(text: String) -> Self {
        let known = T::ALL.iter().copied().find(|known| known.word() == text);
        known.map_or(Self::Unknown(text), Self::Known)
    }
}

impl<T: ClosedSet> From<T> for Word<T> {
    fn from(known: T) -> Self {
        Self::Known(known)
    }
}

impl<T: ClosedSet> PartialEq<T> for Word<T> {
    fn eq(&self, other: &T) -> bool {
        self.known() == Some(*other)
    }
}

impl<T: ClosedSet> fmt::Display for Word<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<T: ClosedSet> Serialize for Word<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de, T: ClosedSet> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_and_an_unknown_one_are_written_as_they_were_read() {
        fn holds<T: ClosedSet + fmt::Debug>() {
            for known in T::ALL {
                let text = serde_json::to_string(known.word()).unwrap();
                let read: Word<T> = serde_json::from_str(&text).unwrap();
                assert_eq!(read, *known);
                assert_eq!(serde_json::to_string(&read).unwrap(), text);
            }
            let read: Word<T> = serde_json::from_str("\"of another version\"").unwrap();
            assert_eq!((read.known().is_none(), read.as_str()), (true, "of another version"));
            assert_eq!(serde_json::to_string(&read).unwrap(), "\"of another version\"");
        }
        holds::<DecisionKind>();
        holds::<EngineKind>();
        holds::<ErrorCode>();
        holds::<Isolation>();
        holds::<Mode>();
        holds::<ResolutionKind>();
        holds::<StopReason>();
        holds::<Tier>();
    }
}
