//! What the tests ask of a process that may be killed, and the application that both open.

use std::path::{Path, PathBuf};

use luaplan::app::config::{Environment, LoadOptions, load};
use luaplan::app::{App, AppParts, JournalLayer};
use luaplan::base::{LimitName, Value};
use serde::{Deserialize, Serialize};

/// A plan of `tests/cases/survival`, with what its comments say it runs with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) context: serde_json::Value,
    pub(crate) limits: Vec<(String, String)>,
}

impl Case {
    /// The name of a case whose source is a task in plain words, and whose plan is to be approved.
    pub(crate) const TASK: &str = "task";

    pub(crate) fn limits(&self, app: &App) -> luaplan::base::Limits {
        let mut limits = app.config().limits.clone();
        for (name, value) in &self.limits {
            limits.set(name.parse::<LimitName>().unwrap(), value).unwrap();
        }
        limits
    }

    pub(crate) fn context(&self) -> Value {
        Value::from_json(self.context.clone()).unwrap()
    }
}

/// When a child ends itself: before or after its `write`th record is written, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kill {
    pub(crate) write: u64,
    pub(crate) after: bool,
}

/// What a child does.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) folder: PathBuf,
    /// TOML: the configuration's keys and values.
    pub(crate) flags: Vec<(String, toml::Value)>,
    pub(crate) run_id: String,
    pub(crate) case: Case,
    pub(crate) kill: Option<Kill>,
    /// Whether it decides about the pending calls and resumes the run, instead of starting it.
    #[serde(default)]
    pub(crate) decides: bool,
    /// Whether it stops where it would be killed, until the test lets it continue.
    #[serde(default)]
    pub(crate) stops: bool,
}

/// An application in `folder`, with its tools pointed at `flags`' parts.
pub(crate) async fn open(
    folder: &Path,
    flags: Vec<(String, toml::Value)>,
    layer: Option<JournalLayer>,
) -> App {
    let environment = Environment { working_dir: folder.to_path_buf(), ..Environment::default() };
    let loaded = load(&environment, &LoadOptions { file: None, flags }).unwrap();
    let parts = AppParts { journal_layer: layer, ..AppParts::default() };
    App::open_with(&loaded, &environment, parts).await.unwrap()
}
