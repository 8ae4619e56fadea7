//! Who runs which run: nodes with a lease that they renew, and runs with a fence that grows.
//!
//! A node is a process. It renews its lease, by the database's clock alone. A run belongs to the node that
//! claimed it last; each claim increments its fence. Once a node's lease has expired, any other node may
//! claim its runs; the writes of the old owner carry the old fence and are refused.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use sqlx::postgres::PgPool;
use tokio::sync::OnceCell;

use luaplan_base::{Error, ErrorCode, Result, RunId};

use super::errors::journal_error;

/// How long after its lease expired a node's row is deleted.
const DELETED_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// The node and the token of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    pub(super) node: Arc<str>,
    pub(super) token: i64,
}

impl Fence {
    pub(super) fn is(&self, node: &str, token: i64) -> bool {
        *self.node == *node && self.token == token
    }
}

/// This node's lease and the runs it holds.
pub struct Leases {
    shown: Arc<str>,
    pool: PgPool,
    time: Duration,
    registered: OnceCell<()>,
    own: Mutex<Own>,
}

struct Own {
    /// Replaced where records were lost: claims under the old name no longer count.
    node: Arc<str>,
    /// Until when this node is sure of its lease, by its own clock; `None` while it has none.
    sure_until: Option<Instant>,
    /// The fence token of each run this process runs; 0 while a run is being claimed.
    held: HashMap<RunId, i64>,
}

/// This process's claim on a run. Dropping it ends the claim in this process; the database is not told.
pub struct RunLease {
    leases: Arc<Leases>,
    run_id: RunId,
    fence: Fence,
}

impl RunLease {
    /// The fence to write with.
    #[must_use]
    pub fn fence(&self) -> &Fence {
        &self.fence
    }

    /// Lets other nodes claim the run. `set_aside` keeps their schedulers from claiming it by themselves.
    ///
    /// # Errors
    /// `journal_unavailable`; others can then claim the run once this node's lease has expired.
    pub async fn release(&self, set_aside: bool) -> Result<()> {
        let released = self.leases.release_run(&self.run_id, &self.fence, set_aside).await;
        self.leases.end_claim(&self.run_id, &self.fence);
        released
    }

    /// See [`crate::JournalWrite::check_fence`].
    pub(super) async fn check_fence(&self) -> Result<()> {
        self.leases.check_fence(&self.run_id, &self.fence).await
    }
}

impl Drop for RunLease {
    fn drop(&mut self) {
        self.leases.end_claim(&self.run_id, &self.fence);
    }
}

/// The error for a write with an old fence.
pub(super) fn taken_over(run_id: &RunId) -> Error {
    let message = format!("run {run_id} is not this node's any more; nothing was written");
    Error::new(ErrorCode::RunTakenOver, message).about_run(run_id)
}

fn run_active(run_id: &RunId) -> Error {
    Error::new(ErrorCode::RunActive, format!("run {run_id} is under way")).about_run(run_id)
}

impl Leases {
    pub(super) fn new(shown: Arc<str>, pool: PgPool, time: Duration) -> Self {
        let own = Own { node: new_name(), sure_until: None, held: HashMap::new() };
        Self { shown, pool, time, registered: OnceCell::new(), own: Mutex::new(own) }
    }

    fn lock(&self) -> MutexGuard<'_, Own> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// This node's name, whether or not it holds a lease under it.
    pub(super) fn name(&self) -> Arc<str> {
        self.lock().node.clone()
    }

    /// The runs this process runs.
    pub(super) fn held(&self) -> Vec<String> {
        self.lock().held.keys().map(ToString::to_string).collect()
    }

    pub(super) fn failed(&self, error: sqlx::Error) -> Error {
        journal_error(&self.shown, error)
    }

