//! Configuration the rest may use: every value parsed, every path resolved.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use toml::{Table, Value as Toml};

use luaplan_base::{Error, ErrorCode, LimitName, LimitProfile, Limits, Rate, Result, parse_bytes};
use luaplan_bus::{LimiterSettings, PolicyRules};
use luaplan_catalog::ToolOverride;
use luaplan_journal::{PostgresSettings, Redactor, SecretForms};
use luaplan_llm::LlmSettings;
use luaplan_tools::manifest::NamedSecrets;
use luaplan_tools::mcp::McpServerSettings;

use super::agents::AgentConfig;
use super::flow::{FlowRules, flow_rules};
use super::policy_file::read_policy;
use super::raw::{RawRates, TOOLS_DIR_DEFAULT};
use super::redact::{api_keys, of_settings, of_value};
use super::sandbox::SandboxConfig;
use super::server_answers::ServerAnswers;
use super::server_shares::ServerShares;
use super::values::{AS_LONG_AS_THE_RUN, duration, invalid, keyed, refused, timeout};
use super::{Environment, RawConfig, RawLimits, RawServer};

/// Keys of `[tools.NAME]` that adjust the manifest; all others are the tool's own settings.
pub const OVERRIDE_KEYS: [&str; 5] = ["rate", "burst", "timeout", "concurrency", "enabled"];

/// `[tools.NAME]`, taken apart.
#[derive(Debug, Clone, Default)]
pub struct ToolConfig {
    /// What changes of the manifest.
    pub overrides: ToolOverride,
    /// The tool's own settings, not yet read by it.
    pub settings: Table,
}

/// `[server]`, parsed.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Where to listen.
    pub listen: SocketAddr,
    /// The file with API keys.
    pub api_keys_file: Option<PathBuf>,
    /// Further names `/mcp` may be called by.
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages that may call `/mcp`.
    pub allowed_origins: Vec<String>,
    /// The largest request body.
    pub body_limit_bytes: u64,
    /// How many runs may be under way at once.
    pub max_concurrent_runs: u32,
    /// How much of the server one caller may hold.
    pub shares: ServerShares,
    /// How much of what a run gave stands in one answer.
    pub answers: ServerAnswers,
    /// How long a request may take.
    pub request_timeout: Duration,
    /// How long running runs may continue after SIGTERM.
    pub shutdown_grace: Duration,
    /// Whether the service resumes the runs whose process is gone when it starts.
    pub take_up_runs: bool,
}

/// Everything configured, ready to use. Made by [`Config::check`] only.
#[derive(Debug, Clone)]
pub struct Config {
    /// Folder for journal, contexts and plans.
    pub data_dir: PathBuf,
    /// The database runs are kept in, where it is not a file in the data folder.
    pub journal: Option<PostgresSettings>,
    /// Where whole prompts and answers of models are kept, if anywhere.
    pub model_bodies: Option<PathBuf>,
    /// How many runs may wait for a node with room.
    pub queue_max: u32,
    /// The folder relative paths in tool settings start from.
    pub base_dir: PathBuf,
    /// The model.
    pub llm: LlmSettings,
    /// What a run may use.
    pub limits: Limits,
    /// Which engine runs plans, and where.
    pub sandbox: SandboxConfig,
    /// `[tools.NAME]` by name.
    pub tools: BTreeMap<String, ToolConfig>,
    /// The folder with manifests of further tools, where it is there.
    pub tools_dir: Option<PathBuf>,
    /// Secrets that manifests name.
    pub secrets: NamedSecrets,
    /// The `bwrap` program, where the search path has it.
    pub bubblewrap: Option<PathBuf>,
    /// The program queries of SQLite files run in; without one they run in this process.
    pub sqlite_program: Option<PathBuf>,
    /// `[mcp.NAME]` by name: the servers that are enabled.
    pub mcp: BTreeMap<String, McpServerSettings>,
    /// The servers that are not enabled.
    pub mcp_disabled: BTreeSet<String>,
    /// What is sent to these servers and must not be written anywhere.
    pub mcp_secrets: Vec<SecretString>,
    /// What further secrets look like.
    pub secret_forms: SecretForms,
    /// The agents plans may call, by name.
    pub agents: BTreeMap<String, AgentConfig>,
    /// How deep agents may call agents.
    pub agent_depth: u32,
    /// How calls wait for their turn.
    pub rates: LimiterSettings,
    /// How often findings go back to the model.
    pub repair_rounds: u32,
    /// How long planning may take.
    pub planning_timeout: Duration,
    /// How often a failed run is planned anew.
    pub replans: u32,
    /// The same where every call so far only read, where it is more.
    pub replans_after_reads: u32,
    /// By how many plans an autonomous run works on its task at most, unless it is asked for otherwise.
    pub iterations_max: u32,
    /// The policy file, where one is configured.
    pub policy: Option<Arc<PolicyRules>>,
    /// Which sources are trusted, where untrusted data may not steer calls unseen.
    pub flow: Option<FlowRules>,
    /// Whether `task` at a terminal asks before it runs a plan.
    pub confirms_tasks: bool,
    /// How many plans are asked for; the best is taken.
    pub candidates: u32,
    /// Whether the model chooses among equal candidates.
    pub reviewer: bool,
    /// Whether a model may see what tools and context said in a failed run.
    pub share_run_data: bool,
    /// Whether the shape of results is learned where a tool does not declare it.
    pub learn_shapes: bool,
    /// Whether a person at a terminal is asked about samples of what a task names.
    pub asks_for_samples: bool,
    /// The HTTP service.
    pub server: ServerConfig,
    /// Filter of the log.
    pub log_filter: String,
    /// Whether the log is JSON.
    pub log_json: bool,
}

