//! Time and randomness, injected everywhere so that runs replay and tests are deterministic.

use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use jiff::Timestamp;

/// Where the current time comes from.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// The current instant.
    fn now(&self) -> Timestamp;

    /// Ready once the clock was moved after this call. One that moves by itself is never ready, as timers follow it.
    fn moved(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::pending())
    }
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
pub struct ManualClock(Mutex<Hands>);

#[derive(Debug)]
struct Hands {
    now: Timestamp,
    moves: u64,
    /// Of tasks that wait for a move.
    waiting: Vec<Waker>,
}

impl ManualClock {
    /// A clock set to `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self(Mutex::new(Hands { now: start, moves: 0, waiting: Vec::new() }))
    }

    /// Moves the clock forward, and wakes what waits for its time.
    pub fn advance(&self, by: Duration) {
        let mut hands = self.hands();
        hands.now = hands.now.saturating_add(by).unwrap_or(Timestamp::MAX);
        hands.moves += 1;
        let waiting = std::mem::take(&mut hands.waiting);
        drop(hands);
        waiting.into_iter().for_each(Waker::wake);
    }

    fn hands(&self) -> MutexGuard<'_, Hands> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.hands().now
    }

    fn moved(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let seen = self.hands().moves;
        Box::pin(std::future::poll_fn(move |context| {
            let mut hands = self.hands();
            if hands.moves != seen {
                return Poll::Ready(());
            }
            if !hands.waiting.iter().any(|known| known.will_wake(context.waker())) {
                hands.waiting.push(context.waker().clone());
            }
            Poll::Pending
        }))
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
