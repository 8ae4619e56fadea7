//! The resource usage of a run.

use serde::{Deserialize, Serialize};

/// Resources used by one run, as every edge reports them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// VM instructions, rounded up to the meter's step.
    pub instructions: u64,
    /// The most bytes the VM held at once.
    pub memory_peak_bytes: u64,
    /// Wall time from the start of the run to its end, in milliseconds.
    pub wall_ms: u64,
    /// Tool calls made, failed ones included.
    pub tool_calls: u64,
    /// Bytes of tool results given to the plan.
    pub result_bytes: u64,
    /// Tokens sent to and received from models, by planner and `call_llm` together.
    pub llm_tokens: u64,
    /// Of the tokens sent, those that providers read from their caches. Written only where there are any.
    #[serde(skip_serializing_if = "is_zero")]
    pub llm_cached_tokens: u64,
    /// Money spent on models, in millionths of a US dollar; 0 where the price is not known.
    pub llm_cost_micro_usd: u64,
    /// How long calls waited for rate limits, in milliseconds, summed over the calls. Written only where one
    /// waited.
    #[serde(skip_serializing_if = "is_zero")]
    pub rate_wait_ms: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form serde asks for")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
