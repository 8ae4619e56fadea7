//! The runs of this process, one entry each: its place among those that a service bounds, its log until its end is on
//! record, and what callers and other processes asked of it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use luaplan_base::{Error, ErrorCode, Result, RunId};
use luaplan_engine::RunOutcome;
use luaplan_journal::{Actor, RunLog};

use super::control_files::{ControlFiles, ControlKind, ControlRequests};

/// How often a process looks for what others ask of its runs.
const LOOK: Duration = Duration::from_millis(250);

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

/// The runs of one process. Services, agents and callers of this process share it, so that they share one bound, one
/// stop and one list.
pub struct RunRegistry {
    shared: Arc<Mutex<Shared>>,
    files: ControlFiles,
    ended: Notify,
}

/// Under one lock, so that no run begins after the stop has counted them.
#[derive(Default)]
struct Shared {
    runs: HashMap<RunId, Entry>,
    is_stopping: bool,
    /// Whether each tenant leaves room for another.
    is_fair: bool,
    is_watched: bool,
}

/// A run; there for as long as it has a place or a log.
#[derive(Default)]
struct Entry {
    /// Its place, where a service runs it.
    place: Option<ActiveRun>,
    /// Its log, until its end, pause or sleep is on record.
    log: Option<RunLog>,
    cancel: CancellationToken,
    pause: CancellationToken,
    /// The run that called it, where it is the run of an agent.
    parent: Option<RunId>,
    /// The caller that first asked for its end.
    cancel_by: Option<Actor>,
    /// The caller that first asked it to pause.
    pause_by: Option<Actor>,
}

impl Entry {
    fn requests(&self) -> ControlRequests {
        let by = self.cancel_by.clone().or_else(|| self.pause_by.clone());
        ControlRequests { cancel: self.cancel.is_cancelled(), pause: self.pause.is_cancelled(), by }
    }

    fn cancelled_by(&mut self, by: Option<&Actor>) {
        self.cancel_by = self.cancel_by.take().or_else(|| by.cloned());
    }
}

impl RunRegistry {
    /// No run yet. `owners` is the folder of the locks.
    pub(crate) fn new(owners: &Path) -> Self {
        Self { shared: Arc::default(), files: ControlFiles::beside(owners), ended: Notify::new() }
    }

    /// What callers leave for runs of other processes.
    pub(crate) fn files(&self) -> &ControlFiles {
        &self.files
    }

    /// A place among at most `limit` runs. A run has one at most: of two who resume it at once, one does.
    ///
    /// # Errors
    /// `run_active`, `too_many_requests`, `shutting_down`.
    pub(super) fn place(
        self: &Arc<Self>,
        run_id: RunId,
        tenant: String,
        cancel: CancellationToken,
        limit: u32,
    ) -> Result<Place> {
        let (sender, outcome) = watch::channel(None);
        let mut shared = self.lock();
        if shared.is_stopping {
            return Err(Error::new(ErrorCode::ShuttingDown, "the server is stopping"));
        }
        if shared.runs.get(&run_id).is_some_and(|run| run.place.is_some()) {
            let message = format!("run {run_id} is under way");
            return Err(Error::new(ErrorCode::RunActive, message).about_run(&run_id));
        }
        let under_way = shared.places().count();
        if under_way >= limit as usize {
            let message = "as many runs as may be are under way";
            return Err(Error::new(ErrorCode::TooManyRequests, message).with_limit(limit, under_way));
        }
        let own = shared.places().filter(|(_, active)| active.tenant == tenant).count();
        if shared.is_fair && own >= limit as usize - under_way {
            let message = "as many runs of this tenant are under way as leave room for those of others";
            return Err(Error::new(ErrorCode::TooManyRequests, message).with_limit(own, own));
        }
        let run = ActiveRun { cancel: cancel.clone(), outcome, tenant };
        let entry = shared.runs.entry(run_id.clone()).or_default();
        (entry.cancel, entry.place) = (cancel, Some(run.clone()));
        Ok(Place { registry: Arc::clone(self), run_id, run, sender, is_left: false })
    }

