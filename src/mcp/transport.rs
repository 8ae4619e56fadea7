//! The protocol over standard input and output.

use std::sync::Arc;
use std::time::Duration;

use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use luaplan_app::ActiveRuns;
use luaplan_base::{Error, ErrorCode, Result};

use super::McpServer;
use super::stdio_transport::MessageLines;

/// How long cancelled runs have to record their end.
const CANCEL_GRACE: Duration = Duration::from_secs(3);

/// How long ready answers have to reach the client.
const ANSWER_GRACE: Duration = Duration::from_secs(2);

/// Serves one client over standard input and output until it closes them or `signal` fires. Only the
/// protocol goes to standard output.
///
/// A client that disconnects interrupts its runs, which can be resumed; a signal lets them finish
/// first, within `server.shutdown_grace` or until a second signal.
///
/// # Errors
/// `bad_request` where the client does not start as the protocol requires.
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
        here.registry().stop_accepting();
        here.app().runs().interrupt();
    };
    let transport = MessageLines::new(tokio::io::stdin(), tokio::io::stdout(), line_bytes, at_end);
    let mut unanswered = transport.unanswered();
    let stop = CancellationToken::new();
    let served = tokio::select! {
        served = serve_server_with_ct(server, transport, stop.clone()) => served,
        _ = signal() => return Ok(()),
    };
    let service = match served {
        Ok(service) => service,
        // The client sent no request.
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
            runs.registry().stop_accepting();
        }
        name = signal() => {
            tracing::info!(signal = name, "stopping");
            runs.registry().stop_accepting();
            runs.app().runs().announce_shutdown(name).await;
            let grace = runs.app().config().server.shutdown_grace;
            tokio::select! {
                () = runs.registry().wait_until_idle(Instant::now() + grace) => {}
                _ = &mut closed => is_closed = true,
                name = signal() => tracing::info!(signal = name, "stopping at once"),
            }
        }
    }
    runs.app().runs().interrupt();
    runs.registry().cancel_all();
    runs.registry().wait_until_idle(Instant::now() + CANCEL_GRACE).await;
    // A run's place becomes free a moment before its answer is written.
    if !is_closed {
        tokio::select! {
            _ = tokio::time::timeout(ANSWER_GRACE, unanswered.wait_for(|count| *count == 0)) => {}
            _ = &mut closed => {}
        }
    }
    stop.cancel();
    Ok(())
}
