//! MCP servers as sources of tools: what was accepted of each, and accepting it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use luaplan_base::{Clock, Effect, Error, ErrorCode, Result, SystemClock, ToolFailure, Value};
use luaplan_bus::Tool;
use luaplan_catalog::{TargetKind, ToolSpec};
use luaplan_plan::preview::host_of;
use luaplan_planner::Note;
use luaplan_tools::mcp::{
    Accepted, AcceptedPrompt, AcceptedTool, Authorization, Change, HELP, McpConnection, McpServerSettings,
    McpTool, McpTransport, RefusedOffer,
};

use crate::config::Config;
use crate::runs::spec::PromptRef;

/// The servers, none of them started. Cheap to share.
#[derive(Clone)]
pub(crate) struct McpServers(Arc<BTreeMap<String, Server>>);

struct Server {
    connection: Arc<McpConnection>,
    /// Why nothing of it can be known, where its file cannot be read.
    accepted: Result<Accepted>,
}

impl Server {
    fn tools(&self) -> impl Iterator<Item = &AcceptedTool> {
        self.accepted.iter().flat_map(|accepted| &accepted.tools)
    }

    fn prompts(&self) -> impl Iterator<Item = &AcceptedPrompt> {
        self.accepted.iter().flat_map(|accepted| &accepted.prompts)
    }
}

/// One tool of a server, as it is shown to who accepts it.
#[derive(Debug, Clone, Serialize)]
pub struct OfferedTool {
    /// The name plans call.
    pub name: String,
    /// How it differs from what was accepted before.
    pub change: Change,
    /// What a call does to the world, as hints and configuration say; absent where it is gone.
    pub effect: Option<Effect>,
    /// What it does, in the server's words.
    pub description: Option<String>,
}

/// One prompt of a server, as it is shown to who accepts it.
#[derive(Debug, Clone, Serialize)]
pub struct OfferedPrompt {
    /// The name it is asked for by.
    pub name: String,
    /// How it differs from what was accepted before.
    pub change: Change,
    /// What it can be given; those that have to be first.
    pub arguments: Vec<String>,
    /// What it is for, in the server's words.
    pub description: Option<String>,
}

/// What a server offers.
#[derive(Debug, Clone, Serialize)]
pub struct McpOffer {
    /// The server.
    pub server: String,
    /// Its tools.
    pub tools: Vec<OfferedTool>,
    /// Its prompts.
    pub prompts: Vec<OfferedPrompt>,
    /// What cannot be taken.
    pub refused: Vec<RefusedOffer>,
    /// Whether it is accepted now.
    pub accepted: bool,
}

/// The tools that were accepted of each server; none of one whose file cannot be read.
///
/// # Errors
/// `config_invalid` for a server with the name of one of `others`.
pub(crate) fn declared(config: &Config, others: &[ToolSpec]) -> Result<Vec<ToolSpec>> {
    let mut specs = Vec::new();
    for (name, settings) in &config.mcp {
        if let Some(other) = others.iter().find(|spec| spec.name.split('.').next() == Some(name)) {
            let message = format!("mcp.{name}: plans know `{name}` by the tool `{}` already", other.name);
            return Err(Error::new(ErrorCode::ConfigInvalid, message)
                .with_help("choose another name for the server, or for the tool and its file")
                .with_detail("key", format!("mcp.{name}")));
        }
        for tool in Accepted::load(&path(config, name)).unwrap_or_default().tools {
            specs.push(tool.spec(settings)?);
        }
    }
    Ok(specs)
}

/// What a tool of a server reaches whatever it is given: the server, its host, and any where it may reach beyond.
pub(crate) fn reached(config: &Config, spec: &ToolSpec) -> Vec<(TargetKind, String)> {
    let server = spec.name.split('.').next().unwrap_or_default();
    let mut reached = vec![(TargetKind::Server, server.to_owned())];
    if let Some(McpTransport::Url { url, .. }) = config.mcp.get(server).map(|settings| &settings.transport) {
        reached.extend(host_of(url).map(|host| (TargetKind::Host, host)));
    }
    if spec.server_hints.is_none_or(|hints| hints.is_open_world) {
        reached.push((TargetKind::Host, "any".to_owned()));
    }
    reached
}

/// Whether settings of `tool` may stand there although there is no such tool: its server is not
/// enabled, or nothing of it was accepted yet.
pub(crate) fn may_have(config: &Config, specs: &[ToolSpec], tool: &str) -> bool {
    let Some((server, _)) = tool.split_once('.') else { return false };
    let has_tools = specs.iter().any(|spec| spec.name.split('.').next() == Some(server));
    config.mcp_disabled.contains(server) || (config.mcp.contains_key(server) && !has_tools)
}