    /// How long a lease lasts.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.time
    }

    /// This node's name; the first call takes a lease under it and keeps it renewed.
    ///
    /// # Errors
    /// `journal_unavailable`.
    pub async fn node(self: &Arc<Self>) -> Result<Arc<str>> {
        let registered = self.registered.get_or_try_init(|| async {
            self.renew().await?;
            self.delete_expired_nodes().await?;
            tokio::spawn(keep_renewed(Arc::downgrade(self), self.time / 3));
            Ok::<_, Error>(())
        });
        registered.await?;
        Ok(self.lock().node.clone())
    }

    async fn renew(&self) -> Result<()> {
        let before = Instant::now();
        let node = self.lock().node.clone();
        sqlx::query(
            "INSERT INTO nodes (node, expires_at) \
             VALUES ($1, clock_timestamp() + $2 * interval '1 millisecond') \
             ON CONFLICT (node) DO UPDATE SET expires_at = excluded.expires_at",
        )
        .bind(&*node)
        .bind(self.time.as_millis() as f64)
        .execute(&self.pool)
        .await
        .map_err(|error| self.failed(error))?;
        let mut own = self.lock();
        if own.node == node {
            own.sure_until = Some(before + self.time);
        }
        Ok(())
    }

    /// Claims a run: a new one, one without an owner, or one whose owner's lease expired.
    ///
    /// # Errors
    /// `run_active` where a live node has it, `journal_unavailable`.
    pub async fn acquire(self: &Arc<Self>, run_id: &RunId) -> Result<RunLease> {
        let node = self.node().await?;
        {
            let mut own = self.lock();
            if own.held.contains_key(run_id) {
                return Err(run_active(run_id));
            }
            own.held.insert(run_id.clone(), 0);
        }
        // Dropped before it has a token, it removes the entry again.
        let fence = Fence { node, token: 0 };
        let mut held = RunLease { leases: Arc::clone(self), run_id: run_id.clone(), fence };
        let claimed = self.claim(run_id, &held.fence.node).await.map_err(|error| self.failed(error))?;
        let token = claimed.ok_or_else(|| run_active(run_id))?;
        self.lock().held.insert(run_id.clone(), token);
        held.fence.token = token;
        Ok(held)
    }

    /// Whether the claim was made under this node's present name.
    pub(super) fn is_current(&self, fence: &Fence) -> bool {
        self.lock().node == fence.node
    }

    /// Ends a claim in this process.
    pub(super) fn end_claim(&self, run_id: &RunId, fence: &Fence) {
        let mut own = self.lock();
        if own.node == fence.node && own.held.get(run_id) == Some(&fence.token) {
            own.held.remove(run_id);
        }
    }

    /// Makes this process another node, without runs; any node may claim those it had.
    pub(super) fn reset(self: &Arc<Self>) {
        let old = {
            let mut own = self.lock();
            own.held.clear();
            own.sure_until = Some(Instant::now());
            std::mem::replace(&mut own.node, new_name())
        };
        let leases = Arc::clone(self);
        tokio::spawn(async move {
            if let Err(error) = leases.delete_node(&old).await {
                tracing::warn!(%error, "the runs of this node are taken up once its lease has run out");
            }
            if let Err(error) = leases.renew().await {
                tracing::warn!(%error, "this node's lease could not be renewed");
            }
        });
    }

    async fn delete_node(&self, node: &str) -> Result<()> {
        let forgotten = sqlx::query("DELETE FROM nodes WHERE node = $1").bind(node).execute(&self.pool).await;
        forgotten.map(drop).map_err(|error| self.failed(error))
    }

    /// Deletes the rows of nodes whose leases expired long ago. A node without a row counts as one whose lease
    /// expired, so a node that comes back loses nothing. Each start of a node adds a row, so each start
    /// deletes old ones.
    async fn delete_expired_nodes(&self) -> Result<()> {
        sqlx::query(
            "DELETE FROM nodes WHERE node IN (SELECT node FROM nodes \
             WHERE expires_at < clock_timestamp() - $1 * interval '1 second' FOR UPDATE SKIP LOCKED)",
        )
        .bind(DELETED_AFTER.as_secs_f64())
        .execute(&self.pool)
        .await
        .map(drop)
        .map_err(|error| self.failed(error))
    }

    /// Ends this node's lease, so that others need not wait for it to expire.
    pub(super) async fn end(&self) {
        let node = {
            let mut own = self.lock();
            if own.sure_until.take().is_none() {
                return;
            }
            own.node.clone()
        };
        if let Err(error) = self.delete_node(&node).await {
            tracing::warn!(%error, "this node's lease was left to run out");
        }
    }

    /// Closes the connections.
    pub(super) async fn close(&self) {
        self.pool.close().await;
    }

    /// Checks that this node still owns the run. Asks the database only where the lease may have expired.
    async fn check_fence(&self, run_id: &RunId, fence: &Fence) -> Result<()> {
        {
            let own = self.lock();
            if own.node != fence.node {
                return Err(taken_over(run_id));
            }
            if own.sure_until.is_some_and(|until| Instant::now() < until) {
                return Ok(());
            }
        }
        self.renew().await?;
        let held: Option<i32> =
            sqlx::query_scalar("SELECT 1 FROM runs WHERE run_id = $1 AND node = $2 AND fence = $3")
                .bind(run_id.as_str())
                .bind(&*fence.node)
                .bind(fence.token)
                .fetch_optional(&self.pool)
                .await
                .map_err(|error| self.failed(error))?;
        held.map(drop).ok_or_else(|| taken_over(run_id))
    }
}

fn new_name() -> Arc<str> {
    RunId::generate().as_str().into()
}

/// Renews the lease until the leases are dropped or ended.
async fn keep_renewed(leases: Weak<Leases>, pause: Duration) {
    const TRY_AGAIN: Duration = Duration::from_millis(250);
    let mut next = pause;
    loop {
        tokio::time::sleep(next).await;
        let Some(leases) = leases.upgrade() else { return };
        if leases.lock().sure_until.is_none() {
            return;
        }
        next = match leases.renew().await {
            Ok(()) => pause,
            Err(error) => {
                tracing::warn!(%error, "this node's lease could not be renewed; trying again");
                TRY_AGAIN.min(pause)
            }
        };
    }
}
