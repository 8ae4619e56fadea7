//! A semaphore whose places are shared between tenants.
//!
//! A tenant gets no more places than remain free: however many it requests, another tenant finds one. Waiting
//! requests are served in their order, except those of a tenant that has its share.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// A number of places.
#[derive(Clone)]
pub(super) struct Gate(Arc<Mutex<Places>>);

struct Places {
    max: usize,
    is_shared: bool,
    held: usize,
    /// Holds only tenants with a place.
    by_tenant: HashMap<Arc<str>, usize>,
    waiting: VecDeque<(Arc<str>, oneshot::Sender<Passed>)>,
}

/// The right to one place, until dropped.
pub(super) struct Passed {
    gate: Gate,
    tenant: Arc<str>,
}

impl Gate {
    pub(super) fn new(max: usize) -> Self {
        Self(Arc::new(Mutex::new(Places {
            max: max.max(1),
            is_shared: false,
            held: 0,
            by_tenant: HashMap::new(),
            waiting: VecDeque::new(),
        })))
    }

    /// From now on each tenant leaves places for others.
    pub(super) fn share(&self) {
        self.lock().is_shared = true;
    }

    /// Waits for a place for `tenant`.
    pub(super) async fn pass(&self, tenant: &Arc<str>) -> Passed {
        loop {
            let given = {
                let mut places = self.lock();
                if places.has_room_for(tenant) {
                    places.enter(tenant);
                    return Passed { gate: self.clone(), tenant: Arc::clone(tenant) };
                }
                let (give, given) = oneshot::channel();
                places.waiting.push_back((Arc::clone(tenant), give));
                given
            };
            // An error would mean that the gate is gone, but `self` holds it.
            if let Ok(passed) = given.await {
                return passed;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        // Each count changes in one step, so a panic elsewhere leaves the state consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives free places to waiting requests that may have one.
    fn serve(&self) {
        loop {
            let passed = {
                let mut places = self.lock();
                places.waiting.retain(|(_, give)| !give.is_closed());
                let first = places.waiting.iter().position(|(tenant, _)| places.has_room_for(tenant));
                let Some((tenant, give)) = first.and_then(|first| places.waiting.remove(first)) else {
                    return;
                };
                places.enter(&tenant);
                (give, Passed { gate: self.clone(), tenant })
            };
            // Outside the lock: where a request was cancelled, the place returns through `drop`.
            let (give, passed) = passed;
            drop(give.send(passed));
        }
    }
}

impl Places {
    fn has_room_for(&self, tenant: &str) -> bool {
        let free = self.max - self.held;
        let own = self.by_tenant.get(tenant).copied().unwrap_or(0);
        free > 0 && (!self.is_shared || own < free)
    }

    fn enter(&mut self, tenant: &Arc<str>) {
        self.held += 1;
        *self.by_tenant.entry(Arc::clone(tenant)).or_default() += 1;
    }
}

impl Drop for Passed {
    fn drop(&mut self) {
        {
            let mut places = self.gate.lock();
            places.held -= 1;
            if let Some(own) = places.by_tenant.get_mut(&self.tenant) {
                *own -= 1;
                if *own == 0 {
                    places.by_tenant.remove(&self.tenant);
                }
            }
        }
        self.gate.serve();
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn now(gate: &Gate, tenant: &str) -> Option<Passed> {
        gate.pass(&Arc::from(tenant)).now_or_never()
    }

    #[test]
    fn one_tenant_may_have_all_places_where_they_are_not_shared() {
        let gate = Gate::new(4);
        let held: Vec<_> = (0..5).map_while(|_| now(&gate, "a")).collect();
        assert_eq!(held.len(), 4);
    }

    #[test]
    fn a_tenant_that_wants_all_leaves_room_for_the_next() {
        let gate = Gate::new(8);
        gate.share();
        let mut held = Vec::new();
        for (tenant, places) in [("a", 4), ("b", 2), ("c", 1), ("d", 1), ("e", 0)] {
            let got: Vec<_> = (0..9).map_while(|_| now(&gate, tenant)).collect();
            assert_eq!(got.len(), places, "{tenant}");
            held.extend(got);
        }
        drop(held);
        let places = gate.lock();
        assert_eq!((places.held, places.by_tenant.len()), (0, 0));
    }

    #[test]
    fn who_waits_passes_those_whose_tenant_has_its_share() {
        let gate = Gate::new(4);
        gate.share();
        let (a, b): (Arc<str>, Arc<str>) = (Arc::from("a"), Arc::from("b"));
        let held: Vec<_> = (0..9).map_while(|_| now(&gate, "a")).collect();
        assert_eq!(held.len(), 2);
        let other = now(&gate, "b");
        let mut late = Box::pin(gate.pass(&a));
        let mut next = Box::pin(gate.pass(&b));
        assert!((&mut late).now_or_never().is_none() && (&mut next).now_or_never().is_none());
        // A cancelled request takes no place.
        let mut gone = Box::pin(gate.pass(&b));
        assert!((&mut gone).now_or_never().is_none());
        drop(gone);
        drop(other);
        let next = (&mut next).now_or_never();
        assert!(next.is_some() && (&mut late).now_or_never().is_none());
        drop(held);
        assert!((&mut late).now_or_never().is_some());
    }
}
