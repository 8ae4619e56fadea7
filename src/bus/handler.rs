//! Who answers a plan's calls: the bus, or something that stands in for it.

use async_trait::async_trait;

use luaplan_base::{CallOutcome, CallRequest};

use super::Interruption;

/// Answers the calls a paused plan waits for.
#[async_trait]
pub trait CallHandler: Send + Sync {
    /// Answers every call, in the order asked, however the answers arrive.
    ///
    /// # Errors
    /// Only what the plan cannot catch: its run is to rest, was cancelled, or must end, as for a limit that was hit or
    /// a journal that cannot be written. A failing call is an outcome, not an error.
    async fn answer(&self, calls: Vec<CallRequest>) -> Result<Vec<CallOutcome>, Interruption>;
}
