//! Time and randomness, injected everywhere so that runs replay and tests are deterministic.

use std::sync::Mutex;
use std::time::Duration;

use jiff::Timestamp;

/// Where the current time comes from.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// The current instant.
    fn now(&self) -> Timestamp;
}

/// The operating system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the wall clock")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// A clock that moves only on request; for tests.
#[derive(Debug)]
pub struct ManualClock(Mutex<Timestamp>);

impl ManualClock {
    /// A clock set to `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self(Mutex::new(start))
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        let mut now = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *now = now.saturating_add(by).unwrap_or(Timestamp::MAX);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// The source of random bits for jitter and trace ids. Plans never see it.
pub trait Randomness: Send + Sync + std::fmt::Debug {
    /// The next 64 uniformly distributed bits.
    fn next_u64(&self) -> u64;
}

/// Random bits from the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRandomness;

impl Randomness for SystemRandomness {
    fn next_u64(&self) -> u64 {
        // Where the system has no entropy, ids and jitter fall back to the time: they must differ, but
        // need not be secret.
        getrandom::u64().unwrap_or_else(|_| uuid::Uuid::now_v7().as_u64_pair().1)
    }
}

/// A fixed sequence (SplitMix64, Steele et al. 2014); for tests and replays.
#[derive(Debug)]
pub struct SeededRandomness(Mutex<u64>);

impl SeededRandomness {
    /// The sequence that starts at `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(seed))
    }
}

impl Randomness for SeededRandomness {
    fn next_u64(&self) -> u64 {
        let mut state = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}
