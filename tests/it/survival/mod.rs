//! Runs that survive: killed before and after each record they write, resumed, replayed.

mod accepted;
pub(crate) mod child;
mod command;
mod judged_once;
mod kills;
mod marked;
mod replay;
pub(crate) mod resume;
mod sleeping;
mod stopping;
mod taken_up;

use std::path::{Path, PathBuf};

use luaplan::app::config::{LoadOptions, load};
use luaplan::app::{App, AppParts, JournalLayer, ResumeRequest};
use luaplan::base::{LimitName, Result, RunId, Value};
use luaplan::demo::DemoParts;
use luaplan::engine::RunOutcome;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::app_parts::environment;

/// A plan of `tests/cases/survival`, with what its comments say it runs with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) context: serde_json::Value,
    pub(crate) limits: Vec<(String, String)>,
}

impl Case {
    fn read(path: &Path) -> Self {
        let source = std::fs::read_to_string(path).unwrap();
        let comment = |mark: &str| {
            source.lines().find_map(|line| line.strip_prefix("-- ")?.strip_prefix(mark)).map(str::to_owned)
        };
        let limits = comment("limits: ").unwrap_or_default();
        Self {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            context: serde_json::from_str(&comment("context: ").unwrap_or_else(|| "{}".into())).unwrap(),
            limits: limits
                .split_whitespace()
                .map(|pair| pair.split_once('=').unwrap())
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            source,
        }
    }

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

pub(crate) fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/survival");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| Case::read(file)).collect()
}

/// An application in `folder`, with its tools pointed at `flags`' parts.
pub(crate) async fn open(
    folder: &Path,
    flags: Vec<(String, toml::Value)>,
    layer: Option<JournalLayer>,
) -> App {
    let environment = environment(folder);
    let loaded = load(&environment, &LoadOptions { file: None, flags }).unwrap();
    let parts = AppParts { journal_layer: layer, ..AppParts::default() };
    App::open_with(&loaded, &environment, parts).await.unwrap()
}

pub(crate) async fn resume(app: &App, run_id: &RunId) -> Result<RunOutcome> {
    app.resume(resume_request(run_id)).await
}

pub(crate) fn resume_request(run_id: &RunId) -> ResumeRequest {
    ResumeRequest::new(run_id.clone(), CancellationToken::new())
}

/// The subjects of the mails that came after the first `known`, sorted.
pub(crate) fn subjects(parts: &DemoParts, known: usize) -> Vec<String> {
    let mut subjects: Vec<String> = parts
        .received()
        .iter()
        .skip(known)
        .map(|mail| {
            let text = std::fs::read_to_string(&mail.path).unwrap();
            let subject = text.lines().find_map(|line| line.strip_prefix("Subject: "));
            subject.unwrap_or_default().trim().to_owned()
        })
        .collect();
    subjects.sort();
    subjects
}
