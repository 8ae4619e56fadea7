//! `wait_until(time)`: the run continues at an instant.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

use luaplan_base::{CallOutcome, ErrorCode, ToolFailure, Value};
use luaplan_bus::{Invocation, Progress, Tool};
use luaplan_catalog::ToolSpec;

use crate::builtin::sleep::{SleepSettings, until};

/// The tool.
pub struct WaitUntil {
    spec: ToolSpec,
}

impl WaitUntil {
    /// The tool as configured: no sleep is longer than `settings` allow.
    #[must_use]
    pub fn new(mut spec: ToolSpec, settings: &SleepSettings) -> Self {
        settings.bound(&mut spec);
        Self { spec }
    }

    /// The instant to wake at, where the settings allow so long a sleep.
    fn wake_at(&self, invocation: &Invocation) -> Result<Timestamp, ToolFailure> {
        let text = match &invocation.arguments {
            Value::Object(arguments) => match arguments.get("time") {
                Some(Value::String(text)) => text.as_str(),
                _ => "",
            },
            _ => "",
        };
        let wake_at: Timestamp = text.parse().map_err(|_| {
            let message = format!(
                "`{text}` is not an instant; write it with its offset, as in `2026-01-31T10:00:00Z`; nothing was waited for"
            );
            ToolFailure::new(ErrorCode::BadArguments, message).with_detail("parameter", "time")
        })?;
        let now = invocation.log.clock().now();
        let longest = self.spec.sleeps_max.unwrap_or(Duration::MAX);
        // A call that was started before was within the bound then.
        let wanted = Duration::try_from(wake_at.duration_since(now)).unwrap_or_default();
        if invocation.wake_at.is_none() && wanted > longest {
            let (limit, seen) = (longest.as_secs(), wanted.as_secs());
            let message = format!(
                "`{text}` is {seen} seconds away, and a single sleep takes {limit} at most; nothing was waited for"
            );
            return Err(ToolFailure::new(ErrorCode::BadArguments, message)
                .with_detail("parameter", "time")
                .with_detail("limit", limit.cast_signed())
                .with_detail("observed", seen.cast_signed()));
        }
        Ok(wake_at)
    }
}

#[async_trait]
impl Tool for WaitUntil {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, invocation: Invocation) -> CallOutcome {
        self.begin(invocation).await.into_outcome()
    }

    async fn begin(&self, invocation: Invocation) -> Progress {
        match self.wake_at(&invocation) {
            Ok(wake_at) => until(&self.spec, wake_at, invocation).await,
            Err(failure) => Progress::Ended(Err(failure)),
        }
    }
}
