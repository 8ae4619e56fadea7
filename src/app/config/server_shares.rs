//! How much of the server one caller may hold.
//!
//! A share is a count at one moment, not a rate: it bounds what a caller keeps from others, however
//! fast or slow the caller is.

use std::time::Duration;

use luaplan_base::Result;

use super::raw::RawServer;
use super::values::{invalid, timeout};

/// The parts of `[server]` that keep one caller from taking the place of all others.
#[derive(Debug, Clone)]
pub struct ServerShares {
    /// How many connections may be open at once.
    pub max_connections: u32,
    /// How many of them requests of the API may not hold: they are for health and for who comes next.
    pub kept_connections: u32,
    /// How many requests one key may have under way, event streams included.
    pub max_requests_per_key: u32,
    /// How many event streams one key may have open.
    pub max_streams_per_key: u32,
    /// How many sessions of MCP may be open at once.
    pub max_mcp_sessions: u32,
    /// How many of them one key may have.
    pub max_mcp_sessions_per_key: u32,
    /// A session without a request for so long is closed.
    pub mcp_session_idle: Duration,
    /// How long a new connection may take for its first request header.
    pub header_timeout: Duration,
    /// How long a connection may wait for its next request.
    pub idle_timeout: Duration,
}

impl ServerShares {
    pub(super) fn check(raw: &RawServer) -> Result<Self> {
        for (key, value) in [
            ("server.max_connections", raw.max_connections),
            ("server.kept_connections", raw.kept_connections),
            ("server.max_requests_per_key", raw.max_requests_per_key),
            ("server.max_streams_per_key", raw.max_streams_per_key),
            ("server.max_mcp_sessions", raw.max_mcp_sessions),
            ("server.max_mcp_sessions_per_key", raw.max_mcp_sessions_per_key),
        ] {
            if value == 0 {
                return Err(invalid(key, "0", "a number above zero"));
            }
        }
        if raw.kept_connections >= raw.max_connections {
            return Err(invalid(
                "server.kept_connections",
                &raw.kept_connections.to_string(),
                "a number below `server.max_connections`",
            )
            .with_limit(raw.max_connections, raw.kept_connections));
        }
        Ok(Self {
            max_connections: raw.max_connections,
            kept_connections: raw.kept_connections,
            max_requests_per_key: raw.max_requests_per_key,
            max_streams_per_key: raw.max_streams_per_key,
            max_mcp_sessions: raw.max_mcp_sessions,
            max_mcp_sessions_per_key: raw.max_mcp_sessions_per_key,
            mcp_session_idle: timeout("server.mcp_session_idle", &raw.mcp_session_idle)?,
            header_timeout: timeout("server.header_timeout", &raw.header_timeout)?,
            idle_timeout: timeout("server.idle_timeout", &raw.idle_timeout)?,
        })
    }
}
