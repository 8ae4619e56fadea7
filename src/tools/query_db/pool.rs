//! A few connections to one database, opened when needed.
//!
//! Not the driver's own pool: that one hides why a connection failed until its waiting time is
//! over, and takes back connections with unread rows by reading all of them. Here a connection
//! comes back only when it is clean; any other is closed.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Up to `size` connections of kind `C`.
pub(super) struct Pool<C> {
    permits: Arc<Semaphore>,
    idle: Idle<C>,
}

type Idle<C> = Arc<Mutex<Vec<C>>>;

/// A connection in use. Dropping it closes it; [`Lease::give_back`] keeps it for the next.
pub(super) struct Lease<C> {
    pub(super) connection: C,
    idle: Idle<C>,
    _permit: OwnedSemaphorePermit,
}

/// A place among the connections, and the idle connection found there, if any.
pub(super) struct Place<C> {
    pub(super) idle_connection: Option<C>,
    idle: Idle<C>,
    permit: OwnedSemaphorePermit,
}

impl<C> Pool<C> {
    pub(super) fn new(size: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(size.max(1))), idle: Idle::default() }
    }

    /// Waits for a place; the caller bounds the wait. `None` cannot happen while the pool lives.
    pub(super) async fn place(&self) -> Option<Place<C>> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.ok()?;
        let idle_connection = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Some(Place { idle_connection, idle: Arc::clone(&self.idle), permit })
    }
}

impl<C> Place<C> {
    pub(super) fn lease(self, connection: C) -> Lease<C> {
        Lease { connection, idle: self.idle, _permit: self.permit }
    }
}

impl<C> Lease<C> {
    pub(super) fn give_back(self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(self.connection);
    }
}
