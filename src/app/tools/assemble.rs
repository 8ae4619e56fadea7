//! From configuration to working parts.

use std::sync::Arc;

use luaplan_base::{Clock, Error, ErrorCode, Randomness, Result, SystemClock};
use luaplan_bus::{Registry, Tool};
use luaplan_catalog::{Catalog, ToolKind, ToolSpec, builtin_manifests};
use luaplan_engine::Isolation;
use luaplan_llm::{GenaiClient, LlmClient, LlmSettings, ProviderKeys};
use luaplan_tools::ask_person::AskPerson;
use luaplan_tools::call_llm::CallLlm;
use luaplan_tools::fetch_url::FetchUrl;
use luaplan_tools::query_db::{QueryDb, QueryDbSettings};
use luaplan_tools::send_email::{SendEmail, SendEmailSettings};
use luaplan_tools::sleep::{Sleep, SleepSettings};
use luaplan_tools::transform_data::TransformData;
use luaplan_tools::wait_until::WaitUntil;
use luaplan_vm::{Interrupt, SLICE_INSTRUCTIONS, VmLimits, VmOptions, VmPool};
use luaplan_workers::{PoolSettings, WorkerPool, WorkerProgram};

use super::mcp::{self, McpServers};
use super::model_names::ModelNames;
use super::settings::{read, settings, table};
use super::unconfigured::{UnconfiguredTool, Unmet};
use crate::agents;
use crate::config::{Config, Environment, keyed};
use crate::tools::manifests;

/// How deep model calls may be nested in runs that models started.
const LLM_DEPTH_MAX: u32 = 1;

/// The workers runs are isolated in, where they are. No process is started yet.
pub(crate) fn workers(
    config: &Config,
    isolation: Isolation,
    program: Option<WorkerProgram>,
    catalog: &Catalog,
) -> Option<WorkerPool> {
    let sandbox = &config.sandbox;
    (sandbox.isolation_or(isolation) == Isolation::Process).then(|| {
        WorkerPool::new(PoolSettings {
            program: program.unwrap_or_else(WorkerProgram::current),
            engine: sandbox.engine,
            idle: sandbox.workers_idle as usize,
            max: sandbox.workers_max as usize,
            runs_per_worker: sandbox.runs_per_worker,
            prepared: usual(config, catalog),
        })
    })
}

/// VMs made ahead of runs in this process, where plans run there. None is made yet.
pub(crate) fn vms(config: &Config, isolation: Isolation, catalog: &Catalog) -> Option<VmPool> {
    let sandbox = &config.sandbox;
    let size = sandbox.vms_idle as usize;
    (size > 0 && sandbox.isolation_or(isolation) == Isolation::InProcess)
        .then(|| VmPool::new(usual(config, catalog), size))
}

/// What the VM of a run is made with that has no limits of its own.
fn usual(config: &Config, catalog: &Catalog) -> VmOptions {
    VmOptions {
        limits: VmLimits::from(&config.limits),
        tools: catalog.names().map(str::to_owned).collect(),
        interrupt: Interrupt::default(),
        slice_instructions: SLICE_INSTRUCTIONS,
    }
}

/// Every tool there is, from every source, before configuration adjusts it.
fn tool_sources(config: &Config) -> Result<Vec<ToolSpec>> {
    let mut specs = builtin_manifests()?;
    specs.extend(manifests::declared(config)?);
    let of_servers = mcp::declared(config, &specs)?;
    specs.extend(of_servers);
    Ok(specs)
}

/// The tools in force: those of every source with the configured overrides, without disabled ones.
///
/// # Errors
/// `config_unknown_key` for settings of a tool that does not exist; what is wrong with a manifest.
pub fn tool_catalog(config: &Config) -> Result<Catalog> {
    let specs = tool_sources(config)?;
    for name in config.tools.keys() {
        if !specs.iter().any(|spec| spec.name == *name) && !mcp::may_have(config, &specs, name) {
            let known: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
            return Err(Error::new(
                ErrorCode::ConfigUnknownKey,
                format!("tools.{name}: there is no such tool"),
            )
            .with_help(format!("the tools are {}", known.join(", ")))
            .with_detail("key", format!("tools.{name}")));
        }
    }
    if let Some(unknown) = agents::unknown_tool(config, &specs) {
        return Err(unknown);
    }
    let known = specs.clone();
    let mut catalog: Catalog = specs.into_iter().filter_map(|spec| adjusted(config, spec, &known)).collect();
    note_absent(config, &mut catalog);
    Ok(catalog)
}

