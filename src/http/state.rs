//! What all routes share: the app, the keys, and the runs under way in this process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::auth::ApiKeys;
use crate::app::{App, RunRequest};
use crate::base::{Error, ErrorCode, Result, RunId};
use crate::engine::RunOutcome;

/// A run under way: how to end it, and where its outcome will be.
#[derive(Clone)]
pub(super) struct ActiveRun {
    pub(super) cancel: CancellationToken,
    pub(super) outcome: watch::Receiver<Option<Arc<RunOutcome>>>,
}

impl ActiveRun {
    /// Whether nothing more will happen in it.
    pub(super) fn is_over(&self) -> bool {
        // Without a sender the run's task has broken off.
        self.outcome.borrow().is_some() || self.outcome.has_changed().is_err()
    }
}

/// Shared by all routes.
pub(super) struct ApiState {
    pub(super) app: Arc<App>,
    pub(super) keys: ApiKeys,
    runs: Mutex<Runs>,
    ended: Notify,
    streams: CancellationToken,
}

/// Under one lock, so that no run begins after the stop has counted them.
#[derive(Default)]
struct Runs {
    active: HashMap<RunId, ActiveRun>,
    stopping: bool,
}

impl ApiState {
    pub(super) fn new(app: Arc<App>, keys: ApiKeys) -> Self {
        Self { app, keys, runs: Mutex::default(), ended: Notify::new(), streams: CancellationToken::new() }
    }

    /// Begins a run in the background.
    pub(super) fn start(self: &Arc<Self>, request: RunRequest) -> Result<ActiveRun> {
        let (sender, outcome) = watch::channel(None);
        let run = ActiveRun { cancel: request.cancel.clone(), outcome };
        let run_id = request.run_id.clone();
        {
            let mut runs = self.lock();
            if runs.stopping {
                return Err(Error::new(ErrorCode::ShuttingDown, "the server is stopping"));
            }
            let (limit, under_way) = (self.app.config().server.max_concurrent_runs, runs.active.len());
            if under_way >= limit as usize {
                let message = "as many runs as may be are under way";
                return Err(Error::new(ErrorCode::TooManyRequests, message).with_limit(limit, under_way));
            }
            runs.active.insert(run_id.clone(), run.clone());
        }
        let span = tracing::info_span!("run", run_id = %run_id);
        let place = Place { state: self.clone(), run_id };
        tokio::spawn(
            async move {
                tracing::info!("the run began");
                let outcome = place.state.app.run(request).await;
                let code = outcome.error().map(|error| error.code().as_str());
                tracing::info!(status = outcome.status().as_str(), code, "the run ended");
                // Nobody waiting for the outcome is no fault.
                let _ = sender.send(Some(Arc::new(outcome)));
                drop(place);
            }
            .instrument(span),
        );
        Ok(run)
    }

    pub(super) fn active(&self, run_id: &RunId) -> Option<ActiveRun> {
        self.lock().active.get(run_id).cloned()
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    pub(super) fn stop_accepting(&self) {
        self.lock().stopping = true;
    }

    pub(super) async fn wait_until_idle(&self, deadline: Instant) {
        loop {
            let ended = self.ended.notified();
            if self.lock().active.is_empty() || tokio::time::timeout_at(deadline, ended).await.is_err() {
                return;
            }
        }
    }

    pub(super) fn cancel_all(&self) {
        for run in self.lock().active.values() {
            run.cancel.cancel();
        }
    }

    /// Cancelled when event streams must end, so that the server can.
    pub(super) fn streams(&self) -> CancellationToken {
        self.streams.clone()
    }

    pub(super) fn end_streams(&self) {
        self.streams.cancel();
    }

    fn lock(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run's place among those under way; given back even where the run's task breaks off.
struct Place {
    state: Arc<ApiState>,
    run_id: RunId,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.state.lock().active.remove(&self.run_id);
        self.state.ended.notify_waiters();
    }
}
