//! Rates and concurrency: a call waits for its turn, in order, up to a bound, then is refused.
//! The limits protect the servers called, so a tool whose arguments name a host or a database has a rate and
//! slots for each of them.

use std::collections::{BTreeSet, HashMap};
use std::future::{Future as _, poll_fn};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout_at};
use url::Url;

use luaplan_base::{ErrorCode, Rate, ToolFailure, Value};
use luaplan_catalog::{TargetKind, ToolSpec};

/// The most hosts and databases with a gate of their own at a time; further ones share their tool's.
const TARGETS_MAX: usize = 1024;

/// Bounds of the limiter's waits, and the rate of a whole run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimiterSettings {
    /// The longest a call waits for its turn; `None`: until its run's wall time ends.
    pub max_wait: Option<Duration>,
    /// Calls that may wait at one gate, or in one run, at the same time.
    pub queue_max: u32,
    /// The rate of one run over all its tools together, and its burst; `None` leaves it to the tools' own
    /// rates.
    pub run_rate: Option<(Rate, u32)>,
}

impl LimiterSettings {
    /// Waits until the run's wall time ends, 1,000 waiting calls, no rate over all tools of a run.
    #[must_use]
    pub const fn standard() -> Self {
        Self { max_wait: None, queue_max: 1000, run_rate: None }
    }
}

/// The limits of every tool, shared by all runs of a process.
#[derive(Debug)]
pub struct Limiter {
    settings: LimiterSettings,
    /// By tool and target; the target is empty for tools without one.
    gates: Mutex<HashMap<(String, String), Arc<TargetGate>>>,
}

/// The limit of one run over all its calls.
#[derive(Debug)]
pub struct RunGate(Option<RateGate>);

/// Permission to make one call. Dropping it frees its slots.
#[derive(Debug)]
pub struct Permit {
    #[expect(dead_code, reason = "held, not read: dropping them frees the slots")]
    slots: Vec<OwnedSemaphorePermit>,
    /// How long the call waited for its turn.
    pub waited: Duration,
}

impl Limiter {
    /// A limiter before the first call.
    #[must_use]
    pub fn new(settings: LimiterSettings) -> Self {
        Self { settings, gates: Mutex::new(HashMap::new()) }
    }

    /// A gate for a run that starts now.
    #[must_use]
    pub fn run_gate(&self) -> RunGate {
        RunGate(self.settings.run_rate.map(|(rate, burst)| RateGate::new(rate, burst)))
    }

    /// Waits until the tool may be called with these bound arguments: a turn of the run, then a free slot and a
    /// turn for each target they name, all before `run_ends` and within
    /// [`LimiterSettings::max_wait`]. Calls get their turns in order of arrival. A tool's rate and
    /// concurrency are those of its first call.
    ///
    /// # Errors
    /// `rate_limited`, retryable, with `retry_after_ms`, where that takes longer or too many calls wait.
    pub async fn acquire(
        &self,
        run: &RunGate,
        spec: &ToolSpec,
        arguments: &Value,
        run_ends: Instant,
    ) -> Result<Permit, ToolFailure> {
        let began = Instant::now();
        let until = self.settings.max_wait.map_or(run_ends, |wait| run_ends.min(began + wait));
        let mut slots = std::pin::pin!(self.slots(run, spec, arguments, began, until));
        // A call that finds every gate open does not wait, however busy the machine is.
        let (slots, waited) = match poll_fn(|context| Poll::Ready(slots.as_mut().poll(context))).await {
            Poll::Ready(slots) => (slots?, Duration::ZERO),
            Poll::Pending => (slots.await?, began.elapsed()),
        };
        Ok(Permit { slots, waited })
    }

    /// The slots of all gates of a call, acquired one after the other.
    async fn slots(
        &self,
        run: &RunGate,
        spec: &ToolSpec,
        arguments: &Value,
        began: Instant,
        until: Instant,
    ) -> Result<Vec<OwnedSemaphorePermit>, ToolFailure> {
        let refuse = |reason: String, wait| refusal(&reason, wait, until.saturating_duration_since(began));
        if let Some(gate) = &run.0 {
            gate.pass(until, self.settings.queue_max)
                .await
                .map_err(|wait| refuse(format!("the run may make {} calls", gate.rate), wait))?;
        }
        let mut gates: Vec<(Arc<TargetGate>, String)> = Vec::new();
        for target in targets(spec, arguments) {
            let gate = self.gate(spec, &target);
            // Targets beyond the bound share one gate, which a call passes once.
            if !gates.iter().any(|(known, _)| Arc::ptr_eq(known, &gate)) {
                gates.push((gate, target));
            }
        }
        // In one order for all calls, so that two calls that need the same slots cannot deadlock.
        gates.sort_by_key(|(gate, _)| Arc::as_ptr(gate));
        let mut slots = Vec::new();
        for (gate, target) in gates {
            let whom = if target.is_empty() { String::new() } else { format!(" for `{target}`") };
            let Ok(Ok(slot)) = timeout_at(until, Arc::clone(&gate.slots).acquire_owned()).await else {
                let at_once = spec.concurrency;
                let reason = format!("the tool `{}` may be called {at_once} times at once{whom}", spec.name);
                return Err(refuse(reason, until.saturating_duration_since(began)));
            };
            slots.push(slot);
            gate.rate.pass(until, self.settings.queue_max).await.map_err(|wait| {
                refuse(format!("the tool `{}` may be called {}{whom}", spec.name, gate.rate.rate), wait)
            })?;
        }
        Ok(slots)
    }

