//! The one error type: a stable code, what happened, the limit and the observed value, what to do.

use std::fmt;

use serde_json::{Map, Value as Json};

use super::ErrorCode;

/// Shorthand for results that fail with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed.
///
/// Made where the reason is known, passed up unchanged, and turned into an exit code or an HTTP
/// status once, at the edge. The message may be shown to users, so it never holds a secret; an
/// inner cause is kept for the log and is not shown.
pub struct Error(Box<Inner>);

struct Inner {
    code: ErrorCode,
    message: String,
    help: Option<String>,
    limit: Option<Json>,
    observed: Option<Json>,
    details: Map<String, Json>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error with its code and a message that says what happened.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            code,
            message: message.into(),
            help: None,
            limit: None,
            observed: None,
            details: Map::new(),
            source: None,
        }))
    }

    /// A caller cancelled the run.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(ErrorCode::Cancelled, "the run was cancelled")
    }

    /// Replaces the message, for example to put the file's name in front.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.0.message = message.into();
        self
    }

    /// Adds what to do next, where something better than [`ErrorCode::remedy`] is known.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// Replaces `CALL` in the help by the call's id, so that the command can be copied.
    #[must_use]
    pub fn about_call(self, call_id: &str) -> Self {
        self.named_in_command("CALL", call_id)
    }

    pub(super) fn named_in_command(self, placeholder: &str, id: &str) -> Self {
        let help = named_in_command(self.help(), placeholder, id);
        self.with_help(help)
    }

    /// Adds the limit and the observed value.
    #[must_use]
    pub fn with_limit(mut self, limit: impl Into<Json>, observed: impl Into<Json>) -> Self {
        self.0.limit = Some(limit.into());
        self.0.observed = Some(observed.into());
        self
    }

    /// Adds a named fact, for example `line` or `tool`.
    #[must_use]
    pub fn with_detail(mut self, name: impl Into<String>, value: impl Into<Json>) -> Self {
        self.0.details.insert(name.into(), value.into());
        self
    }

    /// Adds the limit and the named facts of `other`; facts of its own stay.
    #[must_use]
    pub fn with_facts_of(mut self, other: &Self) -> Self {
        if self.0.limit.is_none() {
            self.0.limit.clone_from(&other.0.limit);
            self.0.observed.clone_from(&other.0.observed);
        }
        for (name, value) in &other.0.details {
            self.0.details.entry(name.clone()).or_insert_with(|| value.clone());
        }
        self
    }

    /// Keeps the inner cause for the log.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// A copy for another receiver, without the inner cause.
    #[must_use]
    pub fn without_source(&self) -> Self {
        Self(Box::new(Inner {
            code: self.0.code,
            message: self.0.message.clone(),
            help: self.0.help.clone(),
            limit: self.0.limit.clone(),
            observed: self.0.observed.clone(),
            details: self.0.details.clone(),
            source: None,
        }))
    }

    /// Rewrites message, help and facts; the inner cause stays.
    #[must_use]
    pub fn rewritten(mut self, text: impl Fn(&str) -> String, json: impl Fn(&mut Json)) -> Self {
        let Inner { code: _, message, help, limit, observed, details, source: _ } = &mut *self.0;
        *message = text(message);
        if let Some(help) = help {
            *help = text(help);
        }
        limit.iter_mut().chain(observed).chain(details.values_mut()).for_each(json);
        self
    }

    /// The stable code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// What happened.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to do next.
    #[must_use]
    pub fn help(&self) -> &str {
        self.0.help.as_deref().unwrap_or(self.0.code.remedy())
    }

    /// Whether this error has a help text of its own, rather than its code's remedy.
    #[must_use]
    pub fn has_own_help(&self) -> bool {
        self.0.help.is_some()
    }

    /// The limit, if the error is about one.
    #[must_use]
    pub fn limit(&self) -> Option<&Json> {
        self.0.limit.as_ref()
    }

    /// The observed value, if the error is about a limit.
    #[must_use]
    pub fn observed(&self) -> Option<&Json> {
        self.0.observed.as_ref()
    }

    /// The named facts.
    #[must_use]
    pub fn details(&self) -> &Map<String, Json> {
        &self.0.details
    }

    /// `{"code","message","help","limit"?,"observed"?,…details}`: the form every edge sends.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut object = Map::new();
        object.insert("code".into(), self.code().as_str().into());
        object.insert("message".into(), self.message().into());
        object.insert("help".into(), self.help().into());
        if let Some(limit) = self.limit() {
            object.insert("limit".into(), limit.clone());
        }
        if let Some(observed) = self.observed() {
            object.insert("observed".into(), observed.clone());
        }
        for (name, value) in self.details() {
            object.entry(name.clone()).or_insert_with(|| value.clone());
        }
        Json::Object(object)
    }
}

/// `help` with `id` for the placeholder, where that is a separate word.
fn named_in_command(help: &str, placeholder: &str, id: &str) -> String {
    help.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .map(|word| match word.strip_prefix(placeholder) {
            Some(end) if end.chars().all(|c| !c.is_ascii_alphanumeric() && c != '_') => format!("{id}{end}"),
            _ => word.to_owned(),
        })
        .collect()
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.message())?;
        if let (Some(limit), Some(observed)) = (self.limit(), self.observed()) {
            write!(f, " (limit {limit}, seen {observed})")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)?;
        if let Some(source) = &self.0.source {
            write!(f, ", caused by: {source}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source.as_ref() as _)
    }
}
