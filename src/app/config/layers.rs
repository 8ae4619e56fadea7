//! Flags over environment over `./luaplan.toml` over the user's file over defaults.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use toml::{Table, Value as Toml};

use luaplan_base::{Error, ErrorCode, LimitName, LimitProfile, Result};
use luaplan_catalog::regular_file::read_text;
use luaplan_catalog::toml_error::unknown_field;
use luaplan_catalog::toml_lines::{key_at, line_at, lines_of};

use super::mask::{mask_of_mcp, mask_value};
use super::values::{refused, refused_in};
use super::{Config, Environment, RawConfig};

/// The variable that names the configuration file.
const FILE_VARIABLE: &str = "LUAPLAN_CONFIG";
/// Variables that begin like configuration and are for tests.
const TEST_PREFIX: &str = "LUAPLAN_TEST_";
const VARIABLE_PREFIX: &str = "LUAPLAN_";
const NESTING: &str = "__";

/// Where one value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigSource {
    /// No layer says anything.
    Default,
    /// The limit profile in force, by name.
    Profile(String),
    /// A file, and the line of the key in it.
    File(PathBuf, Option<usize>),
    /// An environment variable, by name.
    Variable(String),
    /// A flag of this command.
    Flag,
}

impl fmt::Display for ConfigSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Profile(name) => write!(f, "profile {name}"),
            Self::File(path, None) => write!(f, "{}", path.display()),
            Self::File(path, Some(line)) => write!(f, "{}:{line}", path.display()),
            Self::Variable(name) => write!(f, "${name}"),
            Self::Flag => f.write_str("flag"),
        }
    }
}

/// One value with its source.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueSource {
    /// The key's path, `llm.model`.
    pub key: String,
    /// The value in force, its passwords masked.
    pub value: Toml,
    /// Where it came from.
    pub source: ConfigSource,
}

/// What to load beside the usual places.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// `--config FILE`: instead of `./luaplan.toml`, and must exist.
    pub file: Option<PathBuf>,
    /// `key.path` and value, from flags.
    pub flags: Vec<(String, Toml)>,
}

/// The merged configuration and where it came from.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// What was merged.
    pub raw: RawConfig,
    /// Every value in force, defaults included, sorted by key.
    pub values: Vec<ValueSource>,
    /// The files that were read, weakest first.
    pub files: Vec<PathBuf>,
    sources: BTreeMap<String, ConfigSource>,
}

impl Loaded {
    /// The checked configuration.
    ///
    /// # Errors
    /// As [`Config::check`], with where the key came from.
    pub fn check(&self, environment: &Environment) -> Result<Config> {
        Config::check(&self.raw, environment).map_err(|error| self.placed(error))
    }

    /// Where a key was set, or the first one inside it.
    fn source_of(&self, key: &str) -> Option<&ConfigSource> {
        let inside = format!("{key}.");
        let within = || self.sources.iter().find(|(path, _)| path.starts_with(&inside));
        self.sources.get(key).or_else(|| within().map(|(_, source)| source))
    }

    /// An error about a key (its detail `key`), with where that key was set.
    #[must_use]
    pub fn placed(&self, error: Error) -> Error {
        let source = error.details().get("key").and_then(|key| self.source_of(key.as_str()?));
        let place = match source {
            Some(ConfigSource::File(path, Some(line))) => format!("{}, line {line}", path.display()),
            Some(ConfigSource::File(path, None)) => path.display().to_string(),
            Some(ConfigSource::Variable(name)) => format!("the environment variable {name}"),
            Some(ConfigSource::Flag) => "the command line".to_owned(),
            Some(ConfigSource::Default | ConfigSource::Profile(_)) | None => return error,
        };
        let message = format!("{place}: {}", error.message());
        let mut placed = Error::new(error.code(), message).with_help(error.help().to_owned());
        if let Some(ConfigSource::File(_, Some(line))) = source {
            placed = placed.with_detail("line", *line);
        }
        placed.with_facts_of(&error)
    }
}

