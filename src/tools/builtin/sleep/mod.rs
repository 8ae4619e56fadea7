//! `sleep(seconds)`: the run continues later.
//!
//! The wake time is journaled before the sleep, so that it stays the same however often the run is
//! interrupted. A short sleep is waited for; a long one suspends the run.
//!
//! **Never here:** waking a run.

mod settings;

use std::time::Duration;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use luaplan_base::{CallOutcome, ErrorCode, ToolFailure, Value};
use luaplan_bus::{Invocation, Progress, Suspension, Tool};
use luaplan_catalog::ToolSpec;
use luaplan_journal::{Durability, EventBody};

pub use settings::SleepSettings;

/// The longest sleep that does not suspend the run.
const HELD_MAX: Duration = Duration::from_secs(1);

/// The tool.
pub struct Sleep {
    spec: ToolSpec,
}

impl Sleep {
    /// The tool as configured: no sleep is longer than `settings` allow.
    #[must_use]
    pub fn new(mut spec: ToolSpec, settings: &SleepSettings) -> Self {
        settings.bound(&mut spec);
        Self { spec }
    }
}

#[async_trait]
impl Tool for Sleep {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, invocation: Invocation) -> CallOutcome {
        self.begin(invocation).await.into_outcome()
    }

    async fn begin(&self, invocation: Invocation) -> Progress {
        let seconds = match &invocation.arguments {
            Value::Object(arguments) => match arguments.get("seconds") {
                Some(Value::Integer(seconds)) => Some(SignedDuration::from_secs(*seconds)),
                Some(Value::Float(seconds)) => SignedDuration::try_from_secs_f64(*seconds).ok(),
                _ => None,
            },
            _ => None,
        };
        let wake_at = seconds.and_then(|time| invocation.log.clock().now().checked_add(time).ok());
        match wake_at {
            Some(wake_at) => until(&self.spec, wake_at, invocation).await,
            None => Progress::Ended(Err(ToolFailure::new(
                ErrorCode::BadArguments,
                "`seconds` is out of range; nothing was waited for",
            ))),
        }
    }
}

/// Sleeps until `wake_at`, or until the journaled time where the call was started before.
pub(crate) async fn until(spec: &ToolSpec, wake_at: Timestamp, invocation: Invocation) -> Progress {
    let now = invocation.log.clock().now();
    let wake_at = match invocation.wake_at {
        Some(known) => known,
        None => {
            let begun = EventBody::SleepBegun {
                call_id: invocation.call_id.clone(),
                tool: spec.name.clone(),
                wake_at,
            };
            if let Err(error) = invocation.log.emit(begun, Durability::Ordered).await {
                return Progress::Ended(Err(error.into()));
            }
            wake_at
        }
    };
    let left = Duration::try_from(wake_at.duration_since(now)).unwrap_or_default();
    if left > HELD_MAX {
        return Progress::Suspended(Suspension::Until { run_id: invocation.run_id, wake_at });
    }
    invocation.budget.idle().add(left);
    tokio::time::sleep(left).await;
    Progress::Ended(Ok(Value::from_iter([("woke_at", Value::from(wake_at.to_string()))])))
}
