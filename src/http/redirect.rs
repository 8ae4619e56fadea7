//! The loopback address to which a browser is redirected at the end of a login.
//!
//! Any program on this machine can call it, so only a request with the login's own `state` counts; others are
//! refused and the wait continues.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, REFERRER_POLICY};
use axum::response::IntoResponse;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use luaplan_base::{Error, ErrorCode, Result};

use super::connections::{Bounds, Connections};

const PATH: &str = "/callback";

/// Bounds for a browser: its request is short, and it opens few connections.
const BOUNDS: Bounds = Bounds {
    connections_max: 64,
    first_header: Duration::from_secs(10),
    next_header: Duration::from_secs(10),
};

/// How long the page about the end of the login has to reach the browser.
const CLOSE_GRACE: Duration = Duration::from_secs(1);

/// A listener for one login.
pub struct Redirect {
    listener: TcpListener,
    uri: String,
}

struct Expected {
    uri: String,
    state: String,
    came: mpsc::Sender<String>,
}

impl Redirect {
    /// Binds the port of loopback; 0 binds a free one.
    ///
    /// # Errors
    /// `listen_failed` where it cannot be bound.
    pub async fn listen(port: u16) -> Result<Self> {
        let failed = |what: &std::io::Error| {
            Error::new(ErrorCode::ListenFailed, format!("cannot listen on 127.0.0.1:{port}: {what}"))
        };
        let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = TcpListener::bind(wanted).await.map_err(|error| failed(&error))?;
        let address = listener.local_addr().map_err(|error| failed(&error))?;
        Ok(Self { listener, uri: redirect_uri(address.port()) })
    }

    /// The redirect address.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// The full address of the first request with the login's `state`.
    pub async fn wait(self, state: &str) -> String {
        let (came, mut comes) = mpsc::channel(1);
        let expected = Arc::new(Expected { uri: self.uri, state: state.to_owned(), came });
        let router = Router::new().route(PATH, get(callback)).with_state(expected);
        let connections = Connections::new(router, BOUNDS);
        let address = tokio::select! {
            never = connections.accept(&self.listener) => match never {},
            address = comes.recv() => address.unwrap_or_default(),
        };
        connections.close(CLOSE_GRACE).await;
        address
    }
}

/// The redirect address for this port.
#[must_use]
pub fn redirect_uri(port: u16) -> String {
    format!("http://127.0.0.1:{port}{PATH}")
}

async fn callback(State(expected): State<Arc<Expected>>, RawQuery(query): RawQuery) -> impl IntoResponse {
    let address = format!("{}?{}", expected.uri, query.unwrap_or_default());
    let is_ours = url::Url::parse(&address).is_ok_and(|address| {
        address.query_pairs().any(|(name, value)| name == "state" && value == expected.state.as_str())
    });
    let (status, page) = if is_ours {
        // Further answers are ignored.
        let _ = expected.came.try_send(address);
        (
            StatusCode::OK,
            "luaplan has the answer and says in the terminal what came of it. You can close this page.\n",
        )
    } else {
        (StatusCode::BAD_REQUEST, "This is no answer to the login that is under way.\n")
    };
    // The address holds a code that can be exchanged for a token.
    (status, [(CACHE_CONTROL, "no-store"), (REFERRER_POLICY, "no-referrer")], page)
}
