//! When a run must come to its end.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use luaplan_bus::IdleTime;
use luaplan_vm::InterruptReason;

/// Somebody ends the run, or its wall time is used up. Whoever watches a run asks this.
#[derive(Clone)]
pub(super) struct StopSignal {
    /// Cancelled when somebody ends the run.
    pub(super) cancel: CancellationToken,
    /// Cancelled when somebody asks it to stand still.
    pub(super) pause: CancellationToken,
    /// When its wall time is used up, if it never sleeps.
    pub(super) deadline: Instant,
    /// Its sleeps, which are no wall time.
    pub(super) idle: Arc<IdleTime>,
}

impl StopSignal {
    /// Comes back when the run must come to its end, with the reason.
    pub(super) async fn reached(&self) -> InterruptReason {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => InterruptReason::Cancelled,
            () = self.overdue() => InterruptReason::WallTime,
        }
    }

    /// The same, or when it must stand still: for moments in which no call is under way.
    pub(super) async fn reached_or_paused(&self) -> InterruptReason {
        tokio::select! {
            biased;
            reason = self.reached() => reason,
            () = self.pause.cancelled() => InterruptReason::Cancelled,
        }
    }

    /// Whether somebody asked it to stand still, and nobody to end.
    pub(super) fn is_to_pause(&self) -> bool {
        self.pause.is_cancelled() && !self.cancel.is_cancelled()
    }

    /// By how much the wall time is over.
    pub(super) fn over(&self) -> Duration {
        Instant::now().saturating_duration_since(self.end())
    }

    /// Comes back when the wall time is used up. A call may begin to sleep meanwhile, which moves the end.
    async fn overdue(&self) {
        loop {
            let end = self.end();
            tokio::time::sleep_until(end).await;
            if self.end() <= end {
                return;
            }
        }
    }

    fn end(&self) -> Instant {
        self.deadline + self.idle.total()
    }
}