/// Reads and merges every layer.
///
/// # Errors
/// `config_unreadable`, `config_unknown_key` or `config_invalid`, naming file and line, variable
/// or flag.
pub fn load(environment: &Environment, options: &LoadOptions) -> Result<Loaded> {
    if let Some(name) = environment.unreadable.iter().find(|name| is_ours(name)) {
        let message = format!("the environment variable {name} is not valid Unicode");
        return Err(Error::new(ErrorCode::ConfigInvalid, message));
    }
    let mut merged = Table::new();
    let mut sources = BTreeMap::new();
    let mut files = Vec::new();
    for (path, must_exist) in candidates(environment, options) {
        if let Some((table, lines)) = read_file(&path, must_exist)? {
            let source = |key: &str| ConfigSource::File(path.clone(), lines.get(key).copied());
            lay_over(&mut merged, table, "", &source, &mut sources);
            files.push(path);
        }
    }
    for (name, text) in &environment.variables {
        if let Some(table) = variable_table(name, text)? {
            lay_over(&mut merged, table, "", &|_| ConfigSource::Variable(name.clone()), &mut sources);
        }
    }
    for (key, value) in &options.flags {
        let table = fitting(
            &keys_in(key).iter().map(String::as_str).collect::<Vec<_>>(),
            value.clone(),
            || value.to_string(),
            &format!("the flag for `{key}`"),
        )?;
        lay_over(&mut merged, table, "", &|_| ConfigSource::Flag, &mut sources);
    }
    let raw: RawConfig =
        Toml::Table(merged).try_into().map_err(|error| describe(&error, "the merged configuration", None))?;
    let values = list_values(&raw, &sources)?;
    Ok(Loaded { raw, values, files, sources })
}

/// Checks the text of one file by itself.
///
/// # Errors
/// `config_unknown_key` or `config_invalid` with `origin` and line.
pub fn validate_text(text: &str, origin: &str) -> Result<()> {
    toml::from_str::<RawConfig>(text).map(drop).map_err(|error| describe(&error, origin, Some(text)))
}

fn candidates(environment: &Environment, options: &LoadOptions) -> Vec<(PathBuf, bool)> {
    let mut candidates: Vec<(PathBuf, bool)> =
        environment.user_config_file.iter().map(|path| (path.clone(), false)).collect();
    let named = options.file.clone().or_else(|| environment.get(FILE_VARIABLE).map(PathBuf::from));
    match named {
        Some(path) => candidates.push((environment.working_dir.join(path), true)),
        None => candidates.push((environment.working_dir.join("luaplan.toml"), false)),
    }
    candidates
}

/// A file's table, and the line of each key.
fn read_file(path: &Path, must_exist: bool) -> Result<Option<(Table, BTreeMap<String, usize>)>> {
    let text = match read_text(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => return Ok(None),
        Err(error) => {
            return Err(Error::new(
                ErrorCode::ConfigUnreadable,
                format!("cannot read {}: {error}", path.display()),
            ));
        }
    };
    let origin = path.display().to_string();
    validate_text(&text, &origin)?;
    let table = toml::from_str(&text).map_err(|error| describe(&error, &origin, Some(&text)))?;
    Ok(Some((table, lines_of(&text))))
}

/// Whether a variable is configuration.
fn is_ours(name: &str) -> bool {
    name.starts_with(VARIABLE_PREFIX) && name != FILE_VARIABLE && !name.starts_with(TEST_PREFIX)
}

/// `LUAPLAN_LLM__MODEL=x` as `{llm = {model = x}}`; `None` where it is no configuration.
fn variable_table(name: &str, text: &str) -> Result<Option<Table>> {
    let Some(path) = name.strip_prefix(VARIABLE_PREFIX).filter(|_| is_ours(name)) else { return Ok(None) };
    let keys: Vec<String> = path.split(NESTING).map(str::to_lowercase).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let origin = format!("the environment variable {name}");
    fitting(&keys, literal(text), || text.to_owned(), &origin).map(Some)
}

/// The value under its keys, as `written`, or as text where text is wanted: `llm.model=4`.
fn fitting(keys: &[&str], written: Toml, text: impl FnOnce() -> String, origin: &str) -> Result<Table> {
    let fits = |table: &Table| Toml::Table(table.clone()).try_into::<RawConfig>();
    let table = nest(keys, written);
    let Err(error) = fits(&table) else { return Ok(table) };
    let as_text = nest(keys, Toml::String(text()));
    match fits(&as_text) {
        Ok(_) => Ok(as_text),
        Err(_) => Err(describe(&error, origin, None)),
    }
}

