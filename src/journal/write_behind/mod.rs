//! Writes the events of one run in the background, so that the run does not wait for each.
//!
//! One task receives events in order and appends the queue at once. Events that the run does not wait for are
//! collected for a few milliseconds, as a transaction costs more than the records in it. The next caller that
//! waits gets the error of a failed write; until then all later events are refused as well, so the
//! log never has a gap with records after it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::Instant;

use luaplan_base::{Error, ErrorCode, Result};

use super::{Durability, Event, EventListener, JournalWrite, Record};

/// The most events queued and not yet recorded; beyond that the run waits.
const BEHIND_MAX: usize = 1_024;

/// How long events that the run does not wait for are collected, and how many at most. A killed run may lose the
/// reads of that time, and its listeners get them that much later.
const GATHERING: Duration = Duration::from_millis(5);
const GATHERED_MAX: usize = 256;

/// The run's handle of the task.
pub(super) struct WriteBehind {
    queue: mpsc::UnboundedSender<Handed>,
    room: Arc<Semaphore>,
}

/// A message to the task.
enum Handed {
    /// To be recorded, then sent to the listeners.
    Event { event: Box<Event>, durability: Durability, done: Option<Done>, _room: OwnedSemaphorePermit },
    /// To be sent to the listeners in its turn, not recorded.
    Passing(Box<Event>),
    /// No event: the caller waits until everything before is recorded.
    Mark(Done),
}

type Done = oneshot::Sender<Result<()>>;

impl Handed {
    const fn is_waited_for(&self) -> bool {
        matches!(self, Self::Event { done: Some(_), .. } | Self::Mark(_))
    }
}

impl WriteBehind {
    /// Starts the task, which ends once this handle is dropped and all is written. Needs a tokio runtime.
    pub(super) fn start(journal: Arc<dyn JournalWrite>, listeners: Vec<EventListener>) -> Self {
        let (queue, handed) = mpsc::unbounded_channel();
        tokio::spawn(WriteTask { journal, listeners, failure: None }.run(handed));
        Self { queue, room: Arc::new(Semaphore::new(BEHIND_MAX)) }
    }

    /// Queues an event, and waits until it is recorded unless it is only [`Durability::Queued`].
    ///
    /// # Errors
    /// As [`JournalWrite::append`], for this event or an earlier one that was not waited for.
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

    /// Queues an event for the listeners alone.
    pub(super) fn tell(&self, event: Event) {
        // A runtime that shuts down no longer notifies.
        let _ = self.queue.send(Handed::Passing(Box::new(event)));
    }

    /// Waits until everything queued is recorded.
    ///
    /// # Errors
    /// As [`JournalWrite::append`], for an event that was not waited for.
    pub(super) async fn catch_up(&self) -> Result<()> {
        let (done, wait) = oneshot::channel();
        self.queue.send(Handed::Mark(done)).map_err(|_| gone())?;
        wait.await.map_err(|_| gone())?
    }
}

fn gone() -> Error {
    Error::new(ErrorCode::JournalUnavailable, "the task that writes this run's events is gone")
}

struct WriteTask {
    journal: Arc<dyn JournalWrite>,
    listeners: Vec<EventListener>,
    /// A failure that no caller has received yet.
    failure: Option<Error>,
}

impl WriteTask {
    async fn run(mut self, mut handed: mpsc::UnboundedReceiver<Handed>) {
        let mut waiting = Vec::with_capacity(BEHIND_MAX);
        while handed.recv_many(&mut waiting, BEHIND_MAX).await != 0 {
            gather(&mut handed, &mut waiting).await;
            let mut batch = RecordBatch::default();
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
                    // Dropped, after a failure that no caller has received yet.
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

    /// Records a batch and notifies the listeners, in order.
    async fn write(&mut self, batch: RecordBatch) {
        let RecordBatch { events, tells } = batch;
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

/// Collects more messages for a moment, until a caller waits or there are enough.
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

/// Events for one append, and the order in which they and transient events go to the listeners.
#[derive(Default)]
struct RecordBatch {
    events: Vec<(Event, Durability)>,
    tells: Vec<Tell>,
}

enum Tell {
    /// The next record.
    Record,
    Passing(Box<Event>),
}

fn answer(done: Done, answer: Result<()>) {
    // A cancelled caller no longer waits; the record stays.
    let _ = done.send(answer);
}

#[cfg(test)]
mod tests;
