//! The handler of a plan's calls: the bus, or a substitute for it.

use async_trait::async_trait;

use luaplan_base::{CallOutcome, CallRequest};

use super::Interruption;

/// Answers the calls that a paused plan waits for.
#[async_trait]
pub trait CallHandler: Send + Sync {
    /// Answers every call, in the order of the calls, however the answers arrive.
    ///
    /// # Errors
    /// Only what the plan cannot catch: its run is suspended, was cancelled, or must end, for example for a limit that
    /// was hit or a journal that cannot be written. A failing call is an outcome, not an error.
    async fn answer(&self, calls: Vec<CallRequest>) -> Result<Vec<CallOutcome>, Interruption>;
}
