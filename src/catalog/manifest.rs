//! Reads a tool's manifest.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value as Json, json};

use luaplan_base::{Effect, Error, ErrorCode, Rate, Result, nearest, parse_duration};

use super::compiled::{CompiledParams, compile};
use super::regular_file::read_text;
use super::toml_lines::lines_of;
use super::{TargetKind, ToolKind, ToolSpec};

const RATE_DEFAULT: &str = "60/m";
const BURST_DEFAULT: u32 = 10;
const CONCURRENCY_DEFAULT: u32 = 4;
const TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);

/// Every top-level key of a manifest.
const KEYS: [&str; 17] = [
    "name",
    "description",
    "effect",
    "idempotent",
    "rate",
    "burst",
    "concurrency",
    "timeout",
    "capability",
    "kind",
    "params",
    "result",
    "settings",
    "arguments",
    "targets",
    "price_micro_usd",
    "sleeps_max",
];

/// A manifest as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawManifest {
    name: String,
    description: String,
    effect: String,
    idempotent: Option<bool>,
    rate: Option<String>,
    burst: Option<i64>,
    concurrency: Option<i64>,
    timeout: Option<String>,
    capability: Option<String>,
    kind: String,
    params: Json,
    #[serde(default = "any")]
    result: Json,
    #[serde(default)]
    settings: toml::Table,
    #[serde(default)]
    arguments: BTreeMap<String, String>,
    #[serde(default)]
    targets: BTreeMap<String, String>,
    price_micro_usd: Option<i64>,
    sleeps_max: Option<String>,
}

fn any() -> Json {
    json!({})
}

/// Reads one manifest. `origin` is the file's name, for messages.
///
/// Left out, `rate` is 60 a minute, `burst` 10, `concurrency` 4, `timeout` 30 s, `capability`
/// `tool.NAME`, `result` anything, and `idempotent` true only for tools that just read.
///
/// # Errors
/// `config_unknown_key` for a key manifests do not have, else `config_invalid`; the message names
/// the file, its line, the key, what was seen and what is allowed.
pub fn read_manifest(text: &str, origin: &str) -> Result<ToolSpec> {
    read(text, origin).map_err(|error| with_place(error, text, origin))
}

fn read(text: &str, origin: &str) -> Result<ToolSpec> {
    let table: toml::Table = toml::from_str(text).map_err(|error| unreadable(origin, text, &error))?;
    if let Some(unknown) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(unknown_key(origin, unknown));
    }
    let raw: RawManifest = toml::from_str(text).map_err(|error| unreadable(origin, text, &error))?;
    Checker { origin }.check(raw)
}

/// A manifest and the file it stands in.
#[derive(Debug, Clone)]
pub struct ManifestFile {
    /// What it declares.
    pub spec: ToolSpec,
    /// The file.
    pub path: PathBuf,
    text: String,
}

impl ManifestFile {
    /// Reads one file.
    ///
    /// # Errors
    /// As [`load_folder`].
    pub fn read(path: &Path) -> Result<Self> {
        let text = read_text(path).map_err(|error| cannot_read(path, error))?;
        let origin = path.display().to_string();
        let spec = read_manifest(&text, &origin)?;
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if stem != spec.name {
            let fault = Checker { origin: &origin }.fault(
                "name",
                format_args!("`{}`", spec.name),
                format_args!("the file's own name, `{stem}`"),
            );
            return Err(with_place(fault, &text, &origin));
        }
        Ok(Self { spec, path: path.to_path_buf(), text })
    }

    /// An error about a key of this manifest (its detail `key`), with file and line.
    #[must_use]
    pub fn placed(&self, error: Error) -> Error {
        with_place(error, &self.text, &self.path.display().to_string())
    }
}

/// Reads every `NAME.toml` of a folder, in the order of their names.
///
/// # Errors
/// `config_unreadable` where the folder or a file cannot be read, else as [`read_manifest`];
/// `config_invalid` where a file is not named after its tool.
pub fn load_manifests(folder: &Path) -> Result<Vec<ManifestFile>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| cannot_read(folder, error))? {
        let path = entry.map_err(|error| cannot_read(folder, error))?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    paths.iter().map(|path| ManifestFile::read(path)).collect()
}

/// As [`load_manifests`], without the files.
///
/// # Errors
/// As [`load_manifests`].
pub fn load_folder(folder: &Path) -> Result<Vec<ToolSpec>> {
    Ok(load_manifests(folder)?.into_iter().map(|file| file.spec).collect())
}

fn cannot_read(path: &Path, error: std::io::Error) -> Error {
    Error::new(ErrorCode::ConfigUnreadable, format!("{}: cannot be read: {error}", path.display()))
        .with_source(error)
}

