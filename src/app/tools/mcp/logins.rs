//! Logins to MCP servers, and how each server stands.

use std::sync::Arc;

use luaplan_base::{Error, ErrorCode, Result};
use luaplan_tools::mcp::{
    Authorization, LoginState, McpServerSettings, McpTransport, OAuthGrant, PendingLogin, shown_address,
};

use super::servers::{accepted_of, authorization, complete, settings_of, system_clock};
use crate::config::Config;
use crate::tools::mcp_server_state::{McpHelp, McpServerState};

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

/// Every enabled server. What is wrong with one is told of that one.
#[must_use]
pub fn mcp_server_states(config: &Config) -> Vec<McpServerState> {
    config.mcp.iter().map(|(name, settings)| state_of(config, name, settings)).collect()
}

fn state_of(config: &Config, name: &str, settings: &McpServerSettings) -> McpServerState {
    let (reached_by, address) = match &settings.transport {
        McpTransport::Command { .. } => ("command", None),
        McpTransport::Url { url, .. } => ("url", Some(shown_address(url))),
    };
    let accepted = accepted_of(config, name);
    let tools = accepted.as_ref().ok().and_then(|accepted| Some(accepted.as_ref()?.tools.len()));
    let (mut login, mut token_until, mut ended, mut unreadable) = (None, None, false, None);
    let state = authorization(config, settings, &system_clock())
        .and_then(|found| found.map(|one| one.state()).transpose());
    match state {
        Ok(None) => {}
        Ok(Some(LoginState::None)) => login = Some("none"),
        Ok(Some(LoginState::Valid { until, renewed })) => {
            token_until = until;
            login = Some(if renewed { "renewed" } else { "valid" });
        }
        Ok(Some(LoginState::Ended)) => (login, ended) = (Some("ended"), true),
        Err(error) => (login, unreadable) = (Some("unreadable"), Some(error)),
    }
    let command = |verb: &str| McpHelp::Command(format!("luaplan mcp {verb} {name}"));
    let fault = unreadable.or(accepted.err());
    let (missing, help) = match (&settings.missing, fault) {
        (Some(missing), _) => (Some(missing.clone()), Some(McpHelp::Words("set it".to_owned()))),
        (None, Some(error)) => {
            (Some(error.message().to_owned()), Some(McpHelp::Words(error.help().to_owned())))
        }
        (None, None) if ended => (Some("its login has ended".to_owned()), Some(command("login"))),
        (None, None) if tools.is_none() => {
            (Some("nothing of it was accepted".to_owned()), Some(command("accept")))
        }
        (None, None) => (None, None),
    };
    McpServerState { name: name.to_owned(), reached_by, address, tools, login, token_until, missing, help }
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
    let authorization = wanted(config, complete(settings_of(config, name)?)?)?;
    PendingLogin::begin(authorization, redirect_uri, scopes).await
}

/// Logs in to the server `name` by the configured client's own secret.
///
/// # Errors
/// As [`mcp_login_kind`]; `mcp_login_failed`.
pub async fn log_in_to_mcp_server_as_service(config: &Config, name: &str) -> Result<()> {
    wanted(config, complete(settings_of(config, name)?)?)?.log_in_as_service().await
}

/// Forgets the login to the server `name`: whether there was one.
///
/// # Errors
/// As [`mcp_login_kind`]; `config_unreadable` where it cannot be taken away.
pub async fn log_out_of_mcp_server(config: &Config, name: &str) -> Result<bool> {
    wanted(config, settings_of(config, name)?)?.log_out().await
}

fn wanted(config: &Config, settings: &McpServerSettings) -> Result<Arc<Authorization>> {
    authorization(config, settings, &system_clock())?.ok_or_else(|| takes_none(&settings.name))
}

fn takes_none(name: &str) -> Error {
    let message = format!("the MCP server `{name}` takes no login");
    Error::new(ErrorCode::BadRequest, message)
        .with_help("a login is for a server at a `url` that has no `Authorization` among its `headers`")
}
