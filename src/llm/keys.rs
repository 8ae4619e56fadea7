//! The keys of model providers.

use std::collections::BTreeMap;
use std::fmt;

use secrecy::SecretString;

/// Keys by the name of the environment variable they came from.
///
/// The application reads the environment; a client only looks names up here. `Debug` shows names
/// alone.
#[derive(Clone, Default)]
pub struct ProviderKeys(BTreeMap<String, SecretString>);

impl ProviderKeys {
    /// The key that came from `variable`. A variable set to nothing counts as not set.
    #[must_use]
    pub fn get(&self, variable: &str) -> Option<&SecretString> {
        self.0.get(variable)
    }

    /// Adds a key under its variable's name. White space around it is dropped; an empty key is
    /// not kept.
    pub fn insert(&mut self, variable: impl Into<String>, key: &str) {
        let key = key.trim();
        if !key.is_empty() {
            self.0.insert(variable.into(), SecretString::from(key.to_owned()));
        }
    }
}

impl<N: Into<String>> FromIterator<(N, String)> for ProviderKeys {
    fn from_iter<I: IntoIterator<Item = (N, String)>>(pairs: I) -> Self {
        let mut keys = Self::default();
        for (variable, key) in pairs {
            keys.insert(variable, &key);
        }
        keys
    }
}

impl fmt::Debug for ProviderKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