/// Puts file and line in front of the message; the line is that of the key or of the nearest table around it.
fn with_place(error: Error, text: &str, origin: &str) -> Error {
    let message = error.message().to_owned();
    let rest = message.strip_prefix(origin).map(|rest| rest.strip_prefix(": ").unwrap_or(rest));
    if rest.is_some_and(|rest| rest.starts_with(", line ")) {
        return error;
    }
    let rest = rest.unwrap_or(&message);
    let lines = lines_of(text);
    let key = error.details().get("key").and_then(Json::as_str).unwrap_or_default();
    let mut around = Some(key);
    let line = loop {
        let Some(key) = around else { break None };
        if let Some(line) = lines.get(key) {
            break Some(*line);
        }
        around = key.rsplit_once('.').map(|(outer, _)| outer);
    };
    match line {
        Some(line) => {
            let message = format!("{origin}, line {line}: {rest}");
            error.with_message(message).with_detail("line", line)
        }
        None => {
            let message = format!("{origin}: {rest}");
            error.with_message(message)
        }
    }
}

fn unknown_key(origin: &str, key: &str) -> Error {
    let known = KEYS.join(", ");
    let help = match nearest(key, KEYS) {
        Some(near) => format!("did you mean `{near}`? a manifest has the keys {known}"),
        None => format!("a manifest has the keys {known}"),
    };
    Error::new(ErrorCode::ConfigUnknownKey, format!("{origin}: unknown key `{key}`"))
        .with_help(help)
        .with_detail("key", key)
}

fn unreadable(origin: &str, text: &str, error: &toml::de::Error) -> Error {
    let place = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = text.get(..place).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let written = text.lines().nth(line - 1).unwrap_or_default().trim();
    let what = error.message().trim().replace('\n', " ");
    let message = match (error.span(), written) {
        (None, _) | (_, "") => format!("{origin}: {what}"),
        _ => format!("{origin}, line {line}: {what}, in `{written}`"),
    };
    Error::new(ErrorCode::ConfigInvalid, message).with_detail("line", line)
}

/// Whether `name` can be a tool's: `[a-z][a-z0-9_]*` with at most one dot, no word of Lua's own, and neither `run` nor
/// `run.…`.
#[must_use]
pub fn is_tool_name(name: &str) -> bool {
    let mut parts = name.split('.');
    let well_formed = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_lowercase())
            && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            && !super::stub::is_lua_keyword(part)
    };
    // A plan's own `run` would hide a tool of that name, and tools in a group of that name.
    name.split('.').next() != Some("run") && parts.by_ref().take(2).all(well_formed) && parts.next().is_none()
}

struct Checker<'a> {
    origin: &'a str,
}

