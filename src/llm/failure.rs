//! One attempt that failed: what to report, and whether a retry may help.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};

use luaplan_base::{Error, ErrorCode};

/// Provider messages are cut to this many characters.
const MESSAGE_CHARS_MAX: usize = 400;
const REDACTED: &str = "[key]";

/// Why one attempt on one model failed.
#[derive(Debug)]
pub(super) struct AttemptFailure {
    pub(super) error: Error,
    /// Whether the same request may succeed in a moment.
    pub(super) retryable: bool,
    /// How long the provider asks to wait.
    pub(super) wait: Option<Duration>,
    /// The provider does not know the way the reply schema was sent.
    pub(super) schema_unknown: bool,
}

impl AttemptFailure {
    /// A permanent failure.
    pub(super) fn lasting(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { error: Error::new(code, message), retryable: false, wait: None, schema_unknown: false }
    }

    /// A transient failure.
    pub(super) fn passing(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { retryable: true, ..Self::lasting(code, message) }
    }

    /// Adds help that is better than the code's own remedy.
    pub(super) fn with_help(mut self, help: &str) -> Self {
        self.error = self.error.with_help(help);
        self
    }

    /// Whether the next model of the chain is asked.
    ///
    /// The chain is for a model that cannot answer now. It is not for wrong configuration, which
    /// it would hide, nor for refusals: a model that declines is not replaced by a more willing one.
    pub(super) fn falls_back(&self) -> bool {
        !matches!(
            self.error.code(),
            ErrorCode::LlmKeyMissing
                | ErrorCode::LlmUnauthorized
                | ErrorCode::LlmRequestRejected
                | ErrorCode::LlmRefused
                | ErrorCode::ConfigInvalid
        )
    }
}

/// A provider's message, safe to show: one short line, without control characters and without the key,
/// which some services repeat.
pub(super) fn presentable(text: &str, key: Option<&SecretString>) -> String {
    let mut text = text.to_owned();
    if let Some(key) = key {
        text = text.replace(key.expose_secret(), REDACTED);
    }
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
