//! `[approvals]`: whether a person at a terminal confirms tasks.

use serde::{Deserialize, Serialize};

use luaplan_base::Result;

use super::values::invalid;

/// `[approvals]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawApprovals {
    /// Whether `luaplan task` at a terminal shows the plan and asks before it runs: `prompt` or `auto`.
    pub task_confirmation: String,
}

impl Default for RawApprovals {
    fn default() -> Self {
        Self { task_confirmation: "prompt".into() }
    }
}

/// Whether tasks are confirmed at a terminal.
///
/// # Errors
/// `config_invalid` for any other word.
pub(super) fn confirms_tasks(raw: &RawApprovals) -> Result<bool> {
    match raw.task_confirmation.as_str() {
        "prompt" => Ok(true),
        "auto" => Ok(false),
        other => Err(invalid("approvals.task_confirmation", other, "`prompt` or `auto`")),
    }
}