impl McpServers {
    pub(crate) fn new(config: &Config, clock: &Arc<dyn Clock>) -> Result<Self> {
        let server = |(name, settings): (&String, &McpServerSettings)| {
            let accepted = Accepted::load(&path(config, name));
            let connection = McpConnection::new(settings.clone(), authorization(config, settings, clock)?);
            Ok((name.clone(), Server { connection: Arc::new(connection), accepted }))
        };
        config.mcp.iter().map(server).collect::<Result<_>>().map(|servers| Self(Arc::new(servers)))
    }

    /// Whether all of them were accepted, and take what they are given. No server is asked.
    pub(crate) fn check_prompts(&self, wishes: &[PromptRef]) -> Result<()> {
        wishes.iter().try_for_each(|wish| check_arguments(wish, self.prompt(&wish.name)?.1))
    }

    /// The texts of prompts, each asked of its server now.
    ///
    /// # Errors
    /// `not_found` for a prompt that was not accepted; `bad_request` for arguments it does not take or
    /// lacks; as [`McpConnection::prompt`].
    pub(crate) async fn notes(&self, wishes: &[PromptRef]) -> Result<Vec<Note>> {
        let mut notes = Vec::new();
        for wish in wishes {
            let (connection, prompt) = self.prompt(&wish.name)?;
            check_arguments(wish, prompt)?;
            let arguments =
                wish.arguments.iter().map(|(name, text)| (name.clone(), text.as_str().into())).collect();
            let text = connection.prompt(prompt, arguments).await.map_err(|failure| error_of(&failure))?;
            notes.push(Note { from: wish.name.clone(), text });
        }
        Ok(notes)
    }

    fn prompt(&self, wanted: &str) -> Result<(&McpConnection, &AcceptedPrompt)> {
        let (server, name) = wanted.split_once('.').unwrap_or((wanted, ""));
        if let Some(server) = self.0.get(server) {
            if let Err(error) = &server.accepted {
                return Err(Error::new(error.code(), error.message()).with_help(error.help()));
            }
            if let Some(prompt) = server.prompts().find(|prompt| prompt.name == name) {
                return Ok((&server.connection, prompt));
            }
        }
        let of = |(name, server): (&String, &Server)| -> Vec<String> {
            server.prompts().map(|prompt| format!("{name}.{}", prompt.name)).collect()
        };
        let known =
            self.0.iter().flat_map(|(name, server)| of((name, server))).collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() { "none".to_owned() } else { known };
        Err(Error::new(ErrorCode::NotFound, format!("no prompt `{wanted}` was accepted")).with_help(format!(
            "the prompts are: {known}; `luaplan mcp accept NAME` takes those of a server"
        )))
    }

    /// The tool behind `spec`.
    pub(crate) fn tool(&self, spec: &ToolSpec) -> Result<Arc<dyn Tool>> {
        let found = spec.name.split_once('.').and_then(|(server, name)| {
            let server = self.0.get(server)?;
            let tool = server.tools().find(|tool| tool.name == name)?;
            Some(McpTool::new(spec.clone(), tool.clone(), server.connection.clone()))
        });
        match found {
            Some(tool) => Ok(Arc::new(tool)),
            None => Err(Error::new(ErrorCode::Internal, format!("no server has the tool `{}`", spec.name))),
        }
    }
}

/// The settings of the server `name`.
///
/// # Errors
/// `not_found` where no such server is configured.
pub(crate) fn settings_of<'a>(config: &'a Config, name: &str) -> Result<&'a McpServerSettings> {
    config.mcp.get(name).ok_or_else(|| {
        let known: Vec<&str> = config.mcp.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Error::new(ErrorCode::NotFound, format!("no MCP server `{name}` is configured"))
            .with_help(format!("the servers are: {known}; add `[mcp.{name}]` to luaplan.toml"))
    })
}

/// What was accepted of the server `name`; `None` where nothing was.
///
/// # Errors
/// As [`Accepted::load`].
pub(crate) fn accepted_of(config: &Config, name: &str) -> Result<Option<Accepted>> {
    let path = path(config, name);
    if path.exists() { Accepted::load(&path).map(Some) } else { Ok(None) }
}

/// Refuses a server that lacks something of its configuration.
///
/// # Errors
/// `config_invalid` with what is missing.
pub(crate) fn complete(settings: &McpServerSettings) -> Result<&McpServerSettings> {
    let Some(missing) = &settings.missing else { return Ok(settings) };
    let message = format!("mcp.{}: {missing}", settings.name);
    Err(Error::new(ErrorCode::ConfigInvalid, message)
        .with_help("set it, and run the command again")
        .with_detail("key", format!("mcp.{}", settings.name)))
}