/// Has checks say what to do about servers plans know no tool of.
pub(crate) fn note_absent(config: &Config, catalog: &mut Catalog) {
    for (server, what_to_do) in mcp::not_accepted(config) {
        catalog.note_absent(&server, what_to_do);
    }
}

fn adjusted(config: &Config, mut spec: ToolSpec, known: &[ToolSpec]) -> Option<ToolSpec> {
    agents::described(config, &mut spec, known);
    if let Some(tool) = config.tools.get(&spec.name) {
        if !tool.overrides.is_enabled() {
            return None;
        }
        tool.overrides.apply(&mut spec);
    }
    if spec.sleeps_max.is_some()
        && let Ok(settings) = settings::<SleepSettings>(config, &spec.name)
    {
        settings.bound(&mut spec);
    }
    Some(spec)
}

/// Reads the settings of every tool as a run would, and opens nothing.
///
/// # Errors
/// `config_invalid` or `config_unknown_key`, naming the tool and key.
pub fn check_tool_settings(config: &Config, environment: &Environment) -> Result<()> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    registry(config, environment, None, &McpServers::new(config, &clock)?).map(drop)
}

pub(crate) fn registry(
    config: &Config,
    environment: &Environment,
    llm: Option<&Arc<dyn LlmClient>>,
    servers: &McpServers,
) -> Result<Registry> {
    let mut registry = Registry::default();
    for spec in tool_catalog(config)?.iter() {
        registry.insert(match spec.kind {
            ToolKind::Mcp => servers.tool(spec)?,
            _ => build(config, environment, spec, llm)?,
        });
    }
    Ok(registry)
}

/// The tools worth telling a model about: those that can work.
pub(crate) fn usable_tools(catalog: &Catalog) -> Catalog {
    catalog.only(|spec| catalog.not_set_up(&spec.name).is_none())
}

/// Has lists and previews say which tools cannot work yet, and what each lacks.
pub fn note_not_set_up(config: &Config, environment: &Environment, has_llm: bool, catalog: &mut Catalog) {
    let missing = |spec: &ToolSpec| match unmet(config, environment, spec, has_llm) {
        Ok(unmet) => unmet.map(|unmet| unmet.message),
        Err(error) => Some(error.message().to_owned()),
    };
    let lacking: Vec<(String, String)> =
        catalog.iter().filter_map(|spec| Some((spec.name.clone(), missing(spec)?))).collect();
    lacking.iter().for_each(|(tool, missing)| catalog.note_not_set_up(tool, missing.clone()));
}

/// What a tool still needs before it can work.
fn unmet(
    config: &Config,
    environment: &Environment,
    spec: &ToolSpec,
    has_llm: bool,
) -> Result<Option<Unmet>> {
    match spec.kind {
        ToolKind::Builtin => Ok(missing(config, environment, &spec.name, has_llm)?.map(Unmet::configuration)),
        ToolKind::Mcp => Ok(None),
        _ => manifests::unmet(config, spec),
    }
}

fn missing(config: &Config, environment: &Environment, tool: &str, has_llm: bool) -> Result<Option<String>> {
    let has = |key: &str| config.tools.get(tool).is_some_and(|tool| tool.settings.contains_key(key));
    let missing = match tool {
        "query_db" if !has("databases") => {
            Some("no database is configured: set `[tools.query_db] databases = { main = \"…\" }`")
        }
        "send_email" if !has("smtp") => Some(
            "no mail server is configured: set `smtp`, `from` and `allow_recipients` under `[tools.send_email]`",
        ),
        "send_email" => {
            let settings: SendEmailSettings = settings(config, tool)?;
            return Ok(settings.password_env.filter(|name| environment.secret(name).is_none()).map(|name| {
                format!("tools.send_email.password_env names ${name}, which is not set: set it")
            }));
        }
        "call_agent" if config.agents.is_empty() => {
            Some("no agent is configured: set `plan` or `task` and `tools` under `[agents.NAME]`")
        }
        "call_llm" if !has_llm => Some("no model is configured: set `provider` and `model` under `[llm]`"),
        _ => None,
    };
    Ok(missing.map(str::to_owned))
}

/// A tool as it is set up, to be asked what it would refuse; `None` where it cannot be made, and for those of servers,
/// which know no arguments of their own.
pub(crate) fn set_up(config: &Config, environment: &Environment, spec: &ToolSpec) -> Option<Arc<dyn Tool>> {
    let names = || Arc::new(ModelNames(config.llm.models.keys().cloned().collect())) as Arc<dyn LlmClient>;
    let llm = config.llm.is_configured().then(names);
    (spec.kind != ToolKind::Mcp).then(|| build(config, environment, spec, llm.as_ref()).ok())?
}

