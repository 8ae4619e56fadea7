//! `[settings]` of a manifest of the kind `command`, and `[tools.NAME]` for it.

use std::path::PathBuf;

use indexmap::IndexMap;
use serde::Deserialize;

use luaplan_base::{Result, written};
use luaplan_catalog::ToolSpec;

use crate::manifest::{Template, check_names, fault, read_settings};

/// The command a manifest describes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandSettings {
    /// The program and its arguments.
    pub(super) argv: Vec<Template>,
    /// Where it runs: a folder that configuration grants. Without, an empty folder of its own.
    pub(super) working_dir: Option<PathBuf>,
    /// The parameter that is its standard input.
    pub(super) stdin: Option<String>,
    /// All of its environment beside `PATH` and `LANG`.
    #[serde(default)]
    pub(super) environment: IndexMap<String, Variable>,
    #[serde(default)]
    pub(super) output: OutputForm,
    /// The exit codes that mean success.
    #[serde(default = "zero")]
    pub(super) success: Vec<i32>,
}

fn zero() -> Vec<i32> {
    vec![0]
}

/// The value of an environment variable.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Variable {
    Plain(String),
    Secret(SecretVariable),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SecretVariable {
    pub(super) secret: String,
}

/// What standard output becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum OutputForm {
    /// Text, or bytes where it is not text.
    #[default]
    Text,
    Json,
    /// A list of its lines.
    Lines,
    /// `{exit_code, stdout, stderr}`.
    Full,
}

impl CommandSettings {
    /// Reads and checks the settings of a manifest.
    ///
    /// # Errors
    /// `config_invalid` or `config_unknown_key` with the detail `key`.
    pub fn of(spec: &ToolSpec) -> Result<Self> {
        let settings: Self = read_settings(spec)?;
        let key = "settings.argv";
        match settings.argv.first().map(Template::literal) {
            None => return Err(fault(key, "empty; it begins with the program")),
            Some(None) => {
                return Err(fault(key, "the program is fixed: its name holds no place for an argument"));
            }
            Some(Some("")) => return Err(fault(key, "the program's name is empty")),
            Some(Some(program)) if program.contains('/') && !program.starts_with('/') => {
                return Err(fault(key, "write the program's name, or its whole path from `/`"));
            }
            Some(Some(_)) => {}
        }
        for template in &settings.argv {
            check_names(spec, key, template, false)?;
        }
        if let Some(name) = &settings.stdin
            && spec.parameter(name).is_none()
        {
            return Err(fault("settings.stdin", &format!("`{name}` is no parameter of the tool")));
        }
        for name in settings.environment.keys() {
            let well_formed = !name.is_empty()
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && !name.starts_with(|c: char| c.is_ascii_digit());
            // The loader's variables would run other code than the manifest names.
            if !well_formed || name.starts_with("LD_") || name == "PATH" {
                return Err(fault(
                    &format!("settings.environment.{name}"),
                    "a variable of this name cannot be set",
                ));
            }
        }
        if settings.success.is_empty() || settings.success.iter().any(|code| !(0..=255).contains(code)) {
            return Err(fault("settings.success", "a list of exit codes from 0 to 255"));
        }
        Ok(settings)
    }

    /// The parameters that no argument of the program and not its standard input takes.
    #[must_use]
    pub fn without_place(&self, spec: &ToolSpec) -> Vec<String> {
        let is_used = |name: &str| {
            self.stdin.as_deref() == Some(name)
                || self.argv.iter().any(|template| template.names().any(|used| used == name))
        };
        spec.parameters().map(|(name, _)| name).filter(|name| !is_used(name)).map(str::to_owned).collect()
    }

    /// The names of the secrets it needs.
    #[must_use]
    pub fn secret_names(&self) -> Vec<String> {
        let secrets = self.environment.values().filter_map(|variable| match variable {
            Variable::Secret(variable) => Some(variable.secret.clone()),
            Variable::Plain(_) => None,
        });
        secrets.collect()
    }

    /// Where it runs, as written.
    #[must_use]
    pub fn working_dir(&self) -> Option<&PathBuf> {
        self.working_dir.as_ref()
    }
}

/// What `[tools.NAME]` of the configuration says about a tool of this kind.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CommandGrants {
    /// Folders and files the command may read, beside the system's programs and libraries.
    pub read: Vec<PathBuf>,
    /// Folders the command may write.
    pub write: Vec<PathBuf>,
    /// Whether it may use the network.
    pub network: bool,
    /// Runs it without bubblewrap, with all the rights of luaplan itself.
    pub unconfined: bool,
    /// Where luaplan runs as root: runs the command as root too. Without, it runs as the user `nobody`.
    pub as_root: bool,
    /// The most bytes of standard output.
    #[serde(deserialize_with = "written::bytes")]
    pub stdout_max: u64,
}

impl Default for CommandGrants {
    fn default() -> Self {
        Self {
            read: Vec::new(),
            write: Vec::new(),
            network: false,
            unconfined: false,
            as_root: false,
            stdout_max: 1024 * 1024,
        }
    }
}
