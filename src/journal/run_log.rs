//! Writes the events of one run.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;

use luaplan_base::{Clock, Randomness, Result, RunId, SpanId, TraceId};

use super::model_bodies::{ModelBodies, ModelBody};
use super::redactions::RedactionTracker;
use super::write_behind::WriteBehind;
use super::{
    ConflictGuard, Durability, Event, EventBody, EventListener, JournalWrite, Record, Redactor, Settled,
};

/// Writes the events of one run to the journal and notifies the listeners.
#[derive(Clone)]
pub struct RunLog {
    run_id: RunId,
    trace_id: TraceId,
    root_span: SpanId,
    journal: Arc<dyn JournalWrite>,
    clock: Arc<dyn Clock>,
    randomness: Arc<dyn Randomness>,
    redactor: Arc<Redactor>,
    listeners: Vec<EventListener>,
    candidate: Option<String>,
    redactions: RedactionTracker,
    /// Started by the first event that the run does not wait for; from then on all events go through it.
    scribe: Arc<OnceLock<WriteBehind>>,
    began_at: Arc<OnceLock<Timestamp>>,
    model_bodies: Option<ModelBodies>,
}

impl RunLog {
    /// A log for the run `run_id` with a fresh trace. `redactor` sees every event first.
    pub fn new(
        run_id: RunId,
        journal: Arc<dyn JournalWrite>,
        clock: Arc<dyn Clock>,
        randomness: Arc<dyn Randomness>,
        redactor: Arc<Redactor>,
        listeners: Vec<EventListener>,
    ) -> Self {
        let trace_id = TraceId::generate(&*randomness);
        let root_span = SpanId::generate(&*randomness);
        Self {
            run_id,
            trace_id,
            root_span,
            journal,
            clock,
            randomness,
            redactor,
            listeners,
            candidate: None,
            redactions: RedactionTracker::default(),
            scribe: Arc::default(),
            began_at: Arc::default(),
            model_bodies: None,
        }
    }

    /// The same log, with whole prompts and answers of models as files in `folder`, where one is given.
    #[must_use]
    pub fn with_model_bodies(self, folder: Option<PathBuf>) -> Self {
        Self { model_bodies: folder.map(ModelBodies::new), ..self }
    }

    /// Whether whole prompts and answers of models are wanted.
    #[must_use]
    pub fn wants_model_bodies(&self) -> bool {
        self.model_bodies.is_some()
    }

    /// Writes a prompt or an answer of the request `span` to its file, where such files are wanted. Its caller has taken
    /// the secrets out.
    pub async fn keep_model_body(&self, span: &SpanId, body: ModelBody) {
        if let Some(bodies) = &self.model_bodies {
            bodies.keep(&self.run_id, span, body).await;
        }
    }

    /// The same log for one candidate plan: its events carry `candidate`.
    #[must_use]
    pub fn for_candidate(&self, candidate: impl Into<String>) -> Self {
        Self { candidate: Some(candidate.into()), ..self.clone() }
    }

    /// The run this log belongs to.
    #[must_use]
    pub fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// The clock of its timestamps.
    #[must_use]
    pub fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// When the first event of this log happened; `None` while it has none.
    #[must_use]
    pub fn began_at(&self) -> Option<Timestamp> {
        self.began_at.get().copied()
    }

    /// The redactor of this log's events.
    #[must_use]
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Why the run can be neither resumed nor replayed, where a secret removed from this log's events prevents it.
    #[must_use]
    pub fn not_resumable(&self) -> Option<String> {
        self.redactions.reason()
    }

    /// A span for a call or a model request.
    #[must_use]
    pub fn new_span(&self) -> SpanId {
        SpanId::generate(&*self.randomness)
    }

    /// Records an event of the run itself.
    ///
    /// # Errors
    /// As [`JournalWrite::append`], for this event or an earlier one that was not waited for.
    pub async fn emit(&self, body: EventBody, durability: Durability) -> Result<()> {
        self.emit_in(self.root_span.clone(), body, durability).await
    }

    /// Records an event inside a span.
    ///
    /// # Errors
    /// As [`RunLog::emit`].
    pub async fn emit_in(&self, span_id: SpanId, body: EventBody, durability: Durability) -> Result<()> {
        let event = self.event(span_id, body);
        if !event.body.is_kept() {
            self.notify(event);
            return Ok(());
        }
        let note = self.redactions.after(&event).map(|body| self.event(event.span_id.clone(), body));
        self.write(event, durability).await?;
        match note {
            Some(note) => self.write(note, durability).await,
            None => Ok(()),
        }
    }

    async fn write(&self, event: Event, durability: Durability) -> Result<()> {
        if durability == Durability::Queued {
            return self.scribe().write(event, durability).await;
        }
        if let Some(scribe) = self.scribe.get() {
            return scribe.write(event, durability).await;
        }
        let record = self.journal.append(event, durability).await?;
        self.tell(&record.event, Some(&record));
        Ok(())
    }

    /// Waits until every event so far is recorded.
    ///
    /// # Errors
    /// As [`RunLog::emit`].
    pub async fn catch_up(&self) -> Result<()> {
        match self.scribe.get() {
            Some(scribe) => scribe.catch_up().await,
            None => Ok(()),
        }
    }

    /// Records `bodies` as events of the run itself, all or none, unless a record conflicts.
    ///
    /// # Errors
    /// As [`JournalWrite::settle`] and [`RunLog::catch_up`].
    pub async fn settle(&self, bodies: Vec<EventBody>, unless: ConflictGuard) -> Result<Settled> {
        self.catch_up().await?;
        let events = bodies.into_iter().map(|body| self.event(self.root_span.clone(), body)).collect();
        let settled = self.journal.settle(events, unless).await?;
        if let Settled::Written(records) = &settled {
            for record in records {
                self.tell(&record.event, Some(record));
            }
        }
        Ok(settled)
    }

    /// Checks that an effect whose intent is on record may be made now.
    ///
    /// # Errors
    /// As [`JournalWrite::check_fence`].
    pub async fn check_fence(&self) -> Result<()> {
        self.journal.check_fence().await
    }

    /// Lets other nodes resume the run, once every event so far is recorded.
    ///
    /// # Errors
    /// As [`RunLog::catch_up`] and [`JournalWrite::release_lease`].
    pub async fn release_lease(&self) -> Result<()> {
        let kept = self.catch_up().await;
        self.journal.release_lease().await.and(kept)
    }

    fn scribe(&self) -> &WriteBehind {
        self.scribe.get_or_init(|| WriteBehind::start(self.journal.clone(), self.listeners.clone()))
    }

    fn notify(&self, event: Event) {
        match self.scribe.get() {
            Some(scribe) => scribe.tell(event),
            None => self.tell(&event, None),
        }
    }

    fn event(&self, span_id: SpanId, mut body: EventBody) -> Event {
        let redacted = self.redactor.event(&mut body);
        let at = self.clock.now();
        let _ = self.began_at.set(at);
        Event {
            run_id: self.run_id.clone(),
            trace_id: self.trace_id.clone(),
            span_id,
            at,
            candidate: self.candidate.clone(),
            redacted,
            body,
        }
    }

    fn tell(&self, event: &Event, record: Option<&Record>) {
        for listener in &self.listeners {
            listener(event, record);
        }
    }
}
