//! Who answers a plan's calls: the bus, or something that stands in for it.

use async_trait::async_trait;

use luaplan_base::{CallOutcome, CallRequest, Result};

/// Answers the calls a paused plan waits for.
#[async_trait]
pub trait CallHandler: Send + Sync {
    /// Answers every call, in the order asked, however the answers arrive.
    ///
    /// # Errors
    /// Only what must end the run, and the plan cannot catch: a limit that was hit, a journal that
    /// cannot be written, a cancelled run. A failing call is an outcome, not an error.
    async fn answer(&self, calls: Vec<CallRequest>) -> Result<Vec<CallOutcome>>;
}
