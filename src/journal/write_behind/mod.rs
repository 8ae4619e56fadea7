//! Writes the events of one run behind it, so that the run does not wait for each.
//!
//! One task takes what was handed over, in order, and appends what is waiting in one go. What nobody waits
//! for is gathered for a few milliseconds, as a transaction costs more than the records in it. What could
//! not be kept is told to whoever waits next; until then everything later is refused as well, so the
//! log never has a hole with something after it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::Instant;

use luaplan_base::{Error, ErrorCode, Result};

use super::{Durability, Event, EventListener, JournalWrite, Record};

/// Events that may be handed over and not yet kept; the run waits beyond that.
const BEHIND_MAX: usize = 1_024;

/// How long events that nobody waits for are gathered, and how many at most. A run that is killed may lose the
/// reads of so long; its listeners hear of them so much later.
const GATHERING: Duration = Duration::from_millis(5);
const GATHERED_MAX: usize = 256;

/// The run's end of the task.
pub(super) struct WriteBehind {
    queue: mpsc::UnboundedSender<Handed>,
    room: Arc<Semaphore>,
}

/// What is handed over.
enum Handed {
    /// To be kept, then told.
    Event { event: Box<Event>, durability: Durability, done: Option<Done>, _room: OwnedSemaphorePermit },
    /// To be told in its turn, not kept.
    Passing(Box<Event>),
    /// Nothing: whoever waits is told that everything before is kept.
    Mark(Done),
}

type Done = oneshot::Sender<Result<()>>;

impl Handed {
    const fn is_waited_for(&self) -> bool {
        matches!(self, Self::Event { done: Some(_), .. } | Self::Mark(_))
    }
}

impl WriteBehind {
    /// Starts the task; it ends when this end is dropped and all is written. Needs a tokio runtime.
    pub(super) fn start(journal: Arc<dyn JournalWrite>, listeners: Vec<EventListener>) -> Self {
        let (queue, handed) = mpsc::unbounded_channel();
        tokio::spawn(Task { journal, listeners, failure: None }.run(handed));
        Self { queue, room: Arc::new(Semaphore::new(BEHIND_MAX)) }
    }

    /// Hands an event over, and waits until it is kept unless it is only [`Durability::Queued`].
    ///
    /// # Errors
    /// As [`JournalWrite::append`], for this event or one before it that nobody waited for.
    pub(super) async fn write(&self, event: Event, durability: Durability) -> Result<()> {
        let room = Arc::clone(&self.room).acquire_owned().await.map_err(|_| gone())?;
        let (done, wait) = match durability {
            Durability::Queued => (None, None),
            Durability::Ordered | Durability::Forced => {
                let (done, wait) = oneshot::channel();
                (Some(done), Some(wait))
            }
        };
        let handed = Handed::Event { event: Box::new(event), durability, done, _room: room };
        self.queue.send(handed).map_err(|_| gone())?;
        match wait {
            Some(wait) => wait.await.map_err(|_| gone())?,
            None => Ok(()),
        }
    }

    /// Hands over an event that is told and not kept.
    pub(super) fn tell(&self, event: Event) {
        // A runtime that is going down tells nobody any more.
        let _ = self.queue.send(Handed::Passing(Box::new(event)));
    }

    /// Waits until everything handed over is kept.
    ///
    /// # Errors
    /// As [`JournalWrite::append`], for an event that nobody waited for.
    pub(super) async fn catch_up(&self) -> Result<()> {
        let (done, wait) = oneshot::channel();
        self.queue.send(Handed::Mark(done)).map_err(|_| gone())?;
        wait.await.map_err(|_| gone())?
    }
}

fn gone() -> Error {
    Error::new(ErrorCode::JournalUnavailable, "the task that writes this run's events is gone")
}

struct Task {
    journal: Arc<dyn JournalWrite>,
    listeners: Vec<EventListener>,
    /// What went wrong and was told to nobody yet.
    failure: Option<Error>,
}

impl Task {
    async fn run(mut self, mut handed: mpsc::UnboundedReceiver<Handed>) {
        let mut waiting = Vec::with_capacity(BEHIND_MAX);
        while handed.recv_many(&mut waiting, BEHIND_MAX).await != 0 {
            gather(&mut handed, &mut waiting).await;
            let mut batch = Batch::default();
            for one in waiting.drain(..) {
                match one {
                    Handed::Event { event, durability, done: None, .. } if self.failure.is_none() => {
                        batch.events.push((*event, durability));
                        batch.tells.push(Tell::Record);
                    }
                    Handed::Event { event, durability, done: Some(done), .. } => {
                        if let Some(failure) = self.failure.take() {
                            answer(done, Err(failure));
                            continue;
                        }
                        batch.events.push((*event, durability));
                        batch.tells.push(Tell::Record);
                        self.write(std::mem::take(&mut batch)).await;
                        self.answer(done);
                    }
                    // Behind a failure that nobody knows of yet.
                    Handed::Event { .. } => {}
                    Handed::Passing(event) => batch.tells.push(Tell::Passing(event)),
                    Handed::Mark(done) => {
                        self.write(std::mem::take(&mut batch)).await;
                        self.answer(done);
                    }
                }
            }
            self.write(batch).await;
        }
        if let Some(failure) = self.failure {
            tracing::error!(%failure, "events of a run were not kept and nobody was left to be told");
        }
    }

    /// Keeps a batch and tells it, in order.
    async fn write(&mut self, batch: Batch) {
        let Batch { events, tells } = batch;
        let kept = match events.is_empty() {
            true => Vec::new(),
            false => match self.journal.append_all(events).await {
                Ok(records) => records,
                Err(error) => {
                    self.failure = Some(error);
                    Vec::new()
                }
            },
        };
        let mut kept = kept.into_iter();
        for tell in tells {
            match tell {
                Tell::Passing(event) => self.tell(&event, None),
                Tell::Record => {
                    if let Some(record) = kept.next() {
                        self.tell(&record.event, Some(&record));
                    }
                }
            }
        }
    }

    fn answer(&mut self, done: Done) {
        answer(done, self.failure.take().map_or(Ok(()), Err));
    }

    fn tell(&self, event: &Event, record: Option<&Record>) {
        for listener in &self.listeners {
            listener(event, record);
        }
    }
}

/// Takes more of what comes within a moment, until somebody waits or there is enough.
async fn gather(handed: &mut mpsc::UnboundedReceiver<Handed>, waiting: &mut Vec<Handed>) {
    let deadline = Instant::now() + GATHERING;
    while waiting.len() < GATHERED_MAX && !waiting.iter().any(Handed::is_waited_for) {
        let more = GATHERED_MAX - waiting.len();
        let received = tokio::time::timeout_at(deadline, handed.recv_many(waiting, more)).await;
        if matches!(received, Ok(0) | Err(_)) {
            return;
        }
    }
}

/// What is written in one go, and in which order it is told with what is not kept.
#[derive(Default)]
struct Batch {
    events: Vec<(Event, Durability)>,
    tells: Vec<Tell>,
}

enum Tell {
    /// The next record.
    Record,
    Passing(Box<Event>),
}

fn answer(done: Done, answer: Result<()>) {
    // Whoever waited may have been cancelled; the record stays.
    let _ = done.send(answer);
}

#[cfg(test)]
mod tests;