impl Config {
    /// The file the journal is kept in, where no database is configured.
    #[must_use]
    pub fn journal_path(&self) -> PathBuf {
        self.data_dir.join("journal.db")
    }

    /// Parses and resolves.
    ///
    /// # Errors
    /// `config_invalid` or `config_unknown_key`, naming the key.
    pub fn check(raw: &RawConfig, environment: &Environment) -> Result<Self> {
        let base_dir = environment.working_dir.clone();
        if raw.data_dir.trim().is_empty() {
            return Err(invalid("data_dir", &raw.data_dir, "the name of a folder"));
        }
        let data_dir = base_dir.join(&raw.data_dir);
        let (mcp, mcp_secrets) = super::mcp::check(&raw.mcp, environment)?;
        let limits = check_limits(&raw.limits)?;
        Ok(Self {
            mcp,
            mcp_secrets,
            secret_forms: raw.redact.check()?,
            mcp_disabled: raw
                .mcp
                .iter()
                .filter(|(_, raw)| !raw.enabled)
                .map(|(name, _)| name.clone())
                .collect(),
            journal: super::journal::check(&raw.store, &raw.journal, &data_dir, environment)?,
            model_bodies: super::journal::model_bodies(&raw.journal, &data_dir)?,
            queue_max: raw.journal.queue_max,
            data_dir,
            llm: raw.llm.clone(),
            agents: super::agents::check(&raw.agents, &limits, &base_dir)?,
            agent_depth: at_most("agent_depth", raw.agent_depth, 8)?,
            limits,
            sandbox: SandboxConfig::check(&raw.sandbox, raw.server.max_concurrent_runs)?,
            tools: raw.tools.iter().map(|tool| check_tool(tool, environment)).collect::<Result<_>>()?,
            tools_dir: check_tools_dir(&raw.tools_dir, &base_dir)?,
            secrets: super::secrets::check(raw, environment)?,
            bubblewrap: environment.program("bwrap"),
            sqlite_program: environment.sqlite_program.clone(),
            rates: check_rates(&raw.rates)?,
            repair_rounds: at_most("planner.repair_rounds", raw.planner.repair_rounds, 5)?,
            planning_timeout: timeout("planner.timeout", &raw.planner.timeout)?,
            replans: at_most("planner.replans", raw.planner.replans, 3)?,
            replans_after_reads: at_most("planner.replans_after_reads", raw.planner.replans_after_reads, 3)?,
            iterations_max: super::autonomous::iterations_max(&raw.autonomous)?,
            policy: path_or_none(&base_dir, &raw.policy.file)
                .map(|path| read_policy(&path).map(Arc::new))
                .transpose()?,
            flow: flow_rules(&raw.policy.flow)?,
            confirms_tasks: super::approvals::confirms_tasks(&raw.approvals)?,
            candidates: super::planner::candidates(raw.planner.candidates)?,
            reviewer: raw.planner.reviewer,
            share_run_data: raw.planner.share_run_data,
            learn_shapes: raw.planner.learn_shapes,
            asks_for_samples: super::planner::asks_for_samples(&raw.planner.sample)?,
            server: check_server(&raw.server, &base_dir)?,
            log_filter: check_filter(&raw.log.filter)?,
            log_json: match raw.log.format.as_str() {
                "text" => false,
                "json" => true,
                other => return Err(invalid("log.format", other, "`text` or `json`")),
            },
            base_dir,
        })
    }