    fn gate(&self, spec: &ToolSpec, target: &str) -> Arc<TargetGate> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (spec.name.clone(), target.to_owned());
        if gates.len() >= TARGETS_MAX && !gates.contains_key(&key) {
            // A gate that a caller holds is in use.
            gates.retain(|_, gate| Arc::strong_count(gate) > 1 || !gate.is_idle());
        }
        let key = if gates.len() >= TARGETS_MAX && !gates.contains_key(&key) {
            (spec.name.clone(), String::new())
        } else {
            key
        };
        Arc::clone(gates.entry(key).or_insert_with(|| Arc::new(TargetGate::new(spec))))
    }
}

/// The hosts and databases that bound arguments name; one empty name where there are none.
fn targets(spec: &ToolSpec, arguments: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (name, kind) in &spec.targets {
        let host_or_name: fn(&str) -> Option<String> = match kind {
            TargetKind::Url => |url| Url::parse(url).ok()?.host_str().map(str::to_owned),
            TargetKind::Host | TargetKind::Database => |name| Some(name.to_ascii_lowercase()),
            _ => continue,
        };
        match arguments.get(name) {
            Some(Value::Array(items)) => {
                found.extend(items.iter().filter_map(|item| host_or_name(item.as_str()?)));
            }
            Some(value) => found.extend(value.as_str().and_then(host_or_name)),
            None => {}
        }
    }
    if found.is_empty() {
        found.insert(String::new());
    }
    found
}

fn refusal(reason: &str, wait: Duration, max_wait: Duration) -> ToolFailure {
    let (wait_ms, max_ms) = (whole_ms(wait), whole_ms(max_wait));
    ToolFailure::new(
        ErrorCode::RateLimited,
        format!("{reason}; the next turn is {wait_ms} ms away and this call may wait {max_ms} ms"),
    )
    .retryable()
    .with_detail("retry_after_ms", wait_ms)
    .with_detail("max_wait_ms", max_ms)
}

/// The rate and the slots of one tool for one target.
#[derive(Debug)]
struct TargetGate {
    rate: RateGate,
    concurrency: usize,
    slots: Arc<Semaphore>,
}

impl TargetGate {
    fn new(spec: &ToolSpec) -> Self {
        let concurrency = spec.concurrency.max(1) as usize;
        Self {
            rate: RateGate::new(spec.rate, spec.burst),
            concurrency,
            slots: Arc::new(Semaphore::new(concurrency)),
        }
    }

    /// Whether dropping it would allow no extra call.
    fn is_idle(&self) -> bool {
        self.slots.available_permits() == self.concurrency && self.rate.is_full()
    }
}

/// A rate with a fair queue.
#[derive(Debug)]
struct RateGate {
    rate: Rate,
    interval: Duration,
    limiter: RateLimiter<NotKeyed, InMemoryState, RuntimeClock, NoOpMiddleware<Duration>>,
    /// Held by the call whose turn is next; the lock is fair, so turns follow the order of arrival.
    turn: tokio::sync::Mutex<()>,
    waiting: AtomicU32,
    /// The time without calls after which the whole burst is available again.
    refill: Duration,
    passed_last: Mutex<Instant>,
}

impl RateGate {
    fn new(rate: Rate, burst: u32) -> Self {
        let interval = (rate.period / rate.events.get()).max(Duration::from_nanos(1));
        let burst = NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN);
        // Only a period of zero is refused.
        let quota = Quota::with_period(interval).unwrap_or(Quota::per_second(NonZeroU32::MAX));
        let clock = RuntimeClock { start: Instant::now() };
        Self {
            rate,
            interval,
            limiter: RateLimiter::direct_with_clock(quota.allow_burst(burst), clock),
            turn: tokio::sync::Mutex::new(()),
            waiting: AtomicU32::new(0),
            refill: interval.saturating_mul(burst.get()),
            passed_last: Mutex::new(Instant::now()),
        }
    }

    fn is_full(&self) -> bool {
        let passed_last = *self.passed_last.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.load(Ordering::Relaxed) == 0 && passed_last.elapsed() >= self.refill
    }

    /// Waits for a turn; fails with the time left until it.
    async fn pass(&self, deadline: Instant, queue_max: u32) -> Result<(), Duration> {
        let ahead = self.waiting.fetch_add(1, Ordering::Relaxed);
        let _leave = Leave(&self.waiting);
        let estimate = self.interval.saturating_mul(ahead);
        if ahead > 0 && (ahead >= queue_max || Instant::now() + estimate > deadline) {
            return Err(estimate);
        }
        let Ok(_turn) = timeout_at(deadline, self.turn.lock()).await else { return Err(estimate) };
        loop {
            let Err(not_until) = self.limiter.check() else {
                *self.passed_last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
                return Ok(());
            };
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

/// The runtime's clock, so that rates and waits agree, also in tests that move it.
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
