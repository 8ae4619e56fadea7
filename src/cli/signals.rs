//! SIGINT and SIGTERM.

use std::sync::Arc;

use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

/// Signals that ask this process to stop. A signal between two waits is
/// not lost.
#[derive(Clone)]
pub(super) struct Signals(Arc<Mutex<mpsc::UnboundedReceiver<&'static str>>>);

impl Signals {
    /// Starts to listen. Needs a runtime.
    pub(super) fn listen() -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        forward(&sender);
        Self(Arc::new(Mutex::new(receiver)))
    }

    /// The name of the next signal.
    pub(super) async fn next(self) -> &'static str {
        match self.0.lock().await.recv().await {
            Some(name) => name,
            // Where no handler can be installed, the system's default ends the process.
            None => std::future::pending().await,
        }
    }
}

/// A token that the first signal cancels.
pub(super) fn cancelled_by_signals() -> CancellationToken {
    let token = CancellationToken::new();
    let (signals, watched) = (Signals::listen(), token.clone());
    tokio::spawn(async move {
        signals.next().await;
        watched.cancel();
    });
    token
}

#[cfg(unix)]
fn forward(sender: &mpsc::UnboundedSender<&'static str>) {
    use tokio::signal::unix::{SignalKind, signal};
    for (kind, name) in [(SignalKind::interrupt(), "SIGINT"), (SignalKind::terminate(), "SIGTERM")] {
        let sender = sender.clone();
        match signal(kind) {
            Ok(mut stream) => drop(tokio::spawn(async move {
                while stream.recv().await.is_some() && sender.send(name).is_ok() {}
            })),
            Err(error) => tracing::warn!(signal = name, %error, "cannot be listened to"),
        }
    }
}

#[cfg(not(unix))]
fn forward(sender: &mpsc::UnboundedSender<&'static str>) {
    let sender = sender.clone();
    drop(tokio::spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() && sender.send("SIGINT").is_ok() {}
    }));
}
