//! A tool that cannot work yet: it is known, and says what is missing when called.

use async_trait::async_trait;

use luaplan_base::{CallOutcome, ErrorCode, ToolFailure, Value};
use luaplan_bus::{ForeseenCall, Invocation, Tool};
use luaplan_catalog::ToolSpec;

/// What a tool still needs before it can work.
pub(crate) struct Unmet {
    /// `tool_not_configured`, or a code that says more.
    pub(crate) code: ErrorCode,
    /// What is missing, and the keys to set.
    pub(crate) message: String,
}

impl Unmet {
    /// Configuration is missing.
    pub(crate) fn configuration(message: impl Into<String>) -> Self {
        Self { code: ErrorCode::ToolNotConfigured, message: message.into() }
    }
}

/// Stands where a tool would be if it were configured, so that plans which name it can be checked
/// and tested, and a real call fails with what to set.
pub(crate) struct UnconfiguredTool {
    pub(crate) spec: ToolSpec,
    pub(crate) unmet: Unmet,
}

impl UnconfiguredTool {
    fn failure(&self) -> ToolFailure {
        ToolFailure::new(self.unmet.code, self.unmet.message.clone())
    }
}

#[async_trait]
impl Tool for UnconfiguredTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, _invocation: Invocation) -> CallOutcome {
        Err(self.failure())
    }

    fn could_call(&self, _arguments: &Value) -> Result<(), ToolFailure> {
        Err(self.failure())
    }

    fn could_ever_call(&self, _call: &ForeseenCall) -> Result<(), ToolFailure> {
        Ok(())
    }
}
