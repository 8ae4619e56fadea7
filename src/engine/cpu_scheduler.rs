//! Schedules computation: as many runs at a time as there are processors, each for one turn at a
//! time.
//!
//! The next turn goes to the run that has computed least so far, so a short plan finishes before
//! a plan that loops gets its second turn, however many of those there are.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

/// The length of a turn while others wait.
const TURN: Duration = Duration::from_millis(4);

/// The turns of all runs. Cheap to clone.
#[derive(Clone)]
pub(super) struct CpuScheduler(Arc<Mutex<SchedulerState>>);

struct SchedulerState {
    free: usize,
    waiting: BinaryHeap<WaitingRun>,
    arrived: u64,
}

struct WaitingRun {
    used: Duration,
    arrival: u64,
    give: oneshot::Sender<CpuTurn>,
}

impl PartialEq for WaitingRun {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for WaitingRun {}

impl PartialOrd for WaitingRun {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for WaitingRun {
    /// The greatest is next: the run that has used least, and of equals the one that came first.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.used, other.arrival).cmp(&(self.used, self.arrival))
    }
}

impl CpuScheduler {
    /// All runs of the process share the machine's processors, so they share these turns.
    pub(super) fn of_this_process() -> Self {
        static TURNS: OnceLock<CpuScheduler> = OnceLock::new();
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        TURNS.get_or_init(|| Self::new(processors())).clone()
    }

    fn new(free: usize) -> Self {
        Self(Arc::new(Mutex::new(SchedulerState { free, waiting: BinaryHeap::new(), arrived: 0 })))
    }

    /// A turn for a run that has computed for `used` so far. Dropping the future leaves the
    /// queue.
    pub(super) async fn take(&self, used: Duration) -> CpuTurn {
        let given = {
            let mut state = self.lock();
            if state.free > 0 {
                state.free -= 1;
                return self.turn();
            }
            let (give, given) = oneshot::channel();
            let arrival = state.arrived;
            state.arrived += 1;
            state.waiting.push(WaitingRun { used, arrival, give });
            given
        };
        match given.await {
            Ok(turn) => turn,
            // No unused sender is ever dropped; if one were, a run without a turn beats one that hangs.
            Err(_) => self.turn(),
        }
    }

    /// Whether a run waits for a turn.
    pub(super) fn is_wanted(&self) -> bool {
        !self.lock().waiting.is_empty()
    }

    /// Whether a turn held for so long is over, for callers that poll.
    pub(super) fn is_over(&self, held: Duration) -> bool {
        held >= TURN && self.is_wanted()
    }

    fn turn(&self) -> CpuTurn {
        CpuTurn { turns: self.clone(), since: Instant::now() }
    }

    fn lock(&self) -> MutexGuard<'_, SchedulerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to compute, until dropped.
pub(super) struct CpuTurn {
    turns: CpuScheduler,
    since: Instant,
}

impl CpuTurn {
    /// How long it has been held.
    pub(super) fn held(&self) -> Duration {
        self.since.elapsed()
    }

    /// Returns when the turn is over: a run waits, and the turn was held long enough.
    pub(super) async fn over(&self) {
        loop {
            tokio::time::sleep(TURN).await;
            if self.turns.is_wanted() {
                return;
            }
        }
    }
}

impl Drop for CpuTurn {
    fn drop(&mut self) {
        let next = {
            let mut state = self.turns.lock();
            // Waiters that gave up are skipped.
            let next = std::iter::from_fn(|| state.waiting.pop()).find(|waiting| !waiting.give.is_closed());
            if next.is_none() {
                state.free += 1;
            }
            next
        };
        if let Some(waiting) = next {
            // A waiter that gives up at this moment drops the turn, which then goes to the next.
            let _ = waiting.give.send(self.turns.turn());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;

    #[tokio::test]
    async fn who_has_used_least_is_next_and_who_gave_up_is_passed_over() {
        let turns = CpuScheduler::new(1);
        let first = turns.take(Duration::ZERO).await;
        let order = Arc::new(Mutex::new(Vec::new()));
        let queue = |name: &'static str, used_ms: u64| {
            let (turns, order) = (turns.clone(), order.clone());
            tokio::spawn(async move {
                let turn = turns.take(Duration::from_millis(used_ms)).await;
                order.lock().unwrap().push(name);
                drop(turn);
            })
        };
        let (much, gone, little, same) =
            (queue("much", 50), queue("gone", 1), queue("little", 2), queue("same", 2));
        tokio::task::yield_now().await;
        assert!(turns.is_wanted());
        gone.abort();
        tokio::task::yield_now().await;
        drop(first);
        for run in [much, little, same] {
            run.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), ["little", "same", "much"]);
        assert_eq!(turns.lock().free, 1);
        assert!(!turns.is_wanted());
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_is_over_only_when_it_is_wanted() {
        let turns = CpuScheduler::new(1);
        let turn = turns.take(Duration::ZERO).await;
        assert!(tokio::time::timeout(TURN * 10, turn.over()).await.is_err());
        let waiting = tokio::spawn({
            let turns = turns.clone();
            async move { drop(turns.take(Duration::ZERO).await) }
        });
        tokio::time::timeout(TURN * 2, turn.over()).await.unwrap();
        assert!(turns.is_over(turn.held()));
        drop(turn);
        waiting.await.unwrap();
    }

    /// Processors, and plans that loop on them.
    const PROCESSORS: usize = 2;
    const LOOPING: usize = 1_000;

    #[tokio::test(start_paused = true)]
    async fn a_run_that_has_computed_nothing_is_next_however_many_loop() {
        let (turns, given) = (CpuScheduler::new(PROCESSORS), Arc::new(AtomicUsize::new(0)));
        for _ in 0..LOOPING {
            let (turns, given) = (turns.clone(), given.clone());
            tokio::spawn(async move {
                let mut used = Duration::ZERO;
                loop {
                    let turn = turns.take(used).await;
                    given.fetch_add(1, Relaxed);
                    turn.over().await;
                    used += turn.held();
                }
            });
        }
        while given.load(Relaxed) < LOOPING {
            tokio::time::sleep(TURN).await;
        }
        for _ in 0..10 {
            let before = given.load(Relaxed);
            let turn = turns.take(Duration::ZERO).await;
            let meanwhile = given.load(Relaxed) - before;
            assert!(meanwhile < PROCESSORS, "{meanwhile} turns went to others first");
            drop(turn);
            tokio::time::sleep(TURN * 3).await;
        }
    }
}
