//! Tools of the kind `command`: one program with its words, without a shell, under bubblewrap.
//!
//! Configuration grants folders and the network; a manifest alone has neither. What a plan gives is
//! data: it never becomes a program, an option or a second command.
//!
//! **Never here:** a shell, the environment of luaplan, a process that outlives its call.

mod arguments;
mod confinement;
mod process;
mod settings;
mod user;

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use indexmap::IndexMap;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value as Json, json};
use tokio::process::Command;

use luaplan_base::{CallOutcome, Error, ErrorCode, Result, ToolFailure, Value};
use luaplan_bus::Invocation;
use luaplan_catalog::ToolSpec;

use self::confinement::{Confinement, SEARCH_PATH};
use self::process::Ended;
pub use self::settings::{CommandGrants, CommandSettings};
use self::settings::{OutputForm, Variable};
use self::user::drop_root;
pub use self::user::user_of_commands;
use crate::manifest::{Arguments, Maker, ManifestTool, response_invalid};

struct CommandMaker {
    settings: CommandSettings,
    secrets: IndexMap<String, SecretString>,
    /// Without one the command runs with luaplan's own rights.
    confinement: Option<Confinement>,
    working_dir: Option<PathBuf>,
    stdout_max: u64,
    as_root: bool,
}

/// The tool that a manifest describes. `secrets` are those its environment names; `bubblewrap` is the
/// program, which only `unconfined` tools do without. Relative folders start at `base_dir`.
///
/// # Errors
/// `config_invalid` for settings or grants that make no sense; `confinement_missing` without
/// bubblewrap.
pub fn tool(
    spec: ToolSpec,
    grants: &CommandGrants,
    secrets: IndexMap<String, SecretString>,
    bubblewrap: Option<&Path>,
    base_dir: &Path,
) -> Result<ManifestTool> {
    let settings = CommandSettings::of(&spec)?;
    if grants.stdout_max == 0 {
        let key = format!("tools.{}.stdout_max", spec.name);
        return Err(Error::new(ErrorCode::ConfigInvalid, format!("`{key}` is zero")).with_detail("key", key));
    }
    let read = folders(&spec, "read", &grants.read, base_dir)?;
    let write = folders(&spec, "write", &grants.write, base_dir)?;
    let working_dir = settings.working_dir.as_ref().map(|dir| plain_path(&base_dir.join(dir)));
    if let Some(dir) = ungranted_working_dir(&settings, grants, base_dir) {
        let message = format!("the working folder {} is not granted", dir.display());
        return Err(Error::new(ErrorCode::ToolNotConfigured, message));
    }
    let confinement = if grants.unconfined {
        None
    } else {
        let bubblewrap = bubblewrap.ok_or_else(|| {
            Error::new(ErrorCode::ConfinementMissing, "`bwrap` is not in the PATH, so no command is run")
        })?;
        Some(Confinement {
            bubblewrap: bubblewrap.to_path_buf(),
            read,
            write,
            network: grants.network,
            working_dir: working_dir.clone(),
        })
    };
    let values: Vec<SecretString> = secrets.values().cloned().collect();
    let (stdout_max, as_root) = (grants.stdout_max, grants.as_root);
    let maker = CommandMaker { settings, secrets, confinement, working_dir, stdout_max, as_root };
    Ok(ManifestTool::new(spec, &values, Box::new(maker)))
}

/// Whether bubblewrap works here: the system may forbid the namespaces it needs.
///
/// # Errors
/// What it says, or why it cannot be started.
pub async fn try_bubblewrap(bubblewrap: &Path) -> std::result::Result<(), String> {
    let walls = Confinement {
        bubblewrap: bubblewrap.to_path_buf(),
        read: Vec::new(),
        write: Vec::new(),
        network: false,
        working_dir: None,
    };
    let mut command = Command::new(bubblewrap);
    command.args(walls.arguments()).arg("true").env_clear().env("PATH", SEARCH_PATH).current_dir("/");
    drop_root(&mut command, false);
    let ended =
        process::run(command, bubblewrap, Vec::new(), 1024).await.map_err(|failure| failure.message)?;
    if ended.exit_code == Some(0) { Ok(()) } else { Err(ended.stderr) }
}

/// The manifest's working folder, where no grant covers it.
#[must_use]
pub fn ungranted_working_dir(
    settings: &CommandSettings,
    grants: &CommandGrants,
    base_dir: &Path,
) -> Option<PathBuf> {
    let dir = plain_path(&base_dir.join(settings.working_dir()?));
    let mut granted = grants.read.iter().chain(&grants.write).map(|place| plain_path(&base_dir.join(place)));
    (!grants.unconfined && !granted.any(|granted| dir.starts_with(granted))).then_some(dir)
}

/// Granted places as absolute paths; each must be there.
fn folders(spec: &ToolSpec, key: &str, places: &[PathBuf], base_dir: &Path) -> Result<Vec<PathBuf>> {
    let granted = places.iter().map(|place| {
        let path = plain_path(&base_dir.join(place));
        if path.exists() {
            return Ok(path);
        }
        let key = format!("tools.{}.{key}", spec.name);
        Err(Error::new(
            ErrorCode::ConfigInvalid,
            format!("{key} names {}, which is not there", path.display()),
        )
        .with_detail("key", key))
    });
    granted.collect()
}

