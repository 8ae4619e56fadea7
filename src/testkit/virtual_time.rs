//! The clock of a plan under test: it stands still but for what the plan sleeps.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value as Json, json};

use luaplan_catalog::ToolSpec;

/// When every run of a test begins: 2026-01-01T00:00:00Z.
const BEGINNING_SECONDS: i64 = 1_767_225_600;

/// Sleeps without waiting.
pub(super) struct VirtualTime(Mutex<Times>);

#[derive(Clone, Copy)]
struct Times {
    /// Where the calls asked for together began.
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
    /// Calls answered from now on were asked for together.
    pub(super) fn begin_round(&self) {
        let mut times = self.lock();
        times.round = times.now;
    }

    /// What a sleeping tool gives; `None` for other tools, and where the time asked for is none.
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