    /// What takes every secret this process knows out of what it writes.
    #[must_use]
    pub fn redactor(&self, environment: &Environment) -> Redactor {
        let exposed = |secret: &SecretString| secret.expose_secret().to_owned();
        let keys = self.llm.key_variables();
        let mut secrets: Vec<String> =
            keys.iter().filter_map(|name| environment.get(name)).map(str::to_owned).collect();
        secrets.extend(self.secrets.values().chain(&self.mcp_secrets).map(exposed));
        secrets.extend(self.server.api_keys_file.iter().flat_map(|path| api_keys(path)));
        let mut found = Vec::new();
        if let Some(shared) = &self.journal {
            of_value("", &Toml::String(exposed(&shared.url)), environment, &mut found);
        }
        for (name, tool) in &self.tools {
            of_settings(name, &tool.settings, environment, &mut found);
        }
        secrets.extend(found.into_iter().map(|(_, secret)| secret));
        Redactor::new(secrets).with_forms(self.secret_forms.clone())
    }
}

fn check_filter(text: &str) -> Result<String> {
    let filter = tracing_subscriber::EnvFilter::try_new(text);
    filter.map(|_| text.to_owned()).map_err(|_| {
        invalid("log.filter", text, "a level such as `warn`, or `target=level` pairs such as `luaplan=debug`")
    })
}

fn check_limits(raw: &RawLimits) -> Result<Limits> {
    let profile: LimitProfile = raw.profile.parse().map_err(|error| keyed("limits.profile", &error))?;
    let mut limits = profile.limits();
    for (name, value) in &raw.single {
        let key = format!("limits.{name}");
        let limit: LimitName = name.parse().map_err(|error: Error| {
            Error::new(ErrorCode::ConfigUnknownKey, format!("{key}: {}", error.message()))
                .with_help(error.help().to_owned())
                .with_detail("key", key.as_str())
        })?;
        let text = match value {
            Toml::String(text) => text.clone(),
            Toml::Integer(_) | Toml::Float(_) => value.to_string(),
            other => return Err(invalid(&key, &other.to_string(), "a number or text")),
        };
        limits.set(limit, &text).map_err(|error| keyed(&key, &error))?;
    }
    Ok(limits)
}

fn check_tool((name, value): (&String, &Toml), environment: &Environment) -> Result<(String, ToolConfig)> {
    let Toml::Table(table) = value else {
        return Err(invalid(&format!("tools.{name}"), &value.to_string(), "a table"));
    };
    let (overrides, mut settings): (Table, Table) =
        table.clone().into_iter().partition(|(key, _)| OVERRIDE_KEYS.contains(&key.as_str()));
    for (key, value) in &overrides {
        let alone = Table::from_iter([(key.clone(), value.clone())]);
        let key = format!("tools.{name}.{key}");
        alone
            .try_into::<ToolOverride>()
            .map_err(|error| refused(&error, &key).with_detail("key", key.as_str()))?;
    }
    let overrides = overrides.try_into().map_err(|error| refused(&error, &format!("tools.{name}")))?;
    super::redact::check_tool(name, &settings, environment)?;
    if let Some(Toml::Table(databases)) = settings.get_mut("databases") {
        for (database, url) in databases {
            take_from_environment(&format!("tools.{name}.databases.{database}"), url, environment)?;
        }
    }
    if let Some(url) = settings.get_mut("url") {
        take_from_environment(&format!("tools.{name}.url"), url, environment)?;
    }
    Ok((name.clone(), ToolConfig { overrides, settings }))
}

/// The folder of the default name need not be there; one that was named must be.
fn check_tools_dir(text: &str, base_dir: &Path) -> Result<Option<PathBuf>> {
    if text.trim().is_empty() {
        return Err(invalid("tools_dir", text, "the name of a folder"));
    }
    let path = base_dir.join(text);
    if path.is_dir() {
        return Ok(Some(path));
    }
    if text == TOOLS_DIR_DEFAULT && !path.exists() {
        return Ok(None);
    }
    Err(invalid("tools_dir", text, "a folder that is there"))
}

