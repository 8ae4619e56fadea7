//! What a manifest says about a tool.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use luaplan_base::{ContentHash, Effect, Rate};

use super::compiled::CompiledParams;

/// What an argument is for; policy and information flow depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentRole {
    /// Decides who or what is reached: a recipient, a URL, a path.
    Authority,
    /// Identifies a thing: a table, a key.
    Id,
    /// What is carried: a body, a text.
    Content,
}

/// What of the outside world an argument names. An argument that names none is only data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// A web address, or a list of them; what counts is its host.
    Url,
    /// A host, with its port if it has one.
    Host,
    /// A mail address or several.
    Recipient,
    /// A database by its configured name.
    Database,
    /// A table or view.
    Table,
    /// SQL text, or a part of it; what counts are the tables it names.
    Sql,
    /// A path.
    File,
    /// A language model.
    Model,
    /// An MCP server by its configured name.
    Server,
}

impl TargetKind {
    /// Every kind, in the order they are shown in.
    pub const ALL: [Self; 9] = [
        Self::Url,
        Self::Host,
        Self::Recipient,
        Self::Database,
        Self::Table,
        Self::Sql,
        Self::File,
        Self::Model,
        Self::Server,
    ];

    /// The name manifests use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Host => "host",
            Self::Recipient => "recipient",
            Self::Database => "database",
            Self::Table => "table",
            Self::Sql => "sql",
            Self::File => "file",
            Self::Model => "model",
            Self::Server => "server",
        }
    }
}

/// What the MCP server of a tool says of it; absent hints take the protocol's defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerHints {
    /// Whether a call may undo or overwrite something, rather than only add to it.
    pub is_destructive: bool,
    /// Whether a call may reach beyond the server.
    pub is_open_world: bool,
}

/// How a tool is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolKind {
    /// Rust in this binary.
    Builtin,
    /// An HTTP request described in the manifest.
    Http,
    /// A SQL query described in the manifest.
    Sql,
    /// A command described in the manifest.
    Command,
    /// A tool of an MCP server.
    Mcp,
}

/// One tool, as its manifest declares it and configuration adjusts it.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    /// The name plans call, `[a-z][a-z0-9_]*`, with one dot for tools of a server.
    pub name: String,
    /// What it does, for the model and for people.
    pub description: String,
    /// JSON Schema of the parameters (an object); the order of its properties is the positional order.
    pub params: Json,
    /// JSON Schema of the result.
    pub result: Json,
    /// What a call does to the world.
    pub effect: Effect,
    /// Whether repeating the same call with the same idempotency key changes nothing more.
    pub idempotent: bool,
    /// How often it may be called.
    pub rate: Rate,
    /// How many calls may come at once before the rate counts.
    pub burst: u32,
    /// How many calls may run at once.
    pub concurrency: u32,
    /// How long one call may take.
    pub timeout: Duration,
    /// The capability a run needs, for example `net.fetch`.
    pub capability: String,
    /// How it is made.
    pub kind: ToolKind,
    /// The kind's own settings, from the manifest's `[settings]`.
    pub settings: toml::Table,
    /// What each argument is for; an argument not named is content.
    pub arguments: BTreeMap<String, ArgumentRole>,
    /// What of the outside world arguments name.
    pub targets: BTreeMap<String, TargetKind>,
    /// What one call costs, in millionths of a US dollar, where the manifest says so.
    pub price_micro_usd: Option<u64>,
    /// For tools that suspend their run: how long one call may do so.
    pub sleeps_max: Option<Duration>,
    /// The agents a call can start, by name, with the tools each may call; empty for other tools.
    pub agents: BTreeMap<String, Vec<String>>,
    /// For tools of MCP servers: what these say of them.
    pub server_hints: Option<ServerHints>,
    /// JSON Schema of what its results were seen to hold, where `result` says nothing of that. Advice, for one tenant.
    pub seen: Option<Json>,
    /// `params`, compiled at first use. Replace it with the default when `params` is changed.
    pub compiled: CompiledParams,
}

