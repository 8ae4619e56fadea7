//! How often and how many at once: a call waits for its turn up to a bound, then is refused.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout_at};

use crate::base::{ErrorCode, Rate, ToolFailure};
use crate::catalog::ToolSpec;

/// How patient the limiter is, and what a run may do in all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimiterSettings {
    /// The longest a call waits for its turn.
    pub max_wait: Duration,
    /// Calls that may wait for one tool, or in one run, at the same time.
    pub queue_max: u32,
    /// How often one run may call tools, all tools together, and how many calls may come at once
    /// before that counts; `None` leaves it to the tools' own rates.
    pub run_rate: Option<(Rate, u32)>,
}

impl LimiterSettings {
    /// Two seconds, 64 waiting, no rate over all tools of a run.
    #[must_use]
    pub const fn standard() -> Self {
        Self { max_wait: Duration::from_secs(2), queue_max: 64, run_rate: None }
    }
}

/// The limits of every tool, shared by all runs of a process.
#[derive(Debug)]
pub struct Limiter {
    settings: LimiterSettings,
    tools: Mutex<HashMap<String, Arc<ToolGate>>>,
}

/// The limit of one run over all its calls.
#[derive(Debug)]
pub struct RunGate(Option<RateGate>);

/// Leave to make one call. The tool's slot is free again when this is dropped.
#[derive(Debug)]
pub struct Permit(
    #[expect(dead_code, reason = "held, not read: dropping it frees the slot")] OwnedSemaphorePermit,
);

impl Limiter {
    /// A limiter where nothing has been called yet.
    #[must_use]
    pub fn new(settings: LimiterSettings) -> Self {
        Self { settings, tools: Mutex::new(HashMap::new()) }
    }

    /// The gate of a run that starts now.
    #[must_use]
    pub fn run_gate(&self) -> RunGate {
        RunGate(self.settings.run_rate.map(|(rate, burst)| RateGate::new(rate, burst)))
    }

    /// Waits until the tool may be called: a turn of the run, a free slot and a turn of the tool,
    /// in that order, all within [`LimiterSettings::max_wait`]. Calls get their turns in the
    /// order they came. A tool's rate and concurrency are those of its first call.
    ///
    /// # Errors
    /// `rate_limited`, retryable, with `retry_after_ms`, where that takes longer or too many wait.
    pub async fn acquire(&self, run: &RunGate, spec: &ToolSpec) -> Result<Permit, ToolFailure> {
        let deadline = Instant::now() + self.settings.max_wait;
        if let Some(gate) = &run.0 {
            gate.pass(deadline, self.settings.queue_max)
                .await
                .map_err(|wait| self.refuse(&format!("the run may make {} calls", gate.rate), wait))?;
        }
        let gate = self.tool_gate(spec);
        let slot = timeout_at(deadline, Arc::clone(&gate.slots).acquire_owned()).await;
        let Ok(Ok(slot)) = slot else {
            let at_once = spec.concurrency;
            let reason = format!("the tool `{}` may be called {at_once} times at once", spec.name);
            return Err(self.refuse(&reason, self.settings.max_wait));
        };
        gate.rate.pass(deadline, self.settings.queue_max).await.map_err(|wait| {
            self.refuse(&format!("the tool `{}` may be called {}", spec.name, gate.rate.rate), wait)
        })?;
        Ok(Permit(slot))
    }

    fn tool_gate(&self, spec: &ToolSpec) -> Arc<ToolGate> {
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        let gate = tools.entry(spec.name.clone()).or_insert_with(|| {
            Arc::new(ToolGate {
                rate: RateGate::new(spec.rate, spec.burst),
                slots: Arc::new(Semaphore::new(spec.concurrency.max(1) as usize)),
            })
        });
        Arc::clone(gate)
    }

    fn refuse(&self, reason: &str, wait: Duration) -> ToolFailure {
        let wait_ms = whole_ms(wait);
        let max_ms = whole_ms(self.settings.max_wait);
        ToolFailure::new(
            ErrorCode::RateLimited,
            format!("{reason}; the next turn is {wait_ms} ms away and a call waits {max_ms} ms at most"),
        )
        .retryable()
        .with_detail("retry_after_ms", wait_ms)
        .with_detail("max_wait_ms", max_ms)
    }
}

#[derive(Debug)]
struct ToolGate {
    rate: RateGate,
    slots: Arc<Semaphore>,
}

/// A rate with a fair queue before it.
#[derive(Debug)]
struct RateGate {
    rate: Rate,
    interval: Duration,
    limiter: RateLimiter<NotKeyed, InMemoryState, RuntimeClock, NoOpMiddleware<Duration>>,
    /// Held by the call whose turn is next; the lock is fair, so turns go in order of arrival.
    turn: tokio::sync::Mutex<()>,
    waiting: AtomicU32,
}

impl RateGate {
    fn new(rate: Rate, burst: u32) -> Self {
        let interval = (rate.period / rate.events.get()).max(Duration::from_nanos(1));
        let burst = NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN);
        // A period of zero is the only one refused.
        let quota = Quota::with_period(interval).unwrap_or(Quota::per_second(NonZeroU32::MAX));
        let clock = RuntimeClock { start: Instant::now() };
        Self {
            rate,
            interval,
            limiter: RateLimiter::direct_with_clock(quota.allow_burst(burst), clock),
            turn: tokio::sync::Mutex::new(()),
            waiting: AtomicU32::new(0),
        }
    }

    /// Waits for a turn, or says how far away it is.
    async fn pass(&self, deadline: Instant, queue_max: u32) -> Result<(), Duration> {
        let ahead = self.waiting.fetch_add(1, Ordering::Relaxed);
        let _leave = Leave(&self.waiting);
        let estimate = self.interval.saturating_mul(ahead);
        if ahead > 0 && (ahead >= queue_max || Instant::now() + estimate > deadline) {
            return Err(estimate);
        }
        let Ok(_turn) = timeout_at(deadline, self.turn.lock()).await else { return Err(estimate) };
        loop {
            let Err(not_until) = self.limiter.check() else { return Ok(()) };
            let wait = not_until.wait_time_from(self.limiter.clock().now());
            if Instant::now() + wait > deadline {
                return Err(wait);
            }
            sleep(wait).await;
        }
    }
}

struct Leave<'a>(&'a AtomicU32);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The runtime's own clock, so that rates and waits agree, also in tests that move it.
#[derive(Debug, Clone)]
struct RuntimeClock {
    start: Instant,
}

impl Clock for RuntimeClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

fn whole_ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX)
}
