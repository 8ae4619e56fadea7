//! Codes of errors that a plan caught as text and may raise again.

use std::collections::HashMap;

use luaplan_base::ErrorCode;

/// Codes of caught messages are kept for so many messages, each of at most so many bytes.
const CODES_MAX: usize = 1_000;
const CODE_TEXT_BYTES_MAX: usize = 2_048;

/// The codes by message.
#[derive(Default)]
pub(crate) struct CaughtCodes(HashMap<String, ErrorCode>);

impl CaughtCodes {
    /// Keeps the code of a caught message, in case the plan raises it again. The memory for this is
    /// bounded: an error with a forgotten code becomes a `plan_error`.
    pub(crate) fn remember(&mut self, text: &str, code: ErrorCode) {
        if text.len() <= CODE_TEXT_BYTES_MAX && self.0.len() < CODES_MAX {
            self.0.insert(text.to_owned(), code);
        }
    }

    /// A coded error that a plan caught as text keeps its code when raised again.
    pub(crate) fn of(&self, message: &str) -> Option<ErrorCode> {
        self.0.iter().find(|(known, _)| message.ends_with(known.as_str())).map(|(_, code)| *code)
    }
}
