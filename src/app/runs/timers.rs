//! Runs that sleep, by the time they wake. A sleeping run holds nothing but its place here, and its records.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use luaplan_base::{ErrorCode, Result, RunId};
use luaplan_journal::{JournalRead as _, RunFilter, RunStatus};

use crate::{ActiveRuns, App, ResumeRequest};

/// How long a timer runs before the clock is looked at again: it may be set, and machines sleep too.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// Runs read from the journal at once.
const PAGE: u32 = 1_000;

/// Sleeping runs kept in mind, each about a hundred bytes. A tenant gets no more of these places than are left free;
/// runs beyond are looked for again when a service starts.
const HELD_MAX: usize = 1_000_000;

/// The runs that this process wakes.
#[derive(Default)]
pub(crate) struct Sleepers {
    queue: Mutex<Queue>,
    changed: Notify,
    is_watched: AtomicBool,
}

#[derive(Default)]
struct Queue {
    held: usize,
    wakes: u64,
    /// Only tenants whose runs sleep are here.
    by_tenant: HashMap<String, OfTenant>,
}

#[derive(Default)]
struct OfTenant {
    runs: BinaryHeap<Reverse<(Timestamp, RunId)>>,
    /// Which wake was the last of this tenant.
    last_woken: u64,
}

/// A run whose time has come.
#[derive(Debug)]
struct Due {
    tenant: String,
    wake_at: Timestamp,
    run_id: RunId,
}

impl Sleepers {
    fn put(&self, due: Due) {
        let mut queue = self.lock();
        let free = HELD_MAX.saturating_sub(queue.held);
        if queue.by_tenant.get(&due.tenant).map_or(0, |own| own.runs.len()) >= free {
            let run_id = due.run_id;
            tracing::warn!(%run_id, "too many runs sleep; this one is left to the next start");
            return;
        }
        queue.held += 1;
        queue.by_tenant.entry(due.tenant).or_default().runs.push(Reverse((due.wake_at, due.run_id)));
        drop(queue);
        self.changed.notify_one();
    }

    /// One that is to wake at `now` or before; else when the next does. Tenants take turns, so that one with many runs
    /// delays no other; those in `waiting` are passed over.
    fn due(&self, now: Timestamp, waiting: &HashSet<String>) -> std::result::Result<Due, Option<Timestamp>> {
        let mut guard = self.lock();
        let queue = &mut *guard;
        let (mut first, mut next): (Option<(&String, u64)>, Option<Timestamp>) = (None, None);
        for (tenant, own) in &queue.by_tenant {
            let Some(Reverse((wake_at, _))) = own.runs.peek().filter(|_| !waiting.contains(tenant)) else {
                continue;
            };
            if *wake_at > now {
                next = Some(next.map_or(*wake_at, |next| next.min(*wake_at)));
            } else if first.is_none_or(|(_, last_woken)| own.last_woken < last_woken) {
                first = Some((tenant, own.last_woken));
            }
        }
        let Some(tenant) = first.map(|(tenant, _)| tenant.clone()) else { return Err(next) };
        let own = queue.by_tenant.get_mut(&tenant).ok_or(next)?;
        let Reverse((wake_at, run_id)) = own.runs.pop().ok_or(next)?;
        queue.held -= 1;
        queue.wakes += 1;
        own.last_woken = queue.wakes;
        if own.runs.is_empty() {
            queue.by_tenant.remove(&tenant);
        }
        Ok(Due { tenant, wake_at, run_id })
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ActiveRuns {
    /// Has this process wake a run of `tenant`.
    pub(crate) fn wake_later(self: &Arc<Self>, tenant: String, run_id: RunId, wake_at: Timestamp) {
        let sleepers = self.sleepers();
        sleepers.put(Due { tenant, wake_at, run_id });
        if !sleepers.is_watched.swap(true, Ordering::Relaxed) {
            tokio::spawn(watch(Arc::clone(sleepers), Arc::downgrade(self)));
        }
    }

    /// Has this process take up a run as soon as there is a place.
    ///
    /// # Errors
    /// As reading the journal.
    pub async fn take_up_later(self: &Arc<Self>, run_id: RunId) -> Result<()> {
        let tenant = self.app().tenant_of(&run_id).await?.unwrap_or_default();
        self.wake_later(tenant, run_id, self.app().now());
        Ok(())
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
                    self.wake_later(run.tenant, run.run_id, wake_at);
                }
            }
        }
    }

    /// Wakes a run; gives it back where there is no place for it.
    async fn wake(self: &Arc<Self>, due: Due) -> Option<Due> {
        let run_id = &due.run_id;
        let request = ResumeRequest::new(run_id.clone(), CancellationToken::new());
        match self.resume(request).await.map(drop).map_err(|error| (error.code(), error)) {
            Ok(()) => {}
            Err((ErrorCode::TooManyRequests, _)) => return Some(due),
            // Another process holds it, or somebody resumed it; where it ended there, nothing is left to do.
            Err((ErrorCode::RunActive, _)) if self.registry().active(run_id).is_none() => {
                let again = self.app().now().checked_add(jiff::SignedDuration::from_secs(30));
                self.wake_later(due.tenant, due.run_id, again.unwrap_or(Timestamp::MAX));
            }
            Err((ErrorCode::RunActive | ErrorCode::RunNotResumable | ErrorCode::ShuttingDown, _)) => {}
            Err((_, error)) => tracing::warn!(%run_id, %error, "a sleeping run could not be woken"),
        }
        None
    }
}

