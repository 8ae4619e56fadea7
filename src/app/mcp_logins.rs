//! Logins to MCP servers, and how each server stands.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use super::config::Config;
use super::mcp_servers::{accepted_of, settings_of};
use crate::base::{Error, ErrorCode, Result};
use crate::tools::mcp::{
    Authorization, LoginState, McpServerSettings, McpTransport, OAuthGrant, PendingLogin,
};

/// How luaplan may log in to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpLoginKind {
    /// A person, in a browser that is sent back to this port of loopback; 0 is any.
    Person {
        /// The port.
        redirect_port: u16,
    },
    /// By the configured client's own secret.
    Service,
}

/// One configured server, from what is on this machine: none is started or asked.
#[derive(Debug, Clone, Serialize)]
pub struct McpServerState {
    /// NAME of `[mcp.NAME]`.
    pub name: String,
    /// `command` or `url`.
    pub reached_by: &'static str,
    /// How many tools plans may call; `None` where nothing was accepted.
    pub tools: Option<usize>,
    /// `none`, `valid`, `renewed` (ends, and is renewed by itself) or `ended`; absent where there is none to have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<&'static str>,
    /// When the token ends, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_until: Option<Timestamp>,
    /// What is missing before plans can use it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<&'static str>,
    /// The command that mends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// Every enabled server.
///
/// # Errors
/// `config_unreadable` where what was accepted, or a login, cannot be read.
pub fn mcp_server_states(config: &Config) -> Result<Vec<McpServerState>> {
    config.mcp.iter().map(|(name, settings)| state_of(config, name, settings)).collect()
}

fn state_of(config: &Config, name: &str, settings: &McpServerSettings) -> Result<McpServerState> {
    let tools = accepted_of(config, name)?.map(|accepted| accepted.tools.len());
    let reached_by = match settings.transport {
        McpTransport::Command { .. } => "command",
        McpTransport::Url { .. } => "url",
    };
    let (mut login, mut token_until, mut ended) = (None, None, false);
    if let Some(authorization) = authorization(config, settings)? {
        login = Some(match authorization.state()? {
            LoginState::None => "none",
            LoginState::Valid { until, renewed } => {
                token_until = until;
                if renewed { "renewed" } else { "valid" }
            }
            LoginState::Ended => {
                ended = true;
                "ended"
            }
        });
    }
    let (missing, verb) = match (tools, ended) {
        (_, true) => (Some("its login has ended"), "login"),
        (None, _) => (Some("nothing of it was accepted"), "accept"),
        _ => (None, ""),
    };
    let help = missing.map(|_| format!("luaplan mcp {verb} {name}"));
    Ok(McpServerState { name: name.to_owned(), reached_by, tools, login, token_until, missing, help })
}

/// How luaplan may log in to the server `name`.
///
/// # Errors
/// `not_found` where no such server is configured; `bad_request` where it takes no login.
pub fn mcp_login_kind(config: &Config, name: &str) -> Result<McpLoginKind> {
    let settings = settings_of(config, name)?;
    let McpTransport::Url { oauth: Some(oauth), .. } = &settings.transport else {
        return Err(takes_none(name));
    };
    Ok(match oauth.grant {
        OAuthGrant::ClientCredentials => McpLoginKind::Service,
        OAuthGrant::AuthorizationCode => McpLoginKind::Person { redirect_port: oauth.redirect_port },
    })
}

/// Begins a person's login to the server `name`: the browser will be sent to `redirect_uri`.
///
/// # Errors
/// As [`mcp_login_kind`]; `mcp_login_failed`.
pub async fn begin_mcp_login(
    config: &Config,
    name: &str,
    redirect_uri: &str,
    scopes: &[String],
) -> Result<PendingLogin> {
    let authorization = wanted(config, settings_of(config, name)?)?;
    PendingLogin::begin(authorization, redirect_uri, scopes).await
}

/// Logs in to the server `name` by the configured client's own secret.
///
/// # Errors
/// As [`mcp_login_kind`]; `mcp_login_failed`.
pub async fn log_in_to_mcp_server_as_service(config: &Config, name: &str) -> Result<()> {
    wanted(config, settings_of(config, name)?)?.log_in_as_service().await
}

/// Forgets the login to the server `name`: whether there was one.
///
/// # Errors
/// As [`mcp_login_kind`]; `config_unreadable` where it cannot be taken away.
pub async fn log_out_of_mcp_server(config: &Config, name: &str) -> Result<bool> {
    wanted(config, settings_of(config, name)?)?.log_out().await
}

/// The way to tokens for a server; `None` where it takes none.
pub(super) fn authorization(
    config: &Config,
    settings: &McpServerSettings,
) -> Result<Option<Arc<Authorization>>> {
    let McpTransport::Url { url, oauth: Some(oauth), .. } = &settings.transport else { return Ok(None) };
    let path = login_path(config, &settings.name);
    Authorization::new(&settings.name, url, oauth.clone(), &path).map(Arc::new).map(Some)
}

fn wanted(config: &Config, settings: &McpServerSettings) -> Result<Arc<Authorization>> {
    authorization(config, settings)?.ok_or_else(|| takes_none(&settings.name))
}

fn takes_none(name: &str) -> Error {
    let message = format!("the MCP server `{name}` takes no login");
    Error::new(ErrorCode::BadRequest, message)
        .with_help("a login is for a server at a `url` that has no `Authorization` among its `headers`")
}

fn login_path(config: &Config, server: &str) -> PathBuf {
    config.data_dir.join("mcp").join(format!("{server}.login.json"))
}
