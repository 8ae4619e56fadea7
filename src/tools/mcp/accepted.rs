//! What the operator accepted of a server: its tools with their descriptions, schemas and hints, by hash.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rmcp::model::{Prompt, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use luaplan_base::{ContentHash, Effect, Error, ErrorCode, Rate, Result};
use luaplan_catalog::{ArgumentRole, CompiledParams, ServerHints, ToolKind, ToolSpec, plan_name};
use luaplan_journal::create_private_folder;

use super::content::canonical;
use super::prompts::{AcceptedPrompt, RefusedOffer};
use super::settings::{McpServerSettings, UnwrapResults};
use super::state_file::read_regular;
use super::wrapper::Wrapper;

const VERSION: u32 = 1;

/// The tool that reads resources.
const READ: &str = "read";

/// The longest description that goes into prompts.
const DESCRIPTION_CHARACTERS_MAX: usize = 2_000;
/// More tools than this are not taken from one server.
const TOOLS_MAX: usize = 500;

/// Rate, burst and concurrency of a tool. For reads the bound only keeps a plan from flooding a server; calls
/// that change the world come at a pace that a person can still follow.
const fn pace(effect: Effect) -> (&'static str, u32, u32) {
    match effect {
        Effect::Read => ("100/s", 200, 16),
        Effect::Write | Effect::Send | Effect::Spend => ("120/m", 20, 4),
    }
}

const TIMEOUT: Duration = Duration::from_secs(60);

/// What was accepted of one server.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    version: u32,
    /// The tools, in the server's order.
    pub tools: Vec<AcceptedTool>,
    /// The prompts, in the server's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<AcceptedPrompt>,
}

/// One tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptedTool {
    /// The name behind the dot.
    pub name: String,
    /// The server's own name for it; empty for the reading of resources.
    pub original: String,
    /// What it does, in the server's words.
    pub description: String,
    /// JSON Schema of the parameters.
    pub params: Json,
    /// JSON Schema of the result, where the server gives one.
    pub result: Option<Json>,
    /// What a call does to the world, by the server's hints.
    pub effect: Effect,
    /// Whether it may be repeated, by the server's hints.
    pub idempotent: bool,
    /// Whether a call may undo or overwrite something, by the server's hints; true where it gives none.
    #[serde(default = "unsaid")]
    pub is_destructive: bool,
    /// Whether a call may reach beyond the server, by its hints; true where it gives none.
    #[serde(default = "unsaid")]
    pub is_open_world: bool,
    /// Of everything above as the server said it.
    pub hash: ContentHash,
}

/// The protocol's default of an absent hint.
const fn unsaid() -> bool {
    true
}

/// How a tool differs from what was accepted before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It was not there.
    New,
    /// Its description, schema or hints differ.
    Changed,
    /// It is not there any more.
    Gone,
    /// It is as it was.
    Same,
}

impl AcceptedTool {
    /// Whether it reads resources and is none of the server's own tools.
    #[must_use]
    pub fn is_resources(&self) -> bool {
        self.original.is_empty()
    }

    fn of(tool: &Tool, name: String) -> std::result::Result<Self, String> {
        let params = Json::Object((*tool.input_schema).clone());
        let result = tool.output_schema.as_ref().map(|schema| Json::Object((**schema).clone()));
        if params.get("type").is_none_or(|kind| kind != "object") {
            return Err("its parameters are not an object".to_owned());
        }
        for schema in std::iter::once(&params).chain(&result) {
            jsonschema::options()
                .offline()
                .build(schema)
                .map_err(|error| format!("its schema is none: {error}"))?;
        }
        let hints = tool.annotations.as_ref();
        let read_only = hints.and_then(|hints| hints.read_only_hint);
        let effect = match hints {
            Some(_) if read_only == Some(true) => Effect::Read,
            Some(hints) if read_only == Some(false) => {
                if hints.open_world_hint == Some(false) {
                    Effect::Write
                } else {
                    Effect::Send
                }
            }
            // Without hints: the most careful class.
            _ => Effect::Spend,
        };
        let description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or("(no description)");
        Ok(Self {
            name,
            original: tool.name.to_string(),
            description: description.chars().take(DESCRIPTION_CHARACTERS_MAX).collect(),
            params,
            result,
            effect,
            idempotent: hints
                .is_some_and(|hints| effect == Effect::Read || hints.idempotent_hint == Some(true)),
            is_destructive: hints.and_then(|hints| hints.destructive_hint).unwrap_or_else(unsaid),
            is_open_world: hints.and_then(|hints| hints.open_world_hint).unwrap_or_else(unsaid),
            hash: hash_of(tool),
        })
    }

