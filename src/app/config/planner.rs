//! `[planner]`, checked.

use luaplan_base::Result;
use luaplan_planner::CANDIDATES_MAX;

use super::checked::at_most;
use super::values::invalid;

/// How many plans are asked for.
pub(super) fn candidates(wanted: u32) -> Result<u32> {
    if wanted == 0 {
        return Err(invalid("planner.candidates", "0", &format!("a number from 1 to {CANDIDATES_MAX}")));
    }
    at_most("planner.candidates", wanted, CANDIDATES_MAX)
}

/// Whether a person is asked about samples of what a task names.
pub(super) fn asks_for_samples(sample: &str) -> Result<bool> {
    match sample {
        "off" => Ok(false),
        "ask" => Ok(true),
        other => Err(invalid("planner.sample", other, "`off` or `ask`")),
    }
}