    /// How many more runs there is room for, of at most `limit`.
    pub(super) fn room(&self, limit: u32) -> usize {
        (limit as usize).saturating_sub(self.lock().places().count())
    }

    /// The run of this id, where a service of this process runs it.
    #[must_use]
    pub fn active(&self, run_id: &RunId) -> Option<ActiveRun> {
        self.lock().runs.get(run_id)?.place.clone()
    }

    /// From now on a tenant has no more runs under way than are left for others.
    pub(super) fn share_between_tenants(&self) {
        self.lock().is_fair = true;
    }

    /// Whether no run may begin any more.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.lock().is_stopping
    }

    /// From now on no run begins.
    pub fn stop_accepting(&self) {
        self.lock().is_stopping = true;
    }

    /// Waits until no run has a place, at most until `deadline`.
    pub async fn wait_until_idle(&self, deadline: Instant) {
        loop {
            let ended = self.ended.notified();
            let is_idle = self.lock().places().next().is_none();
            if is_idle || tokio::time::timeout_at(deadline, ended).await.is_err() {
                return;
            }
        }
    }

    /// Waits for a place to become free. Looks again after a second, as a run may end before this is asked.
    pub async fn until_one_ends(&self) {
        const LOOK_AGAIN: Duration = Duration::from_secs(1);
        let _ = tokio::time::timeout(LOOK_AGAIN, self.ended.notified()).await;
    }

    /// Ends every run that has a place.
    pub fn cancel_all(&self) {
        self.lock().places().for_each(|(_, run)| run.cancel.cancel());
    }

    /// Cancels a run that has a place, in the name of `by` where no caller was first; says whether it has one. The end
    /// is recorded in that name even where the run is suspended in this moment.
    pub(crate) fn cancel_in_place(&self, run_id: &RunId, by: Option<&Actor>) -> bool {
        let mut shared = self.lock();
        let Some(run) = shared.runs.get_mut(run_id).filter(|run| run.place.is_some()) else { return false };
        run.cancelled_by(by);
        run.cancel.cancel();
        true
    }

    /// This process executes a run from now on, until [`RunRegistry::remove`]. Needs a tokio runtime.
    pub(crate) fn insert(&self, log: &RunLog, cancel: &CancellationToken, parent: Option<RunId>) {
        let mut shared = self.lock();
        let run = shared.runs.entry(log.run_id().clone()).or_default();
        (run.log, run.cancel, run.parent) = (Some(log.clone()), cancel.clone(), parent);
        (run.pause, run.pause_by) = (CancellationToken::new(), None);
        if !std::mem::replace(&mut shared.is_watched, true) {
            tokio::spawn(watch_files(Arc::downgrade(&self.shared), self.files.clone()));
        }
    }

    /// This process has recorded how a run ended or came to rest. Says what was asked of it here.
    pub(crate) fn remove(&self, run_id: &RunId) -> ControlRequests {
        let mut shared = self.lock();
        let Some(run) = shared.runs.get_mut(run_id) else { return ControlRequests::default() };
        run.log = None;
        let requests = run.requests();
        shared.forget_if_done(run_id);
        requests
    }

    /// What was asked of a run so far.
    pub(crate) fn requests_of(&self, run_id: &RunId) -> ControlRequests {
        self.lock().runs.get(run_id).map(Entry::requests).unwrap_or_default()
    }

    /// Whether this process executes the run and has not recorded how it ended or came to rest.
    pub(crate) fn has(&self, run_id: &RunId) -> bool {
        self.lock().runs.get(run_id).is_some_and(|run| run.log.is_some())
    }

    /// The logs of all runs that this process executes.
    pub(crate) fn logs(&self) -> Vec<RunLog> {
        self.lock().runs.values().filter_map(|run| run.log.clone()).collect()
    }

    /// What is cancelled when a caller asks the run to pause.
    pub(crate) fn pause_of(&self, run_id: &RunId) -> CancellationToken {
        self.lock().runs.get(run_id).map(|run| run.pause.clone()).unwrap_or_default()
    }

    /// Asks a run that this process executes, and the runs of agents below it; says whether it does.
    pub(crate) fn request(&self, run_id: &RunId, kind: ControlKind, by: Option<&Actor>) -> bool {
        self.lock().request(run_id, kind, by)
    }

    /// Notes the caller that ended a run before this process claimed it.
    pub(crate) fn note_cancelled_by(&self, run_id: &RunId, by: Option<&Actor>) {
        if let Some(run) = self.lock().runs.get_mut(run_id) {
            run.cancelled_by(by);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        lock(&self.shared)
    }
}

