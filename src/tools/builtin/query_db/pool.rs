//! A few connections to one database, opened when needed.
//!
//! Not the driver's own pool: that one hides why a connection failed until its waiting time is over, and
//! reads all unread rows of a returned connection. Here only a clean connection is returned; any other
//! is closed, and its place stays occupied until the database has ended the work on it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Up to `size` connections of kind `C`.
pub(super) struct Pool<C> {
    size: usize,
    places: Arc<Semaphore>,
    ending: Arc<AtomicUsize>,
    idle: Idle<C>,
}

type Idle<C> = Arc<Mutex<Vec<C>>>;

/// A connection in use. Dropping it closes it; [`Lease::give_back`] returns it to the pool.
pub(super) struct Lease<C> {
    // Dropped, and so closed, before its place is released.
    pub(super) connection: C,
    idle: Idle<C>,
    held: PlaceHold,
}

/// A place among the connections, and the idle connection found there, if any.
pub(super) struct PoolPlace<C> {
    pub(super) idle_connection: Option<C>,
    idle: Idle<C>,
    held: PlaceHold,
}

/// The place itself.
struct PlaceHold {
    permit: Option<OwnedSemaphorePermit>,
    ending: Arc<AtomicUsize>,
    /// Ends the work on the connection, and completes when it has ended.
    end: Option<BoxFuture<'static, ()>>,
}

impl Drop for PlaceHold {
    fn drop(&mut self) {
        let (Some(permit), Some(end), Ok(runtime)) =
            (self.permit.take(), self.end.take(), Handle::try_current())
        else {
            return;
        };
        let ending = Arc::clone(&self.ending);
        ending.fetch_add(1, Ordering::Relaxed);
        runtime.spawn(async move {
            end.await;
            ending.fetch_sub(1, Ordering::Relaxed);
            drop(permit);
        });
    }
}

impl<C> Pool<C> {
    pub(super) fn new(size: usize) -> Self {
        let size = size.max(1);
        let places = Arc::new(Semaphore::new(size));
        Self { size, places, ending: Arc::default(), idle: Idle::default() }
    }

    /// Waits for a place; the caller bounds the wait. `None` cannot happen while the pool lives.
    pub(super) async fn place(&self) -> Option<PoolPlace<C>> {
        let permit = Some(Arc::clone(&self.places).acquire_owned().await.ok()?);
        let idle_connection = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let held = PlaceHold { permit, ending: Arc::clone(&self.ending), end: None };
        Some(PoolPlace { idle_connection, idle: Arc::clone(&self.idle), held })
    }

    /// The number of places, where stopped work that has not ended holds all of them.
    pub(super) fn all_ending(&self) -> Option<usize> {
        (self.ending.load(Ordering::Relaxed) >= self.size).then_some(self.size)
    }
}

impl<C> PoolPlace<C> {
    pub(super) fn lease(self, connection: C) -> Lease<C> {
        Lease { connection, idle: self.idle, held: self.held }
    }
}

impl<C> Lease<C> {
    /// From now on work may run: where the lease is dropped, `end` ends that work and waits for it.
    pub(super) fn ends_with(&mut self, end: impl Future<Output = ()> + Send + 'static) {
        self.held.end = Some(Box::pin(end));
    }

    pub(super) fn give_back(self) {
        let Self { connection, idle, mut held } = self;
        held.end = None;
        idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }
}

/// Waits until stopped work is gone from its server: `look` ends it and says whether it is gone. The wait for work
/// that still runs has no bound. Where the server refuses the question, the place is free again after a while: a
/// database whose account loses that permission would otherwise lose its places for good.
pub(super) async fn until_gone<L: Future<Output = Result<bool, sqlx::Error>>>(look: impl Fn() -> L) {
    const FIRST_WAIT: Duration = Duration::from_millis(50);
    const LAST_WAIT: Duration = Duration::from_secs(10);
    const UNSEEN_MAX: Duration = Duration::from_secs(300);
    let mut wait = FIRST_WAIT;
    let mut last_seen = Instant::now();
    loop {
        match tokio::time::timeout(LAST_WAIT, look()).await {
            Ok(Ok(true)) => return,
            // A server that accepts no connection is down and computes nothing.
            Ok(Err(sqlx::Error::Io(_))) => return,
            Ok(Ok(false)) => last_seen = Instant::now(),
            Ok(Err(_)) | Err(_) => {}
        }
        if last_seen.elapsed() >= UNSEEN_MAX {
            // The driver's error may quote the server's words about the account.
            tracing::warn!(
                after_s = UNSEEN_MAX.as_secs(),
                "a stopped query cannot be looked for; its connection's place is free again"
            );
            return;
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(LAST_WAIT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_place_is_free_when_the_work_has_ended_and_not_before() {
        let pool: Pool<()> = Pool::new(1);
        let (ended, has_ended) = tokio::sync::oneshot::channel::<()>();
        let mut lease = pool.place().await.unwrap().lease(());
        lease.ends_with(async move { drop(has_ended.await) });
        drop(lease);
        let early = tokio::time::timeout(Duration::from_millis(50), pool.place()).await;
        assert!(early.is_err() && pool.all_ending() == Some(1));
        ended.send(()).unwrap();
        let place = pool.place().await.unwrap();
        assert_eq!(pool.all_ending(), None);
        let mut lease = place.lease(());
        lease.ends_with(std::future::pending());
        lease.give_back();
        assert!(pool.place().await.unwrap().idle_connection.is_some(), "what came back clean ends nothing");
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_is_free_after_a_while_where_its_work_cannot_be_looked_for() {
        let waited = Duration::from_secs(3_600);
        let unseen = until_gone(|| async { Err(sqlx::Error::PoolTimedOut) });
        tokio::time::timeout(waited, unseen).await.expect("an end of the wait");
        let silent = until_gone(std::future::pending);
        tokio::time::timeout(waited, silent).await.expect("an end of the wait");
        let seen = until_gone(|| async { Ok(false) });
        assert!(tokio::time::timeout(waited, seen).await.is_err(), "work that is seen holds its place");
    }
}
