//! Claims runs without an owner, and cancels those another node was asked to cancel.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use tokio_util::sync::CancellationToken;

use luaplan_base::{ErrorCode, Result, RunId};
use luaplan_journal::{Leases, OpenRun};

use crate::{ActiveRuns, ResumeRequest};

/// How often a node looks for itself, whether it was woken or not.
const LOOK: Duration = Duration::from_millis(500);

/// How many runs are claimed at the same time.
const AT_ONCE: usize = 4;

/// The most runs looked at in one go.
const RUNS_MAX: usize = 32;

impl ActiveRuns {
    /// Takes part until no run may begin here any more. Does nothing where the journal is not shared.
    pub async fn share_work(self: Arc<Self>) {
        let leases = match self.app().history().leases() {
            Ok(Some(leases)) => Arc::clone(leases),
            _ => return,
        };
        let mut alarm = None;
        while !self.registry().is_stopping() {
            if alarm.is_none() {
                alarm = leases.alarm().await.ok();
            }
            if let Err(error) = self.look(&leases).await {
                tracing::warn!(%error, "the work that nodes share could not be looked at");
            }
            let woken = async {
                match &mut alarm {
                    Some(alarm) => alarm.rings().await,
                    None => std::future::pending().await,
                }
            };
            // A connection that is gone is made anew on the next round.
            if let Ok(Err(_)) = tokio::time::timeout(LOOK, woken).await {
                alarm = None;
                tokio::time::sleep(LOOK).await;
            }
        }
    }

    async fn look(self: &Arc<Self>, leases: &Arc<Leases>) -> Result<()> {
        for (run_id, by) in leases.runs_to_cancel().await? {
            self.registry().cancel_in_place(&run_id, by.as_ref());
        }
        if !self.app().config().server.take_up_runs {
            return Ok(());
        }
        let room = self.registry().room(self.runs_max()).min(RUNS_MAX);
        if room == 0 {
            return Ok(());
        }
        let open = leases.open_runs(u32::try_from(room).unwrap_or(u32::MAX)).await?;
        futures::stream::iter(open).for_each_concurrent(AT_ONCE, |open| self.take_up_open(open)).await;
        Ok(())
    }

    async fn take_up_open(self: &Arc<Self>, open: OpenRun) {
        let OpenRun { run_id, cancel: is_cancelled, cancelled_by } = open;
        let cancel = CancellationToken::new();
        if is_cancelled {
            cancel.cancel();
        }
        let request = ResumeRequest { by: cancelled_by, ..ResumeRequest::new(run_id.clone(), cancel) };
        match self.resume(request).await {
            Ok(_) => tracing::info!(%run_id, "claimed a run without an owner"),
            // Another node was first, or this one is full or stopping.
            Err(error)
                if matches!(
                    error.code(),
                    ErrorCode::RunActive | ErrorCode::TooManyRequests | ErrorCode::ShuttingDown
                ) => {}
            Err(error) => tracing::warn!(%run_id, %error, "a run without an owner was not claimed"),
        }
    }

    /// Lets whichever node has room resume a run that is paused and waits for no decision any more. Says whether
    /// there are such nodes.
    ///
    /// # Errors
    /// `journal_unavailable`.
    pub async fn leave_to_others(&self, run_id: &RunId) -> Result<bool> {
        match self.app().history().leases()? {
            Some(leases) => leases.reopen(run_id).await.map(|()| true),
            None => Ok(false),
        }
    }
}