impl Shared {
    fn places(&self) -> impl Iterator<Item = (&RunId, &ActiveRun)> {
        self.runs.iter().filter_map(|(run_id, run)| Some((run_id, run.place.as_ref()?)))
    }

    fn forget_if_done(&mut self, run_id: &RunId) {
        if self.runs.get(run_id).is_some_and(|run| run.place.is_none() && run.log.is_none()) {
            self.runs.remove(run_id);
        }
    }

    fn request(&mut self, run_id: &RunId, kind: ControlKind, by: Option<&Actor>) -> bool {
        let Some(run) = self.runs.get_mut(run_id).filter(|run| run.log.is_some()) else { return false };
        match kind {
            // What it called is cancelled with it.
            ControlKind::Cancel => {
                run.cancelled_by(by);
                run.cancel.cancel();
            }
            ControlKind::Pause => {
                run.pause_by = run.pause_by.take().or_else(|| by.cloned());
                run.pause.cancel();
                let called = self.runs.iter().filter(|(_, run)| run.parent.as_ref() == Some(run_id));
                let called: Vec<RunId> = called.map(|(called, _)| called.clone()).collect();
                for called in called {
                    self.request(&called, kind, by);
                }
            }
        }
        true
    }
}

/// A run's place among those under way; given back even where the run's task breaks off.
pub(crate) struct Place {
    registry: Arc<RunRegistry>,
    pub(super) run_id: RunId,
    pub(super) run: ActiveRun,
    pub(super) sender: watch::Sender<Option<Arc<RunOutcome>>>,
    is_left: bool,
}

impl Place {
    /// Gives the place back. Where the run was cancelled in it, its end must be recorded first, in the name of the
    /// caller that asked first: then that caller, and the place until then.
    pub(super) fn leave_unless_cancelled(mut self) -> Option<(Self, Option<Actor>)> {
        let mut shared = lock(&self.registry.shared);
        match shared.runs.get(&self.run_id).filter(|_| self.run.cancel.is_cancelled()) {
            Some(run) => {
                let by = run.cancel_by.clone();
                drop(shared);
                Some((self, by))
            }
            None => {
                shared.leave(&self.run_id);
                drop(shared);
                self.is_left = true;
                None
            }
        }
    }
}

impl Shared {
    fn leave(&mut self, run_id: &RunId) {
        if let Some(run) = self.runs.get_mut(run_id) {
            run.place = None;
        }
        self.forget_if_done(run_id);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.is_left {
            self.registry.lock().leave(&self.run_id);
        }
        self.registry.ended.notify_waiters();
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does what other processes ask, for as long as this process executes any run. Holds nothing, so that it keeps no
/// run's process for alive.
async fn watch_files(shared: Weak<Mutex<Shared>>, files: ControlFiles) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(shared) = shared.upgrade() else { return };
        {
            let mut shared = lock(&shared);
            if shared.runs.values().all(|run| run.log.is_none()) {
                shared.is_watched = false;
                return;
            }
        }
        let folder = files.clone();
        let left = tokio::task::spawn_blocking(move || folder.all()).await.unwrap_or_default();
        for file in left {
            if lock(&shared).request(&file.run_id, file.kind, file.by().as_ref()) {
                file.remove();
            }
        }
    }
}
