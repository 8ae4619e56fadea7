//! The clock of a plan under test: it advances only by the plan's sleeps.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value as Json, json};

use luaplan_catalog::ToolSpec;

/// The start of every run of a test: 2026-01-01T00:00:00Z.
const BEGINNING_SECONDS: i64 = 1_767_225_600;

/// Sleeps without waiting.
pub(super) struct VirtualTime(Mutex<Times>);

#[derive(Clone, Copy)]
struct Times {
    /// The start time of the calls of this round.
    round: Timestamp,
    now: Timestamp,
}

impl Default for VirtualTime {
    fn default() -> Self {
        let now = Timestamp::from_second(BEGINNING_SECONDS).unwrap_or_default();
        Self(Mutex::new(Times { round: now, now }))
    }
}

impl VirtualTime {
    /// Starts a new round of calls.
    pub(super) fn begin_round(&self) {
        let mut times = self.lock();
        times.round = times.now;
    }

    /// The answer of a sleeping tool; `None` for other tools, and for an invalid time.
    pub(super) fn answer(&self, spec: &ToolSpec, arguments: &Json) -> Option<Json> {
        spec.sleeps_max?;
        let mut times = self.lock();
        let wake_at = match (arguments.get("seconds").and_then(Json::as_f64), arguments.get("time")) {
            (Some(seconds), _) => {
                let sleep = SignedDuration::try_from_secs_f64(seconds).ok()?;
                times.round.checked_add(sleep).ok()?
            }
            (None, Some(time)) => time.as_str()?.parse().ok()?,
            (None, None) => return None,
        };
        times.now = times.now.max(wake_at);
        Some(json!({ "woke_at": wake_at.to_string() }))
    }

    fn lock(&self) -> MutexGuard<'_, Times> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
