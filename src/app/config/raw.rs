//! What users may write into `luaplan.toml`. Every key has a default that is safe.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use luaplan_base::written;
use luaplan_llm::LlmSettings;

use super::agents::RawAgent;
use super::approvals::RawApprovals;
use super::autonomous::RawAutonomous;
use super::journal::RawJournal;
use super::mcp::RawMcpServer;
use super::policy_file::RawPolicy;
use super::redact::RawRedact;
use super::sandbox::RawSandbox;
use super::values::AS_LONG_AS_THE_RUN;

/// The folder of manifests that need not be there.
pub(super) const TOOLS_DIR_DEFAULT: &str = "luaplan-tools";

/// The whole file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawConfig {
    /// Folder for the journal, named contexts and saved plans; relative to the working folder.
    pub data_dir: String,
    /// Where runs are kept: `sqlite` (a file in `data_dir`) or `postgres` (the database of `[journal]`).
    pub store: String,
    /// The database that several nodes share.
    pub journal: RawJournal,
    /// The planner's and `call_llm`'s model. Without `model` none is configured.
    pub llm: LlmSettings,
    /// What a run may use.
    pub limits: RawLimits,
    /// Which engine runs plans, and where.
    pub sandbox: RawSandbox,
    /// Settings of each tool, and overrides of its manifest (`rate`, `burst`, `timeout`,
    /// `concurrency`, `enabled`).
    pub tools: toml::Table,
    /// Folder with manifests of further tools; relative to the working folder.
    pub tools_dir: String,
    /// Secrets that manifests name, and where each is taken from.
    pub secrets: BTreeMap<String, RawSecret>,
    /// What further texts are secrets.
    pub redact: RawRedact,
    /// MCP servers whose tools plans may call.
    pub mcp: BTreeMap<String, RawMcpServer>,
    /// Agents that plans may call.
    pub agents: BTreeMap<String, RawAgent>,
    /// How deep agents may call agents: 1 where only a root run may.
    pub agent_depth: u32,
    /// How calls wait for their turn.
    pub rates: RawRates,
    /// How the planner works.
    pub planner: RawPlanner,
    /// How long autonomous runs go on.
    pub autonomous: RawAutonomous,
    /// What calls need a person's leave, and which are denied.
    pub policy: RawPolicy,
    /// Whether a person at a terminal confirms tasks.
    pub approvals: RawApprovals,
    /// The HTTP service.
    pub server: RawServer,
    /// The log on standard error.
    pub log: RawLog,
}

impl Default for RawConfig {
    fn default() -> Self {
        Self {
            data_dir: ".luaplan".into(),
            store: "sqlite".into(),
            journal: RawJournal::default(),
            llm: LlmSettings::default(),
            limits: RawLimits::default(),
            sandbox: RawSandbox::default(),
            tools: toml::Table::new(),
            tools_dir: TOOLS_DIR_DEFAULT.into(),
            secrets: BTreeMap::new(),
            redact: RawRedact::default(),
            mcp: BTreeMap::new(),
            agents: BTreeMap::new(),
            agent_depth: 2,
            rates: RawRates::default(),
            planner: RawPlanner::default(),
            autonomous: RawAutonomous::default(),
            policy: RawPolicy::default(),
            approvals: RawApprovals::default(),
            server: RawServer::default(),
            log: RawLog::default(),
        }
    }
}

/// One of `[secrets]`: where it is taken from, never the secret itself.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawSecret {
    /// The environment variable that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<String>,
    /// The file that holds it; a line break at its end does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The tools that may use it; every tool whose manifest names it where this is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
}

/// `[limits]`: a profile, then single limits by name.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct RawLimits {
    /// `strict`, `standard` or `generous`.
    pub profile: String,
    /// Single limits, as text or number; the names are checked against the known limits.
    #[serde(flatten)]
    pub single: toml::Table,
}

impl Default for RawLimits {
    fn default() -> Self {
        Self { profile: "standard".into(), single: toml::Table::new() }
    }
}

/// `[rates]`: over the rates of single tools.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawRates {
    /// How often one run may call tools, all tools together.
    pub run: String,
    /// How many calls of a run may come at once before `run` counts.
    pub run_burst: u32,
    /// The longest a call waits for its turn before it fails with `rate_limited`; `run` for as long as its run
    /// may still continue.
    pub wait_max: String,
    /// How many calls may wait at the same time: of one tool for one host or database, or of one run.
    pub queue_max: u32,
}

impl Default for RawRates {
    fn default() -> Self {
        Self { run: "50/s".into(), run_burst: 100, wait_max: AS_LONG_AS_THE_RUN.into(), queue_max: 1000 }
    }
}

