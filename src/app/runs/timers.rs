//! Sleeping runs of a service resume at their times.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use luaplan_base::{ErrorCode, Result, RunId};
use luaplan_journal::{JournalRead as _, RunFilter, RunStatus};

use super::timer_queue::{Due, TimerQueue};
use crate::history::History;
use crate::{ActiveRuns, ResumeRequest};

/// How long a timer runs before the clock is looked at again: it may be set, and machines sleep too.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// Runs read from the journal at once.
const PAGE: u32 = 1_000;

impl ActiveRuns {
    /// Has this process wake a run of `tenant`.
    pub(crate) fn wake_later(self: &Arc<Self>, tenant: String, run_id: RunId, wake_at: Timestamp) {
        let timers = self.timers();
        timers.put(Due { tenant, wake_at, run_id });
        if !timers.is_watched.swap(true, Ordering::Relaxed) {
            tokio::spawn(watch(Arc::clone(timers), Arc::downgrade(self)));
        }
    }

    /// Has this process claim a run as soon as there is a place.
    ///
    /// # Errors
    /// As reading the journal.
    pub async fn take_up_later(self: &Arc<Self>, run_id: RunId) -> Result<()> {
        let tenant = self.app().history().tenant_of(&run_id).await?.unwrap_or_default();
        self.wake_later(tenant, run_id, self.app().history().now());
        Ok(())
    }

    /// Has this process wake every run that sleeps or waits for an answer until a time, as the journal knows them. Says
    /// how many.
    ///
    /// # Errors
    /// As reading the journal.
    pub async fn wake_recorded(self: &Arc<Self>) -> Result<usize> {
        let asleep = self.wake_recorded_as(RunStatus::Sleeping).await?;
        Ok(asleep + self.wake_recorded_as(RunStatus::Paused).await?)
    }

    async fn wake_recorded_as(self: &Arc<Self>, status: RunStatus) -> Result<usize> {
        let mut filter = RunFilter { status: Some(status), limit: Some(PAGE), ..RunFilter::default() };
        let mut count = 0;
        loop {
            let page = self.app().journal().runs(filter.clone()).await?;
            let Some(last) = page.last() else { return Ok(count) };
            filter.before = Some(last.run_id.clone());
            // The run of an agent wakes with the run that called it.
            for run in page.into_iter().filter(|run| run.parent.is_none()) {
                if let Some(wake_at) = run.wake_at.or(run.answer_by) {
                    count += 1;
                    self.wake_later(run.tenant, run.run_id, wake_at);
                }
            }
        }
    }

    /// Wakes a run; gives it back where there is no place for it.
    async fn wake(self: &Arc<Self>, due: Due) -> Option<Due> {
        let run_id = &due.run_id;
        if !self.is_still_due(run_id).await {
            return None;
        }
        let request = ResumeRequest::new(run_id.clone(), CancellationToken::new());
        match self.resume(request).await.map(drop).map_err(|error| (error.code(), error)) {
            Ok(()) => {}
            Err((ErrorCode::TooManyRequests, _)) => return Some(due),
            // Another process holds it, or resumed it; where it ended there, nothing is left to do.
            Err((ErrorCode::RunActive, _)) if self.registry().active(run_id).is_none() => {
                let again = self.app().history().now().checked_add(jiff::SignedDuration::from_secs(30));
                self.wake_later(due.tenant, due.run_id, again.unwrap_or(Timestamp::MAX));
            }
            Err((ErrorCode::RunActive | ErrorCode::RunNotResumable | ErrorCode::ShuttingDown, _)) => {}
            Err((_, error)) => tracing::warn!(%run_id, %error, "a sleeping run could not be woken"),
        }
        None
    }

    /// Whether a run is to be woken still: one that is paused may have been answered, gone on and paused for something
    /// else since its time was noted.
    async fn is_still_due(&self, run_id: &RunId) -> bool {
        let (now, journal) = (self.app().history().now(), self.app().journal());
        match journal.run_summary(run_id).await {
            Ok(Some(run)) if run.status == RunStatus::Paused => {
                run.answer_by.is_some_and(|answer_by| answer_by <= now)
                    || matches!(journal.run_state(run_id).await, Ok(Some(state)) if state.is_ready_to_resume())
            }
            _ => true,
        }
    }
}

/// Wakes runs one after the other as their time comes; each is then executed beside this. A tenant without a free place
/// waits for one, and no other with it.
async fn watch(timers: Arc<TimerQueue>, runs: Weak<ActiveRuns>) {
    let mut waiting = HashSet::new();
    let Some(clock) = runs.upgrade().map(|runs| Arc::clone(&runs.app().history().clock)) else { return };
    loop {
        let Some(runs) = runs.upgrade() else { return };
        let moved = clock.moved();
        match timers.due(runs.app().history().now(), &waiting) {
            Ok(due) => {
                if let Some(due) = runs.wake(due).await {
                    waiting.insert(due.tenant.clone());
                    timers.put(due);
                }
            }
            Err(next) => {
                let next = next.map_or(LOOK_AGAIN, |wake_at| runs.app().history().until(wake_at));
                let time_comes = async {
                    tokio::select! {
                        () = moved => {}
                        _ = tokio::time::timeout(next, timers.changed.notified()) => {}
                    }
                };
                if waiting.is_empty() {
                    drop(runs);
                    time_comes.await;
                } else {
                    tokio::select! {
                        () = runs.registry().until_one_ends() => waiting.clear(),
                        () = time_comes => {}
                    }
                }
            }
        }
    }
}

impl History {
    /// How long it is until `wake_at`, at most until the clock is to be looked at again.
    fn until(&self, wake_at: Timestamp) -> Duration {
        Duration::try_from(wake_at.duration_since(self.now())).unwrap_or_default().min(LOOK_AGAIN)
    }

    /// Waits until a sleeping run wakes, and says whether it does: it may be ended meanwhile.
    pub async fn sleep_until(&self, run_id: &RunId, wake_at: Timestamp) -> bool {
        /// How soon its end is noticed.
        const LOOK: Duration = Duration::from_secs(2);
        loop {
            let moved = self.clock.moved();
            if self.now() >= wake_at {
                return true;
            }
            let time = self.until(wake_at).clamp(Duration::from_millis(1), LOOK);
            tokio::select! {
                () = moved => {}
                () = tokio::time::sleep(time) => {}
            }
            // A journal that does not answer now says nothing about the run.
            if let Ok(Some(run)) = self.journal.run_summary(run_id).await
                && run.ended_at.is_some()
            {
                return false;
            }
        }
    }
}
