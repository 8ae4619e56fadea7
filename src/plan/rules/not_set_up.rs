//! Tools that lack configuration here: the plan may run, and these calls fail.

use std::collections::HashSet;

use super::{Plan, Raised};
use crate::names::found::span_of;

const HELP: &str = "set what the message names; until then the call fails with its error, and nothing is done. \
                    Where the plan goes on without it, test `result.error`";

/// Reported once for each tool, at its first call.
pub(super) fn find(plan: &Plan<'_>) -> Vec<Raised> {
    let mut said = HashSet::new();
    let first_calls = plan.calls.iter().filter(|call| said.insert(call.spec.name.clone()));
    first_calls
        .filter_map(|call| {
            let missing = plan.input.catalog.not_set_up(&call.spec.name)?;
            let message = format!("`{}` is not set up: {missing}", call.spec.name);
            Some(Raised::warning(span_of(&call.expression), message, HELP))
        })
        .collect()
}
