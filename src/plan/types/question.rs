//! The questions to the analysis, and its answers: plain data, as trees cannot change threads.

use std::collections::HashSet;

use serde_json::Value as Json;

use luaplan_base::ErrorCode;
use luaplan_catalog::Catalog;
use luaplan_syntax::Span;

use super::super::Severity;
use super::super::check::ArgumentShape;
use super::masked::Masked;
use crate::names::calls::ToolCall;

/// One plan and what to judge it by.
pub(super) struct Question {
    pub(super) masked: Masked,
    pub(super) catalog: Catalog,
    /// The schemas of results that stand in calls.
    pub(super) schemas: Vec<Json>,
    /// Declarations of the context's class, where its shape is known.
    pub(super) context: Option<String>,
    pub(super) calls: Vec<ToolCall>,
    pub(super) library_calls: Vec<ToolCall>,
    /// Local variables that are assigned and that inner functions use: their value at any time is unknown.
    pub(super) changing: HashSet<String>,
    /// Local variables that are assigned at all: in a loop, the initial number is not the only one.
    pub(super) assigned: HashSet<String>,
    /// Global names the plan assigns.
    pub(super) defined: HashSet<String>,
}

/// What the types tell.
pub(super) struct Answer {
    pub(super) findings: Vec<TypeFinding>,
    pub(super) shapes: Vec<ArgumentShape>,
}

/// One finding, located in the plan as written.
pub(super) struct TypeFinding {
    pub(super) code: ErrorCode,
    pub(super) severity: Severity,
    pub(super) span: Span,
    pub(super) message: String,
    pub(super) help: String,
}