    fn resources() -> Self {
        let params = json!({
            "type": "object",
            "properties": { "uri": { "type": "string", "description": "the resource's URI" } },
            "required": ["uri"],
            "additionalProperties": false,
        });
        Self {
            name: READ.to_owned(),
            original: String::new(),
            description:
                "Reads a resource of this server: its text or bytes, or a table from URI to these where it \
                          has several parts."
                    .to_owned(),
            hash: ContentHash::of_json(&params),
            params,
            result: None,
            effect: Effect::Read,
            idempotent: true,
            is_destructive: false,
            is_open_world: unsaid(),
        }
    }

    /// The member that is taken out of its results.
    pub(super) fn wrapper(&self, rule: UnwrapResults) -> Option<Wrapper> {
        Wrapper::of(self.result.as_ref()?, rule)
    }

    /// The schema of what plans get.
    fn shown_result(&self, rule: UnwrapResults) -> Json {
        let unwrapped = self.wrapper(rule).map(|wrapper| wrapper.schema);
        unwrapped.or_else(|| self.result.clone()).unwrap_or_else(|| json!({}))
    }

    /// The tool as plans know it.
    ///
    /// # Errors
    /// `internal` where a built-in default cannot be read.
    pub fn spec(&self, settings: &McpServerSettings) -> Result<ToolSpec> {
        let name = format!("{}.{}", settings.name, self.name);
        let effect = settings.effects.get(&self.name).copied().unwrap_or(self.effect);
        let (rate, burst, concurrency) = pace(effect);
        let mut arguments = BTreeMap::new();
        if self.is_resources() {
            arguments.insert("uri".to_owned(), ArgumentRole::Authority);
        }
        Ok(ToolSpec {
            capability: format!("mcp.{}", settings.name),
            name,
            description: self.description.clone(),
            params: self.params.clone(),
            result: self.shown_result(settings.unwrap_results),
            effect,
            idempotent: self.idempotent,
            rate: rate.parse::<Rate>()?,
            burst,
            concurrency,
            timeout: TIMEOUT,
            kind: ToolKind::Mcp,
            settings: toml::Table::new(),
            arguments,
            targets: BTreeMap::new(),
            price_micro_usd: None,
            sleeps_max: None,
            agents: BTreeMap::new(),
            server_hints: Some(ServerHints {
                is_destructive: self.is_destructive,
                is_open_world: self.is_open_world,
            }),
            seen: None,
            compiled: CompiledParams::default(),
        })
    }
}

impl Accepted {
    /// What a server offers, and what of it cannot be taken.
    #[must_use]
    pub fn offered(tools: &[Tool], prompts: &[Prompt], has_resources: bool) -> (Self, Vec<RefusedOffer>) {
        let (mut taken, mut refused): (Vec<AcceptedTool>, Vec<RefusedOffer>) = (Vec::new(), Vec::new());
        for tool in tools {
            let name = plan_name(&tool.name);
            let accepted = if name.is_empty() {
                Err("its name has no letter".to_owned())
            } else if taken.len() >= TOOLS_MAX {
                Err(format!("at most {TOOLS_MAX} tools of a server are taken"))
            } else if let Some(other) = taken.iter().find(|other| other.name == name) {
                Err(format!("plans would call it `{name}`, as they do `{}`", other.original))
            } else {
                AcceptedTool::of(tool, name)
            };
            match accepted {
                Ok(tool) => taken.push(tool),
                Err(reason) => refused.push(RefusedOffer { original: tool.name.to_string(), reason }),
            }
        }
        if has_resources && taken.iter().all(|tool| tool.name != READ) {
            taken.push(AcceptedTool::resources());
        }
        let (prompts, not_taken) = AcceptedPrompt::offered(prompts);
        refused.extend(not_taken);
        (Self { version: VERSION, tools: taken, prompts }, refused)
    }

