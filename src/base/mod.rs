//! Rank 0: the vocabulary of every other room.
//!
//! Ids, [`Value`], a plan's calls ([`CallRequest`]), [`Limits`], [`Rate`], the [`Clock`] and [`Randomness`] seams, and
//! the one [`Error`] type with its stable [`ErrorCode`]s.
//!
//! **Never here:** I/O, async, Lua, a wire format beyond the two JSON forms of [`Value`].

mod call;
mod clock;
mod counted;
mod effect;
mod engine_kind;
mod error;
mod error_codes;
mod excerpt;
mod fixed_point;
mod ids;
mod isolation;
mod limits;
mod nearest;
mod rate;
mod request_purpose;
mod step;
mod tool_failure;
mod usage;
mod value;
mod value_json;
mod value_text;
pub mod written;

pub use call::{CallArguments, CallRequest};
pub use clock::{Clock, ManualClock, Randomness, SeededRandomness, SystemClock, SystemRandomness};
pub use counted::counted;
pub use effect::Effect;
pub use engine_kind::EngineKind;
pub use error::{Error, Result};
pub use error_codes::ErrorCode;
pub use excerpt::{Excerpt, SHOWN_BYTES_MAX, SHOWN_LINES_MAX, excerpt, shorten_members};
pub use fixed_point::fixed_point;
pub use ids::{CallId, ContentHash, RunId, SpanId, TraceId};
pub use isolation::Isolation;
pub use limits::{LimitName, LimitProfile, Limits, parse_bytes, parse_duration};
pub use nearest::nearest;
pub use rate::Rate;
pub use request_purpose::RequestPurpose;
pub use step::{
    STEP_DEPENDS_MAX, STEP_MESSAGE_BYTES_MAX, STEP_NAME_BYTES_MAX, STEP_RETRIES_MAX, STEPS_MAX, StepReport,
    StepState,
};
pub use tool_failure::{CallOutcome, ToolFailure, outcome_bytes};
pub use usage::Usage;
pub use value::Value;

#[cfg(test)]
mod tests;
