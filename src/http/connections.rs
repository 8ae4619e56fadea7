//! Accepts connections and serves them.
//!
//! Not `axum::serve`: it limits neither the time of request headers nor the number of connections,
//! so half-sent requests could hold the process, and its stop, for ever.

use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::SocketAddr;
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
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use luaplan_app::config::ServerConfig;

use super::connection_table::{Connection, ConnectionTable};
use super::shares::Holding;

/// Request line and headers together.
const HEADER_BYTES_MAX: usize = 64 * 1024;

/// The pause where the process has no more file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// The connections of one server.
pub(super) struct Connections {
    router: Router,
    bounds: Bounds,
    table: Arc<ConnectionTable>,
    tasks: TaskTracker,
    closing: CancellationToken,
    cut: CancellationToken,
}

/// The most clients, and the time in which one must have sent a request.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub(super) connections_max: usize,
    pub(super) first_header: Duration,
    pub(super) next_header: Duration,
}

impl Bounds {
    pub(super) fn of(config: &ServerConfig) -> Self {
        let shares = &config.shares;
        Self {
            connections_max: shares.max_connections as usize,
            first_header: config.request_timeout.min(shares.header_timeout),
            next_header: config.request_timeout.min(shares.idle_timeout),
        }
    }
}

impl Connections {
    pub(super) fn new(router: Router, bounds: Bounds) -> Self {
        Self {
            router,
            bounds,
            table: ConnectionTable::new(bounds.connections_max),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
            cut: CancellationToken::new(),
        }
    }

    /// Accepts connections as long as it is awaited.
    pub(super) async fn accept(&self, listener: &TcpListener) -> Infallible {
        loop {
            let (stream, peer) = next(listener).await;
            let place = self.table.enter(peer.ip()).await;
            // Events are small and should leave at once; a failure only delays them.
            let _ = stream.set_nodelay(true);
            self.tasks.spawn(serve(
                stream,
                place,
                self.router.clone(),
                self.bounds,
                self.closing.clone(),
                self.cut.clone(),
            ));
        }
    }

    /// Lets running requests finish within `grace`, then closes all connections.
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

async fn next(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            // The client is already gone.
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
    place: Connection,
    router: Router,
    bounds: Bounds,
    closing: CancellationToken,
    cut: CancellationToken,
) {
    let used = AtomicBool::new(false);
    let service = TowerToHyperService::new(router);
    let service = service_fn(|request: Request<Incoming>| {
        used.store(true, Ordering::Relaxed);
        let answering = place.answering();
        let answer = answering.map(|answering| (service.call(request), answering));
        async move {
            let Some((answer, answering)) = answer else { return std::future::pending().await };
            Ok::<_, Infallible>(answer.await?.map(|body| Holding { body, _held: answering }))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.next_header)
        .max_header_size(HEADER_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        biased;
        ended = connection.as_mut() => ended,
        () = place.evicted() => return,
        () = unused_for(bounds.first_header, &used) => return,
        () = closing.cancelled() => {
            // hyper would wait for the first request of an unused connection.
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
        // Clients that disconnect or send invalid data are routine.
        tracing::debug!(%error, "a connection broke");
    }
}

/// Returns where no request started in that time.
async fn unused_for(time: Duration, used: &AtomicBool) {
    tokio::time::sleep(time).await;
    if used.load(Ordering::Relaxed) {
        std::future::pending::<()>().await;
    }
}
