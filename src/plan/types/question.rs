//! What is asked of the analysis, and what it answers: data alone, as trees cannot change threads.

use std::collections::HashSet;

use luaplan_base::ErrorCode;
use luaplan_catalog::Catalog;
use luaplan_syntax::Span;

use super::super::Severity;
use super::ToolCall;
use super::masked::Masked;

/// One plan and what it is to be held against.
pub(super) struct Question {
    pub(super) masked: Masked,
    pub(super) catalog: Catalog,
    /// Declarations of the context's class, where its shape is known.
    pub(super) context: Option<String>,
    pub(super) calls: Vec<ToolCall>,
    pub(super) library_calls: Vec<ToolCall>,
    /// Local variables that are assigned and that inner functions use: what they hold when is not known.
    pub(super) changing: HashSet<String>,
    /// Local variables that are assigned at all: in a loop, the number one begins with is not the
    /// only one it has.
    pub(super) assigned: HashSet<String>,
    /// Global names the plan assigns.
    pub(super) defined: HashSet<String>,
}

/// One finding, in places of the plan as it was written.
pub(super) struct Verdict {
    pub(super) code: ErrorCode,
    pub(super) severity: Severity,
    pub(super) span: Span,
    pub(super) message: String,
    pub(super) help: String,
}
