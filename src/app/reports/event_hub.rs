//! Events of all runs of this process, for subscribers.

use std::sync::Arc;

use tokio::sync::broadcast;

use luaplan_journal::{Event, EventListener, Record};

/// How many events a slow watcher may fall behind before it has to read the journal again.
const BACKLOG: usize = 1024;

/// One event on its way to a watcher.
#[derive(Debug, Clone)]
pub struct StreamedEvent {
    /// The event.
    pub event: Event,
    /// Its place in the journal; `None` for passing events, which are not kept.
    pub sequence: Option<u64>,
}

/// Where watchers subscribe.
#[derive(Debug, Clone)]
pub struct EventHub(broadcast::Sender<Arc<StreamedEvent>>);

impl Default for EventHub {
    fn default() -> Self {
        Self(broadcast::channel(BACKLOG).0)
    }
}

impl EventHub {
    /// Everything that happens from now on.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<StreamedEvent>> {
        self.0.subscribe()
    }

    /// A listener that feeds this hub.
    #[must_use]
    pub fn listener(&self) -> EventListener {
        let sender = self.0.clone();
        Arc::new(move |event: &Event, record: Option<&Record>| {
            let sequence = record.map(|record| record.sequence);
            // That there is no subscriber is no fault.
            let _ = sender.send(Arc::new(StreamedEvent { event: event.clone(), sequence }));
        })
    }
}
