//! The runs under way in this process, and how they are brought to an end. Every edge that lets
//! clients begin runs goes through here, so that they share one bound, one stop and one list.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use luaplan_base::{Error, ErrorCode, Result, RunId};
use luaplan_engine::RunOutcome;

use super::start::ClaimedRun;
use super::timers::Sleepers;
use crate::{App, ResumeRequest};

/// A run under way: how to end it, and where its outcome will be.
#[derive(Clone)]
pub struct ActiveRun {
    /// Cancelled to end the run.
    pub cancel: CancellationToken,
    /// The outcome, once there is one.
    pub outcome: watch::Receiver<Option<Arc<RunOutcome>>>,
    /// Whose run it is, until its records say so.
    pub(crate) tenant: String,
}

impl ActiveRun {
    /// Whether nothing more will happen in it.
    #[must_use]
    pub fn is_over(&self) -> bool {
        // Without a sender the run's task has broken off.
        self.outcome.borrow().is_some() || self.outcome.has_changed().is_err()
    }
}

/// The runs under way.
pub struct ActiveRuns {
    app: Arc<App>,
    runs: Mutex<Runs>,
    ended: Notify,
    sleepers: Arc<Sleepers>,
}

/// Under one lock, so that no run begins after the stop has counted them.
#[derive(Default)]
struct Runs {
    active: HashMap<RunId, ActiveRun>,
    stopping: bool,
    /// Whether each tenant leaves room for another.
    is_shared: bool,
}

impl ActiveRuns {
    /// None are under way yet.
    #[must_use]
    pub fn new(app: Arc<App>) -> Self {
        Self { app, runs: Mutex::default(), ended: Notify::new(), sleepers: Arc::default() }
    }

    /// The application whose runs these are.
    #[must_use]
    pub fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// From now on a tenant has no more runs under way, and no more workers, than are left for others: however much one
    /// asks for, another finds a place.
    pub fn share_between_tenants(&self) {
        self.lock().is_shared = true;
        if let Some(workers) = &self.app.workers {
            workers.share_between_tenants();
        }
    }

    /// Goes on with a run in the background, once it is certain that it can.
    ///
    /// # Errors
    /// As [`App::resume`]; `too_many_requests` where `server.max_concurrent_runs` are under way, `shutting_down`.
    pub async fn resume(self: &Arc<Self>, request: ResumeRequest) -> Result<ActiveRun> {
        let request = self.app.toward_root(request).await?;
        let (run_id, cancel) = (request.run_id.clone(), request.cancel.clone());
        let tenant = self.app.tenant_of(&run_id).await?.unwrap_or_default();
        let place = self.place(run_id, tenant, cancel)?;
        let app = self.app.clone();
        self.execute_in(place, async move { app.claim(request).await }).await
    }

    /// Executes the run that `claims` claims in the background, once it has; the run is executed even where the
    /// request for it is gone.
    ///
    /// # Errors
    /// As `claims`.
    pub(super) async fn execute_in(
        &self,
        place: Place,
        claims: impl Future<Output = Result<ClaimedRun>> + Send + 'static,
    ) -> Result<ActiveRun> {
        let app = self.app.clone();
        let (sender, is_claimed) = oneshot::channel();
        let run = place.run_in_background(async move {
            let (result, claimed) = match claims.await {
                Ok(claimed) => (Ok(()), Some(claimed)),
                Err(error) => (Err(error), None),
            };
            let _ = sender.send(result);
            Some(app.execute(claimed?).await)
        });
        let broke_off = |_| Err(Error::new(ErrorCode::Internal, "the run broke off"));
        is_claimed.await.unwrap_or_else(broke_off)?;
        Ok(run)
    }

