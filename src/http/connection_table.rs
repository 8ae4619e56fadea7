//! The open connections, and which of them is closed to make room for the next.
//!
//! A connection is idle while none of its requests is being answered: a new one, one that sends its header
//! slowly, one kept for a later request, and one whose last response is still being sent.
//! An idle connection costs its client nothing, so it must not keep others out: when all places are in use, the
//! address with the most idle connections loses its longest idle one.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The open connections of one server.
pub(super) struct ConnectionTable {
    max: usize,
    table: Mutex<TableState>,
    changed: Notify,
}

#[derive(Default)]
struct TableState {
    open: usize,
    /// Incremented for each connection that becomes idle, so the smallest number is the longest idle.
    next: u64,
    /// By address, then in the order in which they became idle. Bounded by the number of connections.
    idle: HashMap<IpAddr, BTreeMap<u64, CancellationToken>>,
}

impl ConnectionTable {
    pub(super) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max, table: Mutex::default(), changed: Notify::new() })
    }

    /// A place for a connection from `peer`: a free one, or that of an idle connection. Waits where none is
    /// idle.
    pub(super) async fn enter(self: &Arc<Self>, peer: IpAddr) -> Connection {
        let address = share_of(peer);
        loop {
            let changed = self.changed.notified();
            if let Some(connection) = self.try_enter(address) {
                return connection;
            }
            changed.await;
        }
    }

    fn try_enter(self: &Arc<Self>, address: IpAddr) -> Option<Connection> {
        let mut table = self.lock();
        if table.open >= self.max && !table.evict() {
            return None;
        }
        table.open += 1;
        let evicted = CancellationToken::new();
        let idle_since = table.put_idle(address, evicted.clone());
        let state = Mutex::new(Activity { requests: 0, idle_since });
        Some(Connection(Arc::new(OpenConnection { open: self.clone(), address, evicted, state })))
    }

    fn lock(&self) -> MutexGuard<'_, TableState> {
        // Each change of the table is complete under the lock, so a poisoned lock is usable.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TableState {
    fn put_idle(&mut self, address: IpAddr, evicted: CancellationToken) -> u64 {
        self.next += 1;
        self.idle.entry(address).or_default().insert(self.next, evicted);
        self.next
    }

    fn take_idle(&mut self, address: IpAddr, since: u64) {
        if let Some(of_address) = self.idle.get_mut(&address) {
            of_address.remove(&since);
            if of_address.is_empty() {
                self.idle.remove(&address);
            }
        }
    }

    /// Closes the longest idle connection of the address with the most idle ones; `false` where none is idle.
    fn evict(&mut self) -> bool {
        let most = self.idle.iter().max_by_key(|(_, of_address)| of_address.len());
        let Some((address, since, evicted)) = most.and_then(|(address, of_address)| {
            of_address.first_key_value().map(|(since, evicted)| (*address, *since, evicted.clone()))
        }) else {
            return false;
        };
        self.take_idle(address, since);
        self.open -= 1;
        evicted.cancel();
        true
    }
}

/// One open connection; dropping the last clone frees its place.
#[derive(Clone)]
pub(super) struct Connection(Arc<OpenConnection>);

struct OpenConnection {
    open: Arc<ConnectionTable>,
    address: IpAddr,
    evicted: CancellationToken,
    state: Mutex<Activity>,
}

struct Activity {
    requests: u32,
    idle_since: u64,
}

impl Connection {
    /// Returns when the connection must make room.
    pub(super) async fn evicted(&self) {
        self.0.evicted.cancelled().await;
    }

    /// Marks a request as being answered until dropped. `None` where the connection was just closed to make
    /// room: its request must not start, as it would be cut off.
    pub(super) fn answering(&self) -> Option<Answering> {
        let mut is_open = true;
        self.0.change(|table, address, activity| {
            is_open = !self.0.evicted.is_cancelled();
            if is_open && activity.requests == 0 {
                table.take_idle(address, activity.idle_since);
            }
            activity.requests += u32::from(is_open);
        });
        is_open.then(|| Answering(self.clone()))
    }
}

impl OpenConnection {
    fn change(&self, change: impl FnOnce(&mut TableState, IpAddr, &mut Activity)) {
        let mut table = self.open.lock();
        let mut activity = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut table, self.address, &mut activity);
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.change(|table, address, activity| {
            table.take_idle(address, activity.idle_since);
            // The place of an evicted connection is already in use.
            if !self.evicted.is_cancelled() {
                table.open -= 1;
            }
        });
        self.open.changed.notify_one();
    }
}

/// A request that is being answered.
pub(super) struct Answering(Connection);

impl Drop for Answering {
    fn drop(&mut self) {
        let inner = &self.0.0;
        inner.change(|table, address, activity| {
            activity.requests -= 1;
            if activity.requests == 0 && !inner.evicted.is_cancelled() {
                activity.idle_since = table.put_idle(address, inner.evicted.clone());
            }
        });
        inner.open.changed.notify_one();
    }
}

/// What counts as one address: a client with one address of IPv6 usually has all of its /64.
fn share_of(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn the_address_with_most_idle_connections_makes_room() {
        let open = ConnectionTable::new(4);
        let other = open.try_enter(address("192.0.2.9")).unwrap();
        let many: Vec<Connection> = (0..3).map(|_| open.try_enter(address("192.0.2.1")).unwrap()).collect();
        let next = open.try_enter(address("192.0.2.1")).unwrap();
        assert!(many[0].0.evicted.is_cancelled());
        assert!([&many[1], &many[2], &other, &next].iter().all(|kept| !kept.0.evicted.is_cancelled()));
    }

    #[test]
    fn what_is_being_answered_is_never_closed_and_counts_until_its_end() {
        let open = ConnectionTable::new(2);
        let (one, two) = (open.try_enter(address("::1")).unwrap(), open.try_enter(address("::1")).unwrap());
        let (first, second) = (one.answering().unwrap(), two.answering().unwrap());
        assert!(open.try_enter(address("::1")).is_none());
        drop(first);
        let three = open.try_enter(address("::1")).unwrap();
        assert!(one.0.evicted.is_cancelled() && !two.0.evicted.is_cancelled());
        assert!(one.answering().is_none());
        // The place of a closed connection is freed once.
        drop(one);
        assert_eq!(open.lock().open, 2);
        drop((second, two, three));
        let table = open.lock();
        assert_eq!((table.open, table.idle.len()), (0, 0));
    }

    #[test]
    fn neighbours_in_ipv6_count_as_one() {
        assert_eq!(share_of(address("2001:db8::1")), share_of(address("2001:db8::ffff:1")));
        assert_ne!(share_of(address("2001:db8::1")), share_of(address("2001:db8:0:1::1")));
        assert_eq!(share_of(address("::ffff:192.0.2.1")), address("192.0.2.1"));
    }
}
