//! A run's events as progress notifications.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use luaplan_journal::{EventBody, EventListener};

/// Events buffered for the client; where it reads too slowly, further ones are dropped.
const BUFFERED: usize = 64;

/// Sends the client that asked the progress of its run.
pub(super) struct ProgressReporter {
    listener: EventListener,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl ProgressReporter {
    /// `Some` where the request has a progress token.
    pub(super) fn asked_for(context: &RequestContext<RoleServer>) -> Option<Self> {
        let token = context.meta.get_progress_token()?;
        let (sender, mut receiver) = mpsc::channel::<String>(BUFFERED);
        let (peer, stop) = (context.peer.clone(), CancellationToken::new());
        let stopped = stop.clone();
        let task = tokio::spawn(async move {
            let mut step = 0.0;
            loop {
                let message = tokio::select! {
                    biased;
                    message = receiver.recv() => message,
                    () = stopped.cancelled() => return,
                };
                let Some(message) = message else { return };
                step += 1.0;
                let progress = ProgressNotificationParam::new(token.clone(), step).with_message(message);
                if peer.notify_progress(progress).await.is_err() {
                    return;
                }
            }
        });
        let listener: EventListener = Arc::new(move |event, _| {
            if let Some(message) = describe(&event.body) {
                // The buffer is full or the client is gone: the run waits for neither.
                let _ = sender.try_send(message);
            }
        });
        Some(Self { listener, stop, task })
    }

    pub(super) fn listener(&self) -> EventListener {
        self.listener.clone()
    }

    /// Sends the buffered events and stops: no progress may follow the answer.
    pub(super) async fn finish(self) {
        self.stop.cancel();
        // A task that panicked has nothing to send.
        let _ = self.task.await;
    }
}

/// The event's name and subject, without data of the run.
fn describe(body: &EventBody) -> Option<String> {
    if !body.is_kept() || body.ends_run() {
        return None;
    }
    let subject = match (body.call_id(), body.tool()) {
        (Some(call), Some(tool)) => format!(" {tool} ({call})"),
        _ => String::new(),
    };
    let code = body.code().map_or_else(String::new, |code| format!(": {code}"));
    Some(format!("{}{subject}{code}", body.name()))
}
