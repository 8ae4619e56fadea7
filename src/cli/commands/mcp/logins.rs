//! `luaplan mcp list | login | logout`.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};

use luaplan_app::config::Config;
use luaplan_app::{
    McpHelp, McpLoginKind, McpServerState, begin_mcp_login, log_in_to_mcp_server_as_service,
    log_out_of_mcp_server, mcp_login_kind, mcp_server_states,
};
use luaplan_base::{Error, ErrorCode, Result};
use luaplan_http::{Redirect, redirect_uri};
use luaplan_journal::neutralize;

use super::Session;
use crate::cli::exit;
use crate::cli::mcp_args::McpLoginArgs;
use crate::cli::table::{LastColumn, table};

/// Far above the length of an address with a code.
const PASTED_BYTES_MAX: u64 = 16 * 1024;

/// The redirect address for `--paste` without a configured port: no program listens there, but the browser shows
/// the address.
const PASTE_PORT: u16 = 33418;

pub(super) fn list(session: &Session<'_>, config: &Config) -> Result<u8> {
    let servers = mcp_server_states(config);
    let output = session.output;
    if output.is_json() {
        output.data(&servers);
        return Ok(exit::DONE);
    }
    if servers.is_empty() {
        output.line("no MCP server is configured");
        return Ok(exit::DONE);
    }
    let row = |server: &McpServerState| {
        let login = match (server.login, server.token_until) {
            (None, _) => "-".to_owned(),
            (Some("valid"), Some(until)) => format!("valid until {until}"),
            // The status for programs would read as if the login had already been renewed.
            (Some("renewed"), _) => "renews itself".to_owned(),
            (Some(login), _) => login.to_owned(),
        };
        vec![
            server.name.clone(),
            neutralize(server.address.as_deref().unwrap_or(server.reached_by)),
            server.tools.map_or_else(|| "-".to_owned(), |count| count.to_string()),
            login,
            match (&server.missing, &server.help) {
                (Some(missing), Some(McpHelp::Command(command))) => format!("{missing}: {command}"),
                (Some(missing), Some(McpHelp::Words(words))) => neutralize(&format!("{missing}; {words}")),
                _ => String::new(),
            },
        ]
    };
    let headers = ["SERVER", "BY", "TOOLS", "LOGIN", "WHAT IS MISSING"];
    output.line(table(&headers, servers.iter().map(row).collect(), LastColumn::Whole));
    Ok(exit::DONE)
}

pub(super) async fn login(session: &Session<'_>, config: &Config, args: &McpLoginArgs) -> Result<u8> {
    let name = &args.name;
    match mcp_login_kind(config, name)? {
        McpLoginKind::Service => log_in_to_mcp_server_as_service(config, name).await?,
        McpLoginKind::Person { redirect_port } => person(session, config, args, redirect_port).await?,
    }
    if session.output.is_json() {
        session.output.data_line(&json!({ "server": name, "logged_in": true }));
    } else {
        session.output.line(format_args!("logged in to {name}"));
    }
    Ok(exit::DONE)
}

async fn person(session: &Session<'_>, config: &Config, args: &McpLoginArgs, port: u16) -> Result<()> {
    let redirect = if args.paste { None } else { Some(Redirect::listen(port).await?) };
    let uri = match &redirect {
        Some(redirect) => redirect.uri().to_owned(),
        None => redirect_uri(if port == 0 { PASTE_PORT } else { port }),
    };
    let login = begin_mcp_login(config, &args.name, &uri, &args.scopes).await?;
    tell(session, login.address(), args.paste);
    let comes = async {
        match redirect {
            Some(redirect) => Ok(redirect.wait(login.state()).await),
            None => pasted().await,
        }
    };
    let came = tokio::time::timeout(args.wait, comes).await;
    let came = came.unwrap_or_else(|_| Err(no_answer(&args.name, args.wait)))?;
    login.finish(&came).await
}

fn tell(session: &Session<'_>, address: &str, paste: bool) {
    let output = session.output;
    if output.is_json() {
        return output.data_line(&json!({ "open": address }));
    }
    output.line(format_args!("Open this address in a browser:\n\n{address}\n"));
    if paste {
        output.line("Then paste the address the browser ends at, also where it shows no page:");
    } else {
        output.line("Waiting for the browser; for one on another machine there is --paste.");
    }
}

async fn pasted() -> Result<String> {
    let mut lines = BufReader::new(tokio::io::stdin().take(PASTED_BYTES_MAX)).lines();
    let failed = |what: &str| Error::new(ErrorCode::McpLoginFailed, format!("standard input {what}"));
    while let Some(line) = lines.next_line().await.map_err(|_| failed("is not text"))? {
        if !line.trim().is_empty() {
            return Ok(line);
        }
    }
    Err(failed("ended before an address came"))
}

fn no_answer(name: &str, limit: Duration) -> Error {
    let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    let message =
        format!("the login to the MCP server `{name}` failed: no browser came back within {limit_ms} ms");
    Error::new(ErrorCode::McpLoginFailed, message)
        .with_help(format!("begin again: `luaplan mcp login {name}`, with --wait for more time"))
}

pub(super) async fn logout(session: &Session<'_>, config: &Config, name: &str) -> Result<u8> {
    let had_one = log_out_of_mcp_server(config, name).await?;
    if session.output.is_json() {
        session.output.data_line(&json!({ "server": name, "was_logged_in": had_one }));
    } else if had_one {
        session.output.line(format_args!("the login to {name} is forgotten"));
    } else {
        session.output.line(format_args!("there was no login to {name}"));
    }
    Ok(exit::DONE)
}
