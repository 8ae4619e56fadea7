//! A plan that passed the checks.

use std::sync::Arc;

use luaplan_base::ContentHash;

/// Source that passed the check against a catalog, now or when its run started. Only the check makes one.
#[derive(Debug, Clone)]
pub struct CheckedPlan {
    source: Arc<str>,
    name: Arc<str>,
    hash: ContentHash,
}

impl CheckedPlan {
    pub(super) fn new(name: &str, source: &str) -> Self {
        Self { source: source.into(), name: name.into(), hash: ContentHash::of(source.as_bytes()) }
    }

    /// The Lua source, byte for byte as written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The name used in messages: a file name, or `plan`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Hash of the source.
    #[must_use]
    pub fn hash(&self) -> &ContentHash {
        &self.hash
    }
}
