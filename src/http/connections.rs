//! Takes connections and serves them.
//!
//! Not `axum::serve`: that has no time limit on request headers and none on how many connections
//! there are, so half-sent requests could hold the process, and its stop, for ever.

use std::convert::Infallible;
use std::io::ErrorKind;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How many connections may be open at once; further ones wait to be accepted.
const CONNECTIONS_MAX: usize = 1024;

/// Request line and headers together.
const HEADER_BYTES_MAX: usize = 64 * 1024;

/// The longest a client may take to send its headers, and to begin its next request.
const HEADER_TIMEOUT_MAX: Duration = Duration::from_secs(30);

/// How long to wait where the process has no more file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// The connections of one server.
pub(super) struct Connections {
    router: Router,
    header_timeout: Duration,
    places: Arc<Semaphore>,
    tasks: TaskTracker,
    closing: CancellationToken,
    cut: CancellationToken,
}

impl Connections {
    pub(super) fn new(router: Router, request_timeout: Duration) -> Self {
        Self {
            router,
            header_timeout: request_timeout.min(HEADER_TIMEOUT_MAX),
            places: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
            cut: CancellationToken::new(),
        }
    }

    /// Accepts for as long as it is awaited.
    pub(super) async fn accept(&self, listener: &TcpListener) -> Infallible {
        loop {
            let Ok(place) = self.places.clone().acquire_owned().await else {
                // The semaphore is never closed.
                std::future::pending::<()>().await;
                continue;
            };
            let stream = next(listener).await;
            // Events are small and must not wait for one another; without it they are only later.
            let _ = stream.set_nodelay(true);
            let connection = serve(
                stream,
                self.router.clone(),
                self.header_timeout,
                self.closing.clone(),
                self.cut.clone(),
            );
            self.tasks.spawn(async move {
                connection.await;
                drop(place);
            });
        }
    }

    /// Lets answers under way come to their end within `grace`, then closes all connections.
    pub(super) async fn close(&self, grace: Duration) {
        self.closing.cancel();
        self.tasks.close();
        if tokio::time::timeout(grace, self.tasks.wait()).await.is_err() {
            tracing::warn!(open = self.tasks.len(), "connections were cut");
            self.cut.cancel();
            self.tasks.wait().await;
        }
    }
}

async fn next(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            // The client has gone again.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::ConnectionRefused | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
                ) => {}
            Err(error) => {
                tracing::error!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn serve(
    stream: TcpStream,
    router: Router,
    header_timeout: Duration,
    closing: CancellationToken,
    cut: CancellationToken,
) {
    let used = AtomicBool::new(false);
    let service = TowerToHyperService::new(router);
    let service = service_fn(|request: Request<Incoming>| {
        used.store(true, Ordering::Relaxed);
        service.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(header_timeout)
        .max_header_size(HEADER_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        biased;
        ended = connection.as_mut() => ended,
        () = closing.cancelled() => {
            // hyper would wait for the first request of a connection that never had one.
            if !used.load(Ordering::Relaxed) {
                return;
            }
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection.as_mut() => ended,
                () = cut.cancelled() => return,
            }
        }
    };
    if let Err(error) = ended {
        // Clients that go away or talk nonsense are everyday.
        tracing::debug!(%error, "a connection broke");
    }
}
