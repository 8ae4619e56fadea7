//! Information flow: whether what came from outside steers a call.
//!
//! The bus asks about each call that the policy does not deny. What the judge knows of the plan and of the sources of its
//! data is no business of the bus.

use std::sync::Arc;

use async_trait::async_trait;

use luaplan_base::{CallRequest, ErrorCode, ToolFailure};
use luaplan_catalog::ToolSpec;

use super::{PolicyDecision, Tier};

/// What becomes of a call that untrusted data steers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteeredCall {
    /// It is made, and the ways of the data are recorded with it.
    Record,
    /// A person must approve this one call, in every mode. No grant stands for that approval.
    Ask,
    /// It fails with `flow_refused`.
    Refuse,
}

/// Knows where the data of a plan comes from.
#[async_trait]
pub trait FlowJudge: Send + Sync {
    /// The ways, in words, on which untrusted data reaches what decides where `call` goes, or whether it is made; empty
    /// where it does not.
    async fn untrusted_ways(&self, call: &CallRequest, spec: &ToolSpec) -> Vec<String>;
}

/// The judgement of a run's calls.
#[derive(Clone)]
pub struct FlowGate {
    /// Knows the plan.
    pub judge: Arc<dyn FlowJudge>,
    /// What becomes of steered calls.
    pub steered: SteeredCall,
}

impl FlowGate {
    /// The failure of a call that is refused for `ways`.
    pub(super) fn refusal(spec: &ToolSpec, ways: &[String]) -> ToolFailure {
        let message =
            format!("untrusted data would steer `{}`: {}; no call was made", spec.name, ways.join("; "));
        ToolFailure::new(ErrorCode::FlowRefused, message)
    }
}

impl PolicyDecision {
    /// The same for a call that a person must approve for `ways`, whatever the policy says of it.
    pub(super) fn asking_for(mut self, ways: &[String]) -> Self {
        let steered = format!("untrusted data steers it: {}", ways.join("; "));
        self.reason = match self.decision {
            Tier::Auto => steered,
            _ => format!("{}; {steered}", self.reason),
        };
        self.decision = self.decision.max(Tier::Prompt);
        self.is_unasked = false;
        self
    }
}
