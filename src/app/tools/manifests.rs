//! Tools made by the manifests of `tools_dir`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use secrecy::SecretString;
use serde::de::DeserializeOwned;

use luaplan_base::{Effect, Error, ErrorCode, Result};
use luaplan_bus::Tool;
use luaplan_catalog::{
    Catalog, ManifestFile, TargetKind, ToolKind, ToolSpec, is_builtin, is_tool_name, load_manifests,
};
use luaplan_plan::globals;
use luaplan_tools::command::{self, CommandGrants, CommandSettings};
use luaplan_tools::http::{self, HttpGrants};
use luaplan_tools::manifest::{check_settings, fixed_targets, secret_names};
use luaplan_tools::query_db::{DatabaseUrl, QueryDbSettings};
use luaplan_tools::sql::{self, SqlGrants, SqlSettings};

use super::mcp;
use super::settings::{read, table};
use super::unconfigured::{UnconfiguredTool, Unmet};
use crate::config::Config;

/// The database that is meant where none is named, if there is one of that name.
const DEFAULT_DATABASE: &str = "main";

/// The tools the folder of manifests declares, each checked.
///
/// # Errors
/// `config_invalid`, `config_unknown_key` or `config_unreadable`, naming file, line and key.
pub(crate) fn declared(config: &Config) -> Result<Vec<ToolSpec>> {
    let Some(folder) = &config.tools_dir else { return Ok(Vec::new()) };
    let mut names: Vec<String> = Vec::new();
    let mut specs = Vec::new();
    for file in load_manifests(folder)? {
        check(&file)?;
        // `crm` would be a function and a table of functions at once.
        let head = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
        let clash = names.iter().find(|known| {
            let dotted = known.contains('.') != file.spec.name.contains('.');
            dotted && head(known) == head(&file.spec.name)
        });
        if let Some(known) = clash {
            let what = format!("`name`: `{}` and `{known}` cannot both be tools", file.spec.name);
            return Err(file.placed(Error::new(ErrorCode::ConfigInvalid, what).with_detail("key", "name")));
        }
        names.push(file.spec.name.clone());
        specs.push(file.spec);
    }
    Ok(specs)
}

/// Reads one manifest as if it were in the folder of manifests.
///
/// # Errors
/// As for the folder: `config_…`, naming file, line and key.
pub fn check_manifest(path: &Path) -> Result<ToolSpec> {
    let file = ManifestFile::read(path)?;
    check(&file)?;
    Ok(file.spec)
}

fn check(file: &ManifestFile) -> Result<()> {
    check_tool_name(&file.spec.name)
        .and_then(|()| check_settings(&file.spec))
        .map_err(|error| file.placed(error))
}

/// Refuses names of tools that plans know as something else.
///
/// # Errors
/// `config_invalid` with the detail `key`.
pub fn check_tool_name(name: &str) -> Result<()> {
    let head = name.split('.').next().unwrap_or_default();
    let taken = |by: &str| {
        Err(Error::new(ErrorCode::ConfigInvalid, format!("`name`: `{head}` is {by} already"))
            .with_help("choose another name for the tool and its file")
            .with_detail("key", "name"))
    };
    if head == "run" {
        return taken("the function that plans define");
    }
    if !is_tool_name(name) {
        let what = format!(
            "`name` is `{name}`; it must be lower-case letters, digits and `_`, starting with a letter, with at most one dot"
        );
        return Err(Error::new(ErrorCode::ConfigInvalid, what)
            .with_help(format!("choose another name{}", near_name(name)))
            .with_detail("key", "name"));
    }
    if is_builtin(head) {
        return taken("a built-in tool");
    }
    if globals::is_allowed(head) || globals::FORBIDDEN.iter().any(|(forbidden, _)| *forbidden == head) {
        return taken("a name of Lua or of the plan library");
    }
    Ok(())
}

/// A name near `name` that tools may have, as an example.
fn near_name(name: &str) -> String {
    let near = name.to_ascii_lowercase().replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "_");
    if is_tool_name(&near) { format!(", such as `{near}`") } else { String::new() }
}

/// The tool of a manifest, or one that says what it lacks.
pub(crate) fn build(config: &Config, spec: ToolSpec) -> Result<Arc<dyn Tool>> {
    if let Some(unmet) = unmet(config, &spec)? {
        return Ok(Arc::new(UnconfiguredTool { spec, unmet }));
    }
    let name = spec.name.clone();
    let named = |error: Error| {
        // A fault of the manifest that only its database could find.
        let message = format!("the tool `{name}`: {}", error.message());
        if error.details().get("key").is_some() { error.with_message(message) } else { error }
    };
    let mut secrets: IndexMap<String, SecretString> = IndexMap::new();
    for secret in secret_names(&spec) {
        if let Ok(value) = config.secrets.get(&spec.name, &secret) {
            secrets.insert(secret, value);
        }
    }
    let tool = match spec.kind {
        ToolKind::Http => {
            let secret = secrets.into_values().next();
            http::tool(spec.clone(), grants::<HttpGrants>(config, &spec)?, secret)
        }
        ToolKind::Sql => {
            let mut grants = grants::<SqlGrants>(config, &spec)?;
            let Some((database, url)) = database(config, &spec, &grants)? else {
                return Err(Error::new(ErrorCode::Internal, "a tool without its database was built"));
            };
            if grants.url.is_none() {
                // What is kept back of a database of `query_db` is kept back here too.
                grants.describe = read::<QueryDbSettings>("query_db", table(config, "query_db"))?.describe;
            }
            let program = config.sqlite_program.as_deref();
            sql::tool(spec, &grants, &database, &url, &config.base_dir, program)
        }
        ToolKind::Command => {
            let grants = grants::<CommandGrants>(config, &spec)?;
            command::tool(spec, &grants, secrets, config.bubblewrap.as_deref(), &config.base_dir)
        }
        ToolKind::Builtin | ToolKind::Mcp => {
            return Err(Error::new(
                ErrorCode::Internal,
                format!("`{}` is not made by a manifest", spec.name),
            ));
        }
    };
    Ok(Arc::new(tool.map_err(named)?))
}

