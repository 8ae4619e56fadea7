//! The findings of a check.

use serde::{Deserialize, Serialize};

use luaplan_base::ErrorCode;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The plan will not be run.
    Error,
    /// Advice.
    Warning,
}

/// One finding of the check, as `luaplan check --json` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// A stable code: one of [`luaplan_base::ErrorCode`]'s `plan_…` codes.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// Line, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
    /// The line of its end. 0 in records of versions that did not say it.
    #[serde(default)]
    pub end_line: u32,
    /// The column after its last character.
    #[serde(default)]
    pub end_column: u32,
    /// Byte range in the source.
    #[serde(skip)]
    pub span: (usize, usize),
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// What another room found in a plan: what its calls would meet where it is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Its code.
    pub code: ErrorCode,
    /// How bad it is.
    pub severity: Severity,
    /// Byte range in the source.
    pub span: (usize, usize),
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl Finding {
    /// Whether the plan tried to reach past the sandbox: a part of Lua that is not there.
    #[must_use]
    pub fn reaches_out(&self) -> bool {
        self.severity == Severity::Error && self.code == ErrorCode::PlanForbiddenGlobal.as_str()
    }
}
