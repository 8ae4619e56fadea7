//! The queue of runs that sleep, by the time they wake. A sleeping run holds nothing but its place here, and its records.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use tokio::sync::Notify;

use luaplan_base::RunId;

/// Sleeping runs kept in mind, each about a hundred bytes. A tenant gets no more of these places than are left free;
/// runs beyond are looked for again when a service starts.
const HELD_MAX: usize = 1_000_000;

/// The runs that this process wakes.
#[derive(Default)]
pub(crate) struct TimerQueue {
    queue: Mutex<Queue>,
    pub(super) changed: Notify,
    pub(super) is_watched: AtomicBool,
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
pub(super) struct Due {
    pub(super) tenant: String,
    pub(super) wake_at: Timestamp,
    pub(super) run_id: RunId,
}

impl TimerQueue {
    /// Has a run wake at its time.
    pub(super) fn put(&self, due: Due) {
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
    pub(super) fn due(
        &self,
        now: Timestamp,
        waiting: &HashSet<String>,
    ) -> std::result::Result<Due, Option<Timestamp>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn put(queue: &TimerQueue, tenant: &str, second: i64) {
        let wake_at = Timestamp::from_second(second).unwrap();
        queue.put(Due { tenant: tenant.to_owned(), wake_at, run_id: RunId::generate() });
    }

    #[test]
    fn a_hundred_thousand_sleepers_wake_in_the_order_of_their_times_and_take_little() {
        const RUNS: i64 = 100_000;
        let queue = TimerQueue::default();
        for run in 0..RUNS {
            // 7919 is prime to the count, so every second is there once, in no order.
            put(&queue, "a", run * 7919 % RUNS);
        }
        let entry = size_of::<Reverse<(Timestamp, RunId)>>() + RunId::generate().as_str().len();
        let bytes = queue.lock().by_tenant["a"].runs.capacity() * entry;
        assert!(bytes < 32 << 20, "{bytes} bytes");
        for second in 0..RUNS {
            let now = Timestamp::from_second(second).unwrap();
            assert!(queue.due(now, &HashSet::new()).is_ok(), "{second}");
            let next = queue.due(now, &HashSet::new()).unwrap_err();
            assert_eq!(next.map(Timestamp::as_second), (second + 1 < RUNS).then_some(second + 1));
        }
    }

    #[test]
    fn tenants_wake_in_turns_and_one_that_waits_for_a_place_is_passed_over() {
        let queue = TimerQueue::default();
        for _ in 0..5 {
            put(&queue, "many", 1);
        }
        for _ in 0..2 {
            put(&queue, "few", 2);
        }
        let now = Timestamp::from_second(3).unwrap();
        let next = |waiting: &[&str]| {
            let waiting = waiting.iter().map(|tenant| (*tenant).to_owned()).collect();
            queue.due(now, &waiting).map(|due| due.tenant)
        };
        let woken: Vec<String> = (0..4).map(|_| next(&[]).unwrap()).collect();
        assert_eq!(woken.iter().filter(|tenant| *tenant == "few").count(), 2, "{woken:?}");
        put(&queue, "few", 3);
        assert_eq!(next(&["many"]).as_deref(), Ok("few"));
        assert_eq!(next(&["many"]), Err(None));
        assert_eq!(next(&[]).as_deref(), Ok("many"));
    }
}
