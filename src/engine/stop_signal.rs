//! When a run must end.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use luaplan_bus::IdleTime;
use luaplan_vm::InterruptReason;

/// Signals that a run must stop: it was cancelled, a pause was requested, or its wall time is over.
#[derive(Clone)]
pub(super) struct StopSignal {
    /// Cancelled when a caller or the process ends the run.
    pub(super) cancel: CancellationToken,
    /// Cancelled when a caller requests a pause.
    pub(super) pause: CancellationToken,
    /// When its wall time is over, if it never sleeps.
    pub(super) deadline: Instant,
    /// Its sleeps, which do not count as wall time.
    pub(super) idle: Arc<IdleTime>,
}

impl StopSignal {
    /// Returns when the run must end, with the reason.
    pub(super) async fn reached(&self) -> InterruptReason {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => InterruptReason::Cancelled,
            () = self.overdue() => InterruptReason::WallTime,
        }
    }

    /// The same, or when it must pause: for moments without running calls.
    pub(super) async fn reached_or_paused(&self) -> InterruptReason {
        tokio::select! {
            biased;
            reason = self.reached() => reason,
            () = self.pause.cancelled() => InterruptReason::Cancelled,
        }
    }

    /// Whether a pause was requested, and not the end of the run.
    pub(super) fn is_to_pause(&self) -> bool {
        self.pause.is_cancelled() && !self.cancel.is_cancelled()
    }

    /// By how much the wall time is exceeded.
    pub(super) fn over(&self) -> Duration {
        Instant::now().saturating_duration_since(self.end())
    }

    /// Returns when the wall time is over. A call may start to sleep meanwhile, which moves the end.
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