    /// A place among the runs under way. A run has one at most: of two who resume it at once, one does.
    pub(crate) fn place(
        self: &Arc<Self>,
        run_id: RunId,
        tenant: String,
        cancel: CancellationToken,
    ) -> Result<Place> {
        let (sender, outcome) = watch::channel(None);
        let run = ActiveRun { cancel, outcome, tenant };
        let mut runs = self.lock();
        if runs.stopping {
            return Err(Error::new(ErrorCode::ShuttingDown, "the server is stopping"));
        }
        if runs.active.contains_key(&run_id) {
            let message = format!("run {run_id} is under way");
            return Err(Error::new(ErrorCode::RunActive, message).about_run(&run_id));
        }
        let (limit, under_way) = (self.app.config().server.max_concurrent_runs, runs.active.len());
        if under_way >= limit as usize {
            let message = "as many runs as may be are under way";
            return Err(Error::new(ErrorCode::TooManyRequests, message).with_limit(limit, under_way));
        }
        let own = runs.active.values().filter(|active| active.tenant == run.tenant).count();
        let free = limit as usize - under_way;
        if runs.is_shared && own >= free {
            let message = "as many runs of this tenant are under way as leave room for those of others";
            return Err(Error::new(ErrorCode::TooManyRequests, message).with_limit(own, own));
        }
        runs.active.insert(run_id.clone(), run.clone());
        Ok(Place { runs: self.clone(), run_id, run, sender })
    }

    /// How many more runs there is room for.
    pub(crate) fn room(&self) -> usize {
        (self.app.config().server.max_concurrent_runs as usize).saturating_sub(self.lock().active.len())
    }

    /// The run of this id, where this process runs it.
    #[must_use]
    pub fn active(&self, run_id: &RunId) -> Option<ActiveRun> {
        self.lock().active.get(run_id).cloned()
    }

    pub(crate) fn sleepers(&self) -> &Arc<Sleepers> {
        &self.sleepers
    }

    /// Whether no run may begin any more.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    /// From now on no run begins.
    pub fn stop_accepting(&self) {
        self.lock().stopping = true;
    }

    /// Waits until no run is under way, at most until `deadline`.
    pub async fn wait_until_idle(&self, deadline: Instant) {
        loop {
            let ended = self.ended.notified();
            if self.lock().active.is_empty() || tokio::time::timeout_at(deadline, ended).await.is_err() {
                return;
            }
        }
    }

    /// Waits for a place to become free. Looks again after a second, as a run may end before this is asked.
    pub async fn until_one_ends(&self) {
        const LOOK_AGAIN: Duration = Duration::from_secs(1);
        let _ = tokio::time::timeout(LOOK_AGAIN, self.ended.notified()).await;
    }

    /// Ends every run.
    pub fn cancel_all(&self) {
        for run in self.lock().active.values() {
            run.cancel.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run's place among those under way; given back even where the run's task breaks off.
pub(crate) struct Place {
    runs: Arc<ActiveRuns>,
    run_id: RunId,
    run: ActiveRun,
    sender: watch::Sender<Option<Arc<RunOutcome>>>,
}

impl Place {
    /// Runs `work` in this place.
    pub(crate) fn run_in_background(
        self,
        work: impl Future<Output = Option<RunOutcome>> + Send + 'static,
    ) -> ActiveRun {
        let run = self.run.clone();
        let span = tracing::info_span!("run", run_id = %self.run_id);
        tokio::spawn(
            async move {
                tracing::info!("the run is under way");
                let Some(outcome) = work.await else { return };
                let code = outcome.result.as_ref().err().map(|why| why.code().as_str());
                tracing::info!(status = outcome.status().as_str(), code, "the run ended");
                let (rests, wake_at) = (outcome.status().is_suspended(), outcome.wake_at());
                // Nobody waiting for the outcome is no fault.
                let _ = self.sender.send(Some(Arc::new(outcome)));
                let (runs, run_id) = (self.runs.clone(), self.run_id.clone());
                let (tenant, cancel) = (self.run.tenant.clone(), self.run.cancel.clone());
                drop(self);
                // Told to end in the moment in which it came to rest: whoever told it saw it here still.
                if rests && cancel.is_cancelled() && !runs.app.is_interrupting() {
                    if let Err(error) = runs.app.cancel_unless_over(&run_id, None).await {
                        tracing::warn!(%run_id, %error, "a run at rest could not be ended");
                    }
                } else if let Some(wake_at) = wake_at {
                    runs.wake_later(tenant, run_id, wake_at);
                }
            }
            .instrument(span),
        );
        run
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.runs.lock().active.remove(&self.run_id);
        self.runs.ended.notify_waiters();
    }
}