    /// Each tool of `self` and of `before`, and how it differs.
    #[must_use]
    pub fn changes(&self, before: &Self) -> Vec<(String, Change)> {
        let of = |all: &Self| -> Vec<(String, ContentHash)> {
            all.tools.iter().map(|tool| (tool.name.clone(), tool.hash.clone())).collect()
        };
        differences(of(self), &of(before))
    }

    /// As [`Accepted::changes`], of prompts.
    #[must_use]
    pub fn prompt_changes(&self, before: &Self) -> Vec<(String, Change)> {
        let of = |all: &Self| -> Vec<(String, ContentHash)> {
            all.prompts.iter().map(|one| (one.name.clone(), one.hash.clone())).collect()
        };
        differences(of(self), &of(before))
    }

    /// Reads what was accepted; nothing where nothing was.
    ///
    /// # Errors
    /// `config_unreadable` for a file that is there and cannot be used.
    pub fn load(path: &Path) -> Result<Self> {
        let unusable = |what: &dyn std::fmt::Display| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let message = format!("{}: what was accepted cannot be read: {what}", path.display());
            Error::new(ErrorCode::ConfigUnreadable, message).with_help(format!(
                "remove the file, and accept the server again: `luaplan mcp accept {name}`"
            ))
        };
        let text = match read_regular(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(unusable(&error)),
        };
        let accepted: Self = serde_json::from_str(&text).map_err(|error| unusable(&error))?;
        if accepted.version != VERSION {
            return Err(unusable(&format_args!("version {} is not known", accepted.version)));
        }
        Ok(accepted)
    }

    /// Writes what is accepted, whole or not at all.
    ///
    /// # Errors
    /// `config_unreadable` where it cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let unwritable = |error: std::io::Error| {
            Error::new(ErrorCode::ConfigUnreadable, format!("{}: cannot be written: {error}", path.display()))
        };
        if let Some(folder) = path.parent() {
            create_private_folder(folder).map_err(unwritable)?;
        }
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::new(ErrorCode::Internal, format!("tools have no JSON form: {error}")))?;
        let next = path.with_extension("next");
        std::fs::write(&next, text + "\n").map_err(unwritable)?;
        std::fs::rename(&next, path).map_err(unwritable)
    }
}

fn differences(now: Vec<(String, ContentHash)>, before: &[(String, ContentHash)]) -> Vec<(String, Change)> {
    let hash_in = |all: &[(String, ContentHash)], name: &str| {
        all.iter().find(|(known, _)| known == name).map(|(_, hash)| hash.clone())
    };
    let gone: Vec<(String, Change)> = before
        .iter()
        .filter(|(name, _)| hash_in(&now, name).is_none())
        .map(|(name, _)| (name.clone(), Change::Gone))
        .collect();
    let change = |(name, hash): (String, ContentHash)| {
        let change = match hash_in(before, &name) {
            None => Change::New,
            Some(old) if old == hash => Change::Same,
            Some(_) => Change::Changed,
        };
        (name, change)
    };
    now.into_iter().map(change).chain(gone).collect()
}

/// The hash of everything a plan or the operator sees of the tool; the order of keys does not matter.
pub(super) fn hash_of(tool: &Tool) -> ContentHash {
    ContentHash::of_json(&canonical(&json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "params": *tool.input_schema,
        "result": tool.output_schema.as_deref(),
        "annotations": tool.annotations,
    })))
}
