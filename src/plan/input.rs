//! What a check is asked.

use serde_json::Value as Json;

use luaplan_base::{Limits, Value};
use luaplan_catalog::Catalog;

/// The input of a check.
#[derive(Debug, Clone, Copy)]
pub struct CheckInput<'a> {
    /// The plan's source.
    pub source: &'a str,
    /// What messages call the plan: a file name, or `plan`.
    pub name: &'a str,
    /// The tools it may call.
    pub catalog: &'a Catalog,
    /// The size it may have.
    pub limits: &'a Limits,
    /// The context it is to run with, where known: only its shape counts. An empty object counts as none.
    pub context: Option<&'a Value>,
    /// The task the plan was written for, where there is one: its addresses are allowed in the plan.
    pub task: Option<&'a str>,
    /// What calls of the plan give, where somebody knows it better than their tools' manifests.
    pub results: &'a [KnownResult],
}

/// What a call of a plan gives.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownResult {
    /// The call, as a byte range in the source.
    pub call: (usize, usize),
    /// As JSON Schema.
    pub schema: Json,
}