/// What a tool of the folder still needs.
///
/// # Errors
/// `config_…` where `[tools.NAME]` is not what its kind takes.
pub(crate) fn unmet(config: &Config, spec: &ToolSpec) -> Result<Option<Unmet>> {
    let name = &spec.name;
    for secret in secret_names(spec) {
        if let Err(missing) = config.secrets.get(name, &secret) {
            return Ok(Some(Unmet::configuration(missing)));
        }
    }
    match spec.kind {
        ToolKind::Http => grants::<HttpGrants>(config, spec).map(|_| None),
        ToolKind::Sql => {
            let grants = grants::<SqlGrants>(config, spec)?;
            if spec.effect != Effect::Read && !grants.write {
                let message =
                    format!("`{name}` writes, which is not granted: set `[tools.{name}] write = true`");
                return Ok(Some(Unmet::configuration(message)));
            }
            if database(config, spec, &grants)?.is_none() {
                let message = match SqlSettings::of(spec)?.database {
                    Some(wanted) => format!(
                        "the database `{wanted}` is not configured: add it to `[tools.query_db] databases`, or set `[tools.{name}] url`"
                    ),
                    None => format!(
                        "no database is configured: set `[tools.query_db] databases = {{ main = \"…\" }}` or `[tools.{name}] url`"
                    ),
                };
                return Ok(Some(Unmet::configuration(message)));
            }
            Ok(None)
        }
        ToolKind::Command => {
            let grants = grants::<CommandGrants>(config, spec)?;
            if !grants.unconfined && config.bubblewrap.is_none() {
                let message = format!(
                    "`{name}` runs under bubblewrap, and there is no `bwrap` in the PATH: install it, or set `[tools.{name}] unconfined = true` to run without walls"
                );
                return Ok(Some(Unmet { code: ErrorCode::ConfinementMissing, message }));
            }
            let settings = CommandSettings::of(spec)?;
            let ungranted = command::ungranted_working_dir(&settings, &grants, &config.base_dir);
            Ok(ungranted.map(|dir| {
                let named = settings.working_dir().cloned().unwrap_or_default();
                Unmet::configuration(format!(
                    "`{name}` works in {}, which is not granted: write `read = [{named:?}]` under `[tools.{name}]`, or `write` where it changes files there",
                    dir.display()
                ))
            }))
        }
        ToolKind::Builtin | ToolKind::Mcp => Ok(None),
    }
}

fn grants<T: DeserializeOwned>(config: &Config, spec: &ToolSpec) -> Result<T> {
    read(&spec.name, table(config, &spec.name))
}

/// The name and address of the database a statement is for.
fn database(config: &Config, spec: &ToolSpec, grants: &SqlGrants) -> Result<Option<(String, DatabaseUrl)>> {
    if let Some(url) = &grants.url {
        return Ok(Some((spec.name.clone(), url.clone())));
    }
    let settings: QueryDbSettings = read("query_db", table(config, "query_db"))?;
    let databases = settings.databases;
    let found = match SqlSettings::of(spec)?.database {
        Some(wanted) => databases.get_key_value(&wanted),
        None => databases.get_key_value(DEFAULT_DATABASE).or_else(|| databases.first()),
    };
    Ok(found.map(|(name, url)| (name.clone(), url.clone())))
}

/// What every call of each tool reaches, whatever its arguments, for `explain`.
pub(crate) fn reached(config: &Config, catalog: &Catalog) -> BTreeMap<String, Vec<(TargetKind, String)>> {
    let of = |spec: &ToolSpec| -> Result<Vec<(TargetKind, String)>> {
        let mut targets = fixed_targets(spec);
        match spec.kind {
            ToolKind::Sql => {
                let database = database(config, spec, &grants::<SqlGrants>(config, spec)?)?;
                targets.extend(database.map(|(name, _)| (TargetKind::Database, name)));
            }
            ToolKind::Command => {
                let grants = grants::<CommandGrants>(config, spec)?;
                let places = grants.read.iter().chain(&grants.write);
                targets.extend(places.map(|place| (TargetKind::File, place.display().to_string())));
                if grants.network {
                    targets.push((TargetKind::Host, "any".to_owned()));
                }
            }
            ToolKind::Mcp => targets.extend(mcp::reached(config, spec)),
            _ => {}
        }
        Ok(targets)
    };
    let made = catalog.iter().filter(|spec| spec.kind != ToolKind::Builtin);
    made.map(|spec| (spec.name.clone(), of(spec).unwrap_or_default()))
        .filter(|(_, targets)| !targets.is_empty())
        .collect()
}
