//! What happened: the journal, read and written, without secrets. It knows no tool, no model and no way to start a run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use luaplan_base::{Clock, Error, ErrorCode, Randomness, Result, RunId};
use luaplan_bus::LOCAL_TENANT;
use luaplan_engine::RunOutcome;
use luaplan_journal::{
    EventListener, Journal, JournalRead, JournalWrite, Leases, MemoryJournal, ParentCall, RecordFilter,
    Redactor, RunLog, RunState,
};

use crate::reports::event_hub::EventHub;

/// Makes something that writes out of the journal that does.
pub type JournalLayer = Arc<dyn Fn(Arc<dyn JournalWrite>) -> Arc<dyn JournalWrite> + Send + Sync>;

/// The records of runs, and what writes them. Cheap to clone.
#[derive(Clone)]
pub struct History {
    pub(super) journal: Arc<Journal>,
    /// What runs write with: the journal, or what was put before it.
    pub(super) writer: Arc<dyn JournalWrite>,
    /// What is put before the journal.
    pub(super) journal_layer: Option<JournalLayer>,
    pub(super) redactor: Arc<Redactor>,
    pub(super) hub: EventHub,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) randomness: Arc<dyn Randomness>,
    /// Where whole prompts and answers of models are kept, if anywhere.
    pub(super) model_bodies: Option<PathBuf>,
}

impl History {
    /// What takes the secrets out of what is shown and kept.
    #[must_use]
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Events of every run of this process.
    #[must_use]
    pub fn hub(&self) -> &EventHub {
        &self.hub
    }

    /// The current instant, by the clock events are stamped with.
    #[must_use]
    pub fn now(&self) -> jiff::Timestamp {
        self.clock.now()
    }

    /// What it will be after `time`.
    #[must_use]
    pub fn after(&self, time: Duration) -> jiff::Timestamp {
        self.now().checked_add(time).unwrap_or(jiff::Timestamp::MAX)
    }

    /// Whether other nodes can claim this one's runs, and it theirs.
    #[must_use]
    pub fn shares_runs(&self) -> bool {
        self.journal.shared().is_some()
    }

    /// The leases of the nodes that share the journal, where they do.
    ///
    /// # Errors
    /// `journal_unavailable`.
    pub(crate) fn leases(&self) -> Result<Option<&Arc<Leases>>> {
        self.journal.shared().map(|journal| journal.leases()).transpose()
    }

    /// Whether a run of this id has begun.
    ///
    /// # Errors
    /// As reading the journal.
    pub async fn is_on_record(&self, run_id: &RunId) -> Result<bool> {
        Ok(self.journal.run_summary(run_id).await?.is_some())
    }

    /// A run's state.
    ///
    /// # Errors
    /// `not_found`, or as reading the journal.
    pub(crate) async fn known_run(&self, run_id: &RunId) -> Result<RunState> {
        known_run(&*self.journal, run_id).await
    }

    /// The root run above this one; the run itself where no run called it.
    ///
    /// # Errors
    /// `not_found`, and as reading the journal.
    pub async fn root_of(&self, run_id: &RunId) -> Result<RunId> {
        let mut root = run_id.clone();
        while let Some(parent) = self.parent_of(&root).await? {
            root = parent.run_id;
        }
        Ok(root)
    }

    /// The call that began a run, where one did.
    ///
    /// # Errors
    /// `not_found`, and as reading the journal.
    pub(crate) async fn parent_of(&self, run_id: &RunId) -> Result<Option<ParentCall>> {
        self.beginning(run_id).await?.map(|run| run.parent).ok_or_else(|| no_such_run(run_id))
    }

    /// Whose run it is, by its records; those of before there were tenants are the command line's. That of an agent is
    /// its caller's.
    pub(crate) async fn tenant_of(&self, run_id: &RunId) -> Result<Option<String>> {
        let began = self.beginning(run_id).await?;
        Ok(began.map(|run| run.tenant.unwrap_or_else(|| LOCAL_TENANT.to_owned())))
    }

    /// A run as its first record has it. Reads no more: a long run has thousands.
    async fn beginning(&self, run_id: &RunId) -> Result<Option<RunState>> {
        let filter = RecordFilter {
            run_id: Some(run_id.clone()),
            events: vec!["run_started".to_owned()],
            limit: Some(1),
            ..RecordFilter::default()
        };
        Ok(RunState::fold(&self.journal.records(filter).await?))
    }

    /// The outcome as every edge may send it.
    pub(crate) fn redacted(&self, outcome: RunOutcome) -> RunOutcome {
        let RunOutcome { result, printed, mut steps, mut candidates, explanation, .. } = outcome;
        let redactor = &self.redactor;
        candidates.iter_mut().for_each(|candidate| redactor.document(candidate));
        for step in &mut steps {
            step.name = redactor.text(&step.name);
            step.message = step.message.as_deref().map(|message| redactor.text(message));
        }
        RunOutcome {
            result: result.map(|value| redactor.value(value)).map_err(|why| why.redacted(redactor)),
            printed: redactor.text(&printed),
            steps,
            candidates,
            explanation: explanation.map(|explanation| redactor.text(&explanation)),
            ..outcome
        }
    }

    pub(crate) fn run_log(&self, run_id: &RunId, listeners: &[EventListener]) -> RunLog {
        self.run_log_with(self.writer.clone(), run_id, listeners)
    }

    pub(crate) fn run_log_with(
        &self,
        writer: Arc<dyn JournalWrite>,
        run_id: &RunId,
        listeners: &[EventListener],
    ) -> RunLog {
        let mut all = vec![self.hub.listener()];
        all.extend(listeners.iter().cloned());
        self.log(writer, run_id, self.redactor.clone(), all)
    }

    /// The log of what is not recorded: nothing happened.
    pub(crate) fn log_of_nothing(&self, run_id: &RunId, redactor: Arc<Redactor>) -> RunLog {
        self.log(Arc::new(MemoryJournal::default()), run_id, redactor, Vec::new())
    }

    fn log(
        &self,
        writer: Arc<dyn JournalWrite>,
        run_id: &RunId,
        redactor: Arc<Redactor>,
        listeners: Vec<EventListener>,
    ) -> RunLog {
        let (clock, randomness) = (self.clock.clone(), self.randomness.clone());
        RunLog::new(run_id.clone(), writer, clock, randomness, redactor, listeners)
            .with_model_bodies(self.model_bodies.clone())
    }
}

/// A run's state in `journal`.
///
/// # Errors
/// `not_found`, or as reading the journal.
pub(crate) async fn known_run(journal: &dyn JournalRead, run_id: &RunId) -> Result<RunState> {
    journal.run_state(run_id).await?.ok_or_else(|| no_such_run(run_id))
}

/// What is said of an id that no run has.
#[must_use]
pub fn no_such_run(run_id: &RunId) -> Error {
    Error::new(ErrorCode::NotFound, format!("there is no run {run_id}"))
}
