//! The state of all routes: the app, the keys, and the active runs of this process.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use luaplan_app::{ActiveRun, ActiveRuns, ApiKeys, App};
use luaplan_base::RunId;

use super::shares::Shares;

/// The state of all routes.
pub(super) struct ApiState {
    pub(super) app: Arc<App>,
    pub(super) keys: ApiKeys,
    pub(super) runs: Arc<ActiveRuns>,
    /// The places that each key holds.
    pub(super) shares: Arc<Shares>,
    streams: CancellationToken,
}

impl ApiState {
    pub(super) fn new(runs: Arc<ActiveRuns>, keys: ApiKeys) -> Self {
        let shares = Shares::new(runs.app().config().server.shares.clone());
        Self { app: runs.app().clone(), keys, runs, shares, streams: CancellationToken::new() }
    }

    pub(super) fn active(&self, run_id: &RunId) -> Option<ActiveRun> {
        self.runs.registry().active(run_id)
    }

    /// Cancelled when event streams must end so that the server can stop.
    pub(super) fn streams(&self) -> CancellationToken {
        self.streams.clone()
    }

    pub(super) fn end_streams(&self) {
        self.streams.cancel();
    }
}
