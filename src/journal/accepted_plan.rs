//! The plan of a run, as its records have it.

use serde::Serialize;

use luaplan_base::ContentHash;

/// The plan that a run executes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AcceptedPlan {
    /// Hash of its source.
    pub plan_hash: ContentHash,
    /// Its source; absent where the record that held it is missing.
    #[serde(skip)]
    pub source: Option<String>,
    /// The number of calls that earlier plans of the run made.
    pub calls_before: u64,
    /// Where its own output begins in the run's output.
    pub printed_from: usize,
    /// How often it printed.
    pub prints: u32,
    /// The number of `retry` waits it has started.
    pub retries: u32,
    /// How often one of its steps started or ended.
    pub step_changes: u32,
}
