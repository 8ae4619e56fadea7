//! The right to resume a run: a lock or a lease.

use std::sync::Arc;

use luaplan_base::{Error, ErrorCode, Result, RunId};
use luaplan_journal::{
    EventListener, FencedWriter, JournalWrite, PostgresJournal, RunLease, RunLog, RunState,
};

use super::local_lock::{Owners, ResumeLock};
use crate::history::History;
use crate::runs::registry::RunRegistry;

/// The right to resume a run.
pub(crate) enum Hold {
    /// To decide which process resumes it, for as long as this is held.
    Lock(#[expect(dead_code, reason = "held, not looked at")] ResumeLock),
    /// To write to it, until another node takes it over.
    Lease(Arc<PostgresJournal>, Arc<RunLease>),
}

impl Hold {
    /// For a run that could not be claimed after all. One that cannot be resumed at all is not offered to other
    /// nodes again.
    pub(crate) async fn give_back(&self, why: &Error) {
        self.release_or_leave(matches!(why.code(), ErrorCode::RunNotResumable | ErrorCode::NotFound)).await;
    }

    /// For a run that was held for a record or two, and stands as it did.
    pub(crate) async fn release(&self) {
        self.release_or_leave(false).await;
    }

    async fn release_or_leave(&self, leave: bool) {
        let Self::Lease(_, held) = self else { return };
        if let Err(error) = held.release(leave).await {
            tracing::warn!(%error, "the lease of a run that was not claimed could not be released");
        }
    }
}

/// Who runs what, among the processes and nodes that share a journal. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Ownership {
    pub(crate) history: History,
    pub(crate) owners: Arc<Owners>,
    pub(crate) registry: Arc<RunRegistry>,
}

impl Ownership {
    /// What this process is called as an owner of runs.
    ///
    /// # Errors
    /// `journal_unavailable`.
    pub(crate) async fn owner_name(&self) -> Result<String> {
        match self.history.leases()? {
            Some(leases) => Ok(leases.node().await?.to_string()),
            None => self.owners.mine().map(str::to_owned),
        }
    }

    /// Waits for the right to resume a run of the journal, or takes it.
    ///
    /// # Errors
    /// `run_active` where another node has it, `journal_unavailable`.
    pub(crate) async fn hold(&self, run_id: &RunId) -> Result<Hold> {
        if let Some(journal) = self.history.journal.shared() {
            // An id that no run has must leave nothing behind.
            self.history.parent_of(run_id).await?;
            let held = journal.leases()?.acquire(run_id).await?;
            return Ok(Hold::Lease(Arc::clone(journal), Arc::new(held)));
        }
        let owners = Arc::clone(&self.owners);
        let lock = tokio::task::spawn_blocking(move || owners.lock_resume())
            .await
            .map_err(|error| Error::new(ErrorCode::Internal, format!("a thread broke off: {error}")))??;
        Ok(Hold::Lock(lock))
    }

    /// The log of a run that begins here.
    ///
    /// # Errors
    /// `journal_unavailable`.
    pub(crate) async fn new_log(&self, run_id: &RunId, listeners: &[EventListener]) -> Result<RunLog> {
        let Some(journal) = self.history.journal.shared() else {
            return Ok(self.history.run_log(run_id, listeners));
        };
        let held = Arc::new(journal.leases()?.acquire(run_id).await?);
        Ok(self.log_under(&Hold::Lease(Arc::clone(journal), held), run_id, listeners))
    }

    /// The log of a run that is held.
    pub(crate) fn log_under(&self, hold: &Hold, run_id: &RunId, listeners: &[EventListener]) -> RunLog {
        let Hold::Lease(journal, held) = hold else { return self.history.run_log(run_id, listeners) };
        let writer: Arc<dyn JournalWrite> =
            Arc::new(FencedWriter::new(Arc::clone(journal), Arc::clone(held)));
        let writer = match &self.history.journal_layer {
            Some(layer) => layer(writer),
            None => writer,
        };
        self.history.run_log_with(writer, run_id, listeners)
    }

    /// Whether a live process executes it: this one, or another.
    pub(crate) fn is_under_way(&self, state: &RunState) -> bool {
        if self.history.shares_runs() {
            // The holder of its lease may continue, so there is no other process.
            return false;
        }
        match &state.owner {
            _ if self.is_at_it(&state.run_id) => true,
            Some(owner) => !self.owners.is_mine(owner) && self.owners.is_alive(owner),
            None => false,
        }
    }

    /// Whether this process has started or claimed the run and not yet recorded its end, pause or sleep.
    pub(crate) fn is_at_it(&self, run_id: &RunId) -> bool {
        !self.history.shares_runs() && self.registry.has(run_id)
    }
}

/// Whether a run that ended here so continues elsewhere: it is another node's now, or is left to others.
#[must_use]
pub fn goes_on_elsewhere(error: &Error) -> bool {
    matches!(
        error.code(),
        ErrorCode::RunTakenOver
            | ErrorCode::Interrupted
            | ErrorCode::JournalUnavailable
            | ErrorCode::JournalDiskFull
    )
}