/// Wakes runs one after the other as their time comes; each then goes on beside this. A tenant without a free place
/// waits for one, and no other with it.
async fn watch(sleepers: Arc<Sleepers>, runs: Weak<ActiveRuns>) {
    let mut waiting = HashSet::new();
    loop {
        let Some(runs) = runs.upgrade() else { return };
        match sleepers.due(runs.app().now(), &waiting) {
            Ok(due) => {
                if let Some(due) = runs.wake(due).await {
                    waiting.insert(due.tenant.clone());
                    sleepers.put(due);
                }
            }
            Err(next) => {
                let next = next.map_or(LOOK_AGAIN, |wake_at| runs.app().until(wake_at));
                if waiting.is_empty() {
                    drop(runs);
                    let _ = tokio::time::timeout(next, sleepers.changed.notified()).await;
                } else {
                    tokio::select! {
                        () = runs.registry().until_one_ends() => waiting.clear(),
                        _ = tokio::time::timeout(next, sleepers.changed.notified()) => {}
                    }
                }
            }
        }
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

    fn put(sleepers: &Sleepers, tenant: &str, second: i64) {
        let wake_at = Timestamp::from_second(second).unwrap();
        sleepers.put(Due { tenant: tenant.to_owned(), wake_at, run_id: RunId::generate() });
    }

    #[test]
    fn a_hundred_thousand_sleepers_wake_in_the_order_of_their_times_and_take_little() {
        const RUNS: i64 = 100_000;
        let sleepers = Sleepers::default();
        for run in 0..RUNS {
            // 7919 is prime to the count, so every second is there once, in no order.
            put(&sleepers, "a", run * 7919 % RUNS);
        }
        let entry = size_of::<Reverse<(Timestamp, RunId)>>() + RunId::generate().as_str().len();
        let bytes = sleepers.lock().by_tenant["a"].runs.capacity() * entry;
        assert!(bytes < 32 << 20, "{bytes} bytes");
        for second in 0..RUNS {
            let now = Timestamp::from_second(second).unwrap();
            assert!(sleepers.due(now, &HashSet::new()).is_ok(), "{second}");
            let next = sleepers.due(now, &HashSet::new()).unwrap_err();
            assert_eq!(next.map(Timestamp::as_second), (second + 1 < RUNS).then_some(second + 1));
        }
    }

    #[test]
    fn tenants_wake_in_turns_and_one_that_waits_for_a_place_is_passed_over() {
        let sleepers = Sleepers::default();
        for _ in 0..5 {
            put(&sleepers, "many", 1);
        }
        for _ in 0..2 {
            put(&sleepers, "few", 2);
        }
        let now = Timestamp::from_second(3).unwrap();
        let next = |waiting: &[&str]| {
            let waiting = waiting.iter().map(|tenant| (*tenant).to_owned()).collect();
            sleepers.due(now, &waiting).map(|due| due.tenant)
        };
        let woken: Vec<String> = (0..4).map(|_| next(&[]).unwrap()).collect();
        assert_eq!(woken.iter().filter(|tenant| *tenant == "few").count(), 2, "{woken:?}");
        put(&sleepers, "few", 3);
        assert_eq!(next(&["many"]).as_deref(), Ok("few"));
        assert_eq!(next(&["many"]), Err(None));
        assert_eq!(next(&[]).as_deref(), Ok("many"));
    }
}
