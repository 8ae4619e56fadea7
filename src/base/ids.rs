//! Identifiers. Each is a string newtype that prints as itself.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Error, ErrorCode, Randomness};

/// One execution of a plan: a UUID version 7 (RFC 9562), so ids sort by start time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// A new id for a run that starts now.
    #[must_use]
    pub fn generate() -> Self {
        Self(uuid::Uuid::now_v7().to_string())
    }

    /// The id of the run that a call of this run starts: always the same, with the start time of this run.
    #[must_use]
    pub fn of_call(&self, call_id: &CallId) -> Self {
        const TIME_BYTES: usize = 6;
        let hash = blake3::hash(format!("{}/{call_id}", self.0).as_bytes());
        let mut bytes: [u8; 16] = std::array::from_fn(|place| hash.as_bytes()[place]);
        if let Ok(own) = uuid::Uuid::parse_str(&self.0) {
            let time = own.as_bytes().iter().take(TIME_BYTES);
            bytes.iter_mut().zip(time).for_each(|(byte, own)| *byte = *own);
        }
        let builder = uuid::Builder::from_bytes(bytes).with_version(uuid::Version::SortRand);
        Self(builder.with_variant(uuid::Variant::RFC4122).into_uuid().to_string())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RunId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        uuid::Uuid::parse_str(text).map(|uuid| Self(uuid.to_string())).map_err(|_| {
            Error::new(ErrorCode::BadRequest, format!("`{text}` is not a run id"))
                .with_help("a run id is a UUID, as lists of runs show it")
        })
    }
}

impl Error {
    /// Replaces `RUN` in the help by the run's id, so that the command can be copied.
    #[must_use]
    pub fn about_run(self, run_id: &RunId) -> Self {
        self.named_in_command("RUN", run_id.as_str())
    }
}

/// One tool call inside a run: its position in the program, never its time of arrival.
///
/// A single call has its sequence number as id (`"3"`); the branches of one `parallel{…}` share a
/// sequence number and add their position (`"4.1"`, `"4.2"`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(String);

impl CallId {
    /// The id of the single call at step `sequence` (counted from 1).
    #[must_use]
    pub fn single(sequence: u64) -> Self {
        Self(sequence.to_string())
    }

    /// The id of branch `branch` (counted from 1) of the batch at step `sequence`.
    #[must_use]
    pub fn branch(sequence: u64, branch: usize) -> Self {
        Self(format!("{sequence}.{branch}"))
    }

    /// What stands in a call's place where a person is asked about a whole plan: `plan`.
    #[must_use]
    pub fn whole_plan() -> Self {
        Self(Self::WHOLE_PLAN.to_owned())
    }

    /// The text of [`CallId::whole_plan`].
    pub const WHOLE_PLAN: &str = "plan";

    /// The id that stands for a model's question before there is a plan: `ask`, `ask.2`, … `number` counts from 1.
    #[must_use]
    pub fn before_plan(number: usize) -> Self {
        Self(if number <= 1 { "ask".to_owned() } else { format!("ask.{number}") })
    }

    /// Whether it stands for such a question.
    #[must_use]
    pub fn is_before_plan(&self) -> bool {
        self.0.split('.').next() == Some("ask")
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The step of the call, shared by the branches of one batch; 0 where the id has none.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.0.split('.').next().and_then(|step| step.parse().ok()).unwrap_or(0)
    }
}

/// A BLAKE3 hash of some content, as 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContentHash(String);

impl ContentHash {
    /// The hash of `content`.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        Self(blake3::hash(content).to_hex().to_string())
    }

    /// The hash of a document as it is written, keys in their order and without white space.
    #[must_use]
    pub fn of_json(json: &serde_json::Value) -> Self {
        Self::of(json.to_string().as_bytes())
    }

    /// All 64 digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first twelve digits, enough for a person to tell plans apart.
    #[must_use]
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

/// A W3C Trace Context trace id: 32 hexadecimal digits, not all zero.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TraceId(String);

impl TraceId {
    /// A fresh trace id.
    pub fn generate(randomness: &dyn Randomness) -> Self {
        Self(format!("{:016x}{:016x}", randomness.next_u64() | 1, randomness.next_u64()))
    }
}

/// A W3C Trace Context span id: 16 hexadecimal digits, not all zero.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SpanId(String);

impl SpanId {
    /// A fresh span id.
    pub fn generate(randomness: &dyn Randomness) -> Self {
        Self(format!("{:016x}", randomness.next_u64() | 1))
    }
}

macro_rules! display_as_text {
    ($($id:ty),+) => {$(
        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}
display_as_text!(RunId, CallId, ContentHash, TraceId, SpanId);
