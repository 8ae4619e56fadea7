//! `luaplan mcp`, and `/mcp` of `luaplan serve`.

mod logins;
mod probe;

use std::sync::Arc;

use luaplan_app::config::{Config, Environment, load};
use luaplan_app::{ActiveRuns, App, AppParts, OfferedPrompt, OfferedTool, offer_of_mcp_server};
use luaplan_base::{Effect, Error, ErrorCode, Result};
use luaplan_engine::Isolation;
use luaplan_http::Server;
use luaplan_journal::neutralize;
use luaplan_mcp::{http_service, serve_stdio};

use super::Session;
use crate::cli::exit;
use crate::cli::mcp_args::{McpAction, McpArgs};
use crate::cli::progress::start_log;
use crate::cli::signals::Signals;
use crate::cli::table::{LastColumn, table};

/// Clients start servers in any folder, so an option sets ours.
pub(super) async fn run(session: &Session<'_>, args: &McpArgs) -> Result<u8> {
    let mut environment: Environment = session.environment.clone();
    if let Some(dir) = &args.dir {
        environment.working_dir = environment.working_dir.join(dir);
        if !environment.working_dir.is_dir() {
            let message = format!("`--dir {}` is not a folder", dir.display());
            return Err(
                Error::new(ErrorCode::Usage, message).with_help("name the folder of your luaplan.toml")
            );
        }
    }
    if let Some(action) = &args.action {
        let loaded = load(&environment, &session.options)?;
        start_log(&loaded.raw.log.filter, loaded.raw.log.format == "json");
        let config = loaded.check(&environment)?;
        return match action {
            McpAction::Accept { name, dry_run } => accept(session, &config, name, *dry_run).await,
            McpAction::List => logins::list(session, &config),
            McpAction::Login(args) => logins::login(session, &config, args).await,
            McpAction::Probe(args) => {
                let app = App::open(&loaded, &environment).await?;
                session.closes(&app);
                probe::probe(session, &app, args).await
            }
            McpAction::Logout { name } => logins::logout(session, &config, name).await,
        };
    }
    let signals = Signals::listen();
    let loaded = load(&environment, &session.options)?;
    start_log(&loaded.raw.log.filter, loaded.raw.log.format == "json");
    let parts = AppParts { isolation: Isolation::Process, ..AppParts::default() };
    let app = Arc::new(App::open_with(&loaded, &environment, parts).await?);
    session.closes(&app);
    serve_stdio(Arc::new(ActiveRuns::new(app)), || signals.clone().next()).await?;
    Ok(exit::DONE)
}

/// The server with `/mcp` beside its API.
pub(super) fn mounted(server: Server) -> Server {
    let service = http_service(server.runs(), server.address(), server.closing());
    server.mount("/mcp", service)
}

async fn accept(session: &Session<'_>, config: &Config, name: &str, dry_run: bool) -> Result<u8> {
    let offer = offer_of_mcp_server(config, name, !dry_run).await?;
    let output = session.output;
    if output.is_json() {
        output.data(&offer);
        return Ok(exit::DONE);
    }
    let row = |tool: &OfferedTool| {
        let change = serde_json::to_value(tool.change).unwrap_or_default();
        vec![
            tool.name.clone(),
            change.as_str().unwrap_or_default().to_owned(),
            tool.effect.map_or("", Effect::as_str).to_owned(),
            neutralize(tool.description.as_deref().unwrap_or_default()).replace('\n', " "),
        ]
    };
    let headers = ["TOOL", "CHANGE", "EFFECT", "WHAT IT SAYS IT DOES"];
    output.line(table(&headers, offer.tools.iter().map(row).collect(), LastColumn::Cut));
    if !offer.prompts.is_empty() {
        let row = |prompt: &OfferedPrompt| {
            let change = serde_json::to_value(prompt.change).unwrap_or_default();
            vec![
                prompt.name.clone(),
                change.as_str().unwrap_or_default().to_owned(),
                neutralize(&prompt.arguments.join(", ")).replace('\n', " "),
                neutralize(prompt.description.as_deref().unwrap_or_default()).replace('\n', " "),
            ]
        };
        let headers = ["PROMPT", "CHANGE", "ARGUMENTS", "WHAT IT IS FOR"];
        output.line("");
        output.line(table(&headers, offer.prompts.iter().map(row).collect(), LastColumn::Cut));
    }
    for refused in &offer.refused {
        output.line(format_args!(
            "left out: {}: {}",
            neutralize(&refused.original),
            neutralize(&refused.reason)
        ));
    }
    let end = if dry_run { "nothing was accepted" } else { "accepted; plans may call these tools" };
    output.line(end);
    Ok(exit::DONE)
}
