//! Secrets by name, and results without them.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret as _, SecretString};

use luaplan_base::{CallOutcome, ToolFailure, Value};
use luaplan_journal::Redactor;

/// One configured secret.
#[derive(Debug, Clone)]
pub struct NamedSecret {
    /// Its value, or what is missing, in words that hold no secret.
    pub value: Result<SecretString, String>,
    /// The tools that may use it; all where it names none.
    pub tools: Option<Vec<String>>,
}

/// Every configured secret by its name. Printing it shows no value.
#[derive(Debug, Clone, Default)]
pub struct NamedSecrets(BTreeMap<String, NamedSecret>);

impl NamedSecrets {
    /// The secret `name` for the tool `tool`.
    ///
    /// # Errors
    /// What is missing and what to set, in words.
    pub fn get(&self, tool: &str, name: &str) -> Result<SecretString, String> {
        let Some(secret) = self.0.get(name) else {
            return Err(format!(
                "the secret `{name}` is not configured: set `[secrets] {name} = {{ env = \"…\" }}`"
            ));
        };
        if secret.tools.as_ref().is_some_and(|tools| !tools.iter().any(|allowed| allowed == tool)) {
            return Err(format!("the secret `{name}` is not for `{tool}`: add it to `secrets.{name}.tools`"));
        }
        secret.value.clone()
    }

    /// All known values, for the redaction of records.
    pub fn values(&self) -> impl Iterator<Item = &SecretString> {
        self.0.values().filter_map(|secret| secret.value.as_ref().ok())
    }
}

impl FromIterator<(String, NamedSecret)> for NamedSecrets {
    fn from_iter<I: IntoIterator<Item = (String, NamedSecret)>>(secrets: I) -> Self {
        Self(secrets.into_iter().collect())
    }
}

/// Removes a tool's own secrets from its outcomes: a server or a program may repeat them.
#[derive(Default)]
pub(crate) struct Scrubber {
    redactor: Redactor,
    is_idle: bool,
}

impl Scrubber {
    /// A scrubber for these values.
    pub(crate) fn new(secrets: &[SecretString]) -> Self {
        let values = secrets.iter().map(|secret| secret.expose_secret().to_owned()).collect();
        Self { redactor: Redactor::new(values), is_idle: secrets.is_empty() }
    }

    /// The outcome without the secrets.
    pub(crate) fn outcome(&self, outcome: CallOutcome) -> CallOutcome {
        if self.is_idle { outcome } else { self.redactor.outcome(outcome) }
    }

    /// The failure without the secrets.
    pub(crate) fn failure(&self, failure: ToolFailure) -> ToolFailure {
        if self.is_idle { failure } else { self.redactor.failure(failure) }
    }

    /// The text without the secrets.
    pub(crate) fn text(&self, text: String) -> String {
        match self.redactor.value(Value::String(text)) {
            Value::String(text) => text,
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use luaplan_base::ErrorCode;

    #[test]
    fn no_form_of_a_secret_is_handed_on() {
        let scrubber = Scrubber::new(&["hunter-2222".into()]);
        let echoed = Value::Array(vec![
            "Bearer hunter-2222".into(),
            Value::from_lua_bytes(b"\xffhunter-2222\xff".to_vec()),
            Value::from_iter([("hunter-2222", "aHVudGVyLTIyMjI=")]),
        ]);
        let shown = format!("{:?}", scrubber.outcome(Ok(echoed)).unwrap());
        assert!(!shown.contains("hunter") && !shown.contains("aHVudGVy"), "{shown}");
        let failure =
            ToolFailure::new(ErrorCode::ToolFailed, "no hunter-2222").with_detail("x", "hunter-2222");
        let shown = format!("{:?}", scrubber.outcome(Err(failure)));
        assert!(!shown.contains("hunter"), "{shown}");
    }

    #[test]
    fn a_secret_is_for_the_tools_it_names() {
        let secret = NamedSecret { value: Ok("v".into()), tools: Some(vec!["a".to_owned()]) };
        let secrets = NamedSecrets::from_iter([("key".to_owned(), secret)]);
        assert!(secrets.get("a", "key").is_ok());
        assert!(secrets.get("b", "key").unwrap_err().contains("secrets.key.tools"));
        assert!(secrets.get("a", "other").unwrap_err().contains("[secrets] other"));
        assert!(!format!("{secrets:?}").contains("\"v\""));
    }
}
