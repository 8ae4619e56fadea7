//! Calls in doubt: their resolutions, and who may give them.

use serde::{Deserialize as _, Deserializer};
use serde_json::Value as Json;

use luaplan_base::{Error, ErrorCode, Result, Value};
use luaplan_journal::Resolved;

/// What a person says about a call in doubt.
#[derive(Debug, Clone, PartialEq)]
pub struct CallResolution {
    /// The call.
    pub call_id: String,
    /// What came of it, or what to do.
    pub resolved: Resolved,
}

impl CallResolution {
    /// What a client of a service says: exactly one of the three.
    ///
    /// # Errors
    /// `bad_request` for none or more than one; as [`Value::from_json`] for a result.
    pub fn said(
        call_id: String,
        retry: Option<bool>,
        done: Option<Json>,
        failed: Option<String>,
    ) -> Result<Self> {
        let resolved = match (retry, done, failed) {
            (Some(true), None, None) => Resolved::Retry,
            (None, Some(result), None) => {
                Resolved::Done { result: Value::from_json(result)?.to_exact_json() }
            }
            (None, None, Some(message)) => Resolved::Failed { message },
            _ => {
                let message = format!("`resolve.{call_id}` must say one thing");
                return Err(Error::new(ErrorCode::BadRequest, message).with_help(
                    "give `{\"retry\": true}`, `{\"done\": RESULT}` or `{\"failed\": \"REASON\"}`",
                ));
            }
        };
        Ok(Self { call_id, resolved })
    }
}

/// For serde's `deserialize_with`: a `null` that is there is a value, not an absence.
///
/// # Errors
/// As the deserializer's.
pub fn present<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}
