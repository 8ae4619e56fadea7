//! A web server with a few pictures, for plans that fetch profile images.

use std::net::SocketAddr;

use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use luaplan_base::{Error, ErrorCode, Result};

/// Small PNG pictures, made for this program, no two alike.
const PICTURES: [(&str, &[u8]); 6] = [
    ("user1.png", include_bytes!("pictures/user1.png")),
    ("user2.png", include_bytes!("pictures/user2.png")),
    ("user3.png", include_bytes!("pictures/user3.png")),
    ("user4.png", include_bytes!("pictures/user4.png")),
    ("user5.png", include_bytes!("pictures/user5.png")),
    ("user6.png", include_bytes!("pictures/user6.png")),
];

/// Serves `/pictures/user1.png` to `/pictures/user6.png` on a free loopback port.
#[derive(Debug)]
pub struct PictureServer {
    addr: SocketAddr,
    stop: CancellationToken,
    task: Option<JoinHandle<()>>,
}

impl PictureServer {
    /// Starts serving.
    ///
    /// # Errors
    /// `listen_failed` where no loopback port is free.
    pub async fn start() -> Result<Self> {
        let failed = |error: std::io::Error| {
            Error::new(ErrorCode::ListenFailed, format!("the picture server cannot listen: {error}"))
        };
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(failed)?;
        let addr = listener.local_addr().map_err(failed)?;
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let app = Router::new().route("/pictures/{name}", get(picture));
        let task = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, app).with_graceful_shutdown(stopped).await {
                tracing::warn!(%error, "the picture server ended");
            }
        });
        Ok(Self { addr, stop, task: Some(task) })
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The URL of every picture, in order.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        PICTURES.iter().map(|(name, _)| format!("http://{}/pictures/{name}", self.addr)).collect()
    }

    /// The bytes of the picture `name`, for example `user1.png`.
    #[must_use]
    pub fn bytes_of(name: &str) -> Option<&'static [u8]> {
        PICTURES.iter().find(|(known, _)| *known == name).map(|(_, bytes)| *bytes)
    }

    /// Stops after the pending answers.
    pub async fn stop(mut self) {
        self.stop.cancel();
        if let Some(task) = self.task.take() {
            let _ = task.await;
        }
    }
}

impl Drop for PictureServer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn picture(Path(name): Path<String>) -> Response {
    match PictureServer::bytes_of(&name) {
        Some(bytes) => ([(header::CONTENT_TYPE, "image/png")], bytes).into_response(),
        None => (StatusCode::NOT_FOUND, "no such picture\n").into_response(),
    }
}