fn build(
    config: &Config,
    environment: &Environment,
    spec: &ToolSpec,
    llm: Option<&Arc<dyn LlmClient>>,
) -> Result<Arc<dyn Tool>> {
    let spec = spec.clone();
    if spec.kind != ToolKind::Builtin {
        return manifests::build(config, spec);
    }
    check_keys(config, &spec.name)?;
    if let Some(unmet) = unmet(config, environment, &spec, llm.is_some())? {
        return Ok(Arc::new(UnconfiguredTool { spec, unmet }));
    }
    let name = spec.name.clone();
    let tool: Arc<dyn Tool> = match (name.as_str(), llm) {
        ("query_db", _) => Arc::new(query_db(config, spec)?),
        ("fetch_url", _) => Arc::new(FetchUrl::new(spec, settings(config, &name)?)?),
        ("send_email", _) => Arc::new(send_email(config, environment, spec)?),
        ("transform_data", _) => {
            Arc::new(TransformData::new(spec, settings(config, &name)?, &config.base_dir)?)
        }
        ("sleep", _) => Arc::new(Sleep::new(spec, &sleeping(config, &name)?)),
        ("wait_until", _) => Arc::new(WaitUntil::new(spec, &sleeping(config, &name)?)),
        ("ask_person", _) => Arc::new(AskPerson::new(spec)),
        // Each run puts its own in this place.
        ("call_agent", _) => Arc::new(UnconfiguredTool {
            spec,
            unmet: Unmet::configuration("agents are called by runs, which bring what they may use"),
        }),
        ("call_llm", Some(client)) => Arc::new(CallLlm::new(spec, client.clone(), LLM_DEPTH_MAX)),
        (other, _) => {
            return Err(Error::new(ErrorCode::Internal, format!("no part is wired for the tool `{other}`")));
        }
    };
    Ok(tool)
}

/// Keys and types of a tool's settings, also where the tool cannot work for lack of one.
fn check_keys(config: &Config, tool: &str) -> Result<()> {
    match tool {
        "query_db" => read::<QueryDbSettings>(tool, table(config, tool)).map(drop),
        "send_email" => {
            let mut table = table(config, tool);
            if !table.contains_key("smtp") {
                for needed in ["smtp", "from"] {
                    table.entry(needed).or_insert_with(|| "".into());
                }
            }
            read::<SendEmailSettings>(tool, table).map(drop)
        }
        "call_llm" | "call_agent" | "ask_person" => read::<NoSettings>(tool, table(config, tool)).map(drop),
        _ => Ok(()),
    }
}

/// The settings of a sleeping tool, with a bound that can be understood.
fn sleeping(config: &Config, tool: &str) -> Result<SleepSettings> {
    let settings: SleepSettings = settings(config, tool)?;
    let key = format!("tools.{tool}.longest");
    settings.longest().map_err(|error| keyed(&key, &error))?;
    Ok(settings)
}

/// For tools that take nothing but what every tool takes.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct NoSettings {}

pub(crate) fn query_db(config: &Config, spec: ToolSpec) -> Result<QueryDb> {
    let settings: QueryDbSettings = settings(config, &spec.name)?;
    Ok(QueryDb::new(spec, &settings, &config.base_dir)?.in_processes_of(config.sqlite_program.as_deref()))
}

pub(crate) fn send_email(config: &Config, environment: &Environment, spec: ToolSpec) -> Result<SendEmail> {
    let settings: SendEmailSettings = settings(config, &spec.name)?;
    let password = settings.password_env.as_deref().and_then(|name| environment.secret(name));
    SendEmail::new(spec, settings, password)
}

/// The configured model; `None` where none is.
pub(crate) fn llm(
    config: &Config,
    environment: &Environment,
    clock: &Arc<dyn Clock>,
    randomness: &Arc<dyn Randomness>,
) -> Result<Option<Arc<dyn LlmClient>>> {
    if !config.llm.is_configured() {
        return Ok(None);
    }
    let keys = api_keys(&config.llm, environment);
    let client = GenaiClient::new(&config.llm, &keys, clock.clone(), randomness.clone())?;
    Ok(Some(Arc::new(client)))
}

fn api_keys(settings: &LlmSettings, environment: &Environment) -> ProviderKeys {
    let names = settings.key_variables();
    names
        .into_iter()
        .filter_map(|name| environment.get(&name).map(|key| (name.clone(), key.to_owned())))
        .collect()
}