/// The servers of which nothing was accepted or can be read, so that plans know no tool of theirs, and what to do.
pub(crate) fn not_accepted(config: &Config) -> Vec<(String, String)> {
    let help = |name: &String| match accepted_of(config, name) {
        Ok(Some(_)) => None,
        Ok(None) => {
            Some(format!("nothing of the MCP server `{name}` was accepted yet: `luaplan mcp accept {name}`"))
        }
        Err(error) => Some(format!("{}; {}", error.message(), error.help())),
    };
    config.mcp.keys().filter_map(|name| Some((name.clone(), help(name)?))).collect()
}

/// Asks a server what it offers, and with `accept` takes that as what plans may call.
///
/// # Errors
/// `not_found` where no such server is configured; `config_invalid` where something of its configuration is
/// missing; `mcp_unavailable` and `mcp_failed` as it answers;
/// `config_unreadable` where what is accepted cannot be read or written.
pub async fn offer_of_mcp_server(config: &Config, name: &str, accept: bool) -> Result<McpOffer> {
    let settings = complete(settings_of(config, name)?)?;
    let path = path(config, name);
    let before = Accepted::load(&path)?;
    let connection = McpConnection::new(settings.clone(), authorization(config, settings, &system_clock())?);
    let (offered, refused) = connection.offered().await.map_err(|failure| error_of(&failure))?;
    let tools = offered
        .changes(&before)
        .into_iter()
        .map(|(tool, change)| {
            let spec = offered.tools.iter().find(|offered| offered.name == tool);
            let spec = spec.map(|tool| tool.spec(settings)).transpose()?;
            Ok(OfferedTool {
                name: format!("{name}.{tool}"),
                change,
                effect: spec.as_ref().map(|spec| spec.effect),
                description: spec.map(|spec| spec.description),
            })
        })
        .collect::<Result<_>>()?;
    let prompts = offered
        .prompt_changes(&before)
        .into_iter()
        .map(|(prompt, change)| {
            let known = offered.prompts.iter().find(|offered| offered.name == prompt);
            let mut arguments = known.map(|known| known.arguments.clone()).unwrap_or_default();
            arguments.sort_by_key(|argument| !argument.required);
            OfferedPrompt {
                name: format!("{name}.{prompt}"),
                change,
                arguments: arguments.into_iter().map(|argument| argument.name).collect(),
                description: known.map(|known| known.description.clone()),
            }
        })
        .collect();
    if accept {
        offered.save(&path)?;
    }
    Ok(McpOffer { server: name.to_owned(), tools, prompts, refused, accepted: accept })
}

fn check_arguments(wish: &PromptRef, prompt: &AcceptedPrompt) -> Result<()> {
    let bad =
        |what: String| Err(Error::new(ErrorCode::BadRequest, format!("the prompt `{}` {what}", wish.name)));
    let known: Vec<&str> = prompt.arguments.iter().map(|argument| argument.name.as_str()).collect();
    if let Some(other) = wish.arguments.keys().find(|name| !known.contains(&name.as_str())) {
        return bad(format!("has no argument `{other}`; it has: {}", known.join(", ")));
    }
    let missing = prompt.arguments.iter().find(|one| one.required && !wish.arguments.contains_key(&one.name));
    missing.map_or(Ok(()), |missing| bad(format!("needs the argument `{}`", missing.name)))
}

fn path(config: &Config, server: &str) -> PathBuf {
    config.data_dir.join("mcp").join(format!("{server}.json"))
}

fn error_of(failure: &ToolFailure) -> Error {
    let code = failure.code.parse().unwrap_or(ErrorCode::McpFailed);
    let error = Error::new(code, failure.message.clone());
    match failure.details.get(HELP) {
        Some(Value::String(help)) => error.with_help(help.clone()),
        _ => error,
    }
}

/// The clock of what is done without an application.
pub(super) fn system_clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

/// The way to tokens for a server; `None` where it takes none.
pub(crate) fn authorization(
    config: &Config,
    settings: &McpServerSettings,
    clock: &Arc<dyn Clock>,
) -> Result<Option<Arc<Authorization>>> {
    let McpTransport::Url { url, oauth: Some(oauth), .. } = &settings.transport else { return Ok(None) };
    let path = login_path(config, &settings.name);
    Authorization::new(&settings.name, url, oauth.clone(), &path, Arc::clone(clock)).map(Arc::new).map(Some)
}

fn login_path(config: &Config, server: &str) -> PathBuf {
    config.data_dir.join("mcp").join(format!("{server}.login.json"))
}
