//! `[agents.NAME]`: what plans may hand work to.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use toml::Table;

use luaplan_base::{Error, ErrorCode, LimitName, Limits, Result};
use luaplan_catalog::regular_file::read_text;

use super::values::{invalid, keyed};

/// `[agents.NAME]`, as written. Exactly one of `plan` and `task`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawAgent {
    /// What it is good for, for the model and for people.
    pub description: String,
    /// The file of its plan, relative to the working folder.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub plan: String,
    /// What it is to do, in plain words; a model writes its plan for each call.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub task: String,
    /// The tools it may call; none where it is left out.
    pub tools: Vec<String>,
    /// What it may use, by the names of limits. Its caller's limits hold as well.
    pub limits: Table,
}

/// An agent that plans may call.
#[derive(Debug, Clone)]
pub struct AgentConfig {
    /// What it is good for.
    pub description: String,
    /// What it works by.
    pub work: AgentWork,
    /// The tools it may call.
    pub tools: Vec<String>,
    /// What it may use at most.
    pub limits: Limits,
}

/// What an agent works by.
#[derive(Debug, Clone)]
pub enum AgentWork {
    /// A saved plan.
    Plan {
        /// The file's name.
        name: String,
        /// Its source.
        source: String,
    },
    /// A task that is planned for each call.
    Task(String),
}

/// Reads and checks every agent.
///
/// # Errors
/// `config_invalid`, naming the key.
pub(super) fn check(
    raw: &BTreeMap<String, RawAgent>,
    limits: &Limits,
    base_dir: &Path,
) -> Result<BTreeMap<String, AgentConfig>> {
    raw.iter().map(|(name, agent)| Ok((name.clone(), one(name, agent, limits, base_dir)?))).collect()
}

fn one(name: &str, raw: &RawAgent, limits: &Limits, base_dir: &Path) -> Result<AgentConfig> {
    let key = format!("agents.{name}");
    let well_formed = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !well_formed {
        return Err(invalid(&key, name, "a name of lower-case letters, digits and `_`"));
    }
    let work = match (raw.plan.trim(), raw.task.trim()) {
        ("", "") => return Err(invalid(&key, "without both", "`plan`, a file, or `task`, some words")),
        (file, "") => plan(&key, file, base_dir)?,
        ("", task) => AgentWork::Task(task.to_owned()),
        _ => return Err(invalid(&key, "plan and task at once", "one of them")),
    };
    let mut own = limits.clone();
    for (limit, value) in &raw.limits {
        let key = format!("{key}.limits.{limit}");
        let limit: LimitName = limit.parse().map_err(|error| keyed(&key, &error))?;
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        own.set(limit, &text).map_err(|error| keyed(&key, &error))?;
    }
    Ok(AgentConfig { description: raw.description.clone(), work, tools: raw.tools.clone(), limits: own })
}

fn plan(key: &str, file: &str, base_dir: &Path) -> Result<AgentWork> {
    let path = base_dir.join(file);
    let source = read_text(&path).map_err(|error| {
        Error::new(ErrorCode::ConfigInvalid, format!("{key}.plan: cannot read {}: {error}", path.display()))
            .with_help("name a Lua file; its path starts from the working folder")
            .with_detail("key", format!("{key}.plan"))
    })?;
    let name = path.file_name().map_or_else(|| file.to_owned(), |name| name.to_string_lossy().into_owned());
    Ok(AgentWork::Plan { name, source })
}