/// `[planner]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawPlanner {
    /// How often findings go back to the model before the task is given up.
    pub repair_rounds: u32,
    /// How long finding a plan may take, all rounds together.
    pub timeout: String,
    /// How often a run that failed is planned anew with its journal as evidence.
    pub replans: u32,
    /// The same where every call so far only read, where it is more.
    pub replans_after_reads: u32,
    /// How many plans are asked for at the same time; the best is taken.
    pub candidates: u32,
    /// Whether the model is asked which of several equal candidates to take.
    pub reviewer: bool,
    /// Whether a new plan after a failed run may be told what tools and context said: the error's text
    /// and the beginning of each answer.
    pub share_run_data: bool,
    /// Whether the shape of results, names and kinds, is learned where a tool does not declare it, and told to the model.
    pub learn_shapes: bool,
    /// `ask`: a person at a terminal is asked whether the model may see the beginnings of files, addresses and tables that a
    /// task names; `off`.
    pub sample: String,
}

impl Default for RawPlanner {
    fn default() -> Self {
        Self {
            repair_rounds: 2,
            timeout: "180s".into(),
            replans: 0,
            replans_after_reads: 1,
            candidates: 1,
            reviewer: false,
            share_run_data: false,
            learn_shapes: true,
            sample: "off".into(),
        }
    }
}

/// `[server]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawServer {
    /// Address and port. Anything but loopback needs `api_keys_file`.
    pub listen: String,
    /// File with one API key a line (`NAME KEY`), or empty for none.
    pub api_keys_file: String,
    /// Further names `/mcp` may be called by (`HOST` or `HOST:PORT`); loopback names always may.
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages that may call `/mcp` (`https://HOST:PORT`), besides its own on loopback.
    pub allowed_origins: Vec<String>,
    /// The largest request body.
    #[serde(deserialize_with = "written::bytes_text")]
    pub body_limit: String,
    /// The most of a run that one answer of the API holds; what is above it is read part by part.
    #[serde(deserialize_with = "written::bytes_text")]
    pub result_max: String,
    /// The same for answers to assistants.
    #[serde(deserialize_with = "written::bytes_text")]
    pub mcp_result_max: String,
    /// Where answers to assistants have their data: `structured` or `text`.
    pub mcp_data: String,
    /// How many runs may be under way at once; further ones are refused with 429.
    pub max_concurrent_runs: u32,
    /// How many connections may be open at once; above it the longest idle one makes room.
    pub max_connections: u32,
    /// How many connections are kept free of requests of the API, for health and for new callers.
    pub kept_connections: u32,
    /// How many requests one key may have under way, event streams included.
    pub max_requests_per_key: u32,
    /// How many event streams one key may have open.
    pub max_streams_per_key: u32,
    /// How many sessions of MCP may be open at once.
    pub max_mcp_sessions: u32,
    /// How many sessions of MCP one key may have; above it the longest idle one is closed.
    pub max_mcp_sessions_per_key: u32,
    /// A session of MCP without a request for so long is closed.
    pub mcp_session_idle: String,
    /// How long a new connection may take for its first request header.
    pub header_timeout: String,
    /// How long a connection may wait for its next request.
    pub idle_timeout: String,
    /// How long a request may take, a wait for a run included.
    pub request_timeout: String,
    /// How long running runs may continue after SIGTERM.
    pub shutdown_grace: String,
    /// Whether `serve` resumes the runs whose process is gone when it starts.
    pub take_up_runs: bool,
}

impl Default for RawServer {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:7777".into(),
            api_keys_file: String::new(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            body_limit: "2MiB".into(),
            result_max: "8MiB".into(),
            mcp_result_max: "40KiB".into(),
            mcp_data: "structured".into(),
            max_concurrent_runs: 256,
            max_connections: 1024,
            kept_connections: 64,
            max_requests_per_key: 400,
            max_streams_per_key: 64,
            max_mcp_sessions: 256,
            max_mcp_sessions_per_key: 32,
            mcp_session_idle: "30m".into(),
            header_timeout: "10s".into(),
            idle_timeout: "30s".into(),
            request_timeout: "120s".into(),
            shutdown_grace: "20s".into(),
            take_up_runs: true,
        }
    }
}

/// `[log]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawLog {
    /// A filter such as `warn`, `info` or `luaplan=debug` (tracing's `EnvFilter` syntax).
    pub filter: String,
    /// `text` or `json`.
    pub format: String,
}

impl Default for RawLog {
    fn default() -> Self {
        Self { filter: "warn".into(), format: "text".into() }
    }
}
