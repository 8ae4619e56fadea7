//! The budget of a run outside the VM: calls, result bytes, model tokens, cost.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use luaplan_base::{Error, LimitName, Limits, Result};

/// The time that a run's calls slept in place, which its wall limit does not count.
#[derive(Debug, Default)]
pub struct IdleTime {
    own_ms: AtomicU64,
    outer: Option<Arc<IdleTime>>,
}

impl IdleTime {
    /// Adds a sleep that starts now.
    pub fn add(&self, sleep: Duration) {
        self.own_ms.fetch_add(u64::try_from(sleep.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
        if let Some(outer) = &self.outer {
            outer.add(sleep);
        }
    }

    /// The sum of all sleeps, unfinished ones with their whole length.
    #[must_use]
    pub fn total(&self) -> Duration {
        Duration::from_millis(self.own_ms.load(Ordering::Relaxed))
    }
}

/// Counts what a run uses and refuses the step that would exceed a limit.
#[derive(Debug)]
pub struct RunBudget {
    limits: Limits,
    tool_calls: AtomicU64,
    result_bytes: AtomicU64,
    llm_tokens: AtomicU64,
    cached_tokens: AtomicU64,
    llm_cost_micro_usd: AtomicU64,
    waited_ms: AtomicU64,
    idle: Arc<IdleTime>,
    outer: Option<Arc<RunBudget>>,
    // The first limit that was hit and the observed value.
    hit: OnceLock<(LimitName, u64)>,
    /// The number of model calls that this run is nested in; 0 for a run that a person started.
    pub llm_depth: u32,
}

impl RunBudget {
    /// A fresh budget.
    #[must_use]
    pub fn new(limits: Limits, llm_depth: u32) -> Self {
        Self {
            limits,
            tool_calls: AtomicU64::new(0),
            result_bytes: AtomicU64::new(0),
            llm_tokens: AtomicU64::new(0),
            cached_tokens: AtomicU64::new(0),
            llm_cost_micro_usd: AtomicU64::new(0),
            waited_ms: AtomicU64::new(0),
            idle: Arc::default(),
            outer: None,
            hit: OnceLock::new(),
            llm_depth,
        }
    }

    /// A budget nested in `outer`: usage counts in both.
    #[must_use]
    pub fn nested(limits: Limits, outer: &Arc<Self>) -> Self {
        let idle = IdleTime { own_ms: AtomicU64::new(0), outer: Some(outer.idle.clone()) };
        let own = Self::new(limits, outer.llm_depth);
        Self { idle: Arc::new(idle), outer: Some(Arc::clone(outer)), ..own }
    }

    /// The time calls slept in place.
    #[must_use]
    pub fn idle(&self) -> &Arc<IdleTime> {
        &self.idle
    }

    /// Adds the time that a call waited for its turn. Concurrent waits each add theirs.
    pub fn waited(&self, time: Duration) {
        self.waited_ms.fetch_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Counts tokens sent that a provider read from its cache. They are tokens of models like all others.
    pub fn read_from_cache(&self, tokens: u64) {
        self.cached_tokens.fetch_add(tokens, Ordering::Relaxed);
        if let Some(outer) = &self.outer {
            outer.read_from_cache(tokens);
        }
    }

    /// How many tokens providers read from their caches.
    #[must_use]
    pub fn cached_tokens(&self) -> u64 {
        self.cached_tokens.load(Ordering::Relaxed)
    }

    /// How long the run's calls waited for their turns, in milliseconds.
    #[must_use]
    pub fn waited_ms(&self) -> u64 {
        self.waited_ms.load(Ordering::Relaxed)
    }

    /// The limits this budget was made from.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Counts `amount` against `name`: tool calls, result bytes, model tokens or cost.
    ///
    /// # Errors
    /// The limit's own code with the limit and the observed value. The usage stays counted.
    pub fn spend(&self, name: LimitName, amount: u64) -> Result<()> {
        let Some(counter) = self.counter(name) else { return Ok(()) };
        let outer = self.outer.as_ref().map_or(Ok(()), |outer| outer.spend(name, amount));
        let used = counter.fetch_add(amount, Ordering::Relaxed).saturating_add(amount);
        self.compare(name, used).and(outer)
    }

    /// Refuses an `amount` that is not left, without counting it.
    ///
    /// # Errors
    /// As [`RunBudget::spend`].
    pub fn check(&self, name: LimitName, amount: u64) -> Result<()> {
        if self.counter(name).is_none() {
            return Ok(());
        }
        self.outer.as_ref().map_or(Ok(()), |outer| outer.check(name, amount))?;
        self.compare(name, self.used(name).saturating_add(amount))
    }

    /// The first limit that was hit, in the bus or in a tool. A tool can only answer with a
    /// failure, which a plan may catch; this tells the tool's caller that the run must
    /// end.
    #[must_use]
    pub fn exceeded(&self) -> Option<Error> {
        let own = self.hit.get().map(|(name, observed)| name.exceeded(self.limits.get(*name), *observed));
        own.or_else(|| self.outer.as_ref()?.exceeded())
    }

    fn compare(&self, name: LimitName, observed: u64) -> Result<()> {
        let limit = self.limits.get(name);
        if observed <= limit {
            return Ok(());
        }
        let _ = self.hit.set((name, observed));
        Err(name.exceeded(limit, observed))
    }

    /// The usage so far.
    #[must_use]
    pub fn used(&self, name: LimitName) -> u64 {
        self.counter(name).map_or(0, |counter| counter.load(Ordering::Relaxed))
    }

    /// The rest.
    #[must_use]
    pub fn remaining(&self, name: LimitName) -> u64 {
        let own = self.limits.get(name).saturating_sub(self.used(name));
        self.outer.as_ref().map_or(own, |outer| own.min(outer.remaining(name)))
    }

    fn counter(&self, name: LimitName) -> Option<&AtomicU64> {
        match name {
            LimitName::ToolCalls => Some(&self.tool_calls),
            LimitName::ResultBytes => Some(&self.result_bytes),
            LimitName::LlmTokens => Some(&self.llm_tokens),
            LimitName::LlmCost => Some(&self.llm_cost_micro_usd),
            _ => None,
        }
    }
}