/// `env:NAME` stands for the value of that variable, so that a password need not be in a file.
fn take_from_environment(key: &str, value: &mut Toml, environment: &Environment) -> Result<()> {
    let Some(name) = value.as_str().and_then(|text| text.strip_prefix("env:")) else { return Ok(()) };
    let found = environment.get(name).ok_or_else(|| {
        Error::new(ErrorCode::ConfigInvalid, format!("{key} is taken from ${name}, which is not set"))
            .with_detail("key", key)
    })?;
    *value = Toml::String(found.to_owned());
    Ok(())
}

fn check_rates(raw: &RawRates) -> Result<LimiterSettings> {
    let rate: Rate = raw.run.parse().map_err(|error| keyed("rates.run", &error))?;
    for (key, value) in [("rates.run_burst", raw.run_burst), ("rates.queue_max", raw.queue_max)] {
        if value == 0 {
            return Err(invalid(key, "0", "a number above zero"));
        }
    }
    Ok(LimiterSettings {
        max_wait: match raw.wait_max.as_str() {
            AS_LONG_AS_THE_RUN => None,
            text => Some(duration("rates.wait_max", text)?),
        },
        queue_max: raw.queue_max,
        run_rate: Some((rate, raw.run_burst)),
    })
}

fn check_server(raw: &RawServer, base_dir: &Path) -> Result<ServerConfig> {
    let listen = raw
        .listen
        .parse()
        .map_err(|_| invalid("server.listen", &raw.listen, "an address and port such as `127.0.0.1:7777`"))?;
    let body_limit_bytes =
        parse_bytes(&raw.body_limit).map_err(|error| keyed("server.body_limit", &error))?;
    if body_limit_bytes == 0 {
        return Err(invalid("server.body_limit", &raw.body_limit, "a size above zero"));
    }
    if raw.max_concurrent_runs == 0 {
        return Err(invalid("server.max_concurrent_runs", "0", "a number above zero"));
    }
    Ok(ServerConfig {
        listen,
        api_keys_file: path_or_none(base_dir, &raw.api_keys_file),
        allowed_hosts: raw.allowed_hosts.iter().map(|host| check_host(host)).collect::<Result<_>>()?,
        allowed_origins: raw
            .allowed_origins
            .iter()
            .map(|origin| check_origin(origin))
            .collect::<Result<_>>()?,
        body_limit_bytes,
        max_concurrent_runs: raw.max_concurrent_runs,
        shares: ServerShares::check(raw)?,
        answers: ServerAnswers::check(raw)?,
        request_timeout: timeout("server.request_timeout", &raw.request_timeout)?,
        shutdown_grace: duration("server.shutdown_grace", &raw.shutdown_grace)?,
        take_up_runs: raw.take_up_runs,
    })
}

fn check_host(text: &str) -> Result<String> {
    let named = url::Url::parse(&format!("http://{text}/"));
    if named.is_ok_and(|url| url.path() == "/" && url.username().is_empty() && url.query().is_none()) {
        return Ok(text.to_owned());
    }
    Err(invalid(
        "server.allowed_hosts",
        text,
        "a host such as `plans.example.com`, with a port if it is not the usual one",
    ))
}

/// The port is written out: without one, any would do.
fn check_origin(text: &str) -> Result<String> {
    let origin = url::Url::parse(text).ok().filter(|url| ["http", "https"].contains(&url.scheme()));
    match origin.as_ref().map(|url| (url.host_str(), url.port_or_known_default(), url.path())) {
        Some((Some(host), Some(port), "/")) if !text.ends_with('/') => {
            Ok(format!("{}://{host}:{port}", origin.as_ref().map_or("", |url| url.scheme())))
        }
        _ => Err(invalid("server.allowed_origins", text, "an origin such as `https://plans.example.com`")),
    }
}

fn path_or_none(base_dir: &Path, text: &str) -> Option<PathBuf> {
    (!text.is_empty()).then(|| base_dir.join(text))
}

pub(super) fn at_most(key: &str, value: u32, max: u32) -> Result<u32> {
    if value <= max {
        return Ok(value);
    }
    Err(invalid(key, &value.to_string(), &format!("at most {max}")).with_limit(max, value))
}