/// The keys of a path as TOML has them: `tools."files.read".rate` has three.
fn keys_in(path: &str) -> Vec<String> {
    let mut keys = Vec::new();
    let mut under = toml::from_str::<Table>(&format!("{path} = 0")).ok();
    while let Some(table) = under {
        let mut members = table.into_iter();
        let (Some((key, value)), None) = (members.next(), members.next()) else { break };
        keys.push(key);
        match value {
            Toml::Table(table) => under = Some(table),
            _ => return keys,
        }
    }
    if path.contains('"') {
        return vec![path.to_owned()];
    }
    // What is no TOML names no key; its words say what was meant.
    path.split('.').map(str::to_owned).collect()
}

/// A TOML literal where the text is one, else a string.
fn literal(text: &str) -> Toml {
    toml::from_str::<Table>(&format!("value = {text}"))
        .ok()
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| Toml::String(text.to_owned()))
}

fn nest(keys: &[&str], value: Toml) -> Table {
    let (first, rest) = match keys {
        [] => return Table::new(),
        [first, rest @ ..] => (*first, rest),
    };
    let value = if rest.is_empty() { value } else { Toml::Table(nest(rest, value)) };
    Table::from_iter([(first.to_owned(), value)])
}

fn lay_over(
    under: &mut Table,
    over: Table,
    prefix: &str,
    source: &dyn Fn(&str) -> ConfigSource,
    sources: &mut BTreeMap<String, ConfigSource>,
) {
    for (key, value) in over {
        let path = join(prefix, &key);
        match (under.get_mut(&key), value) {
            (Some(Toml::Table(under)), Toml::Table(over)) => lay_over(under, over, &path, source, sources),
            (_, Toml::Table(over)) => {
                if over.is_empty() {
                    sources.insert(path.clone(), source(&path));
                }
                let mut fresh = Table::new();
                lay_over(&mut fresh, over, &path, source, sources);
                under.insert(key, Toml::Table(fresh));
            }
            (_, value) => {
                sources.insert(path.clone(), source(&path));
                under.insert(key, value);
            }
        }
    }
}

fn join(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") }
}

fn list_values(raw: &RawConfig, sources: &BTreeMap<String, ConfigSource>) -> Result<Vec<ValueSource>> {
    let table = Table::try_from(raw).map_err(|error| {
        Error::new(ErrorCode::Internal, "the configuration cannot be shown").with_source(error)
    })?;
    let mut values = Vec::new();
    walk(&table, "", &mut |key, value| {
        let source = sources.get(key).cloned().unwrap_or(ConfigSource::Default);
        let value = mask_of_mcp(key, value).unwrap_or_else(|| mask_value(value));
        values.push(ValueSource { key: key.to_owned(), value, source });
    });
    if raw.llm.base_url.is_none() {
        values.push(ValueSource {
            key: "llm.base_url".to_owned(),
            value: Toml::String(raw.llm.provider.default_base_url().to_owned()),
            source: ConfigSource::Default,
        });
    }
    // A profile that does not exist is refused where the configuration is checked.
    if let Ok(profile) = raw.limits.profile.parse::<LimitProfile>() {
        let limits = profile.limits();
        for name in LimitName::ALL.into_iter().filter(|name| !raw.limits.single.contains_key(name.as_str())) {
            values.push(ValueSource {
                key: format!("limits.{name}"),
                value: Toml::Integer(i64::try_from(limits.get(name)).unwrap_or(i64::MAX)),
                source: ConfigSource::Profile(raw.limits.profile.clone()),
            });
        }
    }
    values.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(values)
}

fn walk(table: &Table, prefix: &str, visit: &mut dyn FnMut(&str, &Toml)) {
    for (key, value) in table {
        let path = join(prefix, key);
        match value {
            Toml::Table(inner) if !inner.is_empty() => walk(inner, &path, visit),
            Toml::Table(_) => {}
            leaf => visit(&path, leaf),
        }
    }
}

fn describe(error: &toml::de::Error, origin: &str, text: Option<&str>) -> Error {
    let line = text.zip(error.span()).map(|(text, span)| line_at(text, span.start));
    let place = line.map_or_else(|| origin.to_owned(), |line| format!("{origin}, line {line}"));
    let key = text.zip(error.span()).and_then(|(text, span)| key_at(text, span.start));
    let described = match key {
        // The message of an unknown key is about the key, and not about its value.
        Some(key) if unknown_field(error.message()).is_none() => {
            refused(error, &format!("{place}: {key}")).with_detail("key", key)
        }
        _ => refused_in(error, &place, text.unwrap_or_default()),
    };
    match line {
        Some(line) => described.with_detail("line", line),
        None => described,
    }
}
