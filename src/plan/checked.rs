//! A plan that passed the checks.

use std::sync::Arc;

use luaplan_base::ContentHash;
use luaplan_syntax::parse;

use crate::names::walk::walk;
use crate::report::Report;

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

    /// A plan that says whether the task is done: run with `{context, result}` it returns what `done(context, result)` of this
    /// one does, as `{done, reason}`. `None` where this one defines no global function `done`.
    #[must_use]
    pub fn asking_done(&self) -> Option<Self> {
        const ASKING: &str = "function run(asked)\n  local is_done, reason = done(asked.context, asked.result)\n  \
             return { done = is_done, reason = reason }\nend\n";
        let chunk = parse(&self.source).ok()?;
        let walk = walk(&chunk, &mut Report::new(&self.source));
        let has_done = walk.writes.iter().any(|write| write.name == "done");
        has_done.then(|| Self::new(&self.name, &format!("{}\n{ASKING}", self.source)))
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
