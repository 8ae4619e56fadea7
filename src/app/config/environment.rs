//! The process environment, read once and handed on.

use std::collections::BTreeMap;
use std::path::PathBuf;

use secrecy::SecretString;

/// Everything luaplan takes from its surroundings.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// Environment variables that are valid Unicode.
    pub variables: BTreeMap<String, String>,
    /// Names of variables whose values are not valid Unicode.
    pub unreadable: Vec<String>,
    /// The words after the program's name that are valid Unicode.
    pub arguments: Vec<String>,
    /// The folder relative paths start from.
    pub working_dir: PathBuf,
    /// The user's own configuration file, whether or not it exists.
    pub user_config_file: Option<PathBuf>,
    /// A program that answers to `sqlite-reader` as `luaplan` does, where there is one; queries of SQLite
    /// files then run in processes of their own. The command line gives itself.
    pub sqlite_program: Option<PathBuf>,
}

impl Environment {
    /// Reads the real environment.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    pub fn from_process() -> Self {
        let mut variables = BTreeMap::new();
        let mut unreadable = Vec::new();
        for (name, value) in std::env::vars_os() {
            let Ok(name) = name.into_string() else { continue };
            match value.into_string() {
                Ok(value) => _ = variables.insert(name, value),
                Err(_) => unreadable.push(name),
            }
        }
        let user_config_file =
            user_config_folder(&variables).map(|folder| folder.join("luaplan/config.toml"));
        let arguments = std::env::args_os().skip(1).filter_map(|word| word.into_string().ok()).collect();
        Self {
            variables,
            unreadable,
            arguments,
            working_dir: std::env::current_dir().unwrap_or_else(|_| ".".into()),
            user_config_file,
            sqlite_program: None,
        }
    }

    /// A variable that is set and not empty.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The program of that name in the search path.
    #[must_use]
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let path = self.get("PATH").unwrap_or("/usr/local/bin:/usr/bin:/bin");
        std::env::split_paths(path).map(|folder| folder.join(name)).find(|program| program.is_file())
    }

    /// A variable that holds a secret.
    #[must_use]
    pub fn secret(&self, name: &str) -> Option<SecretString> {
        self.get(name).map(SecretString::from)
    }
}

/// `$XDG_CONFIG_HOME`, else `~/.config` (XDG Base Directory Specification 0.8), or `%APPDATA%`.
fn user_config_folder(variables: &BTreeMap<String, String>) -> Option<PathBuf> {
    let set = |name: &str| variables.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("XDG_CONFIG_HOME").or_else(|| set("APPDATA")).or_else(|| set("HOME").map(|home| home.join(".config")))
}
