//! Runs that sleep, by the time they wake. A sleeping run holds nothing but its place here, and its records.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{ActiveRuns, App, ResumeRequest};
use crate::base::{ErrorCode, Result, RunId};
use crate::journal::{JournalRead as _, RunFilter, RunStatus};

/// How long a timer runs before the clock is looked at again: it may be set, and machines sleep too.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// Runs read from the journal at once.
const PAGE: u32 = 1_000;

/// Sleeping runs kept in mind, each about a hundred bytes. The soonest are kept; those beyond are looked
/// for again when a service starts.
const HELD_MAX: usize = 1_000_000;

/// The runs that this process wakes.
#[derive(Default)]
pub(super) struct Sleepers {
    queue: Mutex<BinaryHeap<Reverse<(Timestamp, RunId)>>>,
    changed: Notify,
    is_watched: AtomicBool,
}

impl Sleepers {
    fn put(&self, wake_at: Timestamp, run_id: RunId) {
        let mut queue = self.lock();
        if queue.len() >= HELD_MAX {
            tracing::warn!(%run_id, "too many runs sleep; this one is left to the next start");
            return;
        }
        queue.push(Reverse((wake_at, run_id)));
        drop(queue);
        self.changed.notify_one();
    }

    /// The first that is to wake at `now` or before; else when the next does.
    fn due(&self, now: Timestamp) -> std::result::Result<RunId, Option<Timestamp>> {
        let mut queue = self.lock();
        match queue.peek() {
            Some(Reverse((wake_at, _))) if *wake_at > now => Err(Some(*wake_at)),
            Some(_) => queue.pop().map(|Reverse((_, run_id))| run_id).ok_or(None),
            None => Err(None),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BinaryHeap<Reverse<(Timestamp, RunId)>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ActiveRuns {
    /// Has this process wake a run.
    pub(super) fn wake_later(self: &Arc<Self>, run_id: RunId, wake_at: Timestamp) {
        let sleepers = self.sleepers();
        sleepers.put(wake_at, run_id);
        if !sleepers.is_watched.swap(true, Ordering::Relaxed) {
            tokio::spawn(watch(Arc::clone(sleepers), Arc::downgrade(self)));
        }
    }

    /// Has this process wake every run that sleeps, as the journal knows them. Says how many.
    ///
    /// # Errors
    /// As reading the journal.
    pub async fn wake_recorded(self: &Arc<Self>) -> Result<usize> {
        let mut filter =
            RunFilter { status: Some(RunStatus::Sleeping), limit: Some(PAGE), ..RunFilter::default() };
        let mut count = 0;
        loop {
            let page = self.app().journal().runs(filter.clone()).await?;
            let Some(last) = page.last() else { return Ok(count) };
            filter.before = Some(last.run_id.clone());
            // The run of an agent wakes with the run that called it.
            for run in page.into_iter().filter(|run| run.parent.is_none()) {
                if let Some(wake_at) = run.wake_at {
                    count += 1;
                    self.wake_later(run.run_id, wake_at);
                }
            }
        }
    }

    async fn wake(self: &Arc<Self>, run_id: RunId) {
        loop {
            let request = ResumeRequest::new(run_id.clone(), CancellationToken::new());
            match self.resume(request).await.map(drop).map_err(|error| (error.code(), error)) {
                Ok(()) => return,
                Err((ErrorCode::TooManyRequests, _)) => self.until_one_ends().await,
                // Another process holds it, or somebody resumed it; where it ended there, nothing is left to do.
                Err((ErrorCode::RunActive, _)) if self.active(&run_id).is_none() => {
                    let again = self.app().now().checked_add(jiff::SignedDuration::from_secs(30));
                    self.wake_later(run_id, again.unwrap_or(Timestamp::MAX));
                    return;
                }
                Err((ErrorCode::RunActive | ErrorCode::RunNotResumable | ErrorCode::ShuttingDown, _)) => {
                    return;
                }
                Err((_, error)) => {
                    tracing::warn!(%run_id, %error, "a sleeping run could not be woken");
                    return;
                }
            }
        }
    }
}

/// Wakes runs one after the other as their time comes; each then goes on beside this.
async fn watch(sleepers: Arc<Sleepers>, runs: Weak<ActiveRuns>) {
    loop {
        let next = {
            let Some(runs) = runs.upgrade() else { return };
            match sleepers.due(runs.app().now()) {
                Ok(run_id) => {
                    runs.wake(run_id).await;
                    continue;
                }
                Err(next) => next.map(|wake_at| runs.app().until(wake_at)),
            }
        };
        let _ = tokio::time::timeout(next.unwrap_or(LOOK_AGAIN), sleepers.changed.notified()).await;
    }
}

impl App {
    /// How long it is until `wake_at`, at most until the clock is to be looked at again.
    fn until(&self, wake_at: Timestamp) -> Duration {
        Duration::try_from(wake_at.duration_since(self.now())).unwrap_or_default().min(LOOK_AGAIN)
    }

    /// Waits until a sleeping run wakes, and says whether it does: somebody may end it meanwhile.
    pub async fn sleep_until(&self, run_id: &RunId, wake_at: Timestamp) -> bool {
        /// How soon its end is noticed.
        const LOOK: Duration = Duration::from_secs(2);
        while self.now() < wake_at {
            tokio::time::sleep(self.until(wake_at).clamp(Duration::from_millis(1), LOOK)).await;
            // A journal that does not answer now says nothing about the run.
            if let Ok(Some(run)) = self.journal().run_summary(run_id).await
                && run.ended_at.is_some()
            {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_thousand_sleepers_wake_in_the_order_of_their_times_and_take_little() {
        const RUNS: i64 = 100_000;
        let sleepers = Sleepers::default();
        for run in 0..RUNS {
            // 7919 is prime to the count, so every second is there once, in no order.
            sleepers.put(Timestamp::from_second(run * 7919 % RUNS).unwrap(), RunId::generate());
        }
        let entry = size_of::<Reverse<(Timestamp, RunId)>>() + RunId::generate().as_str().len();
        let bytes = sleepers.lock().capacity() * entry;
        assert!(bytes < 32 << 20, "{bytes} bytes");
        for second in 0..RUNS {
            let now = Timestamp::from_second(second).unwrap();
            assert!(sleepers.due(now).is_ok(), "{second}");
            let next = sleepers.due(now).unwrap_err();
            assert_eq!(next.map(Timestamp::as_second), (second + 1 < RUNS).then_some(second + 1));
        }
    }
}
