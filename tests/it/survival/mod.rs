//! Runs that survive: killed before and after each record they write, resumed, replayed.

mod accepted;
mod command;
mod job;
mod judged_once;
mod kills;
mod marked;
mod replay;
pub(crate) mod resume;
mod sleeping;
mod stopping;
mod taken_up;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use luaplan::app::{App, ResumeRequest};
use luaplan::base::{Result, RunId};
use luaplan::demo::DemoParts;
use luaplan::engine::RunOutcome;
use tokio_util::sync::CancellationToken;

pub(crate) use job::{Case, Job, Kill, open};

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
}

impl Job {
    /// Does it in a process of its own.
    pub(crate) fn run(&self) -> ExitStatus {
        self.command().output().unwrap().status
    }

    /// The process that does it.
    pub(crate) fn command(&self) -> Command {
        std::fs::create_dir_all(&self.folder).unwrap();
        let file = self.folder.join("job.json");
        std::fs::write(&file, serde_json::to_string(self).unwrap()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_luaplan-test-child"));
        command.arg("survival").arg(file);
        command
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/survival");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| Case::read(file)).collect()
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