/// A path without `.` and `..`.
fn plain_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

impl CommandMaker {
    fn command(&self, words: &[String]) -> (Command, PathBuf) {
        let (program, rest) = words.split_first().map_or(("", words), |(first, rest)| (first.as_str(), rest));
        let mut command = match &self.confinement {
            Some(confinement) => {
                let mut command = Command::new(&confinement.bubblewrap);
                // The folder luaplan was started in may be closed to another user.
                command.args(confinement.arguments()).arg(program).current_dir("/");
                command
            }
            None => {
                let mut command = Command::new(program);
                if let Some(dir) = &self.working_dir {
                    command.current_dir(dir);
                }
                command
            }
        };
        drop_root(&mut command, self.as_root);
        command.args(rest).env_clear().env("PATH", SEARCH_PATH).env("LANG", "C.UTF-8");
        for (name, variable) in &self.settings.environment {
            match variable {
                Variable::Plain(value) => drop(command.env(name, value)),
                Variable::Secret(variable) => {
                    if let Some(secret) = self.secrets.get(&variable.secret) {
                        command.env(name, secret.expose_secret());
                    }
                }
            }
        }
        (command, PathBuf::from(program))
    }

    fn result(&self, ended: Ended) -> CallOutcome {
        let code = ended.exit_code;
        if !code.is_some_and(|code| self.settings.success.contains(&code)) {
            return Err(self.failed(ended));
        }
        match self.settings.output {
            OutputForm::Text => Ok(Value::from_lua_bytes(ended.stdout)),
            OutputForm::Json => std::str::from_utf8(&ended.stdout)
                .map_err(|error| error.to_string())
                .and_then(|text| Value::from_json_text(text).map_err(|error| error.message().to_owned()))
                .map_err(|why| response_invalid(format!("the command's output is not JSON: {why}"))),
            OutputForm::Lines => {
                let text = ended.stdout.strip_suffix(b"\n").unwrap_or(&ended.stdout);
                if text.is_empty() {
                    return Ok(Value::Array(Vec::new()));
                }
                let lines = text.split(|byte| *byte == b'\n');
                Ok(Value::Array(lines.map(|line| Value::from_lua_bytes(line.to_vec())).collect()))
            }
            OutputForm::Full => Ok(Value::Object(IndexMap::from([
                ("exit_code".to_owned(), Value::Integer(code.unwrap_or_default().into())),
                ("stdout".to_owned(), Value::from_lua_bytes(ended.stdout)),
                ("stderr".to_owned(), Value::from(ended.stderr)),
            ]))),
        }
    }

    fn failed(&self, ended: Ended) -> ToolFailure {
        const SHOWN_BYTES_MAX: usize = 2048;
        let own = self.confinement.is_some() && ended.exit_code == Some(1);
        if own && let Some(why) = ended.stderr.strip_prefix("bwrap: ") {
            // Before the command starts, messages come from bubblewrap itself.
            let starts = why.starts_with("execvp ");
            let code = if starts { ErrorCode::CommandFailed } else { ErrorCode::ConfinementMissing };
            let what =
                if starts { "the program could not be started" } else { "bubblewrap cannot work here" };
            return ToolFailure::new(code, format!("{what}: {why}"));
        }
        let message = match ended.exit_code {
            Some(code) => format!("the command ended with exit code {code}"),
            None => "the command was ended by a signal".to_owned(),
        };
        let mut failure = ToolFailure::new(ErrorCode::CommandFailed, message);
        if let Some(code) = ended.exit_code {
            failure = failure.with_detail("exit_code", i64::from(code));
        }
        let mut stdout = ended.stdout;
        stdout.truncate(SHOWN_BYTES_MAX);
        failure
            .with_detail("stderr", ended.stderr)
            .with_detail("stdout", String::from_utf8_lossy(&stdout).into_owned())
    }
}

#[async_trait]
impl Maker for CommandMaker {
    async fn make(&self, arguments: Arguments, _invocation: Invocation) -> CallOutcome {
        let words = arguments::words(&self.settings, &arguments)?;
        let input = arguments::input(&self.settings, &arguments);
        let (command, program) = self.command(&words);
        let ended = process::run(command, &program, input, self.stdout_max).await?;
        self.result(ended)
    }

    fn shape(&self, arguments: &Arguments) -> std::result::Result<Json, ToolFailure> {
        let words = arguments::words(&self.settings, arguments)?;
        let environment: serde_json::Map<String, Json> = self
            .settings
            .environment
            .iter()
            .map(|(name, variable)| match variable {
                Variable::Plain(value) => (name.clone(), value.as_str().into()),
                Variable::Secret(variable) => (name.clone(), format!("<secret {}>", variable.secret).into()),
            })
            .collect();
        let confinement = self.confinement.as_ref().map(|walls| {
            json!({ "read": walls.read, "write": walls.write, "network": walls.network,
                "working_dir": walls.working_dir.as_deref().unwrap_or(Path::new("/tmp")) })
        });
        let stdin_bytes = arguments::input(&self.settings, arguments).len();
        Ok(json!({ "command": { "argv": words, "environment": environment, "stdin_bytes": stdin_bytes,
            "confinement": confinement } }))
    }
}