impl Checker<'_> {
    fn fault(&self, key: &str, seen: impl Display, allowed: impl Display) -> Error {
        Error::new(
            ErrorCode::ConfigInvalid,
            format!("{}: `{key}` is {seen}; it must be {allowed}", self.origin),
        )
        .with_detail("key", key)
    }

    fn check(&self, raw: RawManifest) -> Result<ToolSpec> {
        if !is_tool_name(&raw.name) {
            return Err(self.fault(
                "name",
                format_args!("`{}`", raw.name),
                "lower-case letters, digits and `_`, starting with a letter, with at most one dot, no word of Lua, and not `run`",
            ));
        }
        if raw.description.trim().is_empty() {
            return Err(self.fault("description", "empty", "a sentence that says what the tool does"));
        }
        let effect = self.choice("effect", &raw.effect, &["read", "write", "send", "spend"])?;
        let kind: ToolKind = self.choice("kind", &raw.kind, &["builtin", "http", "sql", "command", "mcp"])?;
        let rate = self.parsed("rate", raw.rate.as_deref().unwrap_or(RATE_DEFAULT), str::parse::<Rate>)?;
        let timeout = match raw.timeout.as_deref() {
            None => TIMEOUT_DEFAULT,
            Some(text) => self.parsed("timeout", text, parse_duration)?,
        };
        if timeout.is_zero() {
            return Err(self.fault("timeout", "zero", "longer than that, for example `10s`"));
        }
        let burst = self.count("burst", raw.burst, BURST_DEFAULT)?;
        let concurrency = self.count("concurrency", raw.concurrency, CONCURRENCY_DEFAULT)?;
        let price_micro_usd = match raw.price_micro_usd {
            None => None,
            Some(price) => Some(u64::try_from(price).map_err(|_| {
                self.fault("price_micro_usd", price, "a whole number of millionths of a US dollar from 0")
            })?),
        };
        let sleeps_max = match raw.sleeps_max.as_deref() {
            Some(text) if kind == ToolKind::Builtin => {
                Some(self.parsed("sleeps_max", text, parse_duration)?)
            }
            Some(text) => {
                let allowed = "left out: only built-in tools put a run to sleep";
                return Err(self.fault("sleeps_max", format_args!("`{text}`"), allowed));
            }
            None => None,
        };
        let capability = raw.capability.unwrap_or_else(|| format!("tool.{}", raw.name));
        if capability.trim().is_empty() {
            return Err(self.fault("capability", "empty", "a name such as `net.fetch`, or left out"));
        }
        self.schema("params", &raw.params)?;
        self.schema("result", &raw.result)?;
        self.params(&raw.params)?;
        let spec = ToolSpec {
            idempotent: raw.idempotent.unwrap_or(effect == Effect::Read),
            name: raw.name,
            description: raw.description.trim().to_owned(),
            params: raw.params,
            result: raw.result,
            effect,
            rate,
            burst,
            concurrency,
            timeout,
            capability,
            kind,
            settings: raw.settings,
            arguments: BTreeMap::new(),
            targets: BTreeMap::new(),
            price_micro_usd,
            sleeps_max,
            agents: BTreeMap::new(),
            server_hints: None,
            seen: None,
            compiled: CompiledParams::default(),
        };
        let arguments = self.marks("arguments", &spec, raw.arguments, &["authority", "id", "content"])?;
        let kinds = TargetKind::ALL.map(TargetKind::as_str);
        let targets = self.marks("targets", &spec, raw.targets, &kinds)?;
        Ok(ToolSpec { arguments, targets, ..spec })
    }

    /// One of a few words; `T` reads them by serde.
    fn choice<T: for<'de> Deserialize<'de>>(&self, key: &str, seen: &str, allowed: &[&str]) -> Result<T> {
        serde_json::from_value(Json::from(seen)).map_err(|_| {
            self.fault(key, format_args!("`{seen}`"), format_args!("one of {}", allowed.join(", ")))
        })
    }

    fn parsed<T>(&self, key: &str, text: &str, parse: impl Fn(&str) -> Result<T>) -> Result<T> {
        parse(text).map_err(|error| {
            let message = format!("{}: `{key}`: {}", self.origin, error.message());
            Error::new(ErrorCode::ConfigInvalid, message).with_help(error.help()).with_detail("key", key)
        })
    }

    fn count(&self, key: &str, seen: Option<i64>, default: u32) -> Result<u32> {
        match seen {
            None => Ok(default),
            Some(number) => match u32::try_from(number) {
                Ok(count @ 1..) => Ok(count),
                _ => Err(self.fault(key, number, format_args!("a whole number from 1 to {}", u32::MAX))),
            },
        }
    }

    fn schema(&self, key: &str, schema: &Json) -> Result<()> {
        match compile(schema) {
            Ok(_) => Ok(()),
            Err(why) => Err(self.fault(
                key,
                format_args!("not a JSON Schema ({why})"),
                "one, with references inside itself only",
            )),
        }
    }

    fn params(&self, params: &Json) -> Result<()> {
        if params.get("type").and_then(Json::as_str) != Some("object") {
            let seen = params.get("type").map_or_else(|| "missing".to_owned(), Json::to_string);
            return Err(self.fault("params.type", seen, "\"object\""));
        }
        let names: Vec<&str> = params
            .get("properties")
            .and_then(Json::as_object)
            .map(|properties| properties.keys().map(String::as_str).collect())
            .unwrap_or_default();
        let required = params.get("required").and_then(Json::as_array);
        for name in required.into_iter().flatten().filter_map(Json::as_str) {
            if !names.contains(&name) {
                return Err(self.fault("params.required", format_args!("`{name}`"), self.one_of(&names)));
            }
        }
        Ok(())
    }

    /// A section that says something about parameters, each in one of a few words.
    fn marks<T: for<'de> Deserialize<'de>>(
        &self,
        section: &str,
        spec: &ToolSpec,
        raw: BTreeMap<String, String>,
        allowed: &[&str],
    ) -> Result<BTreeMap<String, T>> {
        let names: Vec<&str> = spec.parameters().map(|(name, _)| name).collect();
        let mut marks = BTreeMap::new();
        for (name, mark) in raw {
            if !names.contains(&name.as_str()) {
                return Err(self.fault(section, format_args!("about `{name}`"), self.one_of(&names)));
            }
            let mark: T = self.choice(&format!("{section}.{name}"), &mark, allowed)?;
            marks.insert(name, mark);
        }
        Ok(marks)
    }

    fn one_of(&self, names: &[&str]) -> String {
        match names {
            [] => "left out, as the tool has no parameters".to_owned(),
            names => format!("a parameter: {}", names.join(", ")),
        }
    }
}
