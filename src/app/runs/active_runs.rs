//! Runs as a service executes them: in the background, within one bound, resumed by their timers. Every edge that lets
//! clients begin runs goes through here.

use std::sync::Arc;

use luaplan_base::Result;

use super::registry::{ActiveRun, RunRegistry};
use super::timer_queue::TimerQueue;
use crate::{App, ResumeRequest};

/// The runs under way.
pub struct ActiveRuns {
    app: Arc<App>,
    timers: Arc<TimerQueue>,
}

impl ActiveRuns {
    /// None are under way yet.
    #[must_use]
    pub fn new(app: Arc<App>) -> Self {
        Self { app, timers: Arc::default() }
    }

    /// The application whose runs these are.
    #[must_use]
    pub fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// Which runs this process executes, and whether it begins others.
    #[must_use]
    pub fn registry(&self) -> &Arc<RunRegistry> {
        self.app.runs().registry()
    }

    /// From now on a tenant has no more runs under way, and no more workers, than are left for others: however much one
    /// asks for, another finds a place.
    pub fn share_between_tenants(&self) {
        self.registry().share_between_tenants();
        if let Some(workers) = &self.app.runs().workers {
            workers.share_between_tenants();
        }
    }

    /// Resumes a run in the background, once it is certain that it can.
    ///
    /// # Errors
    /// As [`crate::Runs::resume`]; `too_many_requests` where `server.max_concurrent_runs` are under way, `shutting_down`.
    pub async fn resume(self: &Arc<Self>, request: ResumeRequest) -> Result<ActiveRun> {
        let request = self.app.runs().toward_root(request).await?;
        let (run_id, cancel) = (request.run_id.clone(), request.cancel.clone());
        let tenant = self.app.history().tenant_of(&run_id).await?.unwrap_or_default();
        let place = self.registry().place(run_id, tenant, cancel, self.runs_max())?;
        let runs = self.app.runs().clone();
        self.execute_in(place, async move { runs.claim(request).await }).await
    }

    /// How many runs may be under way.
    pub(super) fn runs_max(&self) -> u32 {
        self.app.config().server.max_concurrent_runs
    }

    pub(super) fn timers(&self) -> &Arc<TimerQueue> {
        &self.timers
    }
}
