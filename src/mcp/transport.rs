//! The two ways in.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::McpServer;
use super::lines::Lines;
use crate::app::ActiveRuns;
use crate::app::config::ServerConfig;
use crate::base::{Error, ErrorCode, Result};

/// How long cancelled runs have to write their end.
const CANCEL_GRACE: Duration = Duration::from_secs(3);

/// How long answers that are ready have to reach the client.
const ANSWER_GRACE: Duration = Duration::from_secs(2);

/// How many clients may have a session over HTTP at once.
const SESSIONS_MAX: usize = 256;

/// A session nobody has used for so long is closed.
const SESSION_IDLE_MAX: Duration = Duration::from_secs(1800);

/// The protocol over streamable HTTP.
pub type HttpService = StreamableHttpService<McpServer, LocalSessionManager>;

/// Serves one client over standard input and output until it closes them or `signal` comes. Nothing but
/// the protocol goes to standard output.
///
/// A client that goes away interrupts its runs, which can be resumed; a signal lets them come to their
/// end within `server.shutdown_grace` first, or until a second one.
///
/// # Errors
/// `bad_request` where the client does not begin as the protocol says.
pub async fn serve_stdio<S, F>(runs: Arc<ActiveRuns>, mut signal: S) -> Result<()>
where
    S: FnMut() -> F,
    F: Future<Output = &'static str>,
{
    let config = runs.app().config();
    let server = McpServer::new(runs.clone(), Some(config.base_dir.clone()));
    let line_bytes = usize::try_from(config.server.body_limit_bytes).unwrap_or(usize::MAX);
    let here = runs.clone();
    let at_end = move || {
        here.stop_accepting();
        here.app().interrupt_runs();
    };
    let transport = Lines::new(tokio::io::stdin(), tokio::io::stdout(), line_bytes, at_end);
    let mut unanswered = transport.unanswered();
    let stop = CancellationToken::new();
    let served = tokio::select! {
        served = serve_server_with_ct(server, transport, stop.clone()) => served,
        _ = signal() => return Ok(()),
    };
    let service = match served {
        Ok(service) => service,
        // Nobody wanted anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => {
            let message = format!("the client did not begin as the protocol says: {error}");
            return Err(Error::new(ErrorCode::BadRequest, message)
                .with_help("`luaplan mcp` is started by an MCP client; docs/mcp.md shows how"));
        }
    };
    let closed = service.waiting();
    tokio::pin!(closed);
    let mut is_closed = false;
    tokio::select! {
        _ = &mut closed => {
            is_closed = true;
            runs.stop_accepting();
        }
        name = signal() => {
            tracing::info!(signal = name, "stopping");
            runs.stop_accepting();
            runs.app().announce_shutdown(name).await;
            let grace = runs.app().config().server.shutdown_grace;
            tokio::select! {
                () = runs.wait_until_idle(Instant::now() + grace) => {}
                _ = &mut closed => is_closed = true,
                name = signal() => tracing::info!(signal = name, "stopping at once"),
            }
        }
    }
    runs.app().interrupt_runs();
    runs.cancel_all();
    runs.wait_until_idle(Instant::now() + CANCEL_GRACE).await;
    // A run's place is free a moment before its answer is written.
    if !is_closed {
        tokio::select! {
            _ = tokio::time::timeout(ANSWER_GRACE, unanswered.wait_for(|count| *count == 0)) => {}
            _ = &mut closed => {}
        }
    }
    stop.cancel();
    Ok(())
}

/// The protocol as an HTTP service for a server that listens on `address`. Requests must name it by a
/// loopback name or one of `server.allowed_hosts`, and come from no web page but its own on loopback
/// or one of `server.allowed_origins`. Cancelling `closing` ends all sessions.
#[must_use]
pub fn http_service(runs: &Arc<ActiveRuns>, address: SocketAddr, closing: CancellationToken) -> HttpService {
    let config = &runs.app().config().server;
    let body_bytes = usize::try_from(config.body_limit_bytes).unwrap_or(usize::MAX);
    let settings = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts(config, address))
        .with_allowed_origins(origins(config, address))
        .enforce_origin_validation()
        .with_max_request_body_bytes(body_bytes)
        .with_cancellation_token(closing);
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SESSION_IDLE_MAX);
    let sessions = Arc::new(sessions);
    let (server, open) = (McpServer::new(runs.clone(), None), sessions.clone());
    let make = move || {
        // A session that is being made or closed just now does not count.
        if open.sessions.try_read().is_ok_and(|sessions| sessions.len() >= SESSIONS_MAX) {
            return Err(io::Error::other("as many sessions as may be are open"));
        }
        Ok(server.clone())
    };
    StreamableHttpService::new(make, sessions, settings)
}

fn hosts(config: &ServerConfig, address: SocketAddr) -> Vec<String> {
    let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
    if !address.ip().is_unspecified() {
        hosts.push(address.ip().to_string());
    }
    hosts.extend(config.allowed_hosts.iter().cloned());
    hosts
}

fn origins(config: &ServerConfig, address: SocketAddr) -> Vec<String> {
    let own = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{}", address.port()));
    own.into_iter().chain(config.allowed_origins.iter().cloned()).collect()
}
