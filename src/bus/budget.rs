//! What a run may still use outside the VM: calls, result bytes, model tokens, money.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::{Error, LimitName, Limits, Result};

/// Counts what a run uses and refuses the step that would go over.
#[derive(Debug)]
pub struct RunBudget {
    limits: Limits,
    tool_calls: AtomicU64,
    result_bytes: AtomicU64,
    llm_tokens: AtomicU64,
    llm_cost_micro_usd: AtomicU64,
    // The first limit that was hit and the value seen.
    hit: OnceLock<(LimitName, u64)>,
    /// How many model calls this run is nested in; 0 for a run a person started.
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
            llm_cost_micro_usd: AtomicU64::new(0),
            hit: OnceLock::new(),
            llm_depth,
        }
    }

    /// The limits this budget was made from.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Counts `amount` against `name`: tool calls, result bytes, model tokens or cost.
    ///
    /// # Errors
    /// The limit's own code with the limit and the value seen. What was used stays counted.
    pub fn spend(&self, name: LimitName, amount: u64) -> Result<()> {
        let Some(counter) = self.counter(name) else { return Ok(()) };
        let used = counter.fetch_add(amount, Ordering::Relaxed).saturating_add(amount);
        self.compare(name, used)
    }

    /// Refuses an `amount` that is not left, without counting it.
    ///
    /// # Errors
    /// As [`RunBudget::spend`].
    pub fn check(&self, name: LimitName, amount: u64) -> Result<()> {
        if self.counter(name).is_none() {
            return Ok(());
        }
        self.compare(name, self.used(name).saturating_add(amount))
    }

    /// The first limit that was hit, by whoever spent or checked. A tool can only answer with a
    /// failure, which a plan may swallow; this is how the one who called the tool knows that the
    /// run must end.
    #[must_use]
    pub fn exceeded(&self) -> Option<Error> {
        self.hit.get().map(|(name, observed)| name.exceeded(self.limits.get(*name), *observed))
    }

    fn compare(&self, name: LimitName, observed: u64) -> Result<()> {
        let limit = self.limits.get(name);
        if observed <= limit {
            return Ok(());
        }
        let _ = self.hit.set((name, observed));
        Err(name.exceeded(limit, observed))
    }

    /// What is used up so far.
    #[must_use]
    pub fn used(&self, name: LimitName) -> u64 {
        self.counter(name).map_or(0, |counter| counter.load(Ordering::Relaxed))
    }

    /// What is left.
    #[must_use]
    pub fn remaining(&self, name: LimitName) -> u64 {
        self.limits.get(name).saturating_sub(self.used(name))
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
