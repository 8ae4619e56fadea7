//! May this call be made? A pure decision over the tool and its arguments.

use std::collections::BTreeSet;

use crate::base::{Effect, ErrorCode, ToolFailure, Value};
use crate::catalog::ToolSpec;

/// What a run may do with the tools that are registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The capabilities the run has; `None` for all that the registered tools need.
    pub allowed_capabilities: Option<BTreeSet<String>>,
    /// The strongest effect allowed.
    pub max_effect: Effect,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Make the call.
    Allow,
    /// Do not make it; the plan gets this failure.
    Deny(ToolFailure),
}

impl Policy {
    /// Every registered tool, with any effect: for runs where the choice of tools is the policy.
    #[must_use]
    pub const fn registered_tools() -> Self {
        Self { allowed_capabilities: None, max_effect: Effect::Spend }
    }

    /// Registered tools that only read.
    #[must_use]
    pub const fn read_only() -> Self {
        Self { allowed_capabilities: None, max_effect: Effect::Read }
    }

    /// Decides about one call. `arguments` are bound: an object by parameter name.
    #[must_use]
    pub fn decide(&self, spec: &ToolSpec, arguments: &Value) -> Decision {
        // Rules about recipients, hosts and the like will look at these; the tools do so for now.
        let _ = arguments;
        if let Some(allowed) = &self.allowed_capabilities
            && !allowed.contains(&spec.capability)
        {
            let reason = format!("needs the capability `{}`, which this run does not have", spec.capability);
            return Self::deny(spec, &reason);
        }
        if spec.effect > self.max_effect {
            let (effect, most) = (spec.effect.as_str(), self.max_effect.as_str());
            let reason = format!("has the effect `{effect}`; this run may go no further than `{most}`");
            return Self::deny(spec, &reason);
        }
        Decision::Allow
    }

    fn deny(spec: &ToolSpec, reason: &str) -> Decision {
        Decision::Deny(
            ToolFailure::new(
                ErrorCode::PermissionDenied,
                format!("the tool `{}` {reason}; no call was made", spec.name),
            )
            .with_detail("capability", spec.capability.as_str())
            .with_detail("effect", spec.effect.as_str()),
        )
    }
}
