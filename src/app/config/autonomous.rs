//! `[autonomous]`: how long autonomous runs go on.

use serde::{Deserialize, Serialize};

use luaplan_base::Result;

use super::values::invalid;
use crate::runs::spec::ITERATIONS_MAX;

/// `[autonomous]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawAutonomous {
    /// By how many plans an autonomous run works on its task at most, unless it is asked for otherwise.
    pub max_iterations: u32,
}

impl Default for RawAutonomous {
    fn default() -> Self {
        Self { max_iterations: 8 }
    }
}

/// The most iterations.
///
/// # Errors
/// `config_invalid` for none or more than 1,000.
pub(super) fn iterations_max(raw: &RawAutonomous) -> Result<u32> {
    let wanted = raw.max_iterations;
    if (1..=ITERATIONS_MAX).contains(&wanted) {
        return Ok(wanted);
    }
    let expected = format!("from 1 to {ITERATIONS_MAX}");
    Err(invalid("autonomous.max_iterations", &wanted.to_string(), &expected)
        .with_limit(ITERATIONS_MAX, wanted))
}