impl ToolSpec {
    /// The parameters in positional order: name and schema.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.params
            .get("properties")
            .and_then(Json::as_object)
            .into_iter()
            .flatten()
            .map(|(name, schema)| (name.as_str(), schema))
    }

    /// The manifest as data, for lists of tools, with `seen` where something is known of it.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut tool = json!({
            "name": self.name,
            "description": self.description,
            "effect": self.effect,
            "idempotent": self.idempotent,
            "rate": self.rate.to_string(),
            "burst": self.burst,
            "concurrency": self.concurrency,
            "timeout_ms": u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX),
            "capability": self.capability,
            "kind": self.kind,
            "params": self.params,
            "result": self.result,
        });
        if let (Some(seen), Some(members)) = (&self.seen, tool.as_object_mut()) {
            members.insert("seen".to_owned(), seen.clone());
        }
        tool
    }

    /// Hash of what a call does: kind and settings, effect and parameters. Descriptions and rates are no
    /// part of it: a tool with a new rate is the same tool.
    #[must_use]
    pub fn definition_hash(&self) -> ContentHash {
        ContentHash::of_json(&json!({
            "name": self.name,
            "kind": self.kind,
            "effect": self.effect,
            "idempotent": self.idempotent,
            "params": self.params,
            "settings": self.settings,
        }))
    }

    /// Whether the parameter `name` must be given.
    #[must_use]
    pub fn is_required(&self, name: &str) -> bool {
        self.params
            .get("required")
            .and_then(Json::as_array)
            .is_some_and(|names| names.iter().any(|required| required == name))
    }

    /// The schema of the parameter `name`.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&Json> {
        self.params.get("properties")?.get(name)
    }

    /// The parameter in which a call may give the JSON Schema of its own result: what a built-in tool's result schema
    /// names under `x-schema-from`.
    #[must_use]
    pub fn result_schema_parameter(&self) -> Option<&str> {
        self.result.get("x-schema-from").filter(|_| self.kind == ToolKind::Builtin)?.as_str()
    }

    /// The result schema of a call with these arguments.
    #[must_use]
    pub fn result_of<'a>(&'a self, arguments: &'a Json) -> &'a Json {
        let own = self.result_schema_parameter().and_then(|name| arguments.get(name));
        own.filter(|schema| schema.is_object()).unwrap_or(&self.result)
    }

    /// Whether `result` fits the result schema of a call with these arguments.
    ///
    /// # Errors
    /// What does not fit and where, or what is wrong with the schema, in words.
    pub fn check_result(&self, arguments: &Json, result: &Json) -> Result<(), String> {
        check_document(self.result_of(arguments), result)
    }

    /// Whether further names than the parameters are allowed: only where the schema says so itself.
    #[must_use]
    pub fn takes_unknown_names(&self) -> bool {
        let says_so = |key: &str| self.params.get(key).is_some_and(|schema| *schema != Json::Bool(false));
        says_so("additionalProperties") || says_so("patternProperties")
    }
}

/// The whitelist: every tool a run may call, in a fixed order.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    tools: IndexMap<String, Arc<ToolSpec>>,
    /// Groups of tools that could be available, and what to do for that.
    absent: BTreeMap<String, String>,
    /// Tools that cannot work yet, and what each lacks.
    not_set_up: BTreeMap<String, String>,
}

impl Catalog {
    /// Adds a tool, replacing one of the same name.
    pub fn insert(&mut self, spec: ToolSpec) {
        self.tools.insert(spec.name.clone(), Arc::new(spec));
    }

    /// Records what to do about a group of tools that a plan may name and that is not available yet.
    pub fn note_absent(&mut self, group: &str, what_to_do: String) {
        self.absent.insert(group.to_owned(), what_to_do);
    }

    /// What to do to make the group of that name available.
    #[must_use]
    pub fn absent(&self, group: &str) -> Option<&str> {
        self.absent.get(group).map(String::as_str)
    }

    /// Records what a tool lacks before it can work.
    pub fn note_not_set_up(&mut self, tool: &str, what_is_missing: String) {
        self.not_set_up.insert(tool.to_owned(), what_is_missing);
    }

    /// What the tool of that name lacks before it can work.
    #[must_use]
    pub fn not_set_up(&self, tool: &str) -> Option<&str> {
        self.not_set_up.get(tool).map(String::as_str)
    }

    /// The manifest of a tool as data, for lists of tools, with `not_set_up` where it cannot work yet.
    #[must_use]
    pub fn listed(&self, spec: &ToolSpec) -> Json {
        let mut tool = spec.to_json();
        if let (Some(missing), Some(members)) = (self.not_set_up(&spec.name), tool.as_object_mut()) {
            members.insert("not_set_up".to_owned(), missing.into());
        }
        tool
    }

    /// The tool of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<ToolSpec>> {
        self.tools.get(name)
    }

    /// The tools that `is_kept` accepts, in the same order, without the notes on absent groups.
    #[must_use]
    pub fn only(&self, is_kept: impl Fn(&ToolSpec) -> bool) -> Self {
        let kept = self.tools.iter().filter(|(_, spec)| is_kept(spec));
        let tools: IndexMap<_, _> = kept.map(|(name, spec)| (name.clone(), Arc::clone(spec))).collect();
        let mut not_set_up = self.not_set_up.clone();
        not_set_up.retain(|tool, _| tools.contains_key(tool));
        Self { tools, absent: BTreeMap::new(), not_set_up }
    }

    /// How many tools there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there is no tool.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Every tool, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<ToolSpec>> {
        self.tools.values()
    }

    /// Every name, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }
}

impl FromIterator<ToolSpec> for Catalog {
    fn from_iter<I: IntoIterator<Item = ToolSpec>>(specs: I) -> Self {
        let mut catalog = Self::default();
        for spec in specs {
            catalog.insert(spec);
        }
        catalog
    }
}

/// Whether `document` fits `schema`.
///
/// # Errors
/// What does not fit and where, or what is wrong with the schema, in words.
pub fn check_document(schema: &Json, document: &Json) -> Result<(), String> {
    let validator = super::compiled::compile(schema)?;
    super::effort::bounded(schema, document)?;
    validator.validate(document).map_err(|error| match error.instance_path().as_str() {
        "" => error.to_string(),
        path => format!("at {path}: {error}"),
    })
}

/// Whether `schema` is a JSON Schema whose references stay within it.
///
/// # Errors
/// What is wrong with it, in words.
pub fn check_schema(schema: &Json) -> Result<(), String> {
    super::compiled::compile(schema).map(drop)
}
